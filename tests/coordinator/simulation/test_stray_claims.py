"""Claims of partitions that do not exist: what a leader makes of them has a name, what a member does has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.consumer.member import Member
from coordinator.consumer.outputs import Output, TopicPartition
from coordinator.simulation.consumers import NewMember, make_member
from coordinator.simulation.known_flaws import STRAY_CLAIM
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario

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
    assert ("I4", STRAY_CLAIM) in {(each.invariant, each.known) for each in result.violations}
    assert TopicPartition("orders", 1) in result.final["b"]


def test_with_equal_subscriptions_the_claim_is_dropped() -> None:
    equal = TEXT.replace("[payments]", "[orders]")
    assert run(parse_scenario(Path("x.yaml"), equal), 1).violations == ()


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_member_that_owns_what_it_was_not_assigned_is_a_fault(library: str) -> None:
    """Also where it cannot commit it: a consumer of librdkafka throws that the topic is missing."""
    gone = TopicPartition("orders", 9)

    def make(new: NewMember) -> Member:
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
    assert ("I4", "") in {(each.invariant, each.known) for each in result.violations}
