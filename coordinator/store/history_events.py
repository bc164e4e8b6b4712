"""Records of `__consumer_offsets` as the history of groups needs them: events one at a time, commits, most of a log,
many at a time. Records of other groups are recognized by the bytes of their keys, and not decoded."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from sys import intern
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from coordinator.engine import records
from coordinator.store.records import OtherRecord, decode_record
from groups.history.events import GroupEvent, MemberRecord, Place
from wire.java_text import JAVA
from wire.log.columns import Columns
from wire.log.offset_columns import (
    NO_TOPIC_ID,
    OFFSET_COMMIT,
    read_offset_key,
    read_offset_value,
    read_offset_values,
)
from wire.log.timestamps import US_PER_MS, is_in_range, timestamp_us
from wire.log.varints import Ints
from wire.messages.embedded_protocol import read_assignment, read_subscription
from wire.messages.reader import DecodeError
from wire.uuids import format_uuid

TYPE_BYTES = 2
_PARTITION_METADATA = 4
_UNWANTED, _MALFORMED = -1, -2
NO_TIME = "its timestamp is not in the years 1 to 9999"
EMBEDDED_PROTOCOL_TYPE = "consumer"

Partitions: TypeAlias = dict[str, list[int]]  # partitions of topics by name, ascending
Names: TypeAlias = Mapping[UUID, str]  # the names of topics by id
Fields: TypeAlias = dict[str, Any]  # columns of an event by name


class GroupRecord(NamedTuple):
    """A record of a group that is not a commit; `time` in µs since 1970."""

    offset: int
    time: int
    key: bytes
    value: bytes | None

    @property
    def key_type(self) -> int:
        return int.from_bytes(self.key[:TYPE_BYTES], signed=True)


def named(topics: Mapping[UUID, Iterable[int]], names: Names) -> Partitions:
    """Partitions by topic. A topic that was deleted and created again has two ids and one name."""
    by_topic: dict[str, set[int]] = {}
    for topic_id, partitions in topics.items():
        by_topic.setdefault(names.get(topic_id) or format_uuid(topic_id), set()).update(partitions)
    return {topic: sorted(partitions) for topic, partitions in by_topic.items()}


def event_in(record: GroupRecord, partition: int, names: Names) -> GroupEvent | None:
    """The event of a record; None for types that a history does not need. `names`: of topics by id. Raises
    UnknownKeyType. Raises DecodeError."""
    decoded = decode_record(record.key, record.value)
    convert = _CONVERSIONS.get(type(decoded))
    if convert is None or isinstance(decoded, OtherRecord):
        return None
    fields: Fields = {} if decoded.value is None else convert(decoded.value, names)
    if isinstance(decoded, _OF_MEMBERS):
        about = {"topics": frozenset[str]()} | fields.pop("record", {})
        fields["record"] = MemberRecord(member=decoded.member, **about)
    return GroupEvent(
        group=decoded.group,
        partition=partition,
        offset=record.offset,
        time=record.time,
        key_version=record.key_type,
        tombstone=record.value is None,
        **fields,
    )


def names_in(record: GroupRecord) -> dict[UUID, str]:
    """The topics by id in a record of a consumer group's topics, as brokers before Kafka 4.1 write it."""
    if record.value is None or record.key_type != _PARTITION_METADATA:
        return {}
    with suppress(DecodeError):
        decoded = decode_record(record.key, record.value)
        if isinstance(decoded, records.PartitionMetadataRecord):
            return {topic.id: topic.name for topic in decoded.value or ()}
    return {}


def _classic_group(value: records.ClassicGroupValue, _: Names) -> Fields:
    embedded = value.protocol_type == EMBEDDED_PROTOCOL_TYPE
    return {
        "epoch": value.generation,
        "assignor": value.protocol,
        "state_since": timestamp_us(value.state_since_ms),
        "members": tuple(_classic_member(member, embedded) for member in value.members),
    }


def _classic_member(
    member: records.ClassicMemberValue, embedded: bool
) -> tuple[MemberRecord, tuple[Place, ...]]:
    topics = subscribed_topics(member.subscription) if embedded else None
    assigned = assigned_partitions(member.assignment) if embedded else None
    same = ("member", "client_id", "host", "session_timeout_ms", "rebalance_timeout_ms")
    record = MemberRecord(
        instance=member.instance or None,
        topics=None if topics is None else frozenset(topics),
        **{name: getattr(member, name) for name in same},
    )
    return record, _places(assigned or {})


def _member(value: records.ConsumerMemberValue, _: Names) -> Fields:
    record = {
        name: getattr(value, name) for name in ("client_id", "host", "assignor", "rebalance_timeout_ms")
    }
    classic = value.classic
    record |= {
        "instance": value.instance or None,
        "regex": value.regex or None,
        "topics": frozenset(value.topics),
    }
    record |= {"session_timeout_ms": None if classic is None else classic.session_timeout_ms}
    return {"assignor": value.assignor, "record": record}


def _current(value: records.CurrentAssignmentValue, names: Names) -> Fields:
    places = (*_places(named(value.assigned, names)), *_places(named(value.revoking, names)))
    return {"epoch": value.epoch, "state": value.state.name.lower(), "places": places}


_OF_MEMBERS = (records.ConsumerMemberRecord, records.TargetMemberRecord, records.CurrentAssignmentRecord)
_CONVERSIONS: Mapping[type[Any], Callable[[Any, Names], Fields]] = {
    records.ClassicGroupRecord: _classic_group,
    records.ConsumerGroupRecord: lambda value, _: {"epoch": value.epoch},
    records.ConsumerMemberRecord: _member,
    # Brokers before 4.3 write no time of an assignment: it is 0 then.
    records.TargetEpochRecord: lambda value, _: {
        "epoch": value.epoch,
        "state_since": timestamp_us(value.assigned_ms or -1),
    },
    records.TargetMemberRecord: lambda value, names: {"places": _places(named(value, names))},
    records.CurrentAssignmentRecord: _current,
    records.RegexRecord: lambda value, _: {"state_since": timestamp_us(value.resolved_ms)},
}
"""The fields of the event of each type of record's value."""


def _places(partitions: Partitions) -> tuple[Place, ...]:
    return tuple((topic, number) for topic, numbers in partitions.items() for number in numbers)


def subscribed_topics(subscription: bytes) -> list[str] | None:
    try:
        return list(read_subscription(subscription).topics)
    except DecodeError:
        return None


def assigned_partitions(assignment: bytes) -> Partitions | None:
    """The partitions of a member; no bytes mean an empty assignment, as for a client."""
    try:
        partitions_of = read_assignment(assignment).partitions if assignment else {}
    except DecodeError:
        return None
    return {topic: sorted(set(partitions)) for topic, partitions in partitions_of.items()}


def group_in(key: bytes) -> str | None:
    """The group in a key of any type: they all start with it. None: the key is too short."""
    start = TYPE_BYTES + 2
    end = start + int.from_bytes(key[TYPE_BYTES:start], signed=True)
    return key[start:end].decode(errors=JAVA) if len(key) >= end >= start else None


class CommitKeys(dict[bytes, int]):
    """The keys of commits, without their type, by number; each is parsed once. `places`: group and place of each."""

    def __init__(self, wants: Callable[[str], bool]) -> None:
        super().__init__()
        self.places: list[tuple[str, Place]] = []
        self._wants = wants

    def __missing__(self, key: bytes) -> int:
        full_key = OFFSET_COMMIT.to_bytes(TYPE_BYTES) + key
        number = _UNWANTED
        try:
            group, topic, partition = read_offset_key(full_key)
            if self._wants(group):
                number = len(self.places)
                self.places.append((intern(group), (intern(topic), partition)))
        except DecodeError:
            if (name := group_in(full_key)) is not None and self._wants(name):
                number = _MALFORMED
        self[key] = number
        return number


class CommitColumns(NamedTuple):
    """Commits of wanted groups, an element each. `keys`: numbers in `CommitKeys`; `times`: of the records, in µs since
    1970. Deleted offsets have no value, and `committed` is undefined there. `malformed`: offset and reason; `ids`:
    topics by id, as far as new."""

    lanes: Ints  # in the columns that were read
    keys: Ints
    log_offsets: Ints
    times: Ints
    committed: Ints
    has_value: NDArray[np.bool_]
    malformed: Sequence[tuple[int, str]]
    ids: dict[UUID, str]


def commits_in(columns: Columns, lanes: Ints, types: Ints, keys: CommitKeys) -> CommitColumns:
    """The commits among the records at `lanes`, all of them of the types 0 or 1, as `types` has for every record."""
    data = columns.data
    starts, ends = (columns.key_start[lanes] + TYPE_BYTES).tolist(), columns.key_end[lanes].tolist()
    numbers = np.fromiter(
        (keys[data[start:end]] for start, end in zip(starts, ends, strict=True)), np.int64, len(lanes)
    )
    bad = columns.offsets[lanes[numbers == _MALFORMED]].tolist()
    malformed = [(offset, "its key is not that of a commit") for offset in bad]
    lanes, numbers = lanes[numbers >= 0], numbers[numbers >= 0]
    octets = np.frombuffer(data, dtype=np.uint8)
    value_start, value_end = columns.value_start[lanes], columns.value_end[lanes]
    fields = read_offset_values(octets, value_start, value_end)
    has_value, committed = value_end >= 0, fields.offset
    readable = is_in_range(columns.timestamps[lanes])
    malformed += [(offset, NO_TIME) for offset in columns.offsets[lanes[~readable]].tolist()]
    for index in np.flatnonzero(
        has_value & readable & ~(fields.quick & (types[lanes] == OFFSET_COMMIT))
    ).tolist():
        lane = int(lanes[index])
        try:
            committed[index] = read_offset_value(columns.value(lane) or b"", int(types[lane]))[1]
        except DecodeError as error:
            malformed.append((int(columns.offsets[lane]), str(error)))
            readable[index] = False
    ids: dict[UUID, str] = {}
    new, first = np.unique(numbers, return_index=True)
    for number, index in zip(new.tolist(), first.tolist(), strict=True):
        start = int(fields.id_start[index])
        if start != NO_TOPIC_ID:
            ids[UUID(bytes=data[start : start + 16])] = keys.places[number][1][0]
    return CommitColumns(
        lanes=lanes[readable],
        keys=numbers[readable],
        log_offsets=columns.offsets[lanes][readable],
        times=columns.timestamps[lanes][readable] * US_PER_MS,
        committed=committed[readable],
        has_value=has_value[readable],
        malformed=malformed,
        ids=ids,
    )
