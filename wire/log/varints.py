"""Variable-length integers of records: seven bits a byte, low bits first, zigzag, read one at a time or at many
positions at once. As in the broker's `ByteUtils`, bits beyond 32 or 64 are dropped."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Octets: TypeAlias = NDArray[np.uint8]

INT_BYTES = 5
LONG_BYTES = 10


class BadVarint(ValueError):
    """The bytes end inside a value, or the value does not end. `lane`: which of many."""

    def __init__(self, lane: int = 0) -> None:
        super().__init__("a variable-length integer does not end")
        self.lane = lane


def read_int(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """The signed 32-bit value at `position`, and the position after it. Raises BadVarint: it does not end."""
    raw, position = _read(data, position, INT_BYTES)
    raw &= 0xFFFFFFFF
    return (raw >> 1) ^ -(raw & 1), position


def read_long(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """The signed 64-bit value at `position`, and the position after it. Raises BadVarint: it does not end."""
    raw, position = _read(data, position, LONG_BYTES)
    raw &= 0xFFFFFFFFFFFFFFFF
    return (raw >> 1) ^ -(raw & 1), position


def encode(value: int) -> bytes:
    """A signed value of at most 64 bits; the same bytes for an int and a long."""
    raw = (value << 1) ^ (value >> 63)
    if raw < 0x80:
        return _ONE_BYTE[raw]
    out = bytearray()
    while raw >= 0x80:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
    return bytes(out)


def wrap_long(value: int) -> int:
    """A sum or difference in Java's 64 bits."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def read_ints(data: Octets, positions: Ints) -> tuple[Ints, Ints]:
    """The int32 values at `positions`, and the positions after them. Raises BadVarint: with the first such lane."""
    raw, after = _read_many(data, positions, INT_BYTES)
    raw &= 0xFFFFFFFF
    return (raw >> 1) ^ -(raw & 1), after


def read_longs(data: Octets, positions: Ints) -> tuple[Ints, Ints]:
    """The signed 64-bit values at `positions`, and the positions after them. Raises BadVarint: as `read_ints`."""
    raw, after = _read_many(data, positions, LONG_BYTES)
    # The shift must fill with zeros, like Java's >>>.
    return ((raw >> 1) & 0x7FFFFFFFFFFFFFFF) ^ -(raw & 1), after


def _read(data: bytes | memoryview, position: int, most: int) -> tuple[int, int]:
    raw = shift = 0
    for octet in data[position : position + most]:
        raw |= (octet & 0x7F) << shift
        position += 1
        if octet < 0x80:
            return raw, position
        shift += 7
    raise BadVarint


def _read_many(data: Octets, positions: Ints, most: int) -> tuple[Ints, Ints]:
    first = _octets(data, positions)
    after = positions + 1
    raw = first.astype(np.int64)
    lanes = np.flatnonzero(first >= 0x80)
    if not len(lanes):
        return raw, after
    raw[lanes] &= 0x7F
    for index in range(1, most):
        octets = _octets(data, after[lanes], lanes)
        raw[lanes] |= (octets & 0x7F).astype(np.int64) << (7 * index)
        after[lanes] += 1
        lanes = lanes[octets >= 0x80]
        if not len(lanes):
            return raw, after
    raise BadVarint(int(lanes[0]))


def _octets(data: Octets, positions: Ints, lanes: Ints | None = None) -> Octets:
    if len(positions) and int(positions.max()) >= len(data):
        lane = int(np.flatnonzero(positions >= len(data))[0])
        raise BadVarint(lane if lanes is None else int(lanes[lane]))
    return data[positions]


_ONE_BYTE = tuple(bytes([value]) for value in range(0x80))
