"""What a plan expects, held against a real broker whose members are restarted one by one."""

import pytest

from migration.model import MemberStart
from tests.kafka.broker import Broker
from tests.kafka.members import Members
from tests.migration.rolled_fleet import CONSUMER, COOPERATIVE, RANGE, Fleet, Way
from tests.support.long import LONG

LEEWAY = 3  # Partitions: who gets one more than others hangs on member ids, which the broker draws
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
def test_the_broker_counts_what_was_expected(broker: Broker, members: Members, way: Way) -> None:
    fleet = Fleet(broker=broker, members=members, way=way)
    expected = [(one.rebalances, one.moved) for one in fleet.begin() if one is not None]
    counted = [fleet.bounce(start) for start in way.bounces]
    assert [rebalances for rebalances, _ in counted] == [rebalances for rebalances, _ in expected]
    for (_, moved), (_, estimate) in zip(counted, expected, strict=True):
        assert abs(moved - estimate) <= LEEWAY, (counted, expected)
