"""The codecs of record batches, framed as Kafka's clients and brokers frame them. `snappy`: blocks after the header
of snappy-java (the Java client, Sarama), or a single raw block (librdkafka, franz-go); `lz4`: frames with
independent blocks. The decompressed size is bounded, because a few kilobytes can announce or contain gigabytes.
Source: org.apache.kafka.common.compress, and xerial's SnappyOutputStream for the header."""

import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import IntEnum

import cramjam
import numpy as np
import xxhash

MOST_BYTES = 100 << 20
"""The largest decompressed size of a batch's records. A broker's `message.max.bytes` is 1 MB by default and
rarely above 20, and a batch of group metadata is not larger than a segment of its topic, 100 MB."""

BEGINNING_BYTES = 64 * 1024
"""How much is decompressed of records that are only shown in part."""
_BEGINNING_BLOCKS = 8 << 20  # Room for two blocks: they are written whole, and have up to 4 MB with lz4


class Codec(IntEnum):
    """Compression types by their number in a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class BadCompression(ValueError):
    """The bytes cannot be decompressed."""


class ExpandsTooFar(BadCompression):
    """The bytes decompress to more than the bound."""


def decompress(codec: Codec, data: bytes | memoryview, most: int = MOST_BYTES) -> bytes:
    """A batch's records. Raises BadCompression. Raises ExpandsTooFar: to more than `most` bytes."""
    if codec is Codec.NONE:
        return bytes(data)
    if codec is Codec.SNAPPY:
        return _snappy(bytes(data), most)
    try:
        return _bounded(_INTO[codec], data, most)
    except cramjam.DecompressionError as error:
        raise BadCompression(f"{codec.name.lower()} data of {len(data)} bytes: {error}") from None


def beginning_of(codec: Codec, data: bytes) -> bytes:
    """The first bytes of a batch's records, of which `data` are all or the first ones; at most `BEGINNING_BYTES`, and
    none if these are not enough to decompress any (a single block of snappy)."""
    if codec is Codec.NONE:
        return data[:BEGINNING_BYTES]
    buffer = np.empty(_BEGINNING_BLOCKS, dtype=np.uint8)
    view = cramjam.Buffer(buffer.data, copy=False)
    with suppress(cramjam.DecompressionError, BadCompression):
        if codec is not Codec.SNAPPY:
            _INTO[codec](data, view)
        elif data.startswith(_SNAPPY_MAGIC):
            for block in _framed(data):
                view.write(_snappy(block, len(buffer) - view.tell()))
    return buffer[: min(view.tell(), BEGINNING_BYTES)].tobytes()


def compress(codec: Codec, data: bytes) -> bytes:
    """`data` in the framing of a Java client with default levels."""
    if codec is Codec.GZIP:
        return bytes(cramjam.gzip.compress(data))
    if codec is Codec.SNAPPY:
        return _SNAPPY_HEADER + b"".join(_snappy_blocks(data))
    if codec is Codec.LZ4:
        return b"".join([_LZ4_HEADER, *_lz4_blocks(data), _LZ4_END])
    if codec is Codec.ZSTD:
        return bytes(cramjam.zstd.compress(data, level=_ZSTD_LEVEL))
    return data


_SNAPPY_MAGIC = b"\x82SNAPPY\0"
_SNAPPY_HEADER = _SNAPPY_MAGIC + struct.pack(">ii", 1, 1)
_SNAPPY_BLOCK = 32 << 10
_LENGTH = struct.Struct(">I")

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
# Version 1, independent blocks, no checksums; blocks of at most 64 KiB. Java reads no other block mode.
_LZ4_DESCRIPTOR = b"\x60\x40"
_LZ4_HEADER = _LZ4_MAGIC + _LZ4_DESCRIPTOR + bytes([xxhash.xxh32_intdigest(_LZ4_DESCRIPTOR) >> 8 & 0xFF])
_LZ4_END = bytes(4)
_LZ4_BLOCK = 64 << 10
_LZ4_STORED = 1 << 31

_ZSTD_LEVEL = 3

_INTO = {
    Codec.GZIP: cramjam.gzip.decompress_into,
    Codec.LZ4: cramjam.lz4.decompress_into,
    Codec.ZSTD: cramjam.zstd.decompress_into,
}


def _bounded(into: Callable[..., int], data: bytes | memoryview, most: int) -> bytes:
    # Pages of the buffer cost nothing until they are written to; the library stops at its end.
    buffer = np.empty(most, dtype=np.uint8)
    try:
        size = into(data, buffer)
    except cramjam.DecompressionError as error:
        if "failed to write whole buffer" in str(error):
            raise ExpandsTooFar(f"{len(data)} bytes expand to more than {most}") from None
        raise
    return buffer[:size].tobytes()


def _snappy(data: bytes, most: int) -> bytes:
    blocks = list(_framed(data)) if data.startswith(_SNAPPY_MAGIC) else [data]
    sizes = [_size_of(block) for block in blocks]
    if sum(sizes) > most:
        raise ExpandsTooFar(f"snappy data announces {sum(sizes)} bytes, {most} are allowed")
    buffer = np.empty(sum(sizes), dtype=np.uint8)
    end = 0
    for block, size in zip(blocks, sizes, strict=True):
        start, end = end, end + size
        try:
            cramjam.snappy.decompress_raw_into(block, buffer[start:end].data)
        except cramjam.DecompressionError as error:
            raise BadCompression(f"a snappy block of {len(block)} bytes: {error}") from None
    return buffer.tobytes()


def _framed(data: bytes) -> Iterator[bytes]:
    """The blocks after each header: concatenated streams count as one."""
    position = 0
    while position < len(data):
        if data.startswith(_SNAPPY_MAGIC, position):
            position += len(_SNAPPY_HEADER)
            continue
        start = position + _LENGTH.size
        if start > len(data):
            raise BadCompression(f"snappy data is cut off at byte {position}")
        position = start + _LENGTH.unpack_from(data, position)[0]
        if position > len(data):
            raise BadCompression(f"a snappy block of {position - start} bytes has {len(data) - start} left")
        yield data[start:position]


def _size_of(block: bytes) -> int:
    try:
        return int(cramjam.snappy.decompress_raw_len(block))
    except cramjam.DecompressionError as error:
        raise BadCompression(f"a snappy block of {len(block)} bytes: {error}") from None


def _snappy_blocks(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _SNAPPY_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _SNAPPY_BLOCK]))
        yield _LENGTH.pack(len(block))
        yield block


def _lz4_blocks(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _LZ4_BLOCK):
        plain = data[start : start + _LZ4_BLOCK]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        is_smaller = len(block) < len(plain)
        yield struct.pack("<I", len(block) if is_smaller else len(plain) | _LZ4_STORED)
        yield block if is_smaller else plain
