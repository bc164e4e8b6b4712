"""`kohort diagnose` of groups on a real broker: each finding provoked, and its healthy twin without one."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import Any

import pytest
from confluent_kafka.admin._resource import ResourceType

from tests.cli.command import Kohort
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_topics_known
from tests.kafka.groups import wait_group
from tests.kafka.members import fresh_name
from tests.kafka.topics import fresh_topic, set_config
from tests.kafka.wire import ask
from tests.migration.raw_consumer import STATIC_LEAVE, RawConsumer
from tests.migration.raw_group import RawGroup

pytestmark = pytest.mark.kafka
PARTITIONS = 4
SHARE_A, SHARE_B = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
Found = dict[str, dict[str, Any]]  # Findings by rule


class Stage:
    """Groups of one broker whose names begin alike, each with one thing that is wrong, or with none."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.prefix = broker, fresh_name("diagnosed")
        self.topic = fresh_topic(broker, PARTITIONS)
        self.acts: list[Callable[[int], None]] = []  # done every second or so while the groups are observed

    def name(self, of: str) -> str:
        return f"{self.prefix}.{of}"

    def classic(self, of: str, shares: list[tuple[int, ...]]) -> RawGroup:
        """A settled classic group, whose members were given these partitions."""
        group = RawGroup(broker=self.broker, id=self.name(of), topic=self.topic)
        group.grow(len(shares))
        group.joined(group.start_joining(group.members))
        members = zip(group.members, shares, strict=True)
        group.assign({member: {self.topic: share} if share else {} for member, share in members})
        return group

    def consumer(self, of: str, member: str = "a", **settings: Any) -> RawConsumer:
        """The first member of a consumer group; it has all partitions of what it subscribes to."""
        group = self.name(of)
        set_config(self.broker, ResourceType.GROUP, group, {"consumer.session.timeout.ms": "60000"})
        wait_topics_known(self.broker, group, {self.topic: PARTITIONS})
        settings = settings if "regex" in settings else {"topics": (self.topic,), **settings}
        joined = RawConsumer(broker=self.broker, group=group, id=member, **settings)
        joined.join()
        joined.accept()
        return joined

    def another(self, of: RawConsumer, member: str, **settings: Any) -> RawConsumer:
        """One more member of a group, which has joined and has nothing yet."""
        joined = RawConsumer(broker=self.broker, group=of.group, id=member, topics=of.topics, **settings)
        joined.join()
        return joined

    def share(self, of: str, *members: str) -> None:
        """A share group whose members join, one after the other, and send no heartbeat afterwards."""
        group = self.name(of)
        set_config(self.broker, ResourceType.GROUP, group, {"share.session.timeout.ms": "60000"})
        wanted = {"group_id": group, "rack_id": None, "subscribed_topic_names": [self.topic]}
        for member in members:
            heartbeat = {**wanted, "member_id": member, "member_epoch": 0}
            answer = ask(self.broker.port, "ShareGroupHeartbeat", 1, **heartbeat)
            assert answer.error_code == 0, answer


def _stuck(stage: Stage) -> None:
    prepared = stage.classic("stuck-classic", [(0, 1), (2, 3)])
    prepared.start_joining([prepared.new_id()])
    holding = stage.consumer("stuck-consumer")
    stage.another(holding, "b")
    late = stage.consumer("evicted", rebalance_timeout_ms=3_000)
    waiting = stage.another(late, "b")

    def learn(turn: int) -> None:
        waiting.accept()
        if turn == 4:  # the first looks have been taken by then
            late.listen()

    stage.acts.append(learn)


def _owning(stage: Stage) -> None:
    stage.classic("unowned", [(0,), (1,)])
    stage.classic("skewed", [(0, 1, 2, 3), (), ()])
    away = stage.consumer("away", instance="one")
    away.leave(STATIC_LEAVE)
    stage.consumer("missing", topics=(stage.topic, stage.name("no-topic")))
    stage.consumer("no-match", regex="nothing-begins-so.*")
    stage.classic("mixed", [(0, 1), (2, 3)])
    stage.consumer("mixed", "new")
    stage.share("share-late", SHARE_A, SHARE_B)
    stage.share("healthy-share", SHARE_A)


def _restless(stage: Stage) -> None:
    slow = stage.consumer("polls-late")

    def poll_late(turn: int) -> None:
        slow.leave() if turn % 2 else slow.join()

    first = stage.consumer("storm", "r0")
    crashing, numbers = [first], count(1)

    def crash(_: int) -> None:
        crashing[0].leave()
        crashing[0] = stage.another(first, f"r{next(numbers)}")

    fenced = RawGroup(broker=stage.broker, id=stage.name("fenced"), topic=stage.topic)
    answer = fenced.join_static("one")
    fenced.leader, fenced.generation = answer.member_id, answer.generation_id
    fenced.assign({answer.member_id: {stage.topic: (0, 1, 2, 3)}})
    stage.acts += [poll_late, crash, lambda _: fenced.join_static("one") and None]


def _healthy(stage: Stage) -> None:
    stage.classic("healthy-classic", [(0, 1), (2, 3)])
    a = stage.consumer("healthy-consumer")
    b = stage.another(a, "b")
    for member in (a, b) * 4:  # until both have what they are to have
        member.accept()
    wait_group(stage.broker, a.group, members=2)


@pytest.fixture(scope="module")
def diagnosed(kafka_broker: Broker, kohort: Kohort) -> Callable[[str], Found]:
    stage = Stage(kafka_broker)
    for prepare in (_healthy, _owning, _restless, _stuck):
        prepare(stage)
    line = f"diagnose --match ^{stage.prefix} --for 11s --rebalance-time 2s --output json -b"
    kohort("--version")  # what it is forked from takes seconds to start, once
    ended = Event()
    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(_act, stage.acts, ended)
        try:
            answer = kohort(line, kafka_broker.bootstrap)
        finally:
            ended.set()
        acting.result()
    assert answer.status == 1, answer
    groups = {group["group"]: group["findings"] for group in answer.document["groups"]}
    return lambda of: {finding["rule"]: finding for finding in groups[stage.name(of)]}


def _act(acts: list[Callable[[int], None]], ended: Event) -> None:
    # Slower than one look follows another, so that a look shows each act.
    for turn in count(1):
        for act in acts:
            act(turn)
        if ended.wait(1.4):
            return


def test_healthy_groups_have_no_finding(diagnosed: Callable[[str], Found]) -> None:
    assert [diagnosed(f"healthy-{kind}") for kind in ("classic", "consumer", "share")] == [{}] * 3


def test_rebalances_that_do_not_end_name_who_is_waited_for(diagnosed: Callable[[str], Found]) -> None:
    classic, consumer = diagnosed("stuck-classic"), diagnosed("stuck-consumer")
    assert classic["rebalance-stuck"]["evidence"]["state"] == "PreparingRebalance"
    assert len(classic["rebalance-stuck"]["members"]) == 2
    assert consumer["rebalance-stuck"]["member"] == "a"
    assert "to revoke" in consumer["rebalance-stuck"]["message"]
    assert consumer["rebalance-stuck"]["evidence"]["observed_for_s"] >= 2


def test_member_that_did_not_give_up_in_time_is_evicted(diagnosed: Callable[[str], Found]) -> None:
    evicted = diagnosed("evicted")["member-evicted"]
    assert (evicted["level"], evicted["member"]) == ("warning", "a")


def test_what_members_own_and_want_is_judged(diagnosed: Callable[[str], Found]) -> None:
    assert diagnosed("unowned")["partition-without-owner"]["evidence"]["partitions"] == 2
    assert diagnosed("skewed").keys() == {"skew", "idle-members"}
    assert diagnosed("away")["static-member-away"]["evidence"]["instances"] == ["one"]
    assert diagnosed("missing")["topic-missing"]["level"] == "warning"
    assert diagnosed("share-late")["target-not-reached"]["member"] == SHARE_A
    assert diagnosed("no-match")["regex-matches-nothing"]["evidence"]["matches"] == 0
    assert diagnosed("mixed")["mixed-protocols"]["evidence"] == {"classic": 2, "members": 3}


def test_members_that_come_and_go_are_found(diagnosed: Callable[[str], Found]) -> None:
    assert diagnosed("polls-late")["poll-interval"]["member"] == "a"
    storm = diagnosed("storm")["rebalance-storm"]
    assert storm["level"] == "error"
    assert storm["evidence"]["rebalances"] >= 3
    assert "restart" in storm["message"]
    assert diagnosed("fenced")["static-fencing"]["evidence"]["instance"] == "one"
