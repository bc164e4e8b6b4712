"""Names of topics by id: from log directories and, if the cluster's own metadata log is not next to the segments,
from a first pass through the records: brokers of Kafka 4 and later write a topic's id into its commits."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from uuid import UUID

import numpy as np
import pyarrow as pa
from pyarrow import fs
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from coordinator.engine.records import PartitionMetadataRecord
from coordinator.store.other_groups import topic_names_in
from coordinator.store.partition_files import CLUSTER_METADATA, PARTITION_METADATA, parse_partition_name
from coordinator.store.records import OtherRecord, decode_record
from coordinator.store.topic_names import KnownTopic, KnownTopics, known_topics
from pipeline.decode.raw import RawRecords, bounds_of
from pipeline.decode.records import topic_names
from pipeline.sources.filesystem import child, is_local, opened
from pipeline.tables.schemas import STRING, table
from wire.log.offset_columns import NO_TOPIC_ID, OFFSET_COMMIT, key_types, read_offset_key, read_offset_values
from wire.messages.reader import DecodeError
from wire.uuids import format_uuid

NAMES_BY_ID = table(("topic_id", STRING, False), ("name", STRING, False))
_PARTITION_METADATA_TYPE = 4
_SHARE_STATE_TYPE = 15


def directory_names(
    paths: Sequence[str], options: Mapping[str, str], heard: Mapping[UUID, KnownTopic] | None = None
) -> KnownTopics:
    """The names in the log directories at or around absolute `paths`, in addition to those in records (`heard`)."""
    directories = sorted({_log_directory(path, options) for path in paths})
    local = [Path(directory) for directory in directories if is_local(directory)]
    with tempfile.TemporaryDirectory(prefix="kohort-names-") as scratch:
        for number, remote in enumerate(directory for directory in directories if not is_local(directory)):
            mirror = Path(scratch) / str(number)
            _mirror(remote, mirror, options)
            local.append(mirror)
        return known_topics([path for path in local if path.is_dir()], heard or {})


def is_whole(known: KnownTopics) -> bool:
    """Whether the names come from the cluster's own metadata."""
    return any(topic.is_whole for topic in known.topics.values())


def names_of(rows: DataFrame) -> dict[UUID, str]:
    return topic_names({row["topic_id"]: row["name"] for row in rows.distinct().collect()})


def collect_names(records: Iterable[RawRecords]) -> Iterator[pa.RecordBatch]:
    """The names in records, each once, as `NAMES_BY_ID`."""
    heard: dict[UUID, str] = {}
    for raw in records:
        types = key_types(*bounds_of(raw.keys))
        named = dict(_in_offsets(raw, types, heard))
        for lane in np.flatnonzero(np.isin(types, (_PARTITION_METADATA_TYPE, _SHARE_STATE_TYPE))).tolist():
            named |= _in_record(raw.keys[lane].as_py(), raw.values[lane].as_py())
        new = {topic_id: name for topic_id, name in named.items() if topic_id not in heard}
        heard |= new
        if new:
            columns = {"topic_id": list(map(format_uuid, new)), "name": list(new.values())}
            yield pa.RecordBatch.from_pydict(columns, schema=to_arrow_schema(NAMES_BY_ID))


def _in_offsets(raw: RawRecords, types: np.ndarray, heard: Mapping[UUID, str]) -> Iterator[tuple[UUID, str]]:
    octets, starts, ends = bounds_of(raw.values)
    fields = read_offset_values(octets, starts, ends)
    lanes = np.flatnonzero(fields.quick & (fields.id_start != NO_TOPIC_ID) & (types == OFFSET_COMMIT))
    ids = (
        octets[fields.id_start[lanes][:, None] + np.arange(16)] if len(lanes) else np.zeros((0, 16), np.uint8)
    )
    distinct, first = np.unique(np.ascontiguousarray(ids).view("V16").ravel(), return_index=True)
    for topic_id, lane in zip(distinct.tolist(), lanes[first].tolist(), strict=True):
        known = UUID(bytes=topic_id)
        if known not in heard:
            key = raw.keys[lane].as_py()
            try:
                yield known, read_offset_key(key)[1]
            except DecodeError:
                continue


def _in_record(key: bytes, value: bytes | None) -> dict[UUID, str]:
    if value is None:
        return {}
    try:
        record = decode_record(key, value)
    except DecodeError:
        return {}
    if isinstance(record, PartitionMetadataRecord):
        return {topic.id: topic.name for topic in record.value or ()}
    if isinstance(record, OtherRecord) and record.value is not None:
        return dict(topic_names_in(record.value))
    return {}


def _log_directory(path: str, options: Mapping[str, str]) -> str:
    """The log directory of a path: the path itself, or a directory around it."""
    system, inside = opened(path, options)
    if system.get_file_info(inside).type is fs.FileType.File:
        path = path.rpartition("/")[0]
    above, _, name = path.rstrip("/").rpartition("/")
    return above if parse_partition_name(name) is not None else path


def _mirror(path: str, target: Path, options: Mapping[str, str]) -> None:
    """Copy the files with names of topics: the metadata log, and the small file of one partition of each topic."""
    system, inside = opened(path, options)
    seen: set[str] = set()
    for entry in system.get_file_info(fs.FileSelector(inside)):
        name = parse_partition_name(entry.base_name)
        if name is None or entry.type is not fs.FileType.Directory:
            continue
        if name.topic == CLUSTER_METADATA:
            files = [info for info in system.get_file_info(fs.FileSelector(entry.path)) if info.is_file]
        elif name.topic not in seen:
            files = system.get_file_info([child(entry.path, PARTITION_METADATA)])
            files = [info for info in files if info.is_file]
            seen.update(name.topic for _ in files)
        else:
            continue
        (target / entry.base_name).mkdir(parents=True)
        for file in files:
            copy = target / entry.base_name / file.base_name
            with system.open_input_stream(file.path) as source, copy.open("wb") as sink:
                shutil.copyfileobj(source, sink)
