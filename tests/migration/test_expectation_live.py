"""What a plan expects, held against a real broker whose members are restarted one by one.

Rebalances are counted by the broker: a classic group's generation becomes the group epoch when the group is converted,
and each rebalance adds one. Moves are counted by who owns each partition whenever the group has come to rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from cli.cluster.replayed import ReplayedSource
from coordinator.model import Cluster, Group, GroupType, MemberProtocol, Topic
from migration.clients import clients_of, parse_clients
from migration.course import Course, Start
from migration.expectation import foresee
from migration.model import Destination, Step
from migration.rules import Case
from tests.kafka.broker import Broker
from tests.kafka.groups import describe
from tests.kafka.member import Member
from tests.kafka.members import Members, Setting, fresh_name
from tests.kafka.topics import create_topics
from tests.migration.cases import listing

NAMES = ("m1", "m2", "m3")
PARTITIONS = 13
"""Not the same number for each member, with three as with two."""
LEEWAY = 3
CLASSES = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
CONSUMER = Start(protocol=MemberProtocol.CONSUMER)
Owners = dict[int, str]


def classic(*assignors: str) -> Start:
    return Start(assignors=assignors)


@dataclass(frozen=True, kw_only=True)
class Way:
    """How three members go from bounce to bounce."""

    library: str = "java"
    static: bool = False
    first: Start
    bounces: tuple[Start, ...]


BOTH = classic("cooperative-sticky", "range")
COOPERATIVE = classic("cooperative-sticky")
WAYS = {
    "range to cooperative in two bounces": Way(first=classic("range"), bounces=(BOTH, COOPERATIVE)),
    "Java's default to cooperative in one": Way(
        first=classic("range", "cooperative-sticky"), bounces=(COOPERATIVE,)
    ),
    "Java's sticky to consumer and back": Way(first=classic("sticky"), bounces=(CONSUMER, classic("sticky"))),
    "cooperative to consumer and back": Way(first=COOPERATIVE, bounces=(CONSUMER, COOPERATIVE)),
    "librdkafka's range to consumer": Way(library="librdkafka", first=classic("range"), bounces=(CONSUMER,)),
    "static range to cooperative in two bounces": Way(
        static=True, first=classic("range"), bounces=(BOTH, COOPERATIVE)
    ),
    "static range to consumer and back": Way(
        static=True, first=classic("range"), bounces=(CONSUMER, classic("range"))
    ),
}


@dataclass
class Fleet:
    """Three members that are restarted; `latest` says who had each partition last."""

    broker: Broker
    members: Members
    way: Way
    group: str
    topic: str
    running: dict[str, Member] = field(default_factory=dict)
    latest: Owners = field(default_factory=dict)
    moved: int = 0

    def start(self, name: str, start: Start) -> None:
        settings: dict[str, Setting] = {"client_id": name}
        if self.way.static:
            settings["group_instance_id"] = name
        if start.protocol is MemberProtocol.CONSUMER:
            settings["group_protocol"] = "consumer"
        elif self.way.library == "java":
            settings["partition_assignment_strategy"] = ",".join(CLASSES[each] for each in start.assignors)
        else:
            settings["partition_assignment_strategy"] = ",".join(start.assignors)
        run: Callable[..., Member] = (
            self.members.java if self.way.library == "java" else self.members.confluent
        )
        self.running[name] = run(self.broker, self.group, [self.topic], fresh_name(name), **settings)

    def settle(self, count: int) -> None:
        """Wait until everything is owned once and the group rests, then count what moved."""

        def owners() -> Owners | None:
            view = describe(self.broker, self.group)
            if view is None or view.state != "Stable" or len(view.members) != count:
                return None
            found = [
                (partition, each.instance or each.member_id)
                for each in view.members
                for partition in each.assignment.get(self.topic, ())
            ]
            return dict(found) if len(found) == len(dict(found)) == PARTITIONS else None

        deadline = time.monotonic() + 60
        while (now := owners()) is None or not self._held(now):
            assert time.monotonic() < deadline, describe(self.broker, self.group)
            time.sleep(0.2)
        self.moved += sum(1 for partition, owner in now.items() if self.latest.get(partition, owner) != owner)
        self.latest = now

    def _held(self, owners: Owners) -> bool:
        """Whether the members themselves hold as many as the broker says."""
        held = sum(len(member.assignment().get(self.topic, ())) for member in self.running.values())
        return held == len(owners)

    def seen(self) -> Group:
        """The group as Kohort reads it from the broker's log."""
        read = ReplayedSource.read([self.broker.data]).describe([self.group], offsets=False)
        return read.items[0]

    def epoch(self) -> int:
        group = self.seen()
        epoch = group.generation if group.type is GroupType.CLASSIC else group.group_epoch
        assert epoch is not None
        return epoch


@pytest.mark.kafka
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_broker_counts_what_was_expected(broker: Broker, members: Members, way: Way) -> None:
    topic = fresh_name("orders")
    create_topics(broker, {topic: PARTITIONS})
    fleet = Fleet(broker=broker, members=members, way=way, group=fresh_name("payments"), topic=topic)
    for count, name in enumerate(NAMES, 1):
        fleet.start(name, way.first)
        fleet.settle(count)
    group = listing(fleet.seen(), *way.first.assignors)  # a broker keeps only what it chose of a list
    ids = {member.client.id: member.id for member in group.members}
    rounds = tuple((ids[name],) for name in NAMES)
    steps = [Step(title="", actions=(), course=Course(rounds=rounds, start=start)) for start in way.bounces]
    case = Case(
        group=group,
        cluster=Cluster(),
        destination=Destination.CONSUMER,
        clients=clients_of(group, parse_clients([way.library])),
    )
    topics = {topic: Topic(name=topic, partitions=PARTITIONS)}
    foreseen = foresee(case, steps, topics=topics, bounce_s=1.0)
    counted = [bounce(fleet, start) for start in way.bounces]
    expected = [
        (step.expectation.rebalances, step.expectation.moved) for step in foreseen.steps if step.expectation
    ]
    assert [rebalances for rebalances, _ in counted] == [rebalances for rebalances, _ in expected]
    # Who gets one partition more than others hangs on member ids, which the broker draws.
    for (_, moved), (_, wanted) in zip(counted, expected, strict=True):
        assert abs(moved - wanted) <= LEEWAY, (counted, expected)


def bounce(fleet: Fleet, start: Start) -> tuple[int, int]:
    """Restart all members, one by one; the rebalances that the broker counts, and the partitions that moved."""
    epoch, moved = fleet.epoch(), fleet.moved
    for name in NAMES:
        fleet.running.pop(name).stop()
        if not fleet.way.static:
            fleet.settle(len(NAMES) - 1)
        fleet.start(name, start)
        fleet.settle(len(NAMES))
    return fleet.epoch() - epoch, fleet.moved - moved
