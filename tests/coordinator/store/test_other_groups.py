"""Share and streams groups from their records, by the rules of Kafka 4.3.1. The tests of `--log-dir` compare them
with live groups."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from assignors.java.hash_map import timeline_order
from coordinator.store.other_groups import OtherGroups, topic_names_in
from groups.model import Group, GroupType, Subscription
from groups.streams import StreamsMember, Subtopology, Tasks, Topology

T1, T2 = UUID(int=1), UUID(int=2)
NAMES = {T1: "t1", T2: "t2"}
MEMBER, METADATA, TARGET_EPOCH, TARGET, CURRENT, STATE = range(10, 16)
SHARE = {MEMBER, METADATA, TARGET_EPOCH, TARGET, CURRENT, STATE}
S_METADATA, S_MEMBER, S_TARGET_EPOCH, S_TARGET, S_CURRENT, TOPOLOGY = 17, 19, 20, 21, 22, 23
STREAMS = {S_METADATA, S_MEMBER, S_TARGET_EPOCH, S_TARGET, S_CURRENT, TOPOLOGY}


def key(member: str | None = None) -> dict[str, str]:
    return {"groupId": "g"} if member is None else {"groupId": "g", "memberId": member}


def only(groups: OtherGroups) -> Group:
    (group,) = groups.by_id.values()
    return group.described(NAMES)


def share_metadata(*topics: str, client: str = "c", rack: str | None = None) -> dict[str, Any]:
    return {"rackId": rack, "clientId": client, "clientHost": "/h", "subscribedTopicNames": list(topics)}


def share_current(epoch: int, **topics: list[int]) -> dict[str, Any]:
    epochs = {"memberEpoch": epoch, "previousMemberEpoch": epoch - 1, "state": 0}
    return epochs | {"assignedPartitions": _partitions(topics)}


def _partitions(topics: dict[str, list[int]]) -> list[dict[str, Any]]:
    ids = {name: topic_id for topic_id, name in NAMES.items()}
    return [{"topicId": ids[name], "partitions": numbers} for name, numbers in topics.items()]


def streams_metadata(epoch: int, validated: int = 0) -> dict[str, Any]:
    epochs = {"epoch": epoch, "validatedTopologyEpoch": validated}
    return epochs | {"metadataHash": 0, "lastAssignmentConfigs": None}


def streams_member(client: str = "c") -> dict[str, Any]:
    client_fields = {"instanceId": "i", "rackId": "r", "clientId": client, "clientHost": "/h"}
    others = {"rebalanceTimeoutMs": 9, "topologyEpoch": 2, "processId": "p", "userEndpoint": None}
    return client_fields | others | {"clientTags": []}


def tasks(**active: list[int]) -> dict[str, Any]:
    active_tasks = [{"subtopologyId": name, "partitions": numbers} for name, numbers in active.items()]
    return {"activeTasks": active_tasks, "standbyTasks": [], "warmupTasks": []}


def streams_current(epoch: int, state: int = 1, **active: list[int]) -> dict[str, Any]:
    epochs = {"memberEpoch": epoch, "previousMemberEpoch": epoch - 1, "state": state}
    revoking = {f"{kind}PendingRevocation": assigned for kind, assigned in tasks().items()}
    return epochs | tasks(**active) | revoking


def topology(epoch: int, **sources: list[str]) -> dict[str, Any]:
    return {"epoch": epoch, "subtopologies": [subtopology(*item) for item in sources.items()]}


def subtopology(name: str, sources: list[str], repartition: str = "", changelog: str = "") -> dict[str, Any]:
    def internal(topic: str) -> list[dict[str, Any]]:
        return [{"name": topic, "partitions": 0, "replicationFactor": 0, "topicConfigs": []}] if topic else []

    return {
        "subtopologyId": name,
        "sourceTopics": sources,
        "sourceTopicRegex": [],
        "stateChangelogTopics": internal(changelog),
        "repartitionSinkTopics": [],
        "repartitionSourceTopics": internal(repartition),
        "copartitionGroups": [],
    }


def share() -> OtherGroups:
    groups = OtherGroups()
    groups.replay(MEMBER, key("m"), share_metadata("t2", "t1", "t2", rack="r"))
    groups.replay(METADATA, key(), {"epoch": 3, "metadataHash": 9})
    groups.replay(TARGET, key("m"), {"topicPartitions": _partitions({"t1": [1, 0]})})
    groups.replay(TARGET_EPOCH, key(), {"assignmentEpoch": 3, "assignmentTimestamp": 5})
    groups.replay(CURRENT, key("m"), share_current(3, t1=[1, 0], t2=[]))
    return groups


def streams() -> OtherGroups:
    groups = OtherGroups()
    groups.replay(TOPOLOGY, key(), topology(0, s1=["t2", "t1"], s0=["t0"]))
    groups.replay(S_METADATA, key(), streams_metadata(3))
    groups.replay(S_MEMBER, key("m"), streams_member())
    groups.replay(S_TARGET, key("m"), tasks(s1=[1, 0], s0=[0]))
    groups.replay(S_TARGET_EPOCH, key(), {"assignmentEpoch": 3, "assignmentTimestamp": 0})
    groups.replay(S_CURRENT, key("m"), streams_current(3, s1=[1, 0], s0=[0]))
    return groups


def test_a_task_reads_repartition_topics_too_and_standby_tasks_read_none() -> None:
    groups = streams()
    parts = [subtopology("s0", ["in"]), subtopology("s1", [], "g-a-repartition", "g-a-changelog")]
    parts[0]["repartitionSinkTopics"] = ["g-a-repartition"]
    groups.replay(TOPOLOGY, key(), {"epoch": 4, "subtopologies": parts})
    member = streams_member() | {
        "userEndpoint": {"host": "h1", "port": 8080},
        "clientTags": [{"key": "zone", "value": "z1"}],
    }
    groups.replay(S_MEMBER, key("m"), member)
    standby = [{"subtopologyId": "s1", "partitions": [3, 2]}]
    groups.replay(S_CURRENT, key("m"), streams_current(3, s1=[1, 0]) | {"standbyTasks": standby})
    group = only(groups)
    assert group.topology == Topology(
        epoch=4,
        subtopologies=(
            Subtopology(id="s0", source_topics=("in",), repartition_sinks=("g-a-repartition",)),
            Subtopology(id="s1", repartition_sources=("g-a-repartition",), changelogs=("g-a-changelog",)),
        ),
    )
    (one,) = group.members
    assert (one.owned, one.subscription) == ({"g-a-repartition": (0, 1)}, Subscription(topics=("in",)))
    assert one.streams == StreamsMember(
        process="p",
        topology_epoch=2,
        endpoint="h1:8080",
        client_tags={"zone": "z1"},
        tasks=Tasks(active={"s1": (0, 1)}, standby={"s1": (2, 3)}),
        target_tasks=Tasks(active={"s0": (0,), "s1": (0, 1)}),
    )


def test_a_new_group_has_epoch_1_and_an_empty_assignment_of_epoch_1() -> None:
    groups = OtherGroups()
    groups.replay(STATE, key(), {"initializingTopics": [], "initializedTopics": [], "deletingTopics": []})
    group = only(groups)
    assert (group.state.value, group.group_epoch, group.assignment_epoch) == ("Empty", 1, 1)


@pytest.mark.parametrize(
    "records",
    [
        [(MEMBER, share_metadata("t1")), (CURRENT, share_current(2, t1=[0]))],
        [(S_MEMBER, streams_member()), (S_CURRENT, streams_current(2, s1=[0]))],
    ],
)
def test_metadata_and_assignment_of_a_member_come_in_any_order(records: list[tuple[int, Any]]) -> None:
    one, other = OtherGroups(), OtherGroups()
    for groups, order in ((one, records), (other, records[::-1])):
        for number, value in order:
            groups.replay(number, key("m"), value)
    assert only(one) == only(other)


def test_a_member_leaves_by_its_tombstones_and_the_epochs_stay() -> None:
    groups = share()
    groups.replay(CURRENT, key("m"), None)
    (member,) = only(groups).members
    assert (member.epoch, member.owned) == (-1, {})
    assert member.subscription == Subscription(topics=("t1", "t2"))
    groups.replay(TARGET, key("m"), None)
    groups.replay(MEMBER, key("m"), None)
    assert (only(groups).state.value, only(groups).group_epoch) == ("Empty", 3)


def test_a_deleted_assignment_leaves_the_member_of_a_streams_group() -> None:
    groups = streams()
    groups.replay(S_CURRENT, key("m"), None)
    (one,) = only(groups).members
    assert (one.epoch, one.owned, one.client.id) == (-1, {}, "c")


@pytest.mark.parametrize(
    ("number", "record_key", "value", "state"),
    [
        (S_METADATA, key(), streams_metadata(4), "Assigning"),
        (S_METADATA, key(), streams_metadata(3, validated=1), "NotReady"),
        (TOPOLOGY, key(), topology(1), "NotReady"),
        (TOPOLOGY, key(), None, "NotReady"),
        (S_TARGET_EPOCH, key(), {"assignmentEpoch": 4, "assignmentTimestamp": 0}, "Reconciling"),
        (S_TARGET_EPOCH, key(), None, "Assigning"),
        (S_CURRENT, key("m"), streams_current(2), "Reconciling"),
        (S_CURRENT, key("m"), streams_current(3, state=2), "Reconciling"),
        (S_CURRENT, key("m"), streams_current(3, state=99), "Reconciling"),
        (S_CURRENT, key("m"), None, "Reconciling"),
        (S_MEMBER, key("n"), streams_member(), "Reconciling"),
        (S_MEMBER, key("m"), None, "Empty"),
    ],
)
def test_the_state_of_a_streams_group_follows_from_the_records(
    number: int, record_key: dict[str, str], value: dict[str, Any] | None, state: str
) -> None:
    groups = streams()
    groups.replay(number, record_key, value)
    assert only(groups).state.value == state


def test_a_member_without_an_assignment_has_no_epoch_in_a_streams_group() -> None:
    groups = OtherGroups()
    groups.replay(S_MEMBER, key("m"), streams_member())
    (one,) = only(groups).members
    assert (one.epoch, one.subscription, only(groups).state.value) == (None, None, "NotReady")


@pytest.mark.parametrize(
    ("make", "target_epoch", "metadata"),
    [(share, TARGET_EPOCH, METADATA), (streams, S_TARGET_EPOCH, S_METADATA)],
)
def test_a_group_ends_with_its_metadata(
    make: Callable[[], OtherGroups], target_epoch: int, metadata: int
) -> None:
    groups = make()
    groups.replay(target_epoch, key(), None)
    assert only(groups).assignment_epoch == -1
    groups.replay(metadata, key(), None)
    assert groups.by_id == {}


@pytest.mark.parametrize(("numbers", "metadata"), [(SHARE, METADATA), (STREAMS, S_METADATA)])
def test_tombstones_of_nothing_make_nothing(numbers: set[int], metadata: int) -> None:
    groups = OtherGroups()
    for number in numbers:
        groups.replay(number, key("m"), None)
    assert groups.by_id == {}
    groups.replay(metadata, key(), streams_metadata(3))
    for number in numbers - {metadata}:
        groups.replay(number, key("m"), None)
    assert only(groups).members == ()


def test_members_stand_in_the_brokers_order_of_a_map_that_never_shrinks() -> None:
    groups = OtherGroups()
    names = [f"m{number}" for number in range(9)]
    for name in names:
        groups.replay(MEMBER, key(name), share_metadata())
    for name in names[3:]:
        groups.replay(MEMBER, key(name), None)
    expected = [names[index] for index in timeline_order(names[:3], capacity=16)]
    assert [member.id for member in only(groups).members] == expected
    assert expected != [names[index] for index in timeline_order(names[:3])]


def test_state_partitions_tell_names_of_topics() -> None:
    named = {"topicId": T1, "topicName": "orders", "partitions": [2, 1]}
    gone = {"topicId": T2, "topicName": "<UNKNOWN>"}
    value = {"initializingTopics": [], "initializedTopics": [named], "deletingTopics": [gone]}
    assert dict(topic_names_in(value)) == {T1: "orders"}
    assert dict(topic_names_in(share_metadata())) == {}


def test_a_group_makes_way_for_one_of_another_type() -> None:
    groups = share()
    groups.replay(S_METADATA, key(), None)
    assert only(groups).type is GroupType.SHARE
    groups.replay(S_METADATA, key(), streams_metadata(5))
    assert (only(groups).type, only(groups).group_epoch, only(groups).members) == (GroupType.STREAMS, 5, ())
