"""Encoding and decoding of the coordinator's records in a broker's format: written in the version of Kafka 4.4,
read in all versions. Fields that an old version lacks get the same values as in a broker.
Source: GroupCoordinatorRecordHelpers for writing, the `replay` methods of the group coordinator for reading."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from uuid import UUID

from coordinator.engine import records as engine
from coordinator.engine.topics import TopicInfo
from coordinator.store.client_side import assignor_fields, payload_fields, read_assignors, read_payload
from wire.messages.layout import NO_UUID
from wire.messages.record_codec import RECORD_TYPES, decode_key, decode_value, encode_key, encode_value

NO_TIMESTAMP = -1
NO_TIMEOUT = -1
NO_EPOCH = -1
_EXPIRING_OFFSET_VERSION = 1  # the only one with an expiry; it has neither leader epoch nor topic id

Fields: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRecord:
    """A record of a share or streams group, which is only kept. `value` and `version` None: a tombstone."""

    key_type: int
    key: Fields
    value: Fields | None
    version: int | None


def encode_record(record: engine.Record | OtherRecord) -> tuple[bytes, bytes | None]:
    """Key and value as Kafka 4.4 writes them, None for a tombstone. Raises ValueError: a field has no room."""
    if isinstance(record, OtherRecord):
        key = encode_key(record.key_type, record.key)
        if record.value is None or record.version is None:
            return key, None
        return key, encode_value(record.key_type, record.version, record.value)
    kind = _BY_CLASS[type(record)]
    key = encode_key(kind.number, kind.key.write(record))
    value = record.value
    if value is None:
        return key, None
    version = RECORD_TYPES[kind.number].written
    fields = kind.write(value)
    if isinstance(record, engine.TargetMemberRecord):
        fields = {**fields, **payload_fields(record.payload)}
    if isinstance(value, engine.StoredOffset) and value.expire_ms is not None:
        version = _EXPIRING_OFFSET_VERSION
    return key, encode_value(kind.number, version, fields)


def decode_record(key: bytes, value: bytes | None) -> engine.Record | OtherRecord:
    """Decode a key and a value. Raises UnknownKeyType: a record of a type that Kafka 4.4 does not know. Raises
    DecodeError: the bytes are not a key or value of their type."""
    number, key_fields = decode_key(key)
    version, fields = (None, None) if value is None else decode_value(number, value)
    kind = _BY_NUMBER.get(number)
    if kind is None:
        return OtherRecord(key_type=number, key=key_fields, value=fields, version=version)
    attributes = kind.key.attributes(key_fields)
    if kind.record is engine.TargetMemberRecord and fields is not None:
        attributes["payload"] = read_payload(fields)
    record: engine.Record = kind.record(**attributes, value=None if fields is None else kind.read(fields))
    return record


_REQUIRED = object()


class _Field:
    """Kafka's name of a field, its default in versions without it, and the conversions of its value."""

    def __init__(
        self,
        name: str,
        missing: Any = _REQUIRED,
        read: Callable[[Any], object] | None = None,
        write: Callable[[Any], object] | None = None,
    ) -> None:
        self.name, self.missing, self.read, self.write = name, missing, read, write


class _Struct:
    """Kafka's fields for one of our dataclasses, by attribute."""

    def __init__(self, make: Callable[..., object], **fields: str | _Field) -> None:
        known = {a: _Field(field) if isinstance(field, str) else field for a, field in fields.items()}
        self._make = make
        self._names = [(a, field.name) for a, field in known.items()]
        self._missing = {
            field.name: field.missing for field in known.values() if field.missing is not _REQUIRED
        }
        self._readers = [(a, field.read) for a, field in known.items() if field.read is not None]
        self._writers = [(field.name, field.write) for field in known.values() if field.write is not None]

    def attributes(self, fields: Fields) -> dict[str, object]:
        """Our attributes from the fields."""
        if self._missing:
            fields = {**self._missing, **fields}
        values = {attribute: fields[name] for attribute, name in self._names}
        for attribute, convert in self._readers:
            values[attribute] = convert(values[attribute])
        return values

    def read(self, fields: Fields) -> Any:
        return self._make(**self.attributes(fields))

    def write(self, value: object) -> Fields:
        fields = {name: getattr(value, attribute) for attribute, name in self._names}
        for name, convert in self._writers:
            fields[name] = convert(fields[name])
        return fields

    def read_all(self, many: Iterable[Fields]) -> tuple[Any, ...]:
        return tuple(map(self.read, many))

    def write_all(self, many: Iterable[Any]) -> list[Fields]:
        return list(map(self.write, many))


def _none_for(nothing: object) -> Callable[[object], object]:
    """None for the value that means "none" on disk."""
    return lambda value: None if value == nothing else value


_OFFSET = _Struct(
    engine.StoredOffset,
    offset="offset",
    leader_epoch=_Field("leaderEpoch", NO_EPOCH),
    metadata="metadata",
    commit_ms="commitTimestamp",
    expire_ms=_Field("expireTimestamp", NO_TIMESTAMP, _none_for(NO_TIMESTAMP)),
    topic_id=_Field("topicId", NO_UUID, _none_for(NO_UUID), lambda id_: NO_UUID if id_ is None else id_),
)
_CLASSIC_MEMBER = _Struct(
    engine.ClassicMemberValue,
    member="memberId",
    instance=_Field("groupInstanceId", None),
    client_id="clientId",
    host="clientHost",
    rebalance_timeout_ms=_Field("rebalanceTimeout", NO_TIMEOUT),
    session_timeout_ms="sessionTimeout",
    subscription="subscription",
    assignment="assignment",
)
_CLASSIC_GROUP = _Struct(
    engine.ClassicGroupValue,
    protocol_type="protocolType",
    generation="generation",
    protocol="protocol",
    leader="leader",
    state_since_ms=_Field("currentStateTimestamp", NO_TIMESTAMP),
    members=_Field("members", _REQUIRED, _CLASSIC_MEMBER.read_all, _CLASSIC_MEMBER.write_all),
)
_CONSUMER_GROUP = _Struct(engine.ConsumerGroupValue, epoch="epoch", metadata_hash="metadataHash")


def _racks(partitions: Iterable[Fields]) -> tuple[tuple[str, ...], ...]:
    racks = {of_partition["partition"]: tuple(of_partition["racks"]) for of_partition in partitions}
    # If some partitions are missing, their numbers do not determine the map's capacity.
    whole = racks.keys() == set(range(len(racks)))
    return tuple(racks[partition] for partition in range(len(racks))) if whole else ()


_TOPIC = _Struct(
    TopicInfo,
    name="topicName",
    id="topicId",
    partitions="numPartitions",
    racks=_Field(
        "partitionMetadata",
        _REQUIRED,
        _racks,
        lambda racks: [{"partition": number, "racks": of_one} for number, of_one in enumerate(racks)],
    ),
)
_PROTOCOL = _Struct(engine.JoinProtocol, name="name", metadata="metadata")
_CLASSIC_METADATA = _Struct(
    engine.ClassicMemberMetadata,
    session_timeout_ms="sessionTimeoutMs",
    protocols=_Field("supportedProtocols", _REQUIRED, _PROTOCOL.read_all, _PROTOCOL.write_all),
)
_CONSUMER_MEMBER = _Struct(
    engine.ConsumerMemberValue,
    instance="instanceId",
    rack="rackId",
    client_id="clientId",
    host="clientHost",
    topics=_Field("subscribedTopicNames", _REQUIRED, tuple),
    regex=_Field("subscribedTopicRegex", _REQUIRED, lambda regex: regex or ""),
    rebalance_timeout_ms="rebalanceTimeoutMs",
    assignor="serverAssignor",
    classic=_Field(
        "classicMemberMetadata",
        _REQUIRED,
        lambda fields: None if fields is None else _CLASSIC_METADATA.read(fields),
        lambda classic: None if classic is None else _CLASSIC_METADATA.write(classic),
    ),
)
_TARGET_EPOCH = _Struct(engine.TargetEpochValue, epoch="assignmentEpoch", assigned_ms="assignmentTimestamp")
_REGEX = _Struct(
    engine.RegexValue, topics=_Field("topics", _REQUIRED, tuple), version="version", resolved_ms="timestamp"
)


def _consumer_member(fields: Fields) -> engine.ConsumerMemberValue:
    value: engine.ConsumerMemberValue = _CONSUMER_MEMBER.read(fields)
    assignors = read_assignors(fields)
    return replace(value, client_assignors=assignors) if assignors else value


def _consumer_member_fields(value: engine.ConsumerMemberValue) -> Fields:
    return {**_CONSUMER_MEMBER.write(value), **assignor_fields(value.client_assignors)}


def _partitions(topics: Iterable[Fields]) -> dict[UUID, tuple[int, ...]]:
    return {topic["topicId"]: tuple(topic["partitions"]) for topic in topics}


def _target_fields(target: engine.TopicPartitions) -> Fields:
    topics = [{"topicId": topic, "partitions": numbers} for topic, numbers in target.items()]
    return {"topicPartitions": topics}


def _current(fields: Fields) -> engine.CurrentAssignmentValue:
    assigned, revoking = fields["assignedPartitions"], fields["partitionsPendingRevocation"]
    return engine.CurrentAssignmentValue(
        epoch=fields["memberEpoch"],
        previous_epoch=fields["previousMemberEpoch"],
        state=_STATES.get(fields["state"], engine.MemberState.UNKNOWN),
        assigned=_partitions(assigned),
        revoking=_partitions(revoking),
        assigned_epochs=_epochs((*revoking, *assigned)),
        payload=read_payload(fields),
    )


def _epochs(topics: Iterable[Fields]) -> dict[tuple[UUID, int], int]:
    """Epochs by partition. A list of another length than the partitions is ignored, like a missing one."""
    return {
        (topic["topicId"], partition): epoch
        for topic in topics
        if len(topic["assignmentEpochs"] or ()) == len(topic["partitions"])
        for partition, epoch in zip(topic["partitions"], topic["assignmentEpochs"] or (), strict=True)
    }


def _current_fields(value: engine.CurrentAssignmentValue) -> Fields:
    return {
        "memberEpoch": value.epoch,
        "previousMemberEpoch": value.previous_epoch,
        "state": value.state,
        "assignedPartitions": _epoch_fields(value, value.assigned),
        "partitionsPendingRevocation": _epoch_fields(value, value.revoking),
        **payload_fields(value.payload),
    }


def _epoch_fields(
    value: engine.CurrentAssignmentValue, partitions: engine.TopicPartitions
) -> Sequence[Fields]:
    fallback = max(value.epoch, 0)
    return [
        {
            "topicId": topic,
            "partitions": numbers,
            "assignmentEpochs": [value.assigned_epochs.get((topic, number), fallback) for number in numbers],
        }
        for topic, numbers in partitions.items()
    ]


_STATES = {state.value: state for state in engine.MemberState}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A type of record: its number, its key, and the conversion of its value."""

    number: int
    record: type[Any]
    key: _Struct
    read: Callable[[Any], object]
    write: Callable[[Any], Fields]


_GROUP = _Struct(dict, group="groupId")
_MEMBER = _Struct(dict, group="groupId", member="memberId")
_OFFSET_KEY = _Struct(dict, group="group", topic="topic", partition="partition")
_REGEX_KEY = _Struct(dict, group="groupId", regex="regularExpression")

_KINDS = (
    _Kind(1, engine.OffsetRecord, _OFFSET_KEY, _OFFSET.read, _OFFSET.write),
    _Kind(
        2, engine.ClassicGroupRecord, _Struct(dict, group="group"), _CLASSIC_GROUP.read, _CLASSIC_GROUP.write
    ),
    _Kind(3, engine.ConsumerGroupRecord, _GROUP, _CONSUMER_GROUP.read, _CONSUMER_GROUP.write),
    _Kind(
        4,
        engine.PartitionMetadataRecord,
        _GROUP,
        lambda fields: _TOPIC.read_all(fields["topics"]),
        lambda topics: {"topics": _TOPIC.write_all(topics)},
    ),
    _Kind(5, engine.ConsumerMemberRecord, _MEMBER, _consumer_member, _consumer_member_fields),
    _Kind(6, engine.TargetEpochRecord, _GROUP, _TARGET_EPOCH.read, _TARGET_EPOCH.write),
    _Kind(7, engine.TargetMemberRecord, _MEMBER, lambda f: _partitions(f["topicPartitions"]), _target_fields),
    _Kind(8, engine.CurrentAssignmentRecord, _MEMBER, _current, _current_fields),
    _Kind(16, engine.RegexRecord, _REGEX_KEY, _REGEX.read, _REGEX.write),
)

_BY_CLASS = {kind.record: kind for kind in _KINDS}
_BY_NUMBER = {0: _BY_CLASS[engine.OffsetRecord], **{kind.number: kind for kind in _KINDS}}
"""Number 0 is the type of offsets in old logs."""
