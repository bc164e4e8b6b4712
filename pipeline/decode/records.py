"""Converts records to rows, in the same way for files, the live topic and a stream: in batches of offsets and of
everything else, which both have all columns. `LogReader.through` processes rows in the task that decodes them: rows
of forty columns are expensive to pass from Python to the JVM and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.decode import raw as raw_columns
from pipeline.decode.groups import group_row
from pipeline.decode.offsets import NEVER, offset_columns
from pipeline.tables.schemas import ABORT, COMMIT, CONTROL, KINDS, NO_OFFSET, OFFSET, TableRow, decoded_arrow
from pipeline.tasks import Values, collected
from wire.log.batch_header import NO_PRODUCER_ID
from wire.log.control_records import ControlType, MalformedControlRecord, control_type_of
from wire.log.offset_columns import LEGACY_OFFSET_COMMIT, NO_TYPE, OFFSET_COMMIT, key_types
from wire.log.timestamps import is_in_range, timestamp_us
from wire.log.varints import Ints
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType
from wire.uuids import parse_uuid

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

T = TypeVar("T")

_ROWS = 1 << 12
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_MARKS = {ControlType.COMMIT: COMMIT, ControlType.ABORT: ABORT}


def records_to_arrow(
    batches: Iterable[pa.RecordBatch], *, source: str, names: Mapping[str, str]
) -> Iterator[pa.RecordBatch]:
    """Decode records without batches, with the columns `partition`, `offset`, `timestamp` (ms since 1970), `key`
    and `value` (binary): rows of `DECODED`. A row's source is `source` and its partition. `names`: of topics by
    id."""
    known = topic_names(names)
    for batch in batches:
        for partition in batch.column("partition").unique().to_pylist():
            chosen = batch.filter(pc.equal(batch.column("partition"), partition))
            raw = raw_columns.plain_records(chosen, source=f"{source}-{partition}", partition=partition)
            yield from decode(raw, known)


def topic_names(names: Mapping[str, str]) -> dict[UUID, str]:
    """Names by topic id. Raises ValueError: an id is invalid."""
    return {parse_uuid(topic_id): name for topic_id, name in names.items()}


def decode(raw: raw_columns.RawRecords, names: Mapping[UUID, str]) -> Iterator[pa.RecordBatch]:
    """Decode some records of one partition: batches of `DECODED`, none of them empty. Texts of offsets are
    dictionary arrays, which the JVM does not accept."""
    types = key_types(*raw_columns.bounds_of(raw.keys))
    in_range = is_in_range(raw.timestamps)
    offsets = in_range & ~raw.control & ((types == LEGACY_OFFSET_COMMIT) | (types == OFFSET_COMMIT))
    lanes = np.flatnonzero(offsets)
    if len(lanes):
        columns, malformed = _offsets(raw, lanes, types[lanes])
        if columns is not None:
            yield columns
        for some in _slices(list(malformed.items())):
            yield rows_to_arrow(_quarantined(raw, int(lanes[index]), reason) for index, reason in some)
    for others in _slices(np.flatnonzero(~offsets).tolist()):
        yield rows_to_arrow(_row(raw, lane, types, names) for lane in others)


def _slices(items: list[T]) -> Iterator[list[T]]:
    """Slices of as many items as may be Python objects at once."""
    return (items[start : start + _ROWS] for start in range(0, len(items), _ROWS))


def rows_to_arrow(rows: Iterable[TableRow]) -> pa.RecordBatch:
    """Rows as a batch of `DECODED`; missing columns are null."""
    rows = list(rows)
    schema = decoded_arrow()
    arrays = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def quarantined_row(**columns: object) -> TableRow:
    """A row for something that is not a record: its source, partition, file, position and reason."""
    return {"day": 0, "offset": NO_OFFSET, "time": 0, "kind": "", "tombstone": False, **columns}


def _quarantined(raw: raw_columns.RawRecords, lane: int, reason: str) -> TableRow:
    position = None if raw.positions is None else int(raw.positions[lane])
    known = {"source": raw.source, "partition": raw.partition, "file": raw.file, "position": position}
    return quarantined_row(**known, offset=int(raw.offsets[lane]), reason=reason)


def _row(raw: raw_columns.RawRecords, lane: int, types: Ints, names: Mapping[UUID, str]) -> TableRow:
    time_ms = int(raw.timestamps[lane])
    key_type = int(types[lane])
    key, value = raw.keys[lane].as_py(), raw.values[lane].as_py()
    time_us = timestamp_us(time_ms, unset=None)
    if time_us is None:
        return _quarantined(raw, lane, f"the record's timestamp, {time_ms} ms, is not in the years 1 to 9999")
    producer_id = int(raw.producer_ids[lane])
    row: TableRow = {
        "day": raw_columns.day_of(time_ms),
        "source": raw.source,
        "partition": raw.partition,
        "offset": int(raw.offsets[lane]),
        "time": time_us,
        "tombstone": False,
        "producer_id": None if producer_id == NO_PRODUCER_ID else producer_id,
    }
    try:
        if raw.control[lane]:
            return row | {"kind": _MARKS.get(control_type_of(key or b""), CONTROL)}
        if key is None or key_type == NO_TYPE:
            return _quarantined(raw, lane, "the record has no key with a type")
        fields = group_row(key, value, names)
    except (DecodeError, MalformedControlRecord, UnknownKeyType) as error:
        return _quarantined(raw, lane, str(error))
    known = {"key_version": key_type, "kind": KINDS[key_type], "tombstone": value is None}
    return row | known | fields | {"key": key, "value": value}


def _offsets(
    raw: raw_columns.RawRecords, lanes: Ints, types: Ints
) -> tuple[pa.RecordBatch | None, dict[int, str]]:
    keys, values = raw.keys, raw.values
    if len(lanes) < len(raw):
        keys, values = keys.take(pa.array(lanes)), values.take(pa.array(lanes))
    offsets = offset_columns(keys, values, types)
    count = len(lanes)
    times = raw.timestamps[lanes]
    producer_ids = raw.producer_ids[lanes]
    columns: dict[str, object] = {
        "day": raw_columns.days(times),
        "source": _constant(raw.source, count),
        "partition": pa.array(np.full(count, raw.partition, dtype=np.int32)),
        "offset": pa.array(raw.offsets[lanes]),
        "time": raw_columns.timestamps(times),
        "key_version": pa.array(types.astype(np.int16)),
        "kind": _constant(OFFSET, count),
        "value_version": offsets.value_version,
        "tombstone": pa.array(~offsets.has_value),
        "producer_id": pa.array(producer_ids, mask=producer_ids == NO_PRODUCER_ID),
        "group": offsets.group,
        "topic": offsets.topic,
        "topic_partition": offsets.partition,
        "committed": offsets.committed,
        "leader_epoch": offsets.leader_epoch,
        "metadata": offsets.metadata,
        "commit_time": raw_columns.timestamps(np.where(offsets.has_value, offsets.commit_ms, -1), unset=-1),
        "expire_time": raw_columns.timestamps(offsets.expire_ms, unset=NEVER),
        "topic_id": offsets.topic_id,
    }
    fields = [_field(field, columns.get(field.name)) for field in decoded_arrow()]
    arrays = [_column(columns.get(field.name), field.type, count) for field in fields]
    batch = pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
    if offsets.malformed:
        keep = np.ones(count, dtype=bool)
        keep[list(offsets.malformed)] = False
        batch = batch.filter(pa.array(keep))
    return (batch if batch.num_rows else None), offsets.malformed


def _constant(value: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), pa.array([value]))


def _field(field: pa.Field, array: Any) -> pa.Field:
    """A column's field with its actual type: text, or dictionary of text."""
    is_dictionary = array is not None and pa.types.is_dictionary(array.type)
    return field.with_type(_DICTIONARY) if is_dictionary else field


def _column(array: Any, kind: pa.DataType, count: int) -> pa.Array:
    if array is None:
        return pa.nulls(count, kind)
    return array if array.type == kind else array.cast(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReader:
    """`read` returns batches of `DECODED` for the rows of `tasks`, on any worker. Texts may be dictionary arrays."""

    tasks: DataFrame | pa.RecordBatch  # of Spark, or without a session
    read: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    cluster: str | None = None  # the cluster of the records; None: unknown
    held_back: int = 0  # the number of unread offsets after open transactions

    def through(
        self, then: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: StructType
    ) -> Iterable[Values]:
        """The rows of `then` for the decoded batches of each task, in `schema`."""
        read = self.read
        return collected(self.tasks, lambda batches: then(read(batches)), schema)
