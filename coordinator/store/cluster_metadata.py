"""Topics, features and group configs from a cluster's metadata log: `__cluster_metadata-0` of KRaft servers.
A record is a frame version (1), number and version, all varints, then the message. A snapshot, as in
`00000000000000012345-0000000007.checkpoint`, has the state before offset 12345 in the same form. The newest snapshot
is read, then the log from its offset; segments that a snapshot covers may be deleted.
Source: MetadataRecordSerde, Snapshots, TopicsDelta, MetadataBatchLoader (KIP-868 transactions)."""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np

from coordinator.store.copies import Notice, failure
from wire.log.batch_header import CONTROL
from wire.log.columns import Columns, columns_of
from wire.log.control_records import ControlType, MalformedControlRecord, control_type
from wire.log.errors import DamagedLog
from wire.log.log_records import records_of
from wire.log.segments import Segment, read_log, read_segment
from wire.log.varints import Ints
from wire.messages.reader import DICTIONARIES, DecodeError, Reader, message_reader, read_varint
from wire.messages.schemas import cluster_metadata as kinds

Fields: TypeAlias = Mapping[str, Any]

_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
_FRAME_VERSION = 1
_GROUP = 32  # the number of groups among the types of resources (ConfigResource.Type)
_SNAPSHOT_HEADER = struct.Struct(">hq")  # version, and the time of the last record that the snapshot covers
_NUMBERS = np.array([*kinds.METADATA_RECORDS], dtype=np.uint8)


@dataclass(slots=True, kw_only=True)
class ClusterTopic:
    """A topic; replicas, as broker ids, by partition."""

    name: str
    replicas: dict[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class MetadataImage:
    """The content of a copy of the log. `is_whole`: it has all topics that existed at the requested time."""

    topics: dict[UUID, ClusterTopic] = field(default_factory=dict)
    removed: dict[UUID, str] = field(default_factory=dict)  # names of deleted topics that are in the log
    racks: dict[int, str | None] = field(default_factory=dict)  # the racks of the brokers, by broker id
    features: dict[str, int] = field(default_factory=dict)  # finalized levels by name
    group_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Configs by group and name (ConfigRecord of a GROUP), of groups that have any."""
    is_whole: bool = False
    notices: list[Notice] = field(default_factory=list)


def read_cluster_metadata(directory: Path, *, as_of_ms: int | None = None) -> MetadataImage:
    """Read a partition's directory, as of a time. Raises DamagedLog. Raises OSError: the log cannot be read."""
    metadata = MetadataImage()
    replay = _Replay(metadata, as_of_ms)
    start = _read_snapshot(directory, replay)
    first_offset: int | None = None
    for segment in read_log(directory):
        if len(segment.batches) and segment.next_offset > start:
            first_offset = segment.batches[0].base_offset if first_offset is None else first_offset
            for columns in columns_of(segment.batches):
                replay.add(columns, start)
    metadata.is_whole = start > 0 if first_offset is None else first_offset <= start
    if first_offset is not None and first_offset > start:
        message = (
            f"starts at offset {first_offset}, and no snapshot of that time covers the records before it"
        )
        metadata.notices.append(Notice(directory, message))
    if replay.unreadable:
        metadata.is_whole = False
        message = f"{replay.unreadable} records cannot be decoded; the first: {replay.first_unreadable}"
        metadata.notices.append(Notice(directory, message))
    return metadata


def _read_snapshot(directory: Path, replay: "_Replay") -> int:
    """Read the newest snapshot of the time, if any. Returns the offset from which the log must be read."""
    matches = {path: _SNAPSHOT.fullmatch(path.name) for path in directory.iterdir()}
    snapshots = {path: (int(name[1]), int(name[2])) for path, name in matches.items() if name is not None}
    for path in sorted(snapshots, key=snapshots.__getitem__, reverse=True):
        try:
            chunks = _snapshot_chunks(path, replay.as_of_ms)
        except (DamagedLog, OSError) as error:
            replay.metadata.notices.append(failure(path, error))
            continue
        if chunks is not None:
            for columns in chunks:
                replay.add(columns)
            return snapshots[path][0]
    return 0


def _snapshot_chunks(path: Path, as_of_ms: int | None) -> list[Columns] | None:
    """The records of a snapshot; None if it covers something after the time. Raises DamagedLog. Raises OSError."""
    segment = read_segment(path)
    if segment.torn is not None:
        raise DamagedLog(path, segment.torn.position, segment.torn.reason)
    if as_of_ms is not None and _covered_until(segment) > as_of_ms:
        return None
    return list(columns_of(segment.batches))


def _covered_until(segment: Segment) -> int:
    """The time of the last record that a snapshot covers."""
    for record in records_of(segment.batches[0], segment.data) if len(segment.batches) else ():
        try:
            is_header = control_type(record) is ControlType.SNAPSHOT_HEADER
            if segment.batches[0].is_control and is_header:
                return int(_SNAPSHOT_HEADER.unpack_from(record.value or b"")[1])
        except (MalformedControlRecord, struct.error):
            break
    raise DamagedLog(segment.path, 0, "a snapshot must start with its header")


class _Replay:
    """Applies records. `as_of_ms`: later ones are skipped."""

    def __init__(self, metadata: MetadataImage, as_of_ms: int | None) -> None:
        self.metadata = metadata
        self.as_of_ms = as_of_ms
        self.unreadable = 0
        self.first_unreadable = ""
        self._held: list[tuple[int, Fields]] | None = None
        """The records of an open transaction: they take effect when it ends, and not if it is aborted."""

    def add(self, columns: Columns, start: int = 0) -> None:
        for lane in self._wanted(columns, start).tolist():
            value = columns.value(lane)
            if value is None:
                continue
            try:
                self._record(*_decode(value))
            except DecodeError as error:
                self.unreadable += 1
                self.first_unreadable = self.first_unreadable or f"offset {columns.offsets[lane]}, {error}"

    def _wanted(self, columns: Columns, start: int) -> Ints:
        octets = np.frombuffer(columns.data, dtype=np.uint8)
        control = columns.batches.headers["attributes"] & CONTROL != 0
        chosen = (columns.value_end - columns.value_start > 1) & (columns.offsets >= start)
        chosen &= ~control[columns.batch_of]
        if self.as_of_ms is not None:
            chosen &= columns.timestamps <= self.as_of_ms
        lanes = np.flatnonzero(chosen)
        known: Ints = lanes[np.isin(octets[columns.value_start[lanes] + 1], _NUMBERS)]
        return known

    def _record(self, number: int, fields: Fields) -> None:
        if number == kinds.BEGIN_TRANSACTION:
            self._held = []
        elif number in (kinds.END_TRANSACTION, kinds.ABORT_TRANSACTION):
            held, self._held = self._held or [], None
            for postponed in held if number == kinds.END_TRANSACTION else ():
                self._record(*postponed)
        elif self._held is not None:
            self._held.append((number, fields))
        else:
            _apply(self.metadata, number, fields)


def _decode(value: bytes) -> tuple[int, Fields]:
    """Type and fields of a record. Raises DecodeError: another frame, or a newer version."""
    try:
        frame, position = read_varint(value, 0)
        number, position = read_varint(value, position)
        version, position = read_varint(value, position)
    except IndexError:
        raise DecodeError("the frame is cut off") from None
    if frame != _FRAME_VERSION or number not in kinds.METADATA_RECORDS:
        raise DecodeError(f"frame version {frame} around a record of number {number}")
    fields: Fields = _reader(number, version)(value, position)[0]
    return number, fields


@cache
def _reader(number: int, version: int) -> Reader:
    message = kinds.METADATA_RECORDS[number]
    if not 0 <= version <= message.newest:
        raise DecodeError(f"{message.name} has no version {version}")
    return message_reader(message, version, DICTIONARIES)


def _apply(image: MetadataImage, number: int, fields: Fields) -> None:
    if number == kinds.REGISTER_BROKER:
        image.racks[fields["brokerId"]] = fields["rack"]
    elif number == kinds.UNREGISTER_BROKER:
        image.racks.pop(fields["brokerId"], None)
    elif number == kinds.TOPIC:
        image.topics[fields["topicId"]] = ClusterTopic(name=fields["name"])
    elif number == kinds.REMOVE_TOPIC:
        if (removed := image.topics.pop(fields["topicId"], None)) is not None:
            image.removed[fields["topicId"]] = removed.name
    elif number in (kinds.PARTITION, kinds.PARTITION_CHANGE):
        topic = image.topics.get(fields["topicId"])
        if topic is not None and (number == kinds.PARTITION or fields["replicas"]):
            topic.replicas[fields["partitionId"]] = tuple(fields["replicas"])
    elif number == kinds.FEATURE_LEVEL:
        image.features[fields["name"]] = fields["featureLevel"]
        if not fields["featureLevel"]:
            del image.features[fields["name"]]
    elif number == kinds.CONFIG and fields["resourceType"] == _GROUP:
        configs = image.group_configs.setdefault(fields["resourceName"], {})
        configs[fields["name"]] = fields["value"]
        if fields["value"] is None:
            del configs[fields["name"]]
        if not configs:
            del image.group_configs[fields["resourceName"]]
