"""The known name that is closest to one that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

SIMILAR = 0.75
"""For names of which there may be many alike, as of groups: one letter of four may differ."""
_LONGEST = 100
_MOST = 20_000
"""Comparing takes a time that grows with both: 20,000 names take a quarter of a second."""


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """`; did you mean X?` to append to a message; an empty text where no known name is close."""
    nearest = closest(name, known, cutoff)
    return f"; did you mean {nearest}?" if nearest else ""


def closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is closest; None where none is close. `cutoff` is difflib's: 1 takes equal names only."""
    from difflib import get_close_matches

    return next(
        iter(get_close_matches(name[:_LONGEST], list(islice(known, _MOST)), n=1, cutoff=cutoff)), None
    )
