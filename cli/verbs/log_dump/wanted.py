"""Which records of a log are meant: by group, by record type, by offset or time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cli.errors import UsageError
from cli.selection import split_list
from cli.times import parse_moment
from cli.verbs.log_dump.texts import KeyText
from wire.log.batches import Batches, Columns
from wire.messages.schemas.record_types import RECORD_TYPES

_OFFSET = re.compile(r"[0-9]{1,18}", re.ASCII)
_LEAST, _MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The bounds are inclusive; times in ms since 1970. Empty sets of groups and types let everything pass."""

    groups: frozenset[str] = frozenset()
    types: frozenset[int] = frozenset()
    first_offset: int = _LEAST
    last_offset: int = _MOST
    first_ms: int = _LEAST
    last_ms: int = _MOST

    @property
    def any_key(self) -> bool:
        """Whether it does not matter what a record is about, so that control records are meant too."""
        return not (self.groups or self.types)

    def key(self, key: KeyText) -> bool:
        """Whether a record with this key may be meant."""
        return (not self.groups or key.group in self.groups) and (not self.types or key.type in self.types)

    def overlapping(self, batches: Batches) -> Batches:
        """Without the batches before and behind the offsets."""
        start = int(np.searchsorted(batches.last_offsets, self.first_offset, side="left"))
        stop = int(np.searchsorted(batches.headers["base_offset"], self.last_offset, side="right"))
        return batches[start : max(start, stop)]

    def batches(self, batches: Batches) -> Batches:
        """The batches of a file that are within the bounds, by their latest record's time."""
        some = self.overlapping(batches)
        latest = some.headers["max_timestamp"]
        kept = (latest >= self.first_ms) & (latest <= self.last_ms)
        return Batches(some.data, some.file, some.positions[kept], some.headers[kept])

    def rows(self, columns: Columns) -> NDArray[np.int64]:
        """The records of a chunk within the bounds."""
        within = (columns.offsets >= self.first_offset) & (columns.offsets <= self.last_offset)
        within &= (columns.timestamps >= self.first_ms) & (columns.timestamps <= self.last_ms)
        return np.flatnonzero(within)


def parse_wanted(
    groups: Iterable[str] | None,
    types: Iterable[str] | None,
    start: str | None,
    end: str | None,
    now_ms: int,
) -> Wanted:
    """From the options of `kohort log dump`; UsageError says what is wrong with them.

    A whole number as a bound is an offset, everything else a time as in `--as-of`.
    """
    first_offset, first_ms = _bound("--from", start, now_ms, _LEAST)
    last_offset, last_ms = _bound("--to", end, now_ms, _MOST)
    return Wanted(
        groups=frozenset(groups or ()),
        types=frozenset(map(_type, split_list(types))),
        first_offset=first_offset,
        last_offset=last_offset,
        first_ms=first_ms,
        last_ms=last_ms,
    )


def _bound(option: str, text: str | None, now_ms: int, none: int) -> tuple[int, int]:
    """Offset and time; the one that is not given is `none`."""
    if text is None:
        return none, none
    if _OFFSET.fullmatch(text):
        return int(text), none
    try:
        return none, parse_moment(text, now_ms)
    except ValueError as error:
        raise UsageError(f"{option}: {error}; a whole number is an offset") from None


def _type(text: str) -> int:
    named = {kind.name.lower(): kind.id for kind in RECORD_TYPES.values()}
    if re.fullmatch(r"-?[0-9]{1,5}", text, re.ASCII):
        return int(text)
    if text.lower() not in named:
        known = ", ".join(f"{kind.id} {kind.name}" for kind in RECORD_TYPES.values())
        raise UsageError(f"--key-type: unknown record type {text!r}; known: {known}")
    return named[text.lower()]
