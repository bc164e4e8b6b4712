"""What Kafka makes of static members that return, and of claims of partitions that are gone, has a name; a fault of
the same kind has none.

Real consumers show it: the stories static-leader-returns, static-resubscribed, static-misses-rebalance and
static-killed-while-revoking.
"""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Output, TopicPartition
from coordinator.simulation.consumers import NewMember, make_member
from coordinator.simulation.known_flaws import (
    MISSED_REBALANCE,
    RESTARTED_WHILE_REVOKING,
    RESUBSCRIBED_UNNOTICED,
    RETURNED_LEADER,
    STRAY_CLAIM,
)
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario
from tests.coordinator.simulation.scenarios import violated

AWAY = """\
kohort: 1
topics: {orders: 2}
members:
  a: {library: java, assignors: [range], topics: [orders], instance: a, config: {metadata.max.age.ms: 5000}}
events:
  - {at: 0, start: a}
  - {at: 20, restart: a, after: 5}
  - {at: 22, topic: orders, partitions: 4}
until: 60
"""
LATER = AWAY.replace("at: 22", "at: 30")


@pytest.mark.parametrize("change", ["partitions: 4", "recreate: 1"])
@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_changes_while_the_leader_was_away_go_unnoticed(library: str, change: str) -> None:
    text = AWAY.replace("library: java", f"library: {library}").replace("partitions: 4", change)
    assert violated(text) == {("I4", RETURNED_LEADER)}


# A message takes half a second. The leader's second JoinGroup is answered at 27.5, and it hears so at 28.
UNDER_WAY = AWAY.replace("until", "faults: {delay_ms: [500, 500]}\nuntil").replace("at: 22", "at: 27.7")


def test_what_the_leader_finds_is_what_it_sees_when_it_hears_that_it_leads() -> None:
    assert violated(UNDER_WAY.replace("partitions: 4", "recreate: 4")) == {("I4", RETURNED_LEADER)}


# The leader assigns at 5, its assignment arrives at 5.5, and it looks at the topics at 5.2.
ASSIGNING = """\
kohort: 1
topics: {orders: 2}
members:
  a: {assignors: [range], topics: [orders], instance: a, config: {metadata.max.age.ms: 5200}}
events:
  - {at: 0, start: a}
  - {at: 5.1, topic: orders, partitions: 4}
  - {at: 5.6, restart: a, kill: true}
faults: {delay_ms: [500, 500]}
until: 60
"""


def test_what_the_leader_has_assigned_is_what_it_saw_before() -> None:
    assert violated(ASSIGNING) == {("I4", RETURNED_LEADER)}


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_what_changes_after_the_return_is_noticed(library: str) -> None:
    assert violated(LATER.replace("library: java", f"library: {library}")) == set()


@pytest.mark.parametrize("text", [LATER, LATER.replace("  - {at: 20, restart: a, after: 5}\n", "")])
def test_a_leader_that_does_not_look_is_a_fault(text: str) -> None:
    with mock.patch.object(ClassicConsumer, "_sees_change", return_value=False):
        assert violated(text) == {("I4", "")}


BACK = """\
kohort: 1
topics: {orders: 2, payments: 2}
members:
  a: {library: java, assignors: [range], topics: [orders], instance: a}
events:
  - {at: 0, start: a}
  - {at: 20, restart: a, with: {topics: [orders, payments]}}
until: 90
"""
LIVE = BACK.replace(
    "restart: a, with: {topics: [orders, payments]}", "subscribe: a, topics: [orders, payments]"
)


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_the_new_topic_has_no_consumer(library: str) -> None:
    assert violated(BACK.replace("library: java", f"library: {library}")) == {("I4", RESUBSCRIBED_UNNOTICED)}


@pytest.mark.parametrize(
    "text",
    [BACK.replace("payments]}}", "payments]}, after: 60}"), BACK.replace(", instance: a", ""), LIVE],
    ids=["away for longer than its session", "dynamic", "without a restart"],
)
def test_others_are_assigned_it(text: str) -> None:
    assert violated(text) == set()


def test_a_member_that_does_not_join_again_is_a_fault() -> None:
    with mock.patch.object(ClassicConsumer, "_sees_change", return_value=False):
        assert ("I4", "") in violated(LIVE)


MISSED = """\
kohort: 1
topics: {orders: 3, payments: 1}
settings: {group.initial.rebalance.delay.ms: 0}
members:
  a:
    assignors: [cooperative-sticky]
    topics: [orders, payments]
    config:
      {heartbeat.interval.ms: 500, max.poll.interval.ms: 15000, metadata.max.age.ms: 1000, enable.auto.commit: false}
  c:
    assignors: [cooperative-sticky]
    topics: [orders, payments]
    instance: c
    config:
      {heartbeat.interval.ms: 6000, max.poll.interval.ms: 15000, metadata.max.age.ms: 1000, enable.auto.commit: true}
events:
  - {at: 0, start: a}
  - {at: 3, start: c}
  - {at: 6, topic: payments, partitions: 3}
  - {at: 19, topic: orders, delete: true}
until: 50
"""


def test_two_own_what_it_got_since_it_joined_last() -> None:
    assert violated(MISSED) == {("I1", MISSED_REBALANCE)}


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("    instance: c\n", ""),  # it is removed, and loses everything when it joins
        ("enable.auto.commit: true", "enable.auto.commit: false"),  # it joins in time
        (
            "{at: 6, topic: payments, partitions: 3}",
            "{at: 6, enforce_rebalance: a}",
        ),  # it claimed all that it has
        ("{at: 19, topic", "{at: 22, topic"),  # a heartbeat with_story it
    ],
)
def test_no_member_is_assigned_what_another_owns_otherwise(part: str, other: str) -> None:
    assert part in MISSED
    assert violated(MISSED.replace(part, other)) == set()


KILLED = """\
kohort: 1
topics: {orders: 4}
members:
  a: {library: java, assignors: [cooperative-sticky], topics: [orders], instance: a, listener: {revoked: {takes: 4}}}
  b: {assignors: [cooperative-sticky], topics: [orders], instance: b}
events:
  - {at: 0, start: a}
  - {at: 10, start: b}
  - {at: 15, restart: a, kill: true}
until: 60
"""


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_what_it_was_to_give_up_has_no_owner(library: str) -> None:
    assert violated(KILLED.replace("library: java", f"library: {library}")) == {
        ("I4", RESTARTED_WHILE_REVOKING)
    }


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("cooperative-sticky", "range"),  # nothing is held back for a second rebalance
        ("instance: a, ", ""),  # a member that leaves makes the group rebalance
        ("{at: 15, restart: a", "{at: 25, restart: a"),  # the second rebalance is over
    ],
)
def test_other_restarts_do_no_harm(part: str, other: str) -> None:
    assert part in KILLED
    assert violated(KILLED.replace(part, other)) == set()


TEXT = """\
kohort: 1
topics: {orders: 2, payments: 3}
members:
  a: {assignors: [cooperative-sticky], topics: [payments], config: {metadata.max.age.ms: 5000}}
  b: {assignors: [cooperative-sticky], topics: [orders], config: {enable.auto.commit: false}}
events:
  - {at: 0, start: a}
  - {at: 1, start: b}
  - {at: 20, topic: orders, recreate: 1}
until: 60
"""


@pytest.mark.parametrize("assignor", ["cooperative-sticky", "sticky"])
def test_who_claims_a_partition_that_is_gone_keeps_it(assignor: str) -> None:
    result = run(parse_scenario(Path("x.yaml"), TEXT.replace("cooperative-sticky", assignor)), 1)
    assert ("I4", STRAY_CLAIM) in {(violation.invariant, violation.known) for violation in result.violations}
    assert TopicPartition("orders", 1) in result.final["b"]


def test_with_equal_subscriptions_the_claim_is_dropped() -> None:
    equal = TEXT.replace("[payments]", "[orders]")
    assert run(parse_scenario(Path("x.yaml"), equal), 1).violations == ()


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_member_that_owns_what_it_was_not_assigned_is_a_fault(library: str) -> None:
    """Also where it cannot commit it: a consumer of librdkafka throws that the topic is missing."""
    gone = TopicPartition("orders", 9)

    def make(new: NewMember) -> ClientMember:
        member = make_member(new)
        original = member.take

        def take() -> list[Output]:
            outputs = original()
            member.owned |= {gone} if member.owned else frozenset()
            return outputs

        member.take = take  # type: ignore[method-assign]
        return member

    text = TEXT.replace("recreate: 1}", "recreate: 2}\n  - {at: 40, commit: b}")
    text = text.replace("b: {", f"b: {{library: {library}, ")
    result = run(parse_scenario(Path("x.yaml"), text), 1, make=make)
    assert ("I4", "") in {(violation.invariant, violation.known) for violation in result.violations}
