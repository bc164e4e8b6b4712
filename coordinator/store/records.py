"""The records of the coordinator as a broker's bytes, and back.

Each is written in the version in which Kafka 4.3 writes it, all versions are read. What a broker puts in place of a
field that an old version has not got is put there too.

Source: GroupCoordinatorRecordHelpers for writing, the `replay` methods of the group coordinator for reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from coordinator.engine.records import (
    ClassicGroupRecord,
    ClassicGroupValue,
    ClassicMemberMetadata,
    ClassicMemberValue,
    CommittedOffset,
    ConsumerGroupRecord,
    ConsumerGroupValue,
    ConsumerMemberRecord,
    ConsumerMemberValue,
    CurrentAssignmentRecord,
    CurrentAssignmentValue,
    MemberState,
    OffsetRecord,
    PartitionMetadataRecord,
    Record,
    RegexRecord,
    RegexValue,
    TargetEpochRecord,
    TargetMemberRecord,
    TopicPartitions,
)
from coordinator.engine.topics import TopicInfo
from wire.messages.record_codec import decode_key, decode_value, encode_key, encode_value
from wire.messages.schema import NO_UUID
from wire.messages.schemas.record_types import RECORD_TYPES

NO_TIMESTAMP = -1
NO_TIMEOUT = -1
NO_EPOCH = -1
_EXPIRING_OFFSET_VERSION = 1
"""The one version of an offset with an expiry of its own; it has neither leader epoch nor topic id."""

Fields: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRecord:
    """A record of a share or streams group, which the coordinator keeps nothing of. `value` and `version` are None
    of a tombstone."""

    key_type: int
    key: Fields
    value: Fields | None
    version: int | None


def encode_record(record: Record | OtherRecord) -> tuple[bytes, bytes | None]:
    """Key and value as Kafka 4.3 writes them; the value of a tombstone is None.

    :raises ValueError: a name or number does not fit the field it belongs in
    """
    if isinstance(record, OtherRecord):
        return _encode(record.key_type, record.key, record.value, record.version)
    number, key, value = _FIELDS[type(record)](record)
    version = RECORD_TYPES[number].written
    if isinstance(record, OffsetRecord) and record.value is not None and record.value.expire_ms is not None:
        version = _EXPIRING_OFFSET_VERSION
    return _encode(number, key, value, version)


def decode_record(key: bytes, value: bytes | None) -> Record | OtherRecord:
    """What a key and a value say.

    :raises UnknownKeyType: a record of a type that Kafka 4.3 does not know
    :raises MalformedRecord: the bytes are no key or value of their type
    """
    number, key_fields = decode_key(key)
    version, fields = (None, None) if value is None else decode_value(number, value)
    make = _RECORDS.get(number)
    if make is None:
        return OtherRecord(key_type=number, key=key_fields, value=fields, version=version)
    return make(key_fields, fields)


def _encode(
    number: int, key: Fields, value: Fields | None, version: int | None
) -> tuple[bytes, bytes | None]:
    content = None if value is None or version is None else encode_value(number, version, value)
    return encode_key(number, key), content


# Offsets.


def _offset(key: Fields, value: Fields | None) -> OffsetRecord:
    return OffsetRecord(
        group=key["group"],
        topic=key["topic"],
        partition=key["partition"],
        value=None if value is None else _committed(value),
    )


def _committed(value: Fields) -> CommittedOffset:
    expire_ms = value.get("expireTimestamp", NO_TIMESTAMP)
    topic_id = value.get("topicId", NO_UUID)
    return CommittedOffset(
        offset=value["offset"],
        leader_epoch=value.get("leaderEpoch", NO_EPOCH),
        metadata=value["metadata"],
        commit_ms=value["commitTimestamp"],
        expire_ms=None if expire_ms == NO_TIMESTAMP else expire_ms,
        topic_id=None if topic_id == NO_UUID else topic_id,
    )


def _offset_fields(record: OffsetRecord) -> _Encoded:
    value = record.value
    return (
        1,
        {"group": record.group, "topic": record.topic, "partition": record.partition},
        None
        if value is None
        else {
            "offset": value.offset,
            "leaderEpoch": value.leader_epoch,
            "metadata": value.metadata,
            "commitTimestamp": value.commit_ms,
            "expireTimestamp": value.expire_ms,
            "topicId": NO_UUID if value.topic_id is None else value.topic_id,
        },
    )


# Classic groups.


def _classic_group(key: Fields, value: Fields | None) -> ClassicGroupRecord:
    return ClassicGroupRecord(
        group=key["group"],
        value=None
        if value is None
        else ClassicGroupValue(
            protocol_type=value["protocolType"],
            generation=value["generation"],
            protocol=value["protocol"],
            leader=value["leader"],
            state_since_ms=value.get("currentStateTimestamp", NO_TIMESTAMP),
            members=tuple(_classic_member(member) for member in value["members"]),
        ),
    )


def _classic_member(member: Fields) -> ClassicMemberValue:
    return ClassicMemberValue(
        member=member["memberId"],
        instance=member.get("groupInstanceId"),
        client_id=member["clientId"],
        host=member["clientHost"],
        rebalance_timeout_ms=member.get("rebalanceTimeout", NO_TIMEOUT),
        session_timeout_ms=member["sessionTimeout"],
        subscription=member["subscription"],
        assignment=member["assignment"],
    )


def _classic_group_fields(record: ClassicGroupRecord) -> _Encoded:
    value = record.value
    return (
        2,
        {"group": record.group},
        None
        if value is None
        else {
            "protocolType": value.protocol_type,
            "generation": value.generation,
            "protocol": value.protocol,
            "leader": value.leader,
            "currentStateTimestamp": value.state_since_ms,
            "members": [_classic_member_fields(member) for member in value.members],
        },
    )


def _classic_member_fields(member: ClassicMemberValue) -> Fields:
    return {
        "memberId": member.member,
        "groupInstanceId": member.instance,
        "clientId": member.client_id,
        "clientHost": member.host,
        "rebalanceTimeout": member.rebalance_timeout_ms,
        "sessionTimeout": member.session_timeout_ms,
        "subscription": member.subscription,
        "assignment": member.assignment,
    }


# Consumer groups.


def _consumer_group(key: Fields, value: Fields | None) -> ConsumerGroupRecord:
    return ConsumerGroupRecord(
        group=key["groupId"],
        value=None
        if value is None
        else ConsumerGroupValue(epoch=value["epoch"], metadata_hash=value["metadataHash"]),
    )


def _consumer_group_fields(record: ConsumerGroupRecord) -> _Encoded:
    value = record.value
    return (
        3,
        {"groupId": record.group},
        None if value is None else {"epoch": value.epoch, "metadataHash": value.metadata_hash},
    )


def _partition_metadata(key: Fields, value: Fields | None) -> PartitionMetadataRecord:
    return PartitionMetadataRecord(
        group=key["groupId"],
        value=None if value is None else tuple(_topic(topic) for topic in value["topics"]),
    )


def _topic(topic: Fields) -> TopicInfo:
    racks = {each["partition"]: tuple(each["racks"]) for each in topic["partitionMetadata"]}
    # Where some partitions are left out their numbers say nothing of the room that they would take.
    whole = racks.keys() == set(range(len(racks)))
    return TopicInfo(
        name=topic["topicName"],
        id=topic["topicId"],
        partitions=topic["numPartitions"],
        racks=tuple(racks[partition] for partition in range(len(racks))) if whole else (),
    )


def _partition_metadata_fields(record: PartitionMetadataRecord) -> _Encoded:
    return (
        4,
        {"groupId": record.group},
        None if record.value is None else {"topics": [_topic_fields(topic) for topic in record.value]},
    )


def _topic_fields(topic: TopicInfo) -> Fields:
    return {
        "topicId": topic.id,
        "topicName": topic.name,
        "numPartitions": topic.partitions,
        "partitionMetadata": [
            {"partition": partition, "racks": racks} for partition, racks in enumerate(topic.racks)
        ],
    }


def _consumer_member(key: Fields, value: Fields | None) -> ConsumerMemberRecord:
    return ConsumerMemberRecord(
        group=key["groupId"],
        member=key["memberId"],
        value=None
        if value is None
        else ConsumerMemberValue(
            instance=value["instanceId"],
            rack=value["rackId"],
            client_id=value["clientId"],
            host=value["clientHost"],
            topics=tuple(value["subscribedTopicNames"]),
            regex=value["subscribedTopicRegex"] or "",
            rebalance_timeout_ms=value["rebalanceTimeoutMs"],
            assignor=value["serverAssignor"],
            classic=_classic_metadata(value["classicMemberMetadata"]),
        ),
    )


def _classic_metadata(value: Fields | None) -> ClassicMemberMetadata | None:
    if value is None:
        return None
    return ClassicMemberMetadata(
        session_timeout_ms=value["sessionTimeoutMs"],
        protocols=tuple((each["name"], each["metadata"]) for each in value["supportedProtocols"]),
    )


def _consumer_member_fields(record: ConsumerMemberRecord) -> _Encoded:
    value = record.value
    return (
        5,
        {"groupId": record.group, "memberId": record.member},
        None
        if value is None
        else {
            "instanceId": value.instance,
            "rackId": value.rack,
            "clientId": value.client_id,
            "clientHost": value.host,
            "subscribedTopicNames": value.topics,
            "subscribedTopicRegex": value.regex,
            "rebalanceTimeoutMs": value.rebalance_timeout_ms,
            "serverAssignor": value.assignor,
            "classicMemberMetadata": _classic_metadata_fields(value.classic),
        },
    )


def _classic_metadata_fields(value: ClassicMemberMetadata | None) -> Fields | None:
    if value is None:
        return None
    return {
        "sessionTimeoutMs": value.session_timeout_ms,
        "supportedProtocols": [{"name": name, "metadata": metadata} for name, metadata in value.protocols],
    }


def _target_epoch(key: Fields, value: Fields | None) -> TargetEpochRecord:
    if value is None:
        return TargetEpochRecord(group=key["groupId"], epoch=None)
    return TargetEpochRecord(
        group=key["groupId"], epoch=value["assignmentEpoch"], assigned_ms=value["assignmentTimestamp"]
    )


def _target_epoch_fields(record: TargetEpochRecord) -> _Encoded:
    return (
        6,
        {"groupId": record.group},
        None
        if record.epoch is None
        else {"assignmentEpoch": record.epoch, "assignmentTimestamp": record.assigned_ms},
    )


def _target_member(key: Fields, value: Fields | None) -> TargetMemberRecord:
    return TargetMemberRecord(
        group=key["groupId"],
        member=key["memberId"],
        value=None if value is None else _partitions(value["topicPartitions"]),
    )


def _target_member_fields(record: TargetMemberRecord) -> _Encoded:
    return (
        7,
        {"groupId": record.group, "memberId": record.member},
        None
        if record.value is None
        else {
            "topicPartitions": [
                {"topicId": topic, "partitions": numbers} for topic, numbers in record.value.items()
            ]
        },
    )


def _current_assignment(key: Fields, value: Fields | None) -> CurrentAssignmentRecord:
    return CurrentAssignmentRecord(
        group=key["groupId"],
        member=key["memberId"],
        value=None
        if value is None
        else CurrentAssignmentValue(
            epoch=value["memberEpoch"],
            previous_epoch=value["previousMemberEpoch"],
            state=_STATES.get(value["state"], MemberState.UNKNOWN),
            assigned=_partitions(value["assignedPartitions"]),
            revoking=_partitions(value["partitionsPendingRevocation"]),
            assigned_epochs=_epochs((*value["partitionsPendingRevocation"], *value["assignedPartitions"])),
        ),
    )


def _partitions(topics: Iterable[Fields]) -> dict[UUID, tuple[int, ...]]:
    return {topic["topicId"]: tuple(topic["partitions"]) for topic in topics}


def _epochs(topics: Iterable[Fields]) -> dict[tuple[UUID, int], int]:
    """Epochs by partition. A list of another length than the partitions says nothing, as none does."""
    return {
        (topic["topicId"], partition): epoch
        for topic in topics
        if len(topic["assignmentEpochs"] or ()) == len(topic["partitions"])
        for partition, epoch in zip(topic["partitions"], topic["assignmentEpochs"] or (), strict=True)
    }


def _current_assignment_fields(record: CurrentAssignmentRecord) -> _Encoded:
    value = record.value
    return (
        8,
        {"groupId": record.group, "memberId": record.member},
        None
        if value is None
        else {
            "memberEpoch": value.epoch,
            "previousMemberEpoch": value.previous_epoch,
            "state": value.state,
            "assignedPartitions": _epoch_fields(value, value.assigned),
            "partitionsPendingRevocation": _epoch_fields(value, value.revoking),
        },
    )


def _epoch_fields(value: CurrentAssignmentValue, partitions: TopicPartitions) -> Sequence[Fields]:
    fallback = max(value.epoch, 0)
    return [
        {
            "topicId": topic,
            "partitions": numbers,
            "assignmentEpochs": [value.assigned_epochs.get((topic, number), fallback) for number in numbers],
        }
        for topic, numbers in partitions.items()
    ]


def _regex(key: Fields, value: Fields | None) -> RegexRecord:
    return RegexRecord(
        group=key["groupId"],
        regex=key["regularExpression"],
        value=None
        if value is None
        else RegexValue(
            topics=tuple(value["topics"]), version=value["version"], resolved_ms=value["timestamp"]
        ),
    )


def _regex_fields(record: RegexRecord) -> _Encoded:
    value = record.value
    return (
        16,
        {"groupId": record.group, "regularExpression": record.regex},
        None
        if value is None
        else {"topics": value.topics, "version": value.version, "timestamp": value.resolved_ms},
    )


_Encoded: TypeAlias = tuple[int, Fields, Fields | None]
"""Record type, fields of the key, fields of the value."""

_STATES = {state.value: state for state in MemberState}

_RECORDS: Mapping[int, Callable[[Fields, Fields | None], Record]] = {
    0: _offset,
    1: _offset,
    2: _classic_group,
    3: _consumer_group,
    4: _partition_metadata,
    5: _consumer_member,
    6: _target_epoch,
    7: _target_member,
    8: _current_assignment,
    16: _regex,
}

_FIELDS: Mapping[type[Any], Callable[[Any], _Encoded]] = {
    OffsetRecord: _offset_fields,
    ClassicGroupRecord: _classic_group_fields,
    ConsumerGroupRecord: _consumer_group_fields,
    PartitionMetadataRecord: _partition_metadata_fields,
    ConsumerMemberRecord: _consumer_member_fields,
    TargetEpochRecord: _target_epoch_fields,
    TargetMemberRecord: _target_member_fields,
    CurrentAssignmentRecord: _current_assignment_fields,
    RegexRecord: _regex_fields,
}
