"""The first record of a batch of which only the beginning is read, because it is very long."""

from contextlib import suppress
from dataclasses import dataclass

from wire.log.batch_header import CODEC_MASK, HEADER_BYTES, MAGIC, Batch, batch_at
from wire.log.compression import Codec, beginning_of
from wire.log.log_records import LogRecord
from wire.log.varints import BadVarint, read_int, read_long

_MAGIC_AT = 16
_MOST_AFTER = 1024  # The most bytes of an answer after its only batch


@dataclass(frozen=True, slots=True)
class CutBatch:
    """A batch, and its first record with the first bytes of its value; None if not even its key was read whole.
    `value_size` is that of the whole value."""

    batch: Batch
    first: LogRecord | None = None
    value_size: int = 0


def cut_batch(data: bytes, size: int, offset: int) -> CutBatch | None:
    """The batch with an offset, somewhere in the first bytes of an answer of `size` bytes that ends with it; None if it
    is not there. Its checksum cannot be verified."""
    for start in range(len(data) - HEADER_BYTES):
        if data[start + _MAGIC_AT] == MAGIC:
            batch = batch_at(data, start)
            fits = 0 <= size - start - batch.size <= _MOST_AFTER
            fits = fits and batch.attributes & CODEC_MASK <= max(Codec)
            if fits and 0 <= batch.base_offset <= offset <= batch.last_offset:
                return with_first(batch, data[start + HEADER_BYTES :])
    return None


def with_first(batch: Batch, payload: bytes) -> CutBatch:
    """`payload`: all or the first bytes after the batch's header, perhaps compressed."""
    data = beginning_of(batch.codec, payload)
    with suppress(BadVarint):
        _, position = read_int(data, 0)
        delta_ms, position = read_long(data, position + 1)
        delta, position = read_int(data, position)
        key_size, start = read_int(data, position)
        end = start + max(key_size, 0)
        value_size, position = read_int(data, end)
        record = LogRecord(
            offset=batch.base_offset + delta,
            timestamp=batch.max_timestamp if batch.log_append_time else batch.base_timestamp + delta_ms,
            key=None if key_size < 0 else data[start:end],
            value=None if value_size < 0 else data[position : position + value_size],
        )
        return CutBatch(batch, record, max(value_size, 0))
    return CutBatch(batch)
