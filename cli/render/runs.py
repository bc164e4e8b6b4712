"""Runs of equal values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeVar

_Value = TypeVar("_Value")


def runs(values: Sequence[_Value]) -> Iterator[tuple[_Value, range]]:
    """Equal values that follow one another, and where."""
    for value, run in groupby(range(len(values)), key=values.__getitem__):
        places = list(run)
        yield value, range(places[0], places[-1] + 1)
