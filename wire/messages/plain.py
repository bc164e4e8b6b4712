"""Readers of messages of flexible versions as plain tuples, without kio's classes.

A class of kio takes a third of a millisecond to be made and as long again to be looked into: more than the answers
take that `kohort list` waits for. What is read this way, tests compare with what kio makes of the same bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from wire.messages.primitives import (
    FIXED_READERS,
    DecodeError,
    Reader,
    array,
    byte_string,
    compact_string,
    fixed,
    int32_array,
    length_reader,
    read_tags,
)

_LENGTH = length_reader(flexible=True, code="i")

TEXT = compact_string(nullable=False)
NULLABLE_TEXT = compact_string(nullable=True)
BYTES = byte_string(_LENGTH, nullable=False, text=False)
INT8, INT16, INT32, INT64, UINT16 = map(fixed, "bhiqH")
INT32S = int32_array(_LENGTH, nullable=False)
BOOL = FIXED_READERS["bool"]
UUID_OR_NONE = FIXED_READERS["uuid"]
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


def named(tagged: Mapping[int, tuple[str, Reader, Any]] | None = None, /, **fields: Reader) -> Reader:
    """A message of these fields under the names that kio gives them, in the order of the wire.

    `tagged`: by number, name, reader, and the value of a field that is not there; others are skipped.
    """
    absent = {name: default for name, _, default in (tagged or {}).values()}
    readers = {tag: (name, reader) for tag, (name, reader, _) in (tagged or {}).items()}
    plain = tuple(fields.items())

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        values = absent.copy()
        for name, field in plain:
            values[name], position = field(buffer, position)
        position = read_tags(buffer, position, readers, values)
        return SimpleNamespace(**values), position

    return read


def many(element: Reader, *, nullable: bool = False) -> Reader:
    """An array."""
    return array(_LENGTH, element, nullable=nullable)


def past_tags(buffer: bytes, position: int) -> int:
    """Behind the tagged fields. :raises DecodeError: when they end behind the buffer"""
    if not buffer[position]:
        return position + 1
    return read_tags(buffer, position, {}, {})


def read_answer(body: Reader, answer: bytes, *, bare: bool = False) -> tuple[Any, int]:
    """A whole answer, from the tagged fields of its header on (`bare`: it has none), and where it ends.

    :raises DecodeError: when the bytes do not hold it
    """
    try:
        return body(answer, 0 if bare else past_tags(answer, 0))
    except (IndexError, struct.error):
        raise DecodeError(f"the answer is cut off: {len(answer)} bytes do not hold it") from None
