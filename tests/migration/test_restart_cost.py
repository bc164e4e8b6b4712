"""What the restart of one member costs today, and at the destination."""

from dataclasses import replace

import pytest

from assignors.assignor import Side
from groups.dry_run import DryRun, DryRunRequest, dry_run
from groups.model import Group, GroupState, GroupType, MemberProtocol
from migration.clients import parse_clients
from migration.expectation import RESUME_S, destinations_assignor, restart_now_s, restart_then_s
from migration.model import Destination
from migration.plan import case_of, make_plan
from migration.rules.case import Case, PlanRequest
from migration.rules.catalog import nothing_to_migrate
from tests.migration.cases import NEW
from tests.migration.test_expectation import group_of, topics_of


def case(group: Group, destination: Destination) -> Case:
    request = PlanRequest(destination=destination, declared=parse_clients(["java:4.3.1"]))
    return case_of(request, group, NEW, topics=tuple(topics_of(group).values()))


def tried(case: Case) -> DryRun:
    assignor, side = destinations_assignor(case)
    return dry_run(case.group, case.topics or {}, DryRunRequest(assignor=assignor, side=side))


def now_and_then(group: Group, destination: Destination) -> tuple[float, float]:
    asked = case(group, destination)
    topics = topics_of(group)
    now_s = restart_now_s(asked, topics=topics, bounce_s=30.0)
    then_s = restart_then_s(asked, tried(asked), topics=topics, bounce_s=30.0)
    assert now_s is not None
    assert then_s is not None
    return now_s, then_s


def test_what_waits_and_what_stops_by_hand() -> None:
    group = group_of("roundrobin", 3, 12)
    # Eager. Leaving: 4 partitions wait 2 s for the later of two members, 8 are given up for half a second. Joining: all
    # 12 are given up and given out at once.
    eager_s = 4 * 2.0 + 8 * 0.5 + (4 + 8 + 12) * RESUME_S
    # Cooperative. Leaving: 4 wait 2 s. Joining: 4 rejoin in a second rebalance, of which the newcomer learns after 3 s.
    cooperative_s = 4 * 2.0 + 4 * 3.0 + (4 + 4) * RESUME_S
    # Consumer. 4 partitions go to the others and rejoin: half a heartbeat of 5 s each time.
    consumer_s = 4 * 2.5 + 4 * 2.5 + (4 + 4) * RESUME_S
    assert now_and_then(group, Destination.COOPERATIVE) == (eager_s, cooperative_s)
    assert now_and_then(group, Destination.CONSUMER) == (eager_s, consumer_s)


def test_the_larger_an_eager_group_is_the_more_it_gains() -> None:
    gains = []
    for members in (3, 6, 12, 24):
        now_s, then_s = now_and_then(group_of("roundrobin", members, members * 4), Destination.CONSUMER)
        gains.append(now_s - then_s)
    assert [0, *gains] == sorted({0, *gains})


def test_who_has_arrived_gains_nothing() -> None:
    now_s, then_s = now_and_then(group_of("cooperative-sticky", 3, 12), Destination.COOPERATIVE)
    assert now_s == then_s


def test_without_members_or_a_way_nothing_is_known() -> None:
    group = group_of("range", 3, 12)
    asked = case(group, Destination.COOPERATIVE)
    topics = topics_of(group)
    assert restart_then_s(asked, None, topics=topics, bounce_s=30.0) is None
    failing = replace(tried(asked), failure="it throws")
    assert restart_then_s(asked, failing, topics=topics, bounce_s=30.0) is None
    assert restart_now_s(asked, topics={}, bounce_s=30.0) is None
    empty = case(replace(group, members=(), state=GroupState.EMPTY), Destination.COOPERATIVE)
    assert restart_now_s(empty, topics=topics, bounce_s=30.0) is None


def test_the_destinations_assignor_is_the_plans() -> None:
    group = group_of("range", 3, 12)
    consumer = replace(group, type=GroupType.CONSUMER, protocol="range")
    assert destinations_assignor(case(group, Destination.COOPERATIVE)) == ("cooperative-sticky", Side.CLIENT)
    cases = [case(state, Destination.CONSUMER) for state in (group, group_of("sticky", 3, 12), consumer)]
    assert [*map(destinations_assignor, cases)] == [
        (name, Side.BROKER) for name in ("range", "uniform", "range")
    ]


def test_a_plan_from_few_rounds_costs_what_the_whole_one_does() -> None:
    group = group_of("cooperative-sticky", 20, 200)

    asked = case(group, Destination.CONSUMER)
    whole, some = make_plan(asked), make_plan(replace(asked, request=replace(asked.request, most_rounds=1)))
    assert whole.findings == some.findings
    # A round has two moments, the stop and the start.
    assert len(some.settled_groups) <= 1 + 2 * len(some.steps) < 2 * 20 < len(whole.settled_groups)
    for expected, step in zip(whole.steps, some.steps, strict=True):
        assert (expected.expectation is None) == (step.expectation is None)
        if expected.expectation is not None and step.expectation is not None:
            assert step.expectation.rebalances == expected.expectation.rebalances
            whole_s = expected.expectation.without_owner_s
            assert step.expectation.without_owner_s == pytest.approx(whole_s, rel=0.3)


def test_what_can_never_migrate_is_reported_from_what_may_not_now() -> None:
    group = group_of("range", 3, 12)
    connect = replace(group, protocol_type="connect")
    there = replace(
        group,
        type=GroupType.CONSUMER,
        members=tuple(replace(member, protocol=MemberProtocol.CONSUMER) for member in group.members),
    )
    unknown = replace(group, protocol=None)
    assert nothing_to_migrate(case(group, Destination.COOPERATIVE)) is None
    assert nothing_to_migrate(case(unknown, Destination.COOPERATIVE)) is None
    rules = [nothing_to_migrate(case(state, Destination.COOPERATIVE)) for state in (connect, there)]
    assert [finding.rule for finding in rules if finding] == ["protocol-type", "group-type"]
