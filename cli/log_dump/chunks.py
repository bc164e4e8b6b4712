"""Records of segments, some thousand at a time, with their keys and values in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cli.log_dump.plain_commits import Ints, plain_payloads
from cli.log_dump.segment import Segment, damage_of
from cli.log_dump.texts import NULL, KeyText, Texts
from cli.log_dump.wanted import Wanted
from coordinator.model import Problem
from coordinator.storage.batch_header import CONTROL, Batches
from coordinator.storage.batches import Columns, ControlType, DamagedLog, records_of
from coordinator.storage.control_records import MalformedControlRecord, control_type_of, coordinator_epoch
from coordinator.storage.record_codec import MalformedRecord
from coordinator.storage.salvage import Part, readable_columns

ROWS = 4096
"""Of a chunk: as many as a processor's cache holds in all the forms they take."""

NO_KEY = KeyText(NULL, error="the record has no key")
CONTROL_KEY = KeyText(NULL)
"""Of the broker's own marks, whose keys are of another kind."""


class Marker(NamedTuple):
    """A control record: the name of its type and, of COMMIT and ABORT, the transaction coordinator's epoch."""

    type: str
    coordinator_epoch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Records in the order of the log, as columns of equal length. A size of -1 is null, a sequence of -1 none.

    What few records have stands apart, by the record's place in the columns.
    """

    file: str
    batches: Batches
    batch_of: list[int]
    """By place in `batches`."""
    offsets: list[int]
    timestamps: list[int]
    key_sizes: list[int]
    value_sizes: list[int]
    sequences: list[int]
    keys: list[KeyText]
    payloads: list[str]
    markers: dict[int, Marker] = field(default_factory=dict)
    header_keys: dict[int, tuple[str, ...]] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    raw: dict[int, tuple[bytes | None, bytes | None]] = field(default_factory=dict)
    """Key and value of records with an error."""

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def end(self) -> int:
        """The byte behind the last record's batch, in the file."""
        return int(self.batches.ends[self.batch_of[-1]]) if self.batch_of else 0

    @property
    def odd(self) -> list[int]:
        """Places of the records of which something stands apart."""
        return sorted({*self.markers, *self.header_keys, *self.errors})


def chunks_of(segment: Segment, wanted: Wanted, texts: Texts) -> Iterator[Chunk | Problem]:
    """The wanted records of a segment; in the place of what cannot be read, where it stands and why."""
    for part in segment.parts():
        yield from chunks_of_part(segment, part, wanted, texts)


def chunks_of_part(segment: Segment, part: Part, wanted: Wanted, texts: Texts) -> Iterator[Chunk | Problem]:
    """The same of one part."""
    for columns in readable_columns(wanted.overlapping(part.batches)):
        if isinstance(columns, DamagedLog):
            yield damage_of(columns)
            continue
        rows = wanted.rows(columns)
        for start in range(0, len(rows), ROWS):
            reading = _Reading(columns, wanted, texts)
            yield reading.chunk(segment.file, rows[start : start + ROWS])
    problem = segment.damage(part)
    if problem is not None:
        yield problem


class _Reading:
    """Puts the records of one chunk into words."""

    def __init__(self, columns: Columns, wanted: Wanted, texts: Texts) -> None:
        self._columns, self._wanted, self._texts = columns, wanted, texts
        self._markers: dict[int, Marker] = {}
        self._errors: dict[int, str] = {}

    def chunk(self, file: str, rows: Ints) -> Chunk:
        columns, wanted = self._columns, self._wanted
        keys = self._key_texts(rows)
        if not wanted.any_key:
            kept = [place for place, key in enumerate(keys) if wanted.key(key)]
            rows, keys = rows[kept], [keys[place] for place in kept]
        payloads = self._payloads(rows, keys)
        key_starts, key_ends = columns.key_start[rows], columns.key_end[rows]
        starts, ends = columns.value_start[rows], columns.value_end[rows]
        places = columns.batch_of[rows]
        offsets = columns.offsets[rows]
        return Chunk(
            file=file,
            batches=columns.batches,
            batch_of=places.tolist(),
            offsets=offsets.tolist(),
            timestamps=columns.timestamps[rows].tolist(),
            key_sizes=np.where(key_ends < 0, -1, key_ends - key_starts).tolist(),
            value_sizes=np.where(ends < 0, -1, ends - starts).tolist(),
            sequences=_sequences(columns.batches, places, offsets),
            keys=keys,
            payloads=payloads,
            markers=self._markers,
            header_keys=_header_keys(columns, rows),
            errors=self._errors,
            raw={place: (columns.key(rows[place]), columns.value(rows[place])) for place in self._errors},
        )

    def _key_texts(self, rows: Ints) -> list[KeyText]:
        columns = self._columns
        data, remembered, learn = columns.data, self._texts.remembered, self._texts.key
        starts, ends = columns.key_start[rows].tolist(), columns.key_end[rows].tolist()
        keys = [
            remembered(key := data[start:end]) or learn(key) for start, end in zip(starts, ends, strict=True)
        ]
        for place in np.flatnonzero(columns.key_end[rows] < 0).tolist():
            keys[place] = NO_KEY
        for place in np.flatnonzero(_headers(columns, rows)["attributes"] & CONTROL).tolist():
            keys[place] = CONTROL_KEY
        return keys

    def _payloads(self, rows: Ints, keys: Sequence[KeyText]) -> list[str]:
        """The values; beside it, what is odd."""
        columns, texts = self._columns, self._texts
        starts, ends = columns.value_start[rows], columns.value_end[rows]
        payloads = plain_payloads(columns.data, starts, ends, texts.topic_id)
        others = [
            place
            for place, (key, payload) in enumerate(zip(keys, payloads, strict=True))
            if payload == NULL or not key.is_commit
        ]
        for place in others:
            payloads[place] = self._payload(
                place, keys[place], int(starts[place]), int(ends[place]), int(rows[place])
            )
        return payloads

    def _payload(self, place: int, key: KeyText, start: int, end: int, row: int) -> str:
        error = key.error
        if key is CONTROL_KEY:
            self._mark(place, self._columns.key(row), self._columns.value(row))
        elif end >= 0 and error is None and key.type is not None:
            try:
                return self._texts.payload(key.type, self._columns.data, start, end)
            except MalformedRecord as problem:
                error = str(problem)
        if error is not None:
            self._errors[place] = error
        return NULL

    def _mark(self, place: int, key: bytes | None, value: bytes | None) -> None:
        try:
            kind = control_type_of(key or b"")
            ends = kind in (ControlType.ABORT, ControlType.COMMIT)
            self._markers[place] = Marker(kind.name, coordinator_epoch(value) if ends else None)
        except MalformedControlRecord as error:
            self._markers[place] = Marker(ControlType.UNKNOWN.name, None)
            self._errors[place] = str(error)


def _headers(columns: Columns, rows: Ints) -> NDArray[np.void]:
    """The header of each record's batch."""
    return columns.batches.headers[columns.batch_of[rows]]


def _sequences(batches: Batches, places: Ints, offsets: Ints) -> list[int]:
    base = batches.headers["base_sequence"][places].astype(np.int64)
    # They begin again at 0 behind 2^31 - 1.
    own = (base + offsets - batches.headers["base_offset"][places]) & 0x7FFFFFFF
    sequences: list[int] = np.where(base < 0, -1, own).tolist()
    return sequences


def _header_keys(columns: Columns, rows: Ints) -> dict[int, tuple[str, ...]]:
    """The keys of the headers, of records that have any, by place; no record that a broker writes here has."""
    ends, starts = columns.value_end[rows], columns.value_start[rows]
    counts = np.frombuffer(columns.data, dtype=np.uint8)[np.where(ends < 0, starts, ends)]
    places: dict[int, dict[int, int]] = {}
    for place in np.flatnonzero(counts).tolist():
        row = rows[place]
        places.setdefault(int(columns.batch_of[row]), {})[int(columns.offsets[row])] = place
    return {
        by_offset[record.offset]: tuple(key for key, _ in record.headers)
        for index, by_offset in places.items()
        for record in records_of(columns.batches[index], columns.batches.data)
        if record.offset in by_offset
    }
