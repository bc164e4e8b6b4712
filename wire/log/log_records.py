"""The records of one batch, one by one: the plain reader. Every announced length is checked before it is used; a
negative one is null. Source: org.apache.kafka.common.record.DefaultRecord."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

from wire.java_text import JAVA
from wire.log.batch_header import HEADER_BYTES, NO_SEQUENCE, Batch, add_to_sequence
from wire.log.batch_scan import SMALLEST_RECORD
from wire.log.compression import MOST_BYTES, BadCompression, Codec, ExpandsTooFar, decompress
from wire.log.errors import DamagedLog
from wire.log.varints import BadVarint, read_int, read_long, wrap_long

Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One record. `timestamp` in ms since 1970; `sequence` is the producer's, -1 without one."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    sequence: int = NO_SEQUENCE


def records_of(batch: Batch, data: bytes, most: int = MOST_BYTES) -> list[LogRecord]:
    """A batch's records in order. Raises DamagedLog. Raises ExpandsTooFar: to more than `most` bytes."""
    return list(each_record(batch, data, most))


def each_record(batch: Batch, data: bytes, most: int = MOST_BYTES) -> Iterator[LogRecord]:
    """As `records_of`, one at a time. Raises DamagedLog: after the last good record."""
    return _Reader(batch, payload_of(batch, data, most)).records()


def payload_of(batch: Batch, data: bytes, most: int = MOST_BYTES) -> bytes:
    """A batch's records, decompressed. Raises DamagedLog: beyond `MOST_BYTES`. Raises ExpandsTooFar: `most`."""
    compressed = data[batch.position + HEADER_BYTES : batch.position + batch.size]
    # A batch that compaction has emptied has nothing to decompress.
    if batch.codec is Codec.NONE or batch.count == 0:
        return compressed
    try:
        payload = decompress(batch.codec, compressed, most)
    except BadCompression as error:
        if isinstance(error, ExpandsTooFar) and most < MOST_BYTES:
            raise
        raise DamagedLog(batch.file, batch.position, str(error)) from None
    if batch.count * SMALLEST_RECORD > len(payload):
        reason = f"{batch.count} records do not fit the {len(payload)} bytes that the batch decompresses to"
        raise DamagedLog(batch.file, batch.position, reason)
    return payload


class _Reader:
    """Reads a payload. Every announced length is checked before it is used."""

    def __init__(self, batch: Batch, payload: bytes) -> None:
        self._batch = batch
        self._payload = payload
        self._position = 0
        self._end = len(payload)
        self._index = 0

    def records(self) -> Iterator[LogRecord]:
        previous = self._batch.base_offset - 1
        for index in range(self._batch.count):
            self._index = index
            record = self._record()
            if not previous < record.offset <= self._batch.last_offset:
                self._refuse(f"has the offset {record.offset} after {previous}")
            previous = record.offset
            if index + 1 == self._batch.count and self._position != len(self._payload):
                self._refuse(f"is the last, and {len(self._payload) - self._position} bytes are left")
            yield record

    def _record(self) -> LogRecord:
        self._end = len(self._payload)
        size = self._int("length")
        if not 0 <= size <= self._end - self._position:
            self._refuse(f"has a length of {size} where {self._end - self._position} bytes are left")
        self._end = self._position + size
        if self._position == self._end:
            self._refuse("ends before its attributes")
        self._position += 1
        timestamp_delta = self._int("timestamp", read_long)
        offset_delta = self._int("offset")
        key = self._bytes("key")
        value = self._bytes("value")
        count = self._int("header count")
        if not 0 <= 2 * count <= self._end - self._position:
            self._refuse(f"has {count} headers in {self._end - self._position} bytes")
        headers = tuple(self._header() for _ in range(count))
        if self._position != self._end:
            self._refuse(f"is {self._end - self._position} bytes shorter than its length")
        batch = self._batch
        timestamp, sequence = batch.base_timestamp + timestamp_delta, NO_SEQUENCE
        if batch.base_sequence >= 0:
            sequence = add_to_sequence(batch.base_sequence, offset_delta)
        return LogRecord(
            offset=batch.base_offset + offset_delta,
            timestamp=batch.max_timestamp if batch.log_append_time else wrap_long(timestamp),
            key=key,
            value=value,
            headers=headers,
            sequence=sequence,
        )

    def _header(self) -> Header:
        key = self._bytes("header key")
        if key is None:
            self._refuse("has a header without a key")
        return key.decode("utf-8", JAVA), self._bytes("header value")

    def _bytes(self, what: str) -> bytes | None:
        size = self._int(f"{what} length")
        if size < 0:
            return None
        start = self._position
        if size > self._end - start:
            self._refuse(f"has a {what} of {size} bytes where {self._end - start} are left")
        self._position = start + size
        return self._payload[start : self._position]

    def _int(self, what: str, read: Callable[[bytes, int], tuple[int, int]] = read_int) -> int:
        at = self._position
        if at < self._end and (octet := self._payload[at]) < 0x80:  # Most have one byte
            self._position = at + 1
            return (octet >> 1) ^ -(octet & 1)
        try:
            value, position = read(self._payload, at)
        except BadVarint:
            self._refuse(f"has no end to its {what}")
        if position > self._end:
            self._refuse(f"ends before its {what}")
        self._position = position
        return value

    def _refuse(self, reason: str) -> NoReturn:
        batch = self._batch
        reason = f"record {self._index} of the batch at offset {batch.base_offset} {reason}"
        raise DamagedLog(batch.file, batch.position, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDigest:
    """A record with SHA-256 digests instead of its bytes; None if it has no key or no value."""

    offset: int
    timestamp_ms: int  # -1 for none
    is_append_time: bool  # whether the timestamp is the broker's, not the producer's
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordWindow:
    """Records in ascending order, those before the offset separate from the others."""

    before: tuple[RecordDigest, ...] = ()
    after: tuple[RecordDigest, ...] = ()
    from_start: bool  # whether the log has no record before these
    to_end: bool  # whether the log has no record after these


def hashed(record: LogRecord) -> LogRecord:
    """The record with SHA-256 digests instead of its bytes."""
    headers = tuple((name, _sha256(value)) for name, value in record.headers)
    return replace(record, key=_sha256(record.key), value=_sha256(record.value), headers=headers)


def _sha256(data: bytes | None) -> bytes | None:
    return None if data is None else hashlib.sha256(data).digest()
