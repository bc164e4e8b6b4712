"""Share groups out of their records, by the rules of Kafka 4.3.1; live ones are compared in the tests of
`--log-dir`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from assignors.java.hash_map import timeline_order
from coordinator.store.share_groups import KEY_TYPES, ShareGroup, ShareGroups

T1, T2 = UUID(int=1), UUID(int=2)
MEMBER, METADATA, TARGET_EPOCH, TARGET, CURRENT, STATE = sorted(KEY_TYPES)


def key(member: str | None = None, group: str = "g") -> dict[str, str]:
    return {"groupId": group} if member is None else {"groupId": group, "memberId": member}


def metadata(*topics: str, client: str = "c", rack: str | None = None) -> dict[str, Any]:
    return {"rackId": rack, "clientId": client, "clientHost": "/h", "subscribedTopicNames": list(topics)}


def current(epoch: int, **topics: list[int]) -> dict[str, Any]:
    return {
        "memberEpoch": epoch,
        "previousMemberEpoch": epoch - 1,
        "state": 0,
        "assignedPartitions": _partitions(topics),
    }


def _partitions(topics: dict[str, list[int]]) -> list[dict[str, Any]]:
    ids = {"t1": T1, "t2": T2}
    return [{"topicId": ids[name], "partitions": numbers} for name, numbers in topics.items()]


def only(groups: ShareGroups) -> ShareGroup:
    (group,) = groups.finished().values()
    return group


def test_a_group_is_what_its_records_say() -> None:
    groups = ShareGroups()
    groups.replay(MEMBER, key("m"), metadata("t2", "t1", "t2", rack="r"))
    groups.replay(METADATA, key(), {"epoch": 3, "metadataHash": 9})
    groups.replay(TARGET, key("m"), {"topicPartitions": _partitions({"t1": [1, 0]})})
    groups.replay(TARGET_EPOCH, key(), {"assignmentEpoch": 3, "assignmentTimestamp": 5})
    groups.replay(CURRENT, key("m"), current(3, t1=[1, 0], t2=[]))
    group = only(groups)
    assert (group.id, group.state, group.group_epoch, group.assignment_epoch) == ("g", "Stable", 3, 3)
    (member,) = group.members
    assert (member.id, member.client_id, member.host, member.rack) == ("m", "c", "/h", "r")
    assert (member.topics, member.epoch, member.previous_epoch) == (("t1", "t2"), 3, 2)
    assert member.assigned == member.target == {T1: (0, 1)}


def test_a_new_group_stands_at_epoch_1_with_an_empty_assignment_of_epoch_1() -> None:
    groups = ShareGroups()
    groups.replay(STATE, key(), {"initializingTopics": [], "initializedTopics": [], "deletingTopics": []})
    group = only(groups)
    assert (group.state, group.group_epoch, group.assignment_epoch) == ("Empty", 1, 1)


def test_metadata_and_assignment_of_a_member_come_in_any_order() -> None:
    one, other = ShareGroups(), ShareGroups()
    records: list[tuple[int, dict[str, Any]]] = [(MEMBER, metadata("t1")), (CURRENT, current(2, t1=[0]))]
    for groups, order in ((one, records), (other, records[::-1])):
        for number, value in order:
            groups.replay(number, key("m"), value)
    assert only(one) == only(other)


def test_a_member_leaves_by_its_tombstones_and_the_epochs_stay() -> None:
    groups = ShareGroups()
    groups.replay(METADATA, key(), {"epoch": 3, "metadataHash": 0})
    groups.replay(MEMBER, key("m"), metadata("t1"))
    groups.replay(CURRENT, key("m"), current(3, t1=[0]))
    groups.replay(CURRENT, key("m"), None)
    (member,) = only(groups).members
    assert (member.epoch, member.assigned, member.topics) == (-1, {}, ("t1",))
    groups.replay(TARGET, key("m"), None)
    groups.replay(MEMBER, key("m"), None)
    assert (only(groups).state, only(groups).group_epoch) == ("Empty", 3)


def test_a_group_ends_with_its_metadata() -> None:
    groups = ShareGroups()
    groups.replay(METADATA, key(), {"epoch": 3, "metadataHash": 0})
    groups.replay(TARGET_EPOCH, key(), None)
    assert only(groups).assignment_epoch == -1
    groups.replay(METADATA, key(), None)
    assert groups.finished() == {}
    assert "g" not in groups


def test_tombstones_of_nothing_make_nothing() -> None:
    groups = ShareGroups()
    for number in KEY_TYPES:
        groups.replay(number, key("m"), None)
    assert groups.finished() == {}
    groups.replay(METADATA, key(), {"epoch": 3, "metadataHash": 0})
    for number in KEY_TYPES - {METADATA}:
        groups.replay(number, key("m"), None)
    assert only(groups).members == ()


def test_members_stand_in_the_brokers_order_of_a_map_that_never_shrinks() -> None:
    groups = ShareGroups()
    names = [f"m{number}" for number in range(9)]
    for name in names:
        groups.replay(MEMBER, key(name), metadata())
    for name in names[3:]:
        groups.replay(MEMBER, key(name), None)
    expected = [names[index] for index in timeline_order(names[:3], capacity=16)]
    assert [member.id for member in only(groups).members] == expected
    assert expected != [names[index] for index in timeline_order(names[:3])]


def test_state_partitions_tell_names_of_topics() -> None:
    groups = ShareGroups()
    named = {"topicId": T1, "topicName": "orders", "partitions": [2, 1]}
    gone = {"topicId": T2, "topicName": "<UNKNOWN>"}
    groups.replay(
        STATE, key(), {"initializingTopics": [], "initializedTopics": [named], "deletingTopics": [gone]}
    )
    assert groups.topic_names == {T1: "orders"}
    assert (only(groups).initialized, only(groups).initializing) == ({T1: (1, 2)}, {})
    groups.replay(STATE, key(), None)
    assert only(groups).initialized == {}
    assert groups.topic_names == {T1: "orders"}


def test_a_group_that_another_type_has_replaced_is_gone() -> None:
    groups = ShareGroups()
    groups.replay(METADATA, key(), {"epoch": 3, "metadataHash": 0})
    groups.discard("g")
    groups.discard("h")
    assert groups.finished() == {}
