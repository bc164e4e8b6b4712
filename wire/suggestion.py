"""The known name that is closest to one that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_LONGEST = 100
"""Longer names are cut before they are compared: the time for that grows with their length."""


def did_you_mean(name: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """` Did you mean X?` to append to a message; an empty text where no known name is close.

    Of a mapping the keys are compared, and the value is suggested.
    """
    from difflib import get_close_matches

    shown = known if isinstance(known, Mapping) else {each: each for each in known}
    nearest = get_close_matches(name[:_LONGEST], list(shown), n=1)
    return f" Did you mean {shown[nearest[0]]}?" if nearest else ""
