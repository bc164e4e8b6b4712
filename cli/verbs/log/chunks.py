"""The requested records of segments, thousands at a time, with decoded keys and values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cli.errors import UsageError
from cli.selection import split_list
from cli.verbs.log.segments import SegmentData, damage_of
from cli.verbs.log.texts import NULL, KeyText, PlainCommits, key_text, payload_text, plain_commits
from groups.model import Problem
from groups.times import read_moment
from wire.log.batch_header import CONTROL, Batches
from wire.log.columns import Columns
from wire.log.control_records import ControlType, MalformedControlRecord, control_type_of, coordinator_epoch
from wire.log.errors import DamagedLog
from wire.log.log_records import records_of
from wire.log.salvage import IntactRun, readable_columns
from wire.log.varints import Ints
from wire.messages.reader import DecodeError
from wire.messages.record_codec import RECORD_TYPES

ROWS = 4096  # number of records of a chunk: in all their forms, they fit into a processor's cache

NO_KEY = KeyText(NULL, error="the record has no key")
CONTROL_KEY = KeyText(NULL)  # the type of the broker's control records, whose keys have another format


class Marker(NamedTuple):
    """A control record: the name of its type and, for COMMIT and ABORT, the transaction coordinator's epoch."""

    type: str
    coordinator_epoch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRecord:
    """A decoded record that is not a plain commit. `raw` are the key and value of a record with an error."""

    key: KeyText
    payload: str = NULL
    marker: Marker | None = None
    header_keys: tuple[str, ...] = ()
    error: str | None = None
    raw: tuple[bytes | None, bytes | None] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Chunk:
    """Records in the order of the log. The contents of a record are in `commits` or, by its index, in `others`."""

    file: str
    records: Columns
    commits: PlainCommits
    others: Mapping[int, ReadRecord]

    def __len__(self) -> int:
        return len(self.records)

    @property
    def end(self) -> int:
        """The position in the file after the last record's batch, in bytes."""
        return int(self.records.batches.ends[self.records.batch_of[-1]]) if len(self) else 0

    @cached_property
    def key_sizes(self) -> Ints:
        """The size of each record's key in bytes; -1 means null."""
        records = self.records
        return np.where(records.key_end < 0, -1, records.key_end - records.key_start)

    @cached_property
    def value_sizes(self) -> Ints:
        """The size of each record's value in bytes; -1 means null."""
        records = self.records
        return np.where(records.value_end < 0, -1, records.value_end - records.value_start)

    @cached_property
    def sequences(self) -> Ints:
        """The sequence number of each record; -1 means none."""
        headers, batch_of = self.records.batches.headers, self.records.batch_of
        base = headers["base_sequence"][batch_of].astype(np.int64)
        # Sequence numbers restart at 0 after 2^31 - 1.
        sequence_numbers = (base + self.records.offsets - headers["base_offset"][batch_of]) & 0x7FFFFFFF
        return np.where(base < 0, -1, sequence_numbers)


def chunks_of(segment: SegmentData, record_filter: RecordFilter) -> Iterator[Chunk | Problem]:
    """The selected records of a segment; in place of unreadable data, a problem with its position and the reason."""
    for part in segment.parts():
        yield from chunks_of_part(segment, part, record_filter)


def chunks_of_part(
    segment: SegmentData, part: IntactRun, record_filter: RecordFilter
) -> Iterator[Chunk | Problem]:
    """Like `chunks_of`, for one part of a segment."""
    for columns in readable_columns(record_filter.overlapping(part.batches)):
        if isinstance(columns, DamagedLog):
            yield damage_of(columns)
            continue
        rows = record_filter.rows(columns)
        for start in range(0, len(rows), ROWS):
            yield _chunk(segment.file, columns.select(rows[start : start + ROWS]), record_filter)
    problem = segment.damage(part)
    if problem is not None:
        yield problem


def _chunk(file: str, records: Columns, record_filter: RecordFilter) -> Chunk:
    if not record_filter.any_key:
        chosen = [record_filter.key(_key(records, index)) for index in range(len(records))]
        records = records.select(np.flatnonzero(chosen))
    header_keys = _header_keys(records)
    candidates = (records.batches.headers["attributes"][records.batch_of] & CONTROL) == 0
    candidates[list(header_keys)] = False
    commits = plain_commits(records, candidates)
    left = np.ones(len(records), dtype=bool)
    left[commits.places] = False
    others = {
        index: _read(records, index, header_keys.get(index, ())) for index in np.flatnonzero(left).tolist()
    }
    return Chunk(file=file, records=records, commits=commits, others=others)


def _key(records: Columns, index: int) -> KeyText:
    if records.batches.headers["attributes"][records.batch_of[index]] & CONTROL:
        return CONTROL_KEY
    key = records.key(index)
    return NO_KEY if key is None else key_text(key)


def _read(records: Columns, index: int, header_keys: tuple[str, ...]) -> ReadRecord:
    shown, raw = _key(records, index), (records.key(index), records.value(index))
    payload, marker, error = NULL, None, shown.error
    try:
        if shown is CONTROL_KEY:
            marker, error = _marker(*raw)
        elif raw[1] is not None and error is None and shown.type is not None:
            payload = payload_text(shown.type, raw[1])
    except DecodeError as problem:
        error = str(problem)
    return ReadRecord(
        key=shown,
        payload=payload,
        marker=marker,
        header_keys=header_keys,
        error=error,
        raw=None if error is None else raw,
    )


def _marker(key: bytes | None, value: bytes | None) -> tuple[Marker, str | None]:
    """A control record, and its error if it has one."""
    try:
        kind = control_type_of(key or b"")
        ends = kind in (ControlType.ABORT, ControlType.COMMIT)
        return Marker(kind.name, coordinator_epoch(value) if ends else None), None
    except MalformedControlRecord as error:
        return Marker(ControlType.UNKNOWN.name, None), str(error)


def _header_keys(records: Columns) -> dict[int, tuple[str, ...]]:
    """The header keys of records with headers, by index; brokers write none in this log."""
    ends = np.where(records.value_end < 0, records.value_start, records.value_end)
    counts = np.frombuffer(records.data, dtype=np.uint8)[ends]
    places: dict[int, dict[int, int]] = {}
    for row in np.flatnonzero(counts).tolist():
        places.setdefault(int(records.batch_of[row]), {})[int(records.offsets[row])] = row
    return {
        by_offset[record.offset]: tuple(key for key, _ in record.headers)
        for index, by_offset in places.items()
        for record in records_of(records.batches[index], records.batches.data)
        if record.offset in by_offset
    }


_OFFSET = re.compile(r"[0-9]{1,18}", re.ASCII)
_LEAST, _MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """Selects records. Bounds are inclusive, times in ms since 1970; empty sets of groups and types select all."""

    groups: frozenset[str] = frozenset()
    types: frozenset[int] = frozenset()
    first_offset: int = _LEAST
    last_offset: int = _MOST
    first_ms: int = _LEAST
    last_ms: int = _MOST

    @property
    def any_key(self) -> bool:
        """Whether any key is selected, so that control records are included."""
        return not (self.groups or self.types)

    def key(self, key: KeyText) -> bool:
        return (not self.groups or key.group in self.groups) and (not self.types or key.type in self.types)

    def overlapping(self, batches: Batches) -> Batches:
        """The batches without those before and after the range of offsets."""
        start = int(np.searchsorted(batches.last_offsets, self.first_offset, side="left"))
        stop = int(np.searchsorted(batches.headers["base_offset"], self.last_offset, side="right"))
        return batches[start : max(start, stop)]

    def batches(self, batches: Batches) -> Batches:
        """The batches of a file within the bounds; a batch has the time of its latest record."""
        some = self.overlapping(batches)
        latest = some.headers["max_timestamp"]
        kept = (latest >= self.first_ms) & (latest <= self.last_ms)
        return Batches(some.data, some.file, some.positions[kept], some.headers[kept])

    def rows(self, columns: Columns) -> Ints:
        within = (columns.offsets >= self.first_offset) & (columns.offsets <= self.last_offset)
        within &= (columns.timestamps >= self.first_ms) & (columns.timestamps <= self.last_ms)
        return np.flatnonzero(within)


def parse_wanted(
    groups: Iterable[str] | None, types: Iterable[str] | None, start: str | None, end: str | None, now_ms: int
) -> RecordFilter:
    """The filter for the options of `kohort log dump`: a whole number is an offset, any other bound a time."""
    first_offset, first_ms = _bound("--from", start, now_ms, _LEAST)
    last_offset, last_ms = _bound("--to", end, now_ms, _MOST)
    return RecordFilter(
        groups=frozenset(groups or ()),
        types=frozenset(map(_type, split_list(types))),
        first_offset=first_offset,
        last_offset=last_offset,
        first_ms=first_ms,
        last_ms=last_ms,
    )


def _bound(option: str, text: str | None, now_ms: int, none: int) -> tuple[int, int]:
    """The offset and the time of a bound; the one that was not given is `none`."""
    if text is None:
        return none, none
    if _OFFSET.fullmatch(text):
        return int(text), none
    try:
        return none, read_moment(text, now_ms)
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
