"""The leader of a live group, and the time between its commits, from the topic itself, which no API describes."""

import re
import time
from collections.abc import Mapping

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin._acl import AclOperation
from confluent_kafka.admin._resource import ResourceType

from cli.sources import offsets_topic
from cli.sources.offsets_topic import LeaderRecord, Unavailable, read_leaders, with_leader
from coordinator.store.partition_files import OFFSETS_TOPIC
from groups.model import Group, GroupState, GroupType, Member
from tests.cli.command import Kohort
from tests.cli.sources.live_source import live_source
from tests.kafka.broker import RunningBroker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.ports import HOST, free_ports
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until
from tests.migration.raw_group import RawGroup
from tests.support.authorizer import OPEN_AUTHORIZER, allow


def leaders(
    broker: RunningBroker, *groups: str, timeout_s: float = 20.0
) -> Mapping[str, LeaderRecord | Unavailable]:
    return read_leaders({"bootstrap.servers": broker.bootstrap}, groups, timeout_s)


def test_the_leader_is_the_one_that_the_broker_writes_down(broker: RunningBroker, members: Members) -> None:
    topic, group = fresh_topic(broker, 3), fresh_name("led")
    first = members.confluent(broker, group, [topic])
    first.wait_assignment({topic: [0, 1, 2]})
    members.confluent(broker, group, [topic])
    wait_group(broker, group, members=2)
    with live_source(broker) as live:
        (described,) = live.with_leaders(live.describe([group], offsets=False).items)
        listed = {row.id for row in live.list_groups().items}
    assert (described.leader, described.leader_problem) == (first.member_id(), None)
    assert (described.generation or 0) >= 2
    assert offsets_topic.READER not in listed


def test_a_record_is_found_far_back(broker: RunningBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets_topic, "FIRST_WINDOW", 2)
    groups = [RawGroup(broker=broker) for _ in range(3)]
    for group in groups:
        group.grow(1)
    for _ in range(40):
        groups[-1].rebalance()
    reported = leaders(broker, *(group.id for group in groups))
    for group in groups:
        assert reported[group.id] == LeaderRecord(
            leader=group.leader, generation=group.generation, members=frozenset(group.members)
        )


def test_a_converted_group_has_no_leader(broker: RunningBroker, members: Members) -> None:
    topic, group = fresh_topic(broker), fresh_name("converted")
    first = members.confluent(broker, group, [topic], partition_assignment_strategy="range")
    first.wait_assignment({topic: [0]})
    members.confluent(broker, group, [topic], group_protocol="consumer")
    wait_group(broker, group, members=2)
    assert leaders(broker, group)[group] == LeaderRecord(leader=None, generation=None)


def test_too_little_time_and_a_cluster_that_is_not_there_are_said(broker: RunningBroker) -> None:
    group = RawGroup(broker=broker)
    group.grow(1)
    assert isinstance(leaders(broker, group.id, timeout_s=0.0)[group.id], Unavailable)
    (port,) = free_ports(1)
    missing = read_leaders({"bootstrap.servers": f"{HOST}:{port}"}, [group.id], 0.5)
    assert isinstance(missing[group.id], Unavailable)


@pytest.mark.parametrize("who", ["User:ANONYMOUS", "User:somebody-else"], ids=["describe", "nothing"])
def test_an_unauthorized_reader_gets_the_reason(start_broker: StartBroker, kohort: Kohort, who: str) -> None:
    broker = start_broker(OPEN_AUTHORIZER)
    group = RawGroup(broker=broker)
    group.grow(2)
    allow(broker, ResourceType.TOPIC, OFFSETS_TOPIC, AclOperation.DESCRIBE, who)

    def refused() -> bool:
        reported = leaders(broker, group.id)[group.id]
        return isinstance(reported, Unavailable) and "authoriz" in reported.why.lower()

    wait_until(refused, "the denial holds")
    answer = kohort.quick("describe", group.id, "--migration", "-b", broker.bootstrap).succeeded()
    words = " ".join(answer.stdout.split())
    assert re.search(r"Leader: not known \(__consumer_offsets(-\d)? cannot be read: .*[aA]uthoriz", words)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_repeated_commits_and_the_last_rebalance(broker: RunningBroker, protocol: str) -> None:
    name, topic = fresh_name("commits"), fresh_topic(broker, 2)
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": name, "enable.auto.commit": False}
    settings["group.protocol"] = protocol
    first, second = Consumer(settings), Consumer(settings)
    position = TopicPartition(topic, 0, 1)
    first.subscribe([topic])
    wait_until(lambda: first.poll(0.1) or first.assignment(), "the first has an assignment")
    first.commit(offsets=[position], asynchronous=False)
    time.sleep(0.1)
    first.commit(offsets=[position], asynchronous=False)
    with live_source(broker) as live:
        (alone,) = live.with_commit_times(live.describe([name], offsets=True).items).items
        assert live.with_commit_times([alone]).items == (alone,)  # nothing was written since
        first.commit(offsets=[position], asynchronous=False)
        (again,) = live.with_commit_times([alone]).items
        second.subscribe([topic])
        wait_until(
            lambda: (first.poll(0.1), second.poll(0.1)) and len(second.assignment()) == 1, "both have one"
        )
        (joined,) = live.with_commit_times(live.describe([name], offsets=True).items).items
    first.close()
    second.close()
    commit = (alone.offsets or {})[topic][0]
    assert commit.timestamp is not None
    assert commit.same_since_ms is not None
    assert commit.same_since_ms + 100 <= commit.timestamp
    assert alone.commit_gap_ms is not None
    # The gap is between the times of the records, which a coordinator writes right after it has the commits.
    assert abs(alone.commit_gap_ms - (commit.timestamp - commit.same_since_ms)) <= 50
    newer = (again.offsets or {})[topic][0]
    assert (newer.timestamp or 0) > commit.timestamp
    assert newer.same_since_ms == commit.same_since_ms
    assert (joined.rebalanced_ms or 0) >= commit.timestamp


def described(state: GroupState, *ids: str) -> Group:
    return Group(id="g", type=GroupType.CLASSIC, state=state, members=tuple(Member(id=id_) for id_ in ids))


def test_a_record_shows_the_leader_and_when_stable_the_generation() -> None:
    record = LeaderRecord(leader="a", generation=7, members=frozenset("ab"))
    group = with_leader(described(GroupState.PREPARING_REBALANCE, "b", "c"), record)
    assert (group.leader, group.generation) == ("a", None)
    assert [member.is_new for member in group.members] == [False, True]
    rested = with_leader(described(GroupState.STABLE, "a", "b"), record)
    assert (rested.leader, rested.generation) == ("a", 7)
    # The record was read later than the group: it is of another generation.
    assert with_leader(described(GroupState.STABLE, "b"), record).generation is None
