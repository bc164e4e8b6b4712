"""Records of the coordinator, encoded and decoded: no fact that the engine writes may be lost."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis.stateful import invariant

from coordinator.engine import records as engine
from coordinator.engine.topics import TopicInfo
from coordinator.store.records import OtherRecord, decode_record, encode_record
from tests.coordinator.engine.test_classic_machine import ClassicGroups
from tests.coordinator.engine.test_consumer_stateful import Groups
from tests.wire.log.random_records import random_records
from wire.messages.reader import DecodeError
from wire.messages.record_codec import RECORD_TYPES, UnknownKeyType, encode_key, encode_value

A, B = UUID(int=0x0102030405060708090A0B0C0D0E0F10), UUID(int=7)
GROUP, MEMBER, PLACE = (
    {"group": "g"},
    {"group": "g", "member": "m"},
    {"group": "g", "topic": "t", "partition": 3},
)
KEYS: Mapping[type[engine.Record], tuple[str, Mapping[str, Any]]] = {
    engine.OffsetRecord: ("0001 0001 67 0001 74 00000003", PLACE),
    engine.ClassicGroupRecord: ("0002 0001 67", GROUP),
    engine.ConsumerGroupRecord: ("0003 0001 67", GROUP),
    engine.PartitionMetadataRecord: ("0004 0001 67", GROUP),
    engine.ConsumerMemberRecord: ("0005 0001 67 0001 6d", MEMBER),
    engine.TargetEpochRecord: ("0006 0001 67", GROUP),
    engine.TargetMemberRecord: ("0007 0001 67 0001 6d", MEMBER),
    engine.CurrentAssignmentRecord: ("0008 0001 67 0001 6d", MEMBER),
    engine.RegexRecord: ("0010 0001 67 0001 78", {"group": "g", "regex": "x"}),
}
OFFSET = engine.StoredOffset(offset=5, leader_epoch=2, metadata="md", commit_ms=9)
SUBSCRIBED = engine.ConsumerMemberValue(
    instance=None,
    rack=None,
    client_id="c",
    host="h",
    topics=("t",),
    regex="",
    rebalance_timeout_ms=1,
    assignor=None,
)
CONVERTED = engine.ClassicMemberMetadata(session_timeout_ms=5, protocols=(engine.JoinProtocol("p", b"\1"),))
CLASSIC = engine.ClassicMemberValue(
    member="m",
    instance="i",
    client_id="c",
    host="h",
    rebalance_timeout_ms=3,
    session_timeout_ms=2,
    subscription=b"s",
    assignment=b"",
)
BAND = engine.ClassicGroupValue(
    protocol_type="p", generation=4, protocol="r", leader="m", state_since_ms=6, members=(CLASSIC,)
)
NO_BAND = engine.ClassicGroupValue(
    protocol_type="", generation=0, protocol=None, leader=None, state_since_ms=-1
)
STABLE = engine.CurrentAssignmentValue(epoch=1, previous_epoch=0, state=engine.MemberState.STABLE)
CURRENT = engine.CurrentAssignmentValue(
    epoch=3,
    previous_epoch=2,
    state=engine.MemberState.UNREVOKED_PARTITIONS,
    assigned={B: (1, 2), A: (4,)},
    revoking={A: (9,)},
    assigned_epochs={(B, 1): 1, (B, 2): 3, (A, 4): 2, (A, 9): 0},
)
OF_CLIENT = engine.ClientAssignor(
    name="a", maximum_version=2, reason=3, metadata=engine.ClientMetadata(version=1, data=b"x")
)

WRITTEN: list[tuple[type[engine.Record], Any, str]] = [
    (
        engine.OffsetRecord,
        OFFSET._replace(topic_id=B),
        f"0004 0000000000000005 00000002 03 6d64 0000000000000009 01 00 10 {B.hex}",
    ),
    (engine.OffsetRecord, OFFSET, "0004 0000000000000005 00000002 03 6d64 0000000000000009 00"),
    (
        engine.OffsetRecord,
        OFFSET._replace(leader_epoch=-1, expire_ms=10),
        "0001 0000000000000005 0002 6d64 0000000000000009 000000000000000a",
    ),
    (engine.OffsetRecord, None, ""),
    (
        engine.ClassicGroupRecord,
        BAND,
        "0003 0001 70 00000004 0001 72 0001 6d 0000000000000006 00000001 0001 6d 0001 69 0001 63 0001 68 "
        "00000003 00000002 00000001 73 00000000",
    ),
    (engine.ClassicGroupRecord, NO_BAND, "0003 0000 00000000 ffff ffff ffffffffffffffff 00000000"),
    (
        engine.ConsumerGroupRecord,
        engine.ConsumerGroupValue(epoch=4, metadata_hash=-2),
        "0000 00000004 01 00 08 fffffffffffffffe",
    ),
    (engine.ConsumerGroupRecord, engine.ConsumerGroupValue(epoch=4), "0000 00000004 00"),
    (
        engine.PartitionMetadataRecord,
        (TopicInfo(name="t", id=B, partitions=2, racks=((), ("r", "s"))),),
        f"0000 02 {B.hex} 02 74 00000002 03 00000000 01 00 00000001 03 02 72 02 73 00 00 00",
    ),
    (engine.PartitionMetadataRecord, None, ""),
    (engine.ConsumerMemberRecord, SUBSCRIBED, "0000 00 00 02 63 02 68 02 02 74 01 00000001 00 01 00 01 00"),
    (
        engine.ConsumerMemberRecord,
        replace(SUBSCRIBED, instance="i", rack="r", topics=(), regex="x", assignor="a", classic=CONVERTED),
        "0000 02 69 02 72 02 63 02 68 01 02 78 00000001 02 61 01 00 0c 01 00000005 02 02 70 02 01 00 00",
    ),
    (
        engine.TargetEpochRecord,
        engine.TargetEpochValue(epoch=4, assigned_ms=9),
        "0000 00000004 01 00 08 0000000000000009",
    ),
    (engine.TargetEpochRecord, engine.TargetEpochValue(epoch=4), "0000 00000004 00"),
    (engine.TargetEpochRecord, None, ""),
    (
        engine.TargetMemberRecord,
        {B: (2, 1), A: ()},
        f"0000 03 {B.hex} 03 00000002 00000001 00 {A.hex} 01 00 00",
    ),
    # Of client-side assignors, in a tagged field of Kohort's own: 80 e1 33 is 848000.
    (
        engine.ConsumerMemberRecord,
        replace(SUBSCRIBED, client_assignors=(OF_CLIENT,)),
        "0000 00 00 02 63 02 68 02 02 74 01 00000001 00 02 00 01 00 80e133 0e 02 02 61 0000 0002 03 0001 02 78 00 00",
    ),
    (
        engine.CurrentAssignmentRecord,
        replace(STABLE, payload=engine.Payload(error=2)),
        "0000 00000001 00000000 00 01 01 01 80e133 05 02 0000 00 00",
    ),
    (
        engine.CurrentAssignmentRecord,
        CURRENT,
        "0000 00000003 00000002 01 "
        f"03 {B.hex} 03 00000001 00000002 01 00 09 03 00000001 00000003 "
        f"{A.hex} 02 00000004 01 00 05 02 00000002 "
        f"02 {A.hex} 02 00000009 01 00 05 02 00000000 00",
    ),
    (
        engine.RegexRecord,
        engine.RegexValue(topics=("t",), version=2, resolved_ms=3),
        "0000 02 02 74 0000000000000002 0000000000000003 00",
    ),
]


def _of_group(kind: type[engine.Record], value: Any, **more: Any) -> Any:
    return kind(**{**KEYS[kind][1], "value": value, **more})


@pytest.mark.parametrize(("kind", "value", "written"), WRITTEN)
def test_the_bytes_of_each_record(kind: type[engine.Record], value: Any, written: str) -> None:
    record, key = _of_group(kind, value), bytes.fromhex(KEYS[kind][0])
    content = None if value is None else bytes.fromhex(written)
    assert encode_record(record) == (key, content)
    assert decode_record(key, content) == record


def test_the_bytes_of_a_target_with_a_payload() -> None:
    payload = engine.Payload(error=2, metadata=engine.ClientMetadata(version=-1, data=b"y"))
    record = _of_group(engine.TargetMemberRecord, {}, payload=payload)
    key, content = encode_record(record)
    assert content == bytes.fromhex("0000 01 01 80e133 06 02 ffff 02 79 00")
    assert decode_record(key, content) == record


def test_the_order_of_topics_and_members_is_kept() -> None:
    read: Any = decode_record(*encode_record(_of_group(engine.CurrentAssignmentRecord, CURRENT)))
    assert list(read.value.assigned) == [B, A]


def test_an_expiring_offset_has_no_room_for_leader_epoch_and_topic_id() -> None:
    record = _of_group(engine.OffsetRecord, OFFSET._replace(topic_id=A, expire_ms=10))
    assert decode_record(*encode_record(record)) == _as_written(record) != record


# Older versions, read as by a broker.


def _read(key_type: int, version: int, fields: dict[str, Any]) -> Any:
    key = {"group": "g", "groupId": "g", "topic": "t", "partition": 3, "memberId": "m"}
    record = decode_record(encode_key(key_type, key), encode_value(key_type, version, fields))
    assert not isinstance(record, OtherRecord)
    return record


def test_a_classic_member_of_version_0_has_no_rebalance_timeout() -> None:
    client = {"memberId": "m", "clientId": "c", "clientHost": "h"}
    member = {**client, "sessionTimeout": 2, "subscription": b"s", "assignment": b""}
    fields = {"protocolType": "p", "generation": 4, "protocol": "r", "leader": "m", "members": [member]}
    members = (CLASSIC._replace(instance=None, rebalance_timeout_ms=-1),)
    assert _read(2, 0, fields).value == replace(BAND, state_since_ms=-1, members=members)


def test_a_null_regex_means_no_regex() -> None:
    absent = dict.fromkeys(
        ("instanceId", "rackId", "subscribedTopicRegex", "serverAssignor", "classicMemberMetadata")
    )
    fields = {"clientId": "c", "clientHost": "h", "subscribedTopicNames": ["t"], "rebalanceTimeoutMs": 1}
    assert _read(5, 0, {**absent, **fields}).value == SUBSCRIBED


def test_racks_of_some_partitions_are_racks_of_none() -> None:
    partition = {"partition": (1 << 31) - 1, "racks": ["r"]}
    topic = {"topicId": A, "topicName": "t", "numPartitions": 2, "partitionMetadata": [partition]}
    assert _read(4, 0, {"topics": [topic]}).value == (TopicInfo(name="t", id=A, partitions=2),)


@pytest.mark.parametrize(("epoch", "expected"), [(3, 3), (-1, 0)])
def test_an_assignment_without_epochs_is_written_with_that_of_the_member(epoch: int, expected: int) -> None:
    value = replace(STABLE, epoch=epoch, assigned={A: (1,)})
    read: Any = decode_record(*encode_record(_of_group(engine.CurrentAssignmentRecord, value)))
    assert read.value == replace(value, assigned_epochs={(A, 1): expected})


def test_a_state_of_a_later_kafka_is_unknown() -> None:
    epochs = {"memberEpoch": 3, "previousMemberEpoch": 2, "state": 77}
    fields = {**epochs, "assignedPartitions": [], "partitionsPendingRevocation": []}
    assert _read(8, 0, fields).value.state is engine.MemberState.UNKNOWN


# Records that the coordinator does not use.


def test_records_of_share_and_streams_groups_are_kept_as_they_are() -> None:
    seen: Counter[int] = Counter()
    for key_type, version, key, value in random_records(seed=7, count=20, tags=True):
        record = decode_record(key, value)
        if isinstance(record, OtherRecord):
            seen[record.key_type] += 1
            assert (record.key_type, record.version) == (key_type, version)
            assert encode_record(record) == (key, value)
    assert sorted(seen) == [*range(10, 16), 17, *range(19, 24)]


def test_a_tombstone_of_a_share_group() -> None:
    key = encode_key(11, {"groupId": "s"})
    tombstone = OtherRecord(key_type=11, key={"groupId": "s"}, value=None, version=None)
    assert decode_record(key, None) == tombstone
    assert encode_record(tombstone) == (key, None)


def test_what_no_schema_has() -> None:
    with pytest.raises(UnknownKeyType):
        decode_record(b"\0\x63", None)
    with pytest.raises(DecodeError):
        decode_record(b"\0\3\0\1g", b"\0\1")


# Any record of the engine.


def test_a_record_is_the_same_after_bytes() -> None:
    for *_, key, value in random_records(seed=8, count=100, tags=True):
        record = decode_record(key, value)
        assert decode_record(*encode_record(record)) == _as_written(record)


def test_every_written_version_is_one_there_is() -> None:
    for known in RECORD_TYPES.values():
        assert 0 <= known.written <= known.value.newest


class WrittenGroups(Groups):
    @invariant()
    def records_survive(self) -> None:
        _survive(self.driver.records)


class WrittenClassicGroups(ClassicGroups):
    @invariant()
    def records_survive(self) -> None:
        _survive(self.driver.records)


def _survive(records: list[engine.Record]) -> None:
    for record in records:
        assert decode_record(*encode_record(record)) == _as_written(record)


def _as_written(record: engine.Record | OtherRecord) -> engine.Record | OtherRecord:
    """Without the fields that an expiring offset lacks; partitions without an epoch get the member's."""
    match record:
        case engine.OffsetRecord(value=engine.StoredOffset(expire_ms=int()) as value):
            return record._replace(value=value._replace(leader_epoch=-1, topic_id=None))
        case engine.CurrentAssignmentRecord(value=engine.CurrentAssignmentValue() as value):
            places = [
                (topic, number)
                for owned in (value.assigned, value.revoking)
                for topic in owned
                for number in owned[topic]
            ]
            epochs = dict.fromkeys(places, max(value.epoch, 0)) | dict(value.assigned_epochs)
            return replace(record, value=replace(value, assigned_epochs=epochs))
    return record


TestWrittenGroups = WrittenGroups.TestCase
TestWrittenGroups.settings = settings(max_examples=15, stateful_step_count=20)
TestWrittenClassicGroups = WrittenClassicGroups.TestCase
TestWrittenClassicGroups.settings = settings(max_examples=15, stateful_step_count=20)
