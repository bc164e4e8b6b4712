"""Validation of the records of a produce request, by a broker's rules: one batch of format v2, at the offsets 0, 1,
2 …, with the right checksum and the announced records. Source: ProduceRequest.validateRecords,
UnifiedLog.analyzeAndValidateRecords, LogValidator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from struct import Struct

import numpy as np

from coordinator.errors import RequestRefused
from coordinator.partitions.settings import RecordSettings
from wire.errors import ErrorCode
from wire.log.batch_header import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    Batch,
    Batches,
    batch_at,
)
from wire.log.batch_writer import rewrite_batch
from wire.log.checksum import crc32c
from wire.log.columns import columns_of
from wire.log.compression import MOST_BYTES, BadCompression, Codec, ExpandsTooFar
from wire.log.errors import DamagedLog
from wire.log.log_records import records_of
from wire.log.varints import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRecord:
    """A rejected record: its index in the batch, and the reason."""

    index: int
    message: str


class RecordsRefused(RequestRefused):
    """A batch is not appended; the rejected records are sent to the client too."""

    def __init__(
        self, code: ErrorCode, message: str | None = None, records: Sequence[RefusedRecord] = ()
    ) -> None:
        super().__init__(code, message)
        self.records = records


ZSTD_SINCE = 7  # the first Produce version in which batches may be compressed with zstd (KIP-110)
FEW_RECORDS = 32  # up to this many records are read faster one by one than as columns
MOST_RECORDS = 1 << 20
"""A batch of a megabyte can have more only if they are empty and equal. Producers split a batch that is too large."""
MOST_SHOWN = 3

_LENGTH = Struct(">i")
_LENGTH_AT = 8
_MAGIC_AT = 16
_LEAST_LENGTH = 14  # of magic 0, the smallest batch of any format (LegacyRecord.RECORD_OVERHEAD_V0)
_BASE_OFFSET = Struct(">q")
_LEADER_EPOCH = Struct(">i")
_LEADER_EPOCH_AT = 12
_CRC = Struct(">I")
_CRC_AT = 17
_ATTRIBUTES = Struct(">h")
_MAX_TIMESTAMP = Struct(">q")
_MAX_TIMESTAMP_AT = 35


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    """The facts of a batch's records that are validated."""

    timestamps: Ints
    keyless: Ints  # the indexes of records without a key


def single_batch(records: bytes | None, version: int) -> bytes:
    """The only batch in the `records` of a Produce; an incomplete rest is cut off. Raises RequestRefused."""
    records = records or b""
    sizes = list(_batch_sizes(records))
    if not sizes or records[_MAGIC_AT] != MAGIC:
        raise RequestRefused(ErrorCode.INVALID_RECORD)
    if sizes[0] < HEADER_BYTES:
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR)
    if version < ZSTD_SINCE and batch_at(records).attributes & CODEC_MASK == Codec.ZSTD:
        raise RequestRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    if len(sizes) > 1:
        raise RequestRefused(ErrorCode.INVALID_RECORD)
    return records[: sizes[0]]


def accept(
    records: bytes, partition: str, settings: RecordSettings, now_ms: int, most: int = MOST_BYTES
) -> bytearray:
    """A batch as it can be appended, except for its offset and leader epoch. `partition` is for messages. Raises
    RecordsRefused. Raises ExpandsTooFar: reading or compressing it is more work than for `most` bytes."""
    if len(records) > settings.max_message_bytes and records[:8] == bytes(8):
        raise RecordsRefused(ErrorCode.MESSAGE_TOO_LARGE)
    batch = batch_at(records)
    _check_header(batch, records)
    recompresses = settings.compression_codec not in (None, batch.codec)
    if recompresses and len(records) > most:
        raise ExpandsTooFar
    seen = _read(batch, records, most)
    _check_records(batch, seen, partition, settings, now_ms)
    accepted = bytearray(records)
    if recompresses:
        attributes = batch.attributes & ~CODEC_MASK | (settings.compression_codec or Codec.NONE)
        accepted = bytearray(rewrite_batch(replace(batch, attributes=attributes), records_of(batch, records)))
        if len(accepted) > settings.max_message_bytes:
            raise RecordsRefused(ErrorCode.MESSAGE_TOO_LARGE)
    latest = now_ms if settings.log_append_time else int(seen.timestamps.max(initial=NO_TIMESTAMP))
    if (latest, settings.log_append_time) != (batch.max_timestamp, batch.log_append_time):
        _set_max_timestamp(accepted, latest, log_append_time=settings.log_append_time)
    return accepted


def stamp(batch: bytearray, base_offset: int, leader_epoch: int) -> None:
    """Set the fields that the checksum does not cover."""
    _BASE_OFFSET.pack_into(batch, 0, base_offset)
    _LEADER_EPOCH.pack_into(batch, _LEADER_EPOCH_AT, leader_epoch)


def _batch_sizes(records: bytes) -> Iterator[int]:
    """The size of every complete batch; an incomplete rest is skipped (ByteBufferLogInputStream)."""
    position = 0
    while position + LOG_OVERHEAD <= len(records):
        (length,) = _LENGTH.unpack_from(records, position + _LENGTH_AT)
        if length < _LEAST_LENGTH:
            message = f"Record size {length} is less than the minimum record overhead ({_LEAST_LENGTH})"
            raise RequestRefused(ErrorCode.CORRUPT_MESSAGE, message)
        size = length + LOG_OVERHEAD
        if position + _MAGIC_AT >= len(records):
            return
        magic = records[position + _MAGIC_AT]
        if magic > MAGIC:
            raise RequestRefused(ErrorCode.CORRUPT_MESSAGE, f"Invalid magic found in record: {magic}")
        if position + size > len(records):
            return
        yield size
        position += size


def _check_header(batch: Batch, records: bytes) -> None:
    if batch.base_offset != 0:
        raise RecordsRefused(ErrorCode.INVALID_RECORD)
    (stored,) = _CRC.unpack_from(records, _CRC_AT)
    if stored != crc32c(memoryview(records)[ATTRIBUTES_AT:]):
        raise RecordsRefused(ErrorCode.CORRUPT_MESSAGE)
    if batch.attributes & CODEC_MASK > max(Codec):
        raise RecordsRefused(ErrorCode.UNKNOWN_SERVER_ERROR)
    is_numbered = batch.producer_id == NO_PRODUCER_ID or batch.base_sequence >= 0
    if not 0 < batch.count == batch.last_offset_delta + 1 or batch.is_control or not is_numbered:
        raise RecordsRefused(ErrorCode.INVALID_RECORD)
    if batch.count > MOST_RECORDS:
        raise RecordsRefused(ErrorCode.MESSAGE_TOO_LARGE, f"A batch has at most {MOST_RECORDS} records here.")


def _read(batch: Batch, records: bytes, most: int) -> _Times:
    """Read all records, so that no consumer ever fetches malformed ones."""
    try:
        if batch.count <= FEW_RECORDS and most < MOST_BYTES:  # columns copy no large value
            some = records_of(batch, records, most)
            return _Times(
                timestamps=np.array([record.timestamp for record in some], dtype=np.int64),
                keyless=np.flatnonzero([record.key is None for record in some]),
            )
        header = np.frombuffer(records, dtype=HEADER, count=1)
        columns = list(columns_of(Batches(records, "", np.zeros(1, dtype=np.int64), header), most))
    except DamagedLog as error:
        if isinstance(error.__context__, ExpandsTooFar):
            why = f"The records of a batch expand to at most {MOST_BYTES >> 20} MiB here."
            raise RecordsRefused(ErrorCode.MESSAGE_TOO_LARGE, why) from None
        broken = isinstance(error.__context__, BadCompression)
        code = ErrorCode.UNKNOWN_SERVER_ERROR if broken else ErrorCode.INVALID_RECORD
        raise RecordsRefused(code) from None
    return _Times(
        timestamps=np.concatenate([column.timestamps for column in columns]),
        keyless=np.flatnonzero(np.concatenate([column.key_end for column in columns]) < 0),
    )


def _check_records(batch: Batch, seen: _Times, partition: str, settings: RecordSettings, now_ms: int) -> None:
    keyless = seen.keyless.tolist() if settings.cleanup_compacts else []
    why = f"Compacted topic cannot accept message without key in topic partition {partition}"
    refused = [RefusedRecord(index=index, message=why) for index in keyless]
    invalid = _invalid_timestamps(batch, seen.timestamps, settings, now_ms)
    untimely = [record for record in invalid if record.index not in set(keyless)]
    if untimely:
        message = "One or more records have been rejected due to invalid timestamp"
        all_refused = sorted((*refused, *untimely), key=lambda record: record.index)
        raise RecordsRefused(ErrorCode.INVALID_TIMESTAMP, message, all_refused)
    if refused:
        errors = [
            f"RecordError(batchIndex={one.index}, message='{one.message}')" for one in refused[:MOST_SHOWN]
        ]
        message = (
            f"One or more records have been rejected due to {len(refused)} record errors in total, and only "
            f"showing the first three errors at most: [{', '.join(errors)}]"
        )
        raise RecordsRefused(ErrorCode.INVALID_RECORD, message, refused)


def _invalid_timestamps(
    batch: Batch, timestamps: Ints, settings: RecordSettings, now_ms: int
) -> Iterator[RefusedRecord]:
    """The records whose timestamps the topic does not accept."""
    if not settings.log_append_time:
        early = now_ms - settings.message_timestamp_before_max_ms
        late = now_ms + settings.message_timestamp_after_max_ms
        outside = (timestamps != NO_TIMESTAMP) & ((timestamps < early) | (timestamps > late))
        for index in np.flatnonzero(outside).tolist():
            message = (
                f"Timestamp {timestamps[index]} of message with offset {index} is out of range. "
                f"The timestamp should be within [{early}, {late}]"
            )
            yield RefusedRecord(index=index, message=message)
    elif batch.log_append_time:
        message = "Producer should not set timestamp type to LogAppendTime."
        yield from (RefusedRecord(index=index, message=message) for index in range(batch.count))


def _set_max_timestamp(batch: bytearray, timestamp: int, *, log_append_time: bool) -> None:
    (attributes,) = _ATTRIBUTES.unpack_from(batch, ATTRIBUTES_AT)
    attributes = attributes & ~LOG_APPEND_TIME | log_append_time * LOG_APPEND_TIME
    _ATTRIBUTES.pack_into(batch, ATTRIBUTES_AT, attributes)
    _MAX_TIMESTAMP.pack_into(batch, _MAX_TIMESTAMP_AT, timestamp)
    _CRC.pack_into(batch, _CRC_AT, crc32c(memoryview(batch)[ATTRIBUTES_AT:]))
