"""Batches with content that Kafka never writes, but with a valid checksum."""

import struct

from crc32c import crc32c

from wire.log.batch_header import ATTRIBUTES_AT, HEADER, HEADER_BYTES, LOG_OVERHEAD
from wire.log.compression import Codec, compress

_CRC_AT = 17
_LENGTH_AT = 8


def with_payload(
    payload: bytes,
    *,
    count: int,
    base_offset: int = 0,
    last_offset_delta: int | None = None,
    codec: Codec = Codec.NONE,
    compressed: bytes | None = None,
) -> bytes:
    """A batch around `payload`, or around `compressed` as it is, at timestamp 5."""
    body = compress(codec, payload) if compressed is None else compressed
    delta = count - 1 if last_offset_delta is None else last_offset_delta
    header = struct.pack(">qiibIhiqqqhii", base_offset, 0, 0, 2, 0, codec, delta, 5, 5, -1, -1, -1, count)
    return sealed(header + body)


def with_field(batch: bytes, field: str, value: int) -> bytes:
    """The batch with another value in a field of its header, and a valid length and checksum."""
    header = bytearray(batch[:HEADER_BYTES])
    assert HEADER.fields is not None
    kind, position = HEADER.fields[field][:2]
    header[position : position + kind.itemsize] = value.to_bytes(
        kind.itemsize, "big", signed=kind.kind == "i"
    )
    return sealed(bytes(header) + batch[HEADER_BYTES:])


def sealed(batch: bytes) -> bytes:
    """The batch with the length and the checksum that belong to its bytes."""
    length = struct.pack(">i", len(batch) - LOG_OVERHEAD)
    crc = struct.pack(">I", crc32c(batch[ATTRIBUTES_AT:]))
    return batch[:_LENGTH_AT] + length + batch[_LENGTH_AT + 4 : _CRC_AT] + crc + batch[ATTRIBUTES_AT:]
