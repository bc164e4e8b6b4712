"""What `make test` leaves out, or does a little of, and `make test-long` does whole."""

import os
from collections.abc import Sequence

import pytest

IS_LONG = os.environ.get("KOHORT_LONG") == "1"
LEFT_OUT = "left to make test-long"
LONG = pytest.mark.skipif(not IS_LONG, reason=LEFT_OUT)
"""For a test that takes a minute and more, or a variant of one that is there already."""


def few(all_cases: Sequence[object], one_in: int = 3) -> list[object]:
    """Parameters of a test: one case in this number of them, and in a long run all."""
    return [
        case if number % one_in == 0 else pytest.param(case, marks=LONG)
        for number, case in enumerate(all_cases)
    ]


def cases(variable: str, few: int, *, many: int | None = None) -> int:
    """How many made-up cases are tried: what the variable says, else `few`, or `many` in a long run."""
    return int(os.environ.get(variable) or (many if IS_LONG and many is not None else few))
