"""Arrays of structs whose fields have fixed widths, as a whole: the committed offsets of a group, the ends of a topic's
logs. Their bytes are unpacked column by column, and a struct is made when it is asked for."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, overload

T = TypeVar("T")

Column: TypeAlias = tuple[Any, ...]
FEWEST = 8
"""Fewer structs are read one by one."""


class StructRows(Sequence[T]):
    """An immutable sequence of structs, equal to a tuple of them; `columns` has the values by name."""

    __slots__ = ("_make", "columns")

    def __init__(self, make: Callable[[Sequence[object]], T], columns: dict[str, Column]) -> None:
        self._make, self.columns = make, columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[T]:
        return map(self._make, zip(*self.columns.values(), strict=True))

    @overload
    def __getitem__(self, at: int, /) -> T: ...
    @overload
    def __getitem__(self, at: slice, /) -> tuple[T, ...]: ...
    def __getitem__(self, at: int | slice, /) -> T | tuple[T, ...]:
        if isinstance(at, slice):
            return tuple(self)[at]
        return self._make([column[at] for column in self.columns.values()])

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, StructRows | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def columns_of(structs: Sequence[object], *names: str) -> list[Column]:
    """The values of some fields of structs of one class, a column for each name."""
    if isinstance(structs, StructRows):
        return [structs.columns[name] for name in names]
    return [tuple(getattr(one, name) for one in structs) for name in names]


class FixedRow:
    """The layout of a struct of numbers and empty strings. `codes` has the code of each number for `struct`, or None
    for a string, by name; `absent` the values of tagged fields, which it does not have; `end` what follows a struct."""

    def __init__(
        self, codes: dict[str, str | None], absent: dict[str, object], empty_string: bytes, end: bytes
    ) -> None:
        sizes = [
            len(empty_string) if code is None else struct.calcsize(f">{code}") for code in codes.values()
        ]
        self._struct = struct.Struct(
            ">" + "".join(code or f"{len(empty_string)}x" for code in codes.values()) + f"{len(end)}x"
        )
        self._names = [*codes, *absent]
        self._constant = {name: "" for name, code in codes.items() if code is None} | absent
        begins = [sum(sizes[:at]) for at in range(len(sizes))]
        strings = [begin for begin, code in zip(begins, codes.values(), strict=True) if code is None]
        marks = [(begin, empty_string) for begin in strings] + [(sum(sizes), end)]
        self._expected = [(begin + at, mark[at : at + 1]) for begin, mark in marks for at in range(len(mark))]

    def read(self, buffer: bytes, start: int, count: int) -> tuple[dict[str, Column], int] | None:
        """The columns of `count` structs, and where the last ends; None if they do not have this layout."""
        size = self._struct.size
        end = start + count * size
        if end > len(buffer):
            return None
        for at, expected in self._expected:
            if buffer[start + at : end : size].count(expected) != count:
                return None
        numbers = zip(*self._struct.iter_unpack(buffer[start:end]), strict=True)
        return {
            name: (self._constant[name],) * count if name in self._constant else next(numbers)
            for name in self._names
        }, end
