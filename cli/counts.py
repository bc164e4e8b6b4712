"""Numbers of things, as people read them."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """`1 offset`, `12 offsets`, `1,200 offsets`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
