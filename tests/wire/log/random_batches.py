"""Batches of every shape that Kafka writes, by chance from a seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from wire.log.batch_header import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
    Batch,
    add_to_sequence,
)
from wire.log.batch_writer import rewrite_batch
from wire.log.compression import Codec
from wire.log.control_records import ControlType, end_of_transaction
from wire.log.log_records import LogRecord

NOW_MS = 1_700_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    batch: Batch
    records: list[LogRecord]
    encoded: bytes


def made_log(rng: Random, count: int, *, start: int = 0, most_records: int = 40) -> list[Made]:
    """`count` batches of all kinds one after the other, with gaps in the offsets as compaction leaves them."""
    log = []
    offset = start
    for _ in range(count):
        made = (
            made_control_batch(rng, offset) if rng.random() < 0.1 else made_batch(rng, offset, most_records)
        )
        log.append(made)
        offset = made.batch.next_offset + (rng.randrange(1, 100) if rng.random() < 0.2 else 0)
    return log


def made_batch(rng: Random, base_offset: int, most_records: int = 40) -> Made:
    """A batch of data: any codec and attributes, compacted or whole, perhaps emptied."""
    deltas = _offset_deltas(rng, rng.choice([1, 1, 2, rng.randrange(1, most_records + 1)]))
    last_offset_delta = deltas[-1] + (rng.randrange(0, 3) if rng.random() < 0.2 else 0)
    if rng.random() < 0.05:
        deltas = []
    attributes: int = rng.choice(list(Codec)) if deltas else Codec.NONE
    attributes |= rng.choice([0, 0, 0, LOG_APPEND_TIME]) | rng.choice([0, 0, TRANSACTIONAL])
    attributes |= rng.choice([0, 0, 0, DELETE_HORIZON]) if deltas else 0
    by_producer = bool(attributes & TRANSACTIONAL) or rng.random() < 0.2
    base_sequence = rng.choice([0, rng.randrange(1 << 31), (1 << 31) - 1]) if by_producer else NO_SEQUENCE
    timestamps = [NOW_MS + rng.randrange(-(1 << 20), 1 << 20) for _ in deltas]
    max_timestamp = max(timestamps, default=NOW_MS)
    if attributes & LOG_APPEND_TIME:
        timestamps = [max_timestamp] * len(deltas)
    first_timestamp = timestamps[0] if timestamps else -1
    batch = Batch(
        base_offset=base_offset,
        leader_epoch=rng.randrange(100),
        attributes=attributes,
        last_offset_delta=last_offset_delta,
        base_timestamp=NOW_MS - 7 if attributes & DELETE_HORIZON else first_timestamp,
        max_timestamp=max_timestamp,
        producer_id=rng.randrange(1 << 40) if by_producer else NO_PRODUCER_ID,
        producer_epoch=rng.randrange(1 << 15) if by_producer else NO_PRODUCER_EPOCH,
        base_sequence=base_sequence,
        count=len(deltas),
        position=0,
        size=0,
    )
    records = [
        _record(rng, batch, delta, timestamp) for delta, timestamp in zip(deltas, timestamps, strict=True)
    ]
    return Made(batch=batch, records=records, encoded=rewrite_batch(batch, records))


def made_control_batch(rng: Random, base_offset: int) -> Made:
    key, value = end_of_transaction(
        rng.choice([ControlType.ABORT, ControlType.COMMIT]), rng.randrange(1 << 20)
    )
    batch = Batch(
        base_offset=base_offset,
        leader_epoch=rng.randrange(100),
        attributes=CONTROL | TRANSACTIONAL,
        last_offset_delta=0,
        base_timestamp=NOW_MS,
        max_timestamp=NOW_MS,
        producer_id=rng.randrange(1 << 40),
        producer_epoch=rng.randrange(1 << 15),
        base_sequence=NO_SEQUENCE,
        count=1,
        position=0,
        size=0,
    )
    records = [LogRecord(offset=base_offset, timestamp=NOW_MS, key=key, value=value)]
    return Made(batch=batch, records=records, encoded=rewrite_batch(batch, records))


def _offset_deltas(rng: Random, count: int) -> list[int]:
    gaps = [0] + [1 if rng.random() < 0.9 else rng.randrange(2, 300) for _ in range(count - 1)]
    gaps[0] = rng.choice([0, 0, 0, rng.randrange(100)])
    deltas = []
    total = 0
    for gap in gaps:
        total += gap
        deltas.append(total)
    return deltas


def _record(rng: Random, batch: Batch, delta: int, timestamp: int) -> LogRecord:
    headers = [(f"h{index}", _content(rng)) for index in range(rng.choice([0, 0, 0, 1, 3]))]
    return LogRecord(
        offset=batch.base_offset + delta,
        timestamp=timestamp,
        key=_content(rng),
        value=_content(rng),
        headers=tuple(headers),
        sequence=add_to_sequence(batch.base_sequence, delta) if batch.base_sequence >= 0 else NO_SEQUENCE,
    )


def _content(rng: Random) -> bytes | None:
    size = next(_sizes(rng))
    if size is None:
        return None
    # Some of it repeats itself, so that codecs have something to do.
    return rng.randbytes(size // 2) + bytes([rng.randrange(256)]) * (size - size // 2)


def _sizes(rng: Random) -> Iterator[int | None]:
    while True:
        kind = rng.random()
        if kind < 0.1:
            yield None
        elif kind < 0.2:
            yield 0
        elif kind < 0.9:
            yield rng.randrange(1, 130)
        else:
            yield rng.randrange(130, 20_000)
