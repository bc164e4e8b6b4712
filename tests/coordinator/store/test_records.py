"""Records of the coordinator, encoded and decoded: no fact that the engine writes may be lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis.stateful import invariant

from coordinator.engine.records import (
    ClassicGroupRecord,
    ClassicGroupValue,
    ClassicMemberMetadata,
    ClassicMemberValue,
    ClientAssignor,
    ClientMetadata,
    ConsumerGroupRecord,
    ConsumerGroupValue,
    ConsumerMemberRecord,
    ConsumerMemberValue,
    CurrentAssignmentRecord,
    CurrentAssignmentValue,
    JoinProtocol,
    MemberState,
    OffsetRecord,
    PartitionMetadataRecord,
    Payload,
    Record,
    RegexRecord,
    RegexValue,
    StoredOffset,
    TargetEpochRecord,
    TargetEpochValue,
    TargetMemberRecord,
)
from coordinator.engine.topics import TopicInfo
from coordinator.store.records import OtherRecord, decode_record, encode_record
from tests.coordinator.engine.test_classic_machine import ClassicGroups
from tests.coordinator.engine.test_consumer_stateful import Groups
from tests.wire.log.random_records import random_records
from wire.messages.reader import DecodeError
from wire.messages.record_codec import RECORD_TYPES, UnknownKeyType, encode_key, encode_value

A, B = UUID(int=0x0102030405060708090A0B0C0D0E0F10), UUID(int=7)
OFFSET_KEY = "0001 0001 67 0001 74 00000003"
MEMBER_KEY = "0001 67 0001 6d"
OFFSET = StoredOffset(offset=5, leader_epoch=2, metadata="md", commit_ms=9)
MEMBER = ConsumerMemberValue(
    instance=None,
    rack=None,
    client_id="c",
    host="h",
    topics=("t",),
    regex="",
    rebalance_timeout_ms=1,
    assignor=None,
)
CLASSIC_MEMBER = ClassicMemberValue(
    member="m",
    instance="i",
    client_id="c",
    host="h",
    rebalance_timeout_ms=3,
    session_timeout_ms=2,
    subscription=b"s",
    assignment=b"",
)
CURRENT = CurrentAssignmentValue(
    epoch=3,
    previous_epoch=2,
    state=MemberState.UNREVOKED_PARTITIONS,
    assigned={B: (1, 2), A: (4,)},
    revoking={A: (9,)},
    assigned_epochs={(B, 1): 1, (B, 2): 3, (A, 4): 2, (A, 9): 0},
)

WRITTEN: list[tuple[Record, str, str | None]] = [
    (
        OffsetRecord(group="g", topic="t", partition=3, value=OFFSET._replace(topic_id=B)),
        OFFSET_KEY,
        f"0004 0000000000000005 00000002 03 6d64 0000000000000009 01 00 10 {B.hex}",
    ),
    (
        OffsetRecord(group="g", topic="t", partition=3, value=OFFSET),
        OFFSET_KEY,
        "0004 0000000000000005 00000002 03 6d64 0000000000000009 00",
    ),
    (
        OffsetRecord(group="g", topic="t", partition=3, value=OFFSET._replace(leader_epoch=-1, expire_ms=10)),
        OFFSET_KEY,
        "0001 0000000000000005 0002 6d64 0000000000000009 000000000000000a",
    ),
    (OffsetRecord(group="g", topic="t", partition=3, value=None), OFFSET_KEY, None),
    (
        ClassicGroupRecord(
            group="g",
            value=ClassicGroupValue(
                protocol_type="p",
                generation=4,
                protocol="r",
                leader="m",
                state_since_ms=6,
                members=(CLASSIC_MEMBER,),
            ),
        ),
        "0002 0001 67",
        "0003 0001 70 00000004 0001 72 0001 6d 0000000000000006 00000001 0001 6d 0001 69 0001 63 0001 68 "
        "00000003 00000002 00000001 73 00000000",
    ),
    (
        ClassicGroupRecord(
            group="g",
            value=ClassicGroupValue(
                protocol_type="", generation=0, protocol=None, leader=None, state_since_ms=-1
            ),
        ),
        "0002 0001 67",
        "0003 0000 00000000 ffff ffff ffffffffffffffff 00000000",
    ),
    (
        ConsumerGroupRecord(group="g", value=ConsumerGroupValue(epoch=4, metadata_hash=-2)),
        "0003 0001 67",
        "0000 00000004 01 00 08 fffffffffffffffe",
    ),
    (ConsumerGroupRecord(group="g", value=ConsumerGroupValue(epoch=4)), "0003 0001 67", "0000 00000004 00"),
    (
        PartitionMetadataRecord(
            group="g", value=(TopicInfo(name="t", id=B, partitions=2, racks=((), ("r", "s"))),)
        ),
        "0004 0001 67",
        f"0000 02 {B.hex} 02 74 00000002 03 00000000 01 00 00000001 03 02 72 02 73 00 00 00",
    ),
    (PartitionMetadataRecord(group="g", value=None), "0004 0001 67", None),
    (
        ConsumerMemberRecord(group="g", member="m", value=MEMBER),
        f"0005 {MEMBER_KEY}",
        "0000 00 00 02 63 02 68 02 02 74 01 00000001 00 01 00 01 00",
    ),
    (
        ConsumerMemberRecord(
            group="g",
            member="m",
            value=replace(
                MEMBER,
                instance="i",
                rack="r",
                topics=(),
                regex="x",
                assignor="a",
                classic=ClassicMemberMetadata(session_timeout_ms=5, protocols=(JoinProtocol("p", b"\1"),)),
            ),
        ),
        f"0005 {MEMBER_KEY}",
        "0000 02 69 02 72 02 63 02 68 01 02 78 00000001 02 61 01 00 0c 01 00000005 02 02 70 02 01 00 00",
    ),
    (
        TargetEpochRecord(group="g", value=TargetEpochValue(epoch=4, assigned_ms=9)),
        "0006 0001 67",
        "0000 00000004 01 00 08 0000000000000009",
    ),
    (TargetEpochRecord(group="g", value=TargetEpochValue(epoch=4)), "0006 0001 67", "0000 00000004 00"),
    (TargetEpochRecord(group="g", value=None), "0006 0001 67", None),
    (
        TargetMemberRecord(group="g", member="m", value={B: (2, 1), A: ()}),
        f"0007 {MEMBER_KEY}",
        f"0000 03 {B.hex} 03 00000002 00000001 00 {A.hex} 01 00 00",
    ),
    # Of client-side assignors, in a tagged field of Kohort's own: 80 e1 33 is 848000.
    (
        ConsumerMemberRecord(
            group="g",
            member="m",
            value=replace(
                MEMBER,
                client_assignors=(
                    ClientAssignor(
                        name="a", maximum_version=2, reason=3, metadata=ClientMetadata(version=1, data=b"x")
                    ),
                ),
            ),
        ),
        f"0005 {MEMBER_KEY}",
        "0000 00 00 02 63 02 68 02 02 74 01 00000001 00 02 00 01 00 80e133 0e 02 02 61 0000 0002 03 0001 02 78 00 00",
    ),
    (
        TargetMemberRecord(
            group="g",
            member="m",
            value={},
            payload=Payload(error=2, metadata=ClientMetadata(version=-1, data=b"y")),
        ),
        f"0007 {MEMBER_KEY}",
        "0000 01 01 80e133 06 02 ffff 02 79 00",
    ),
    (
        CurrentAssignmentRecord(
            group="g",
            member="m",
            value=CurrentAssignmentValue(
                epoch=1, previous_epoch=0, state=MemberState.STABLE, payload=Payload(error=2)
            ),
        ),
        f"0008 {MEMBER_KEY}",
        "0000 00000001 00000000 00 01 01 01 80e133 05 02 0000 00 00",
    ),
    (
        CurrentAssignmentRecord(group="g", member="m", value=CURRENT),
        f"0008 {MEMBER_KEY}",
        "0000 00000003 00000002 01 "
        f"03 {B.hex} 03 00000001 00000002 01 00 09 03 00000001 00000003 "
        f"{A.hex} 02 00000004 01 00 05 02 00000002 "
        f"02 {A.hex} 02 00000009 01 00 05 02 00000000 00",
    ),
    (
        RegexRecord(group="g", regex="x", value=RegexValue(topics=("t",), version=2, resolved_ms=3)),
        "0010 0001 67 0001 78",
        "0000 02 02 74 0000000000000002 0000000000000003 00",
    ),
]


@pytest.mark.parametrize(("record", "key", "value"), WRITTEN)
def test_the_bytes_of_each_record(record: Record, key: str, value: str | None) -> None:
    content = None if value is None else bytes.fromhex(value)
    assert encode_record(record) == (bytes.fromhex(key), content)
    assert decode_record(bytes.fromhex(key), content) == record


def test_the_order_of_topics_and_members_is_kept() -> None:
    record = CurrentAssignmentRecord(group="g", member="m", value=CURRENT)
    read = decode_record(*encode_record(record))
    assert isinstance(read, CurrentAssignmentRecord)
    assert read.value is not None
    assert list(read.value.assigned) == [B, A]


def test_an_expiring_offset_has_no_room_for_leader_epoch_and_topic_id() -> None:
    record = OffsetRecord(group="g", topic="t", partition=3, value=OFFSET._replace(topic_id=A, expire_ms=10))
    assert decode_record(*encode_record(record)) == _as_written(record) != record


# Older versions, read as by a broker.


def _read(key_type: int, version: int, fields: dict[str, Any]) -> Any:
    key = {"group": "g", "groupId": "g", "topic": "t", "partition": 3, "memberId": "m"}
    record = decode_record(encode_key(key_type, key), encode_value(key_type, version, fields))
    assert not isinstance(record, OtherRecord)
    return record


def test_a_classic_member_of_version_0_has_no_rebalance_timeout() -> None:
    member = {
        "memberId": "m",
        "clientId": "c",
        "clientHost": "h",
        "sessionTimeout": 2,
        "subscription": b"s",
        "assignment": b"",
    }
    fields = {"protocolType": "p", "generation": 4, "protocol": "r", "leader": "m", "members": [member]}
    assert _read(2, 0, fields).value == ClassicGroupValue(
        protocol_type="p",
        generation=4,
        protocol="r",
        leader="m",
        state_since_ms=-1,
        members=(replace(CLASSIC_MEMBER, instance=None, rebalance_timeout_ms=-1),),
    )


def test_a_null_regex_means_no_regex() -> None:
    fields = {
        "instanceId": None,
        "rackId": None,
        "clientId": "c",
        "clientHost": "h",
        "subscribedTopicNames": ["t"],
        "subscribedTopicRegex": None,
        "rebalanceTimeoutMs": 1,
        "serverAssignor": None,
        "classicMemberMetadata": None,
    }
    assert _read(5, 0, fields).value == MEMBER


def test_racks_of_some_partitions_are_racks_of_none() -> None:
    partition = {"partition": (1 << 31) - 1, "racks": ["r"]}
    topic = {"topicId": A, "topicName": "t", "numPartitions": 2, "partitionMetadata": [partition]}
    assert _read(4, 0, {"topics": [topic]}).value == (TopicInfo(name="t", id=A, partitions=2),)


def test_an_assignment_without_epochs_is_written_with_that_of_the_member() -> None:
    for epoch, expected in ((3, 3), (-1, 0)):
        value = CurrentAssignmentValue(
            epoch=epoch, previous_epoch=2, state=MemberState.STABLE, assigned={A: (1,)}
        )
        read = decode_record(*encode_record(CurrentAssignmentRecord(group="g", member="m", value=value)))
        assert isinstance(read, CurrentAssignmentRecord)
        assert read.value == replace(value, assigned_epochs={(A, 1): expected})


def test_a_state_of_a_later_kafka_is_unknown() -> None:
    fields = {
        "memberEpoch": 3,
        "previousMemberEpoch": 2,
        "state": 77,
        "assignedPartitions": [],
        "partitionsPendingRevocation": [],
    }
    assert _read(8, 0, fields).value.state is MemberState.UNKNOWN


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
    """The random walk of groups of both protocols; every record is written and read."""

    @invariant()
    def records_survive(self) -> None:
        _survive(self.driver.records)


class WrittenClassicGroups(ClassicGroups):
    """The random walk of classic groups."""

    @invariant()
    def records_survive(self) -> None:
        _survive(self.driver.records)


def _survive(records: list[Record]) -> None:
    for record in records:
        assert decode_record(*encode_record(record)) == _as_written(record)


def _as_written(record: Record | OtherRecord) -> Record | OtherRecord:
    """Without the fields that an expiring offset lacks; partitions without an epoch get the member's."""
    match record:
        case OffsetRecord(value=StoredOffset(expire_ms=int()) as value):
            return replace(record, value=value._replace(leader_epoch=-1, topic_id=None))
        case CurrentAssignmentRecord(value=CurrentAssignmentValue() as value):
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
