"""The known name that is closest to one that was mistyped."""

from collections.abc import Iterable
from itertools import islice

SIMILAR = 0.75
"""A cutoff for names that often resemble each other, such as those of groups: one letter in four may differ."""
_LONGEST = 100
_MOST = 20_000  # the number of known names that are compared: 20,000 take a quarter of a second


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """`; did you mean X?` to append to a message; an empty text if no known name is close."""
    nearest = closest(name, known, cutoff)
    return f"; did you mean {nearest}?" if nearest else ""


def closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is closest; None if none is close. `cutoff` is difflib's: 1 accepts equal names only."""
    from difflib import get_close_matches

    return next(
        iter(get_close_matches(name[:_LONGEST], list(islice(known, _MOST)), n=1, cutoff=cutoff)), None
    )
