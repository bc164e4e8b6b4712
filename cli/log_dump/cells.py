"""Records and batches as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.log_dump.chunks import Chunk
from cli.log_dump.lines import TIMESTAMP_TYPES
from cli.render.document import Cell, columns
from cli.times import format_moment
from coordinator.storage.batch_header import Batch, Batches
from coordinator.storage.schemas.record_types import RECORD_TYPES

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
    producers = {place: producer(chunk.batches[place]) for place in dict.fromkeys(chunk.batch_of)}
    for place, key in enumerate(chunk.keys):
        kind, shown = _kind(chunk, place)
        yield (
            chunk.offsets[place],
            format_moment(chunk.timestamps[place]),
            _number(chunk.key_sizes[place]),
            _number(chunk.value_sizes[place]),
            producers[chunk.batch_of[place]],
            _number(chunk.sequences[place]),
            kind,
            None if key.type is None else key.text,
            shown,
        )


def _kind(chunk: Chunk, place: int) -> tuple[str | None, str | None]:
    """What a record is, and its value."""
    marker, error = chunk.markers.get(place), chunk.errors.get(place)
    shown: str | None = DELETED if chunk.value_sizes[place] < 0 else chunk.payloads[place]
    if error is not None:
        shown = f"cannot be read: {error}"
    elif marker is not None:
        epoch = marker.coordinator_epoch
        shown = None if epoch is None else f"coordinator epoch {epoch}"
    if marker is not None:
        return marker.type, shown
    number = chunk.keys[place].type
    if number is None:
        return None, shown
    return RECORD_TYPES[number].name if number in RECORD_TYPES else f"unknown ({number})", shown


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
