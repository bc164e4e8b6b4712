"""Whole numbers as Java's `Integer` and `Long` read them."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"([+-]?)0*(\d{1,19})")


def java_number(text: str, bits: int) -> int | None:
    """The number, with digits of any script; None where Java finds none, or one that has more than so many bits."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    number = int("".join(found.groups()))
    limit = 1 << (bits - 1)
    return number if -limit <= number < limit else None
