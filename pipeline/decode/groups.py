"""Converts records of groups to columns of the table of events, one at a time: there are few. Fields without a
column are in `fields`, as JSON: by Kafka's names, bytes as base64, topic ids in Kafka's notation."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from coordinator.engine import records
from coordinator.engine.topics import TopicInfo
from coordinator.store.history_events import (
    EMBEDDED_PROTOCOL_TYPE,
    Names,
    assigned_partitions,
    named,
    subscribed_topics,
)
from coordinator.store.records import OtherRecord, decode_record
from pipeline.tables.schemas import TableRow
from wire.log.timestamps import timestamp_us
from wire.uuids import format_uuid

CLASSIC, CONSUMER = "classic", "consumer"


def group_row(key: bytes, value: bytes | None, names: Names) -> TableRow:
    """The columns of a group's record. Raises UnknownKeyType. Raises DecodeError."""
    record = decode_record(key, value)
    if isinstance(record, OtherRecord):
        row = {"group": record.key["groupId"], "member": record.key.get("memberId")}
    else:
        row = {name: getattr(record, name, None) for name in ("group", "member", "regex")}
    if value is None:
        return row
    row["value_version"] = int.from_bytes(value[:2], signed=True)
    return row | _COLUMNS[type(record)](record.value, names)


def _classic_group(value: records.ClassicGroupValue, _: Names) -> TableRow:
    embedded = value.protocol_type == EMBEDDED_PROTOCOL_TYPE
    return {
        "epoch": value.generation,
        "protocol_type": value.protocol_type,
        "assignor": value.protocol,
        "leader": value.leader,
        "state_since": timestamp_us(value.state_since_ms),
        "members": [_classic_member(member, embedded) for member in value.members],
    }


def _classic_member(member: records.ClassicMemberValue, embedded: bool) -> TableRow:
    same = ("member", "instance", "client_id", "host", "rebalance_timeout_ms", "session_timeout_ms")
    return {name: getattr(member, name) for name in same} | {
        "topics": subscribed_topics(member.subscription) if embedded else None,
        "assignment": assigned_partitions(member.assignment) if embedded else None,
    }


def _partition_metadata(topics: tuple[TopicInfo, ...], _: Names) -> TableRow:
    fields = [
        {"topicId": topic.id, "topicName": topic.name, "numPartitions": topic.partitions} for topic in topics
    ]
    return {"topics": [topic.name for topic in topics], "fields": _json({"topics": fields})}


def _member(value: records.ConsumerMemberValue, _: Names) -> TableRow:
    classic = value.classic
    fields: TableRow = {"rebalanceTimeoutMs": value.rebalance_timeout_ms}
    if classic is not None:
        fields["sessionTimeoutMs"] = classic.session_timeout_ms
        fields["supportedProtocols"] = [name for name, _ in classic.protocols]
    same = ("instance", "client_id", "host", "rack", "assignor")
    return {name: getattr(value, name) for name in same} | {
        "topics": list(value.topics),
        "regex": value.regex or None,
        "member_protocol": CONSUMER if classic is None else CLASSIC,
        "fields": _json(fields),
    }


def _current(value: records.CurrentAssignmentValue, names: Names) -> TableRow:
    return {
        "epoch": value.epoch,
        "previous_epoch": value.previous_epoch,
        "state": value.state.name.lower(),
        "assignment": named(value.assigned, names),
        "revoking": named(value.revoking, names),
    }


def _regex(value: records.RegexValue, _: Names) -> TableRow:
    return {
        "topics": list(value.topics),
        "state_since": timestamp_us(value.resolved_ms),
        "fields": _json({"version": value.version}),
    }


def _other(value: Mapping[str, Any], names: Names) -> TableRow:
    """The row of a share or streams group: the columns with the same meaning, and all fields of the value."""
    row: TableRow = {column: value[field] for field, column in _SAME.items() if field in value}
    for field in ("topicPartitions", "assignedPartitions"):
        if field in value:
            row["assignment"] = named({part["topicId"]: part["partitions"] for part in value[field]}, names)
    if "assignmentTimestamp" in value:
        row["state_since"] = timestamp_us(value["assignmentTimestamp"] or -1)
    return row | {"fields": _json(value)}


_SAME: Mapping[str, str] = {
    "epoch": "epoch",
    "assignmentEpoch": "epoch",
    "memberEpoch": "epoch",
    "previousMemberEpoch": "previous_epoch",
    "metadataHash": "metadata_hash",
    "instanceId": "instance",
    "clientId": "client_id",
    "clientHost": "host",
    "rackId": "rack",
    "subscribedTopicNames": "topics",
}
"""Columns of the fields of share and streams groups."""

_COLUMNS: Mapping[type[Any], Callable[[Any, Names], TableRow]] = {
    records.ClassicGroupRecord: _classic_group,
    records.ConsumerGroupRecord: lambda value, _: {
        "epoch": value.epoch,
        "metadata_hash": value.metadata_hash,
    },
    records.PartitionMetadataRecord: _partition_metadata,
    records.ConsumerMemberRecord: _member,
    # Brokers before 4.3 write no time of an assignment: it is 0 then.
    records.TargetEpochRecord: lambda value, _: {
        "epoch": value.epoch,
        "state_since": timestamp_us(value.assigned_ms or -1),
    },
    records.TargetMemberRecord: lambda value, names: {"assignment": named(value, names)},
    records.CurrentAssignmentRecord: _current,
    records.RegexRecord: _regex,
    OtherRecord: _other,
}
"""The columns of each type of record's value."""


def _json(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, default=_plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: object) -> str:
    if isinstance(value, UUID):
        return format_uuid(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value)} cannot be a field")
