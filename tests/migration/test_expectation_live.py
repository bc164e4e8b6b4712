"""What a plan expects, held against a real broker whose members are restarted one by one."""

import time
from pathlib import Path

import pytest
from confluent_kafka.admin._resource import ResourceType

from migration.model import MemberStart
from migration.rebalancing import CLASSIC_HEARTBEAT_S, CONSUMER_HEARTBEAT_S
from tests.kafka.broker import Broker
from tests.kafka.members import Members
from tests.kafka.topics import set_config
from tests.migration.rolled_fleet import CONSUMER, COOPERATIVE, RANGE, Fleet, Way
from tests.support.long import LONG
from tests.support.slowness import Slowness

LEEWAY = 3
"""Partitions: who gets one more than others hangs on member ids, which the broker draws."""
CLIENT_S = 1.0
"""What a client may take next to the heartbeats, on a machine that does nothing else."""
BOTH = MemberStart(assignors=("cooperative-sticky", "range"))
STICKY = MemberStart(assignors=("sticky",))
WAYS = {
    "range to cooperative in two bounces": Way(first=RANGE, bounces=(BOTH, COOPERATIVE)),
    "Java's default to cooperative in one": Way(
        first=MemberStart(assignors=("range", "cooperative-sticky")), bounces=(COOPERATIVE,)
    ),
    "Java's sticky to consumer and back": Way(first=STICKY, bounces=(CONSUMER, STICKY)),
    "cooperative to consumer and back": Way(first=COOPERATIVE, bounces=(CONSUMER, COOPERATIVE)),
    "librdkafka's range to consumer": Way(library="librdkafka", first=RANGE, bounces=(CONSUMER,)),
    "static range to cooperative in two bounces": Way(static=True, first=RANGE, bounces=(BOTH, COOPERATIVE)),
    "static range to consumer and back": Way(static=True, first=RANGE, bounces=(CONSUMER, RANGE)),
}
SHORT = {"range to cooperative in two bounces", "librdkafka's range to consumer"}
"""The ways that `make test` goes."""


@pytest.mark.kafka
@pytest.mark.parametrize(
    "way", [pytest.param(way, id=name, marks=[] if name in SHORT else [LONG]) for name, way in WAYS.items()]
)
def test_the_broker_counts_what_was_expected(
    broker: Broker, members: Members, tmp_path: Path, way: Way
) -> None:
    fleet = Fleet(broker=broker, members=members, way=way, scratch=tmp_path)
    expected = [(one.rebalances, one.moved) for one in fleet.begin() if one is not None]
    counted = [fleet.bounce(start) for start in way.bounces]
    assert [rebalances for rebalances, _ in counted] == [rebalances for rebalances, _ in expected]
    for (_, moved), (_, estimate) in zip(counted, expected, strict=True):
        assert abs(moved - estimate) <= LEEWAY, (counted, expected)


@LONG
@pytest.mark.kafka
@pytest.mark.parametrize(
    "way",
    [
        Way(first=COOPERATIVE, bounces=(COOPERATIVE,)),
        Way(library="librdkafka", first=RANGE, bounces=(CONSUMER,)),
    ],
    ids=["cooperative", "librdkafka's range to consumer"],
)
def test_partitions_are_without_an_owner_for_about_as_long_as_expected(
    broker: Broker, members: Members, tmp_path: Path, way: Way
) -> None:
    """With the heartbeats of the defaults, which are what an expectation assumes."""
    fleet = Fleet(
        broker=broker,
        members=members,
        way=way,
        scratch=tmp_path,
        heartbeat_ms=int(CLASSIC_HEARTBEAT_S * 1000),
        pauses_s=(0.5, 1.5, 2.5),
    )
    heartbeat_ms = str(int(CONSUMER_HEARTBEAT_S * 1000))
    settings = {"consumer.heartbeat.interval.ms": heartbeat_ms, "consumer.session.timeout.ms": "45000"}
    set_config(broker, ResourceType.GROUP, fleet.group, settings)
    (expected,) = fleet.begin()
    assert expected is not None
    since_ns = time.monotonic_ns()
    with Slowness() as slowness:
        fleet.bounce(way.bounces[0])
    gaps = fleet.without_owner(since_ns)
    waits = [(after - before) / 1e9 for before, after in gaps]
    print(
        f"{sum(waits):.1f} partition-seconds, {expected.without_owner_s:.1f} expected; longest {max(waits):.1f} s"
    )
    for (before, after), wait in zip(gaps, waits, strict=True):
        assert wait <= CONSUMER_HEARTBEAT_S + CLIENT_S * slowness.between(before, after)
    assert expected.without_owner_s / 2 <= sum(waits) <= expected.without_owner_s * 2
