"""Streams groups out of their records, by the rules of Kafka 4.3.1; live ones are compared in the tests of
`--log-dir`."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.store.streams_groups import StreamsGroup, StreamsGroups, StreamsMemberState, StreamsTasks

METADATA, MEMBER, TARGET_EPOCH, TARGET, CURRENT, TOPOLOGY = 17, 19, 20, 21, 22, 23


def key(member: str | None = None) -> dict[str, str]:
    return {"groupId": "g"} if member is None else {"groupId": "g", "memberId": member}


def metadata(epoch: int, validated: int = 0) -> dict[str, Any]:
    return {
        "epoch": epoch,
        "metadataHash": 0,
        "validatedTopologyEpoch": validated,
        "lastAssignmentConfigs": None,
    }


def member(client: str = "c") -> dict[str, Any]:
    return {
        "instanceId": "i",
        "rackId": "r",
        "clientId": client,
        "clientHost": "/h",
        "rebalanceTimeoutMs": 9,
        "topologyEpoch": 2,
        "processId": "p",
        "userEndpoint": None,
        "clientTags": [],
    }


def tasks(**active: list[int]) -> dict[str, Any]:
    found = [{"subtopologyId": name, "partitions": numbers} for name, numbers in active.items()]
    return {"activeTasks": found, "standbyTasks": [], "warmupTasks": []}


def current(epoch: int, state: int = 1, **active: list[int]) -> dict[str, Any]:
    epochs = {"memberEpoch": epoch, "previousMemberEpoch": epoch - 1, "state": state}
    revoking = {f"{kind}PendingRevocation": found for kind, found in tasks().items()}
    return epochs | tasks(**active) | revoking


def topology(epoch: int, **sources: list[str]) -> dict[str, Any]:
    return {
        "epoch": epoch,
        "subtopologies": [
            {"subtopologyId": name, "sourceTopics": topics} for name, topics in sources.items()
        ],
    }


def only(groups: StreamsGroups) -> StreamsGroup:
    (group,) = groups.finished().values()
    return group


def stable() -> StreamsGroups:
    groups = StreamsGroups()
    groups.replay(TOPOLOGY, key(), topology(0, s1=["t2", "t1"], s0=["t0"]))
    groups.replay(METADATA, key(), metadata(3))
    groups.replay(MEMBER, key("m"), member())
    groups.replay(TARGET, key("m"), tasks(s1=[1, 0], s0=[0]))
    groups.replay(TARGET_EPOCH, key(), {"assignmentEpoch": 3, "assignmentTimestamp": 0})
    groups.replay(CURRENT, key("m"), current(3, s1=[1, 0], s0=[0]))
    return groups


def test_a_group_is_what_its_records_say() -> None:
    group = only(stable())
    assert (group.id, group.state, group.group_epoch, group.assignment_epoch) == ("g", "Stable", 3, 3)
    assert group.topology is not None
    assert list(group.topology.source_topics.items()) == [("s0", ("t0",)), ("s1", ("t1", "t2"))]
    (one,) = group.members
    assert (one.id, one.instance, one.rack, one.client_id, one.host) == ("m", "i", "r", "c", "/h")
    assert (one.process_id, one.topology_epoch, one.epoch, one.previous_epoch) == ("p", 2, 3, 2)
    assert one.assigned == one.target == StreamsTasks(active={"s0": (0,), "s1": (0, 1)})
    assert list(one.assigned.active) == ["s0", "s1"]


@pytest.mark.parametrize(
    ("number", "record_key", "value", "state"),
    [
        (METADATA, key(), metadata(4), "Assigning"),
        (METADATA, key(), metadata(3, validated=1), "NotReady"),
        (TOPOLOGY, key(), topology(1), "NotReady"),
        (TOPOLOGY, key(), None, "NotReady"),
        (TARGET_EPOCH, key(), {"assignmentEpoch": 4, "assignmentTimestamp": 0}, "Reconciling"),
        (TARGET_EPOCH, key(), None, "Assigning"),
        (CURRENT, key("m"), current(2), "Reconciling"),
        (CURRENT, key("m"), current(3, state=2), "Reconciling"),
        (CURRENT, key("m"), current(3, state=99), "Reconciling"),
        (CURRENT, key("m"), None, "Reconciling"),
        (MEMBER, key("n"), member(), "Reconciling"),
        (MEMBER, key("m"), None, "Empty"),
    ],
)
def test_the_state_follows_from_the_records(
    number: int, record_key: dict[str, str], value: dict[str, Any] | None, state: str
) -> None:
    groups = stable()
    groups.replay(number, record_key, value)
    assert only(groups).state == state


def test_a_state_that_is_not_known_is_unknown() -> None:
    groups = stable()
    groups.replay(CURRENT, key("m"), current(3, state=99))
    assert only(groups).members[0].state is StreamsMemberState.UNKNOWN


def test_a_deleted_assignment_leaves_the_member() -> None:
    groups = stable()
    groups.replay(CURRENT, key("m"), None)
    (one,) = only(groups).members
    assert (one.epoch, one.assigned, one.client_id) == (-1, StreamsTasks(), "c")


def test_all_kinds_of_tasks_are_kept_apart() -> None:
    groups = StreamsGroups()
    value = current(1) | {
        "standbyTasks": [{"subtopologyId": "s", "partitions": [2]}],
        "warmupTasks": [{"subtopologyId": "s", "partitions": [3]}],
        "activeTasksPendingRevocation": [{"subtopologyId": "s", "partitions": [4]}],
    }
    groups.replay(CURRENT, key("m"), value)
    (one,) = only(groups).members
    assert one.assigned == StreamsTasks(standby={"s": (2,)}, warmup={"s": (3,)})
    assert one.revoking == StreamsTasks(active={"s": (4,)})


def test_a_member_without_an_assignment_has_no_epoch_yet() -> None:
    groups = StreamsGroups()
    groups.replay(MEMBER, key("m"), member())
    (one,) = only(groups).members
    assert (one.epoch, only(groups).state) == (None, "NotReady")


def test_a_group_ends_with_its_metadata() -> None:
    groups = stable()
    groups.replay(METADATA, key(), None)
    assert groups.finished() == {}


def test_tombstones_of_nothing_make_nothing() -> None:
    groups = StreamsGroups()
    for number in (METADATA, MEMBER, TARGET_EPOCH, TARGET, CURRENT, TOPOLOGY):
        groups.replay(number, key("m"), None)
    assert groups.finished() == {}
