"""Records and batches as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from cli.render.document import Cell, columns
from cli.times import format_moment
from cli.verbs.log_dump.chunks import Chunk, Read
from cli.verbs.log_dump.lines import TIMESTAMP_TYPES
from wire.log.batch_header import Batch, Batches
from wire.log.offset_records import OFFSET_COMMIT
from wire.messages.schemas.record_types import RECORD_TYPES

_Content: TypeAlias = tuple[str | None, str | None, str | None]
"""Of a record: its type, its key and its value."""

DELETED = "<DELETE>"
"""A tombstone, in the words of kafka-dump-log."""

RECORD_COLUMNS = columns(
    "#OFFSET",
    "TIMESTAMP",
    "#KEY-SIZE",
    "#VALUE-SIZE",
    "PRODUCER",
    "#SEQUENCE",
    "TYPE",
    "KEY",
    "PAYLOAD",
)
BATCH_COLUMNS = columns(
    "#BASE-OFFSET",
    "#LAST-OFFSET",
    "#COUNT",
    "#POSITION",
    "#SIZE",
    "TIMESTAMP-TYPE",
    "MAX-TIMESTAMP",
    "#LEADER-EPOCH",
    "PRODUCER",
    "#SEQUENCE",
    "KIND",
    "CODEC",
    "CRC",
)


def record_rows(chunk: Chunk) -> Iterator[Sequence[Cell]]:
    """A row per record."""
    producers = {place: producer(chunk.batches[place]) for place in dict.fromkeys(chunk.batch_of.tolist())}
    contents = _contents(chunk)
    rows = zip(
        chunk.offsets.tolist(),
        chunk.timestamps.tolist(),
        chunk.key_sizes.tolist(),
        chunk.value_sizes.tolist(),
        chunk.batch_of.tolist(),
        chunk.sequences.tolist(),
        strict=True,
    )
    for place, (offset, timestamp, key_size, value_size, batch, sequence) in enumerate(rows):
        kind, key, value = contents[place]
        yield (
            offset,
            format_moment(timestamp),
            _number(key_size),
            _number(value_size),
            producers[batch],
            _number(sequence),
            kind,
            key,
            value,
        )


def _contents(chunk: Chunk) -> dict[int, _Content]:
    """By the record's place."""
    contents = {place: _content(read, chunk.value_sizes[place] < 0) for place, read in chunk.others.items()}
    name = RECORD_TYPES[OFFSET_COMMIT].name
    for commits in chunk.commits:
        texts = zip(commits.places.tolist(), commits.key_texts(), commits.payloads(), strict=True)
        contents.update((place, (name, key, payload)) for place, key, payload in texts)
    return contents


def _content(read: Read, tombstone: bool) -> _Content:
    value: str | None = DELETED if tombstone else read.payload
    key = None if read.key.type is None else read.key.text
    marker = read.marker
    if marker is not None:
        value = None if marker.coordinator_epoch is None else f"coordinator epoch {marker.coordinator_epoch}"
    if read.error is not None:
        value = f"cannot be read: {read.error}"
    return marker.type if marker else _kind(read.key.type), key, value


def _kind(number: int | None) -> str | None:
    if number is None:
        return None
    return RECORD_TYPES[number].name if number in RECORD_TYPES else f"unknown ({number})"


def batch_rows(batches: Batches) -> Iterator[Sequence[Cell]]:
    """A row per batch."""
    for batch, checksum in zip(batches, batches.headers["crc"].tolist(), strict=True):
        yield (
            batch.base_offset,
            batch.last_offset,
            batch.count,
            batch.position,
            batch.size,
            TIMESTAMP_TYPES[batch.log_append_time],
            format_moment(batch.max_timestamp),
            batch.leader_epoch,
            producer(batch),
            _number(batch.base_sequence),
            "control" if batch.is_control else "data",
            batch.codec.name.lower(),
            f"{checksum:08x}",
        )


def producer(batch: Batch) -> str | None:
    """Id and epoch of the producer, and whether it was in a transaction."""
    if batch.producer_id < 0 and not batch.is_transactional:
        return None
    return f"{batch.producer_id}:{batch.producer_epoch}" + (
        " transactional" if batch.is_transactional else ""
    )


def _number(value: int) -> int | None:
    return None if value == -1 else value
