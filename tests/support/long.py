"""What `make test` leaves out, or does a little of, and `make test-long` does whole."""

import os

import pytest

IS_LONG = os.environ.get("KOHORT_LONG") == "1"
LEFT_OUT = "left to make test-long"
LONG = pytest.mark.skipif(not IS_LONG, reason=LEFT_OUT)
"""For a test that takes a minute and more, or a variant of one that is there already."""


def cases(variable: str, few: int, *, many: int | None = None) -> int:
    """How many made-up cases are tried: what the variable says, else `few`, or `many` in a long run."""
    return int(os.environ.get(variable) or (many if IS_LONG and many is not None else few))
