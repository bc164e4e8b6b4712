"""Topic ids whose hash codes are chosen, so that they share bins of Java's maps."""

from __future__ import annotations

from random import Random
from uuid import UUID


def id_hashed(rng: Random, code: int) -> UUID:
    """An id at random of that hash code (`Uuid.hashCode` folds its four words together)."""
    first, second, third = (rng.getrandbits(32) for _ in range(3))
    return UUID(int=first << 96 | second << 64 | third << 32 | first ^ second ^ third ^ code)
