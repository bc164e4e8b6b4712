"""Readers of messages of flexible versions as plain tuples, without kio's classes.

A class of kio takes a third of a millisecond to be made and as long again to be looked into: more than the answers
take that `kohort list` waits for. What is read this way, tests compare with what kio makes of the same bytes.
"""

from __future__ import annotations

import struct
from typing import Any

from coordinator.wire.primitives import (
    FIXED_READERS,
    DecodeError,
    Reader,
    array,
    byte_string,
    compact_string,
    fixed,
    int32_array,
    length_reader,
    read_uvarint,
)

_LENGTH = length_reader(flexible=True, code="i")

TEXT = compact_string(nullable=False)
NULLABLE_TEXT = compact_string(nullable=True)
BYTES = byte_string(_LENGTH, nullable=False, text=False)
INT8, INT16, INT32, INT64, UINT16 = map(fixed, "bhiqH")
INT32S = int32_array(_LENGTH, nullable=False)
BOOL = FIXED_READERS["bool"]
UUID = FIXED_READERS["uuid"]
ERROR_CODE = FIXED_READERS["error_code"]


def record(*fields: Reader) -> Reader:
    """A message of these fields as a tuple; its tagged fields are skipped."""

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        values = []
        for field in fields:
            value, position = field(buffer, position)
            values.append(value)
        return tuple(values), past_tags(buffer, position)

    return read


def many(element: Reader, *, nullable: bool = False) -> Reader:
    """An array."""
    return array(_LENGTH, element, nullable=nullable)


def past_tags(buffer: bytes, position: int) -> int:
    """Behind the tagged fields. :raises DecodeError: when they end behind the buffer"""
    count, position = read_uvarint(buffer, position)
    for _ in range(count):
        _, position = read_uvarint(buffer, position)
        size, position = read_uvarint(buffer, position)
        position += size
        if not size >= 0 or position > len(buffer):
            raise DecodeError(f"a tagged field of {size} bytes ends behind the answer")
    return position


def read_answer(body: Reader, answer: bytes) -> tuple[Any, int]:
    """A whole answer, from the tagged fields of its header on, and where it ends.

    :raises DecodeError: when the bytes do not hold it
    """
    try:
        return body(answer, past_tags(answer, 0))
    except (IndexError, struct.error):
        raise DecodeError(f"the answer is cut off: {len(answer)} bytes do not hold it") from None
