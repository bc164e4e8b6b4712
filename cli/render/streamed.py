"""Answers that are too long to be held: their rows are read while they are written."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Generic, TypeVar, overload

T = TypeVar("T")
Row = TypeVar("Row")
Changed = TypeVar("Changed")
MOST_ROWS = 5_000
"""The most rows of an answer that is read before the first row is written, and of a table that is fitted to a terminal
and colored, which takes half a second."""


class Parts(Generic[T]):
    """The parts of an answer. The first ones, together of more than MOST_ROWS rows unless these are all, are held; the
    rest can be read once."""

    def __init__(self, parts: Iterable[T], size: Callable[[T], int] | None = None) -> None:
        """`size` returns the number of rows of a part; without it, all parts are held."""
        self._rest = iter(parts)
        self.first: list[T] = []
        self.size = 0
        self.is_complete = True
        for part in self._rest:
            self.first.append(part)
            self.size += 0 if size is None else size(part)
            if self.size > MOST_ROWS:
                self.is_complete = False
                break

    def __iter__(self) -> Iterator[T]:
        if self.is_complete:
            return iter(self.first)
        return chain(self._taken(), self._rest)

    def drop(self) -> None:
        """Read the rest, and hold none of it."""
        deque(self, maxlen=0)
        self.is_complete = True

    def _taken(self) -> Iterator[T]:
        while self.first:
            yield self.first.pop(0)


class Streamed(Sequence[Row], Generic[T, Row]):
    """The rows of parts, computed when they are read. Only those of a complete answer can be read twice."""

    def __init__(self, parts: Parts[T], rows_of: Callable[[T], Iterable[Row]]) -> None:
        self._parts, self._rows_of = parts, rows_of

    @property
    def is_complete(self) -> bool:
        return self._parts.is_complete

    def chunks(self) -> Iterator[list[Row]]:
        """The rows of one part after the other."""
        return (list(self._rows_of(part)) for part in self._parts)

    def mapped(self, change: Callable[[Row], Changed]) -> Streamed[T, Changed]:
        """The same with changed rows."""
        return Streamed(self._parts, lambda part: map(change, self._rows_of(part)))

    def __iter__(self) -> Iterator[Row]:
        return iter(self._all) if self.is_complete else chain.from_iterable(self.chunks())

    def __len__(self) -> int:
        """Of an answer that is not complete, the number of rows that are held at first."""
        return len(self._all) if self.is_complete else self._parts.size

    @overload
    def __getitem__(self, at: int, /) -> Row: ...
    @overload
    def __getitem__(self, at: slice, /) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice, /) -> Row | Sequence[Row]:
        """The first row is known at once; any other one only of a complete answer."""
        if self.is_complete:
            return self._all[at]
        return next(chain.from_iterable(map(self._rows_of, self._parts.first)))

    @cached_property
    def _all(self) -> list[Row]:
        return [*chain.from_iterable(self.chunks())]
