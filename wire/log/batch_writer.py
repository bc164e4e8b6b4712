"""Writing record batches as a producer or a coordinator does."""

import struct
from collections.abc import Sequence
from dataclasses import replace

from wire.log.batch_header import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    Batch,
)
from wire.log.checksum import crc32c
from wire.log.compression import Codec, compress
from wire.log.log_records import Header, LogRecord
from wire.log.varints import encode, wrap_long

_FRONT = struct.Struct(">qiibI")
_CHECKED = struct.Struct(">hiqqqhii")


def encode_batch(
    records: Sequence[tuple[bytes | None, bytes | None]],
    *,
    base_offset: int,
    timestamp: int,
    leader_epoch: int = 0,
    codec: Codec = Codec.NONE,
    log_append_time: bool = False,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
) -> bytes:
    """A batch on consecutive offsets, all with the same `timestamp` (ms), perhaps a producer's."""
    attributes = codec | log_append_time * LOG_APPEND_TIME | transactional * TRANSACTIONAL | control * CONTROL
    batch = Batch(
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        attributes=attributes,
        last_offset_delta=len(records) - 1,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        count=len(records),
        position=0,
        size=0,
    )
    payload = [_encode_record(0, index, key, value, ()) for index, (key, value) in enumerate(records)]
    return _assemble(batch, b"".join(payload), len(records))


def rewrite_batch(batch: Batch, records: Sequence[LogRecord]) -> bytes:
    """The batch with some of its records, as compaction writes it (`DefaultRecordBatch.writeEmptyHeader`)."""
    if not records:
        attributes = batch.attributes & ~(CODEC_MASK | DELETE_HORIZON)
        return _assemble(replace(batch, attributes=attributes, base_timestamp=NO_TIMESTAMP), b"", 0)
    payload = [
        _encode_record(
            wrap_long(record.timestamp - batch.base_timestamp),
            record.offset - batch.base_offset,
            record.key,
            record.value,
            record.headers,
        )
        for record in records
    ]
    return _assemble(batch, b"".join(payload), len(records))


def _assemble(batch: Batch, payload: bytes, count: int) -> bytes:
    compressed = compress(Codec(batch.attributes & CODEC_MASK), payload)
    checked = _CHECKED.pack(
        batch.attributes,
        batch.last_offset_delta,
        batch.base_timestamp,
        batch.max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        count,
    )
    crc = crc32c(compressed, crc32c(checked))
    length = HEADER_BYTES - LOG_OVERHEAD + len(compressed)
    front = _FRONT.pack(batch.base_offset, length, batch.leader_epoch, MAGIC, crc)
    return b"".join((front, checked, compressed))


def _encode_record(
    timestamp_delta: int, offset_delta: int, key: bytes | None, value: bytes | None, headers: Sequence[Header]
) -> bytes:
    parts = [b"\0", encode(timestamp_delta), encode(offset_delta), *_field(key), *_field(value)]
    parts.append(encode(len(headers)))
    for name, content in headers:
        parts += _field(name.encode())
        parts += _field(content)
    body = b"".join(parts)
    return encode(len(body)) + body


def _field(content: bytes | None) -> tuple[bytes, bytes]:
    return (encode(-1), b"") if content is None else (encode(len(content)), content)
