"""What steps cost, counted by hand for small groups. A real broker's word is in test_expectation_live.py."""

from dataclasses import replace
from typing import Any

import pytest

from assignors.assignor import Leader
from groups.group_spec import current_of
from groups.model import Client, Group, GroupState, GroupType, Member, MemberProtocol, Subscription, Topic
from migration import walk
from migration.clients import clients_of, parse_clients
from migration.expectation import Forecast, forecast
from migration.model import (
    Destination,
    Expectation,
    MemberStart,
    Rollout,
    RoundAction,
    SettledGroup,
    Step,
    TemporaryMember,
)
from migration.rules.case import Case, PlanRequest
from migration.walk import Walk, sampled
from tests.migration.cases import NEW

CONSUMER = MemberStart(protocol=MemberProtocol.CONSUMER)
BOTH = MemberStart(assignors=("cooperative-sticky", "range"))
COOPERATIVE = MemberStart(assignors=("cooperative-sticky",))
RANGE = MemberStart(assignors=("range",))
BOUNCE_S = 10.0


def group_of(protocol: str, members: int, partitions: int, *, static: bool = False) -> Group:
    """A settled classic group, as range would deal one topic out."""
    share, more = divmod(partitions, members)
    starts = [index * share + min(index, more) for index in range(members + 1)]
    return Group(
        id="g",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol=protocol,
        generation=5,
        members=tuple(
            Member(
                id=f"m{index:03}-id",
                instance=f"i{index}" if static else None,
                client=Client(id=f"m{index:03}"),
                protocol=MemberProtocol.CLASSIC,
                protocols=(protocol,),
                subscription=Subscription(topics=("orders",)),
                owned={"orders": tuple(range(starts[index], starts[index + 1]))},
            )
            for index in range(members)
        ),
    )


def one_by_one(group: Group, start: MemberStart) -> Rollout:
    return Rollout(rounds=tuple((member.id,) for member in group.members), start=start)


def topics_of(group: Group) -> dict[str, Topic]:
    count = sum(len(numbers) for member in group.members for numbers in current_of(group, member).values())
    return {"orders": Topic(name="orders", partitions=count)}


def foreseen(
    group: Group,
    *rollouts: Rollout,
    library: str = "java",
    topics: dict[str, Topic] | None = None,
    bounce_s: float = BOUNCE_S,
) -> Forecast:
    steps = [Step(title="", actions=(), rollout=rollout) for rollout in rollouts]
    topics = topics_of(group) if topics is None else topics
    clients = clients_of(group, parse_clients([library]))
    request = PlanRequest(destination=Destination.CONSUMER)
    case = Case(group=group, cluster=NEW, request=request, clients=clients)
    return forecast(case, steps, topics=topics, bounce_s=bounce_s)


def expected(result: Forecast) -> list[Expectation]:
    return [step.expectation for step in result.steps if step.expectation is not None]


def costs(group: Group, *rollouts: Rollout, **options: Any) -> list[tuple[int, int, float]]:
    expectations = expected(foreseen(group, *rollouts, **options))
    return [(one.rebalances, one.moved, one.without_owner_s) for one in expectations]


def test_an_eager_roll_gives_up_everything_twice_a_round() -> None:
    group = group_of("range", 3, 12)
    (cost,) = costs(group, one_by_one(group, RANGE))
    # First, heartbeats are spread: 4 partitions wait for the later of two members, 2 s, and 8 wait 2 - 1.5 s. From then
    # on they are in step: what others had waits 1.5 s, what is given up is given out at once.
    # Moved: the ranges of two members are 0-5 and 6-11, of three 0-3, 4-7 and 8-11.
    assert cost == (6, (6 + 4 + 6) * 2, 4 * 2.0 + 8 * 0.5 + 2 * 4 * 1.5)


def test_a_cooperative_roll_moves_only_what_it_must() -> None:
    group = group_of("cooperative-sticky", 3, 12)
    (cost,) = costs(group, one_by_one(group, COOPERATIVE))
    # Stopped: 4 partitions go to the others, waiting 2 s, later 1.5 s. Started: 4 rejoin in a second rebalance, of
    # which the newcomer learns at its first heartbeat: 3 s.
    assert cost == (9, 24, 4 * 2.0 + 2 * 4 * 1.5 + 3 * 4 * 3.0)


def test_the_protocol_turns_when_no_member_is_left_without_it() -> None:
    group = group_of("range", 3, 12)
    settled_groups = foreseen(group, one_by_one(group, BOTH), one_by_one(group, COOPERATIVE)).settled_groups
    assert [moment.protocol for moment in settled_groups] == ["range"] * 5 + ["cooperative-sticky"] * 8
    # From the second bounce on some members are cooperative, and hand over in a separate rebalance.
    assert [moment.rebalances for moment in settled_groups] == [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2]


def test_a_static_member_that_restarts_costs_only_its_own_time() -> None:
    group = group_of("range", 3, 12, static=True)
    assert costs(group, one_by_one(group, RANGE)) == [(0, 0, 12 * BOUNCE_S)]
    assert costs(group, one_by_one(group, CONSUMER), one_by_one(group, RANGE)) == [(0, 0, 12 * BOUNCE_S)] * 2


def test_static_members_rebalance_once_when_the_vote_changes() -> None:
    group = group_of("range", 3, 12, static=True)
    (expectation,) = expected(foreseen(group, one_by_one(group, BOTH)))
    assert (expectation.rebalances, expectation.without_owner_s) == (1, 12 * BOUNCE_S + 12 * 0.75)


def test_a_static_member_away_for_longer_than_its_session_leaves() -> None:
    group = group_of("range", 3, 12, static=True)
    (expectation,) = expected(foreseen(group, one_by_one(group, RANGE), bounce_s=60.0))
    assert expectation.rebalances == 6
    assert any("until their session expires" in line for line in expectation.arithmetic)


def test_the_first_consumer_member_waits_for_its_second_heartbeat() -> None:
    group = group_of("cooperative-sticky", 3, 12)
    (cost,) = costs(group, Rollout(rounds=((group.members[0].id,),), start=CONSUMER))
    # Stopped: 4 wait 2 s for two classic members. Started: 4 come from classic members, 3.5 s each.
    assert cost == (2, 8, 4 * 2.0 + 4 * 3.5)


def test_all_at_once_wait_for_the_restart_and_for_the_empty_group() -> None:
    group = group_of("range", 3, 12)
    everybody = (tuple(member.id for member in group.members),)
    stop = Rollout(action=RoundAction.STOP, rounds=everybody)
    assert costs(group, stop, Rollout(action=RoundAction.START, rounds=everybody, start=COOPERATIVE)) == [
        (0, 0, 0.0),
        (1, 12, 12 * (BOUNCE_S + 3.0)),
    ]
    again = costs(group, stop, Rollout(action=RoundAction.START, rounds=everybody, start=CONSUMER))[1]
    assert again == (1, 12, 12 * (BOUNCE_S + 2.5))


COME = Rollout(
    action=RoundAction.START,
    rounds=(("bridge",),),
    start=COOPERATIVE,
    temporary_members=(TemporaryMember(id="bridge", topics=("empty",)),),
)


def test_a_guest_takes_nothing_and_its_coming_and_going_moves_nothing() -> None:
    group = group_of("cooperative-sticky", 3, 12)
    result = foreseen(group, COME, Rollout(action=RoundAction.STOP, rounds=(("bridge",),)))
    assert [(m.rebalances, m.moved) for m in result.settled_groups] == [(0, 0), (1, 0), (1, 0)]
    assert [member.partitions for member in result.settled_groups[1].members] == [4, 4, 4, 0]
    assert [member.away for member in result.settled_groups[2].members] == [False, False, False, True]


def test_a_guest_leaves_when_the_rounds_are_done() -> None:
    group = group_of("cooperative-sticky", 3, 12)
    first = group.members[0].id
    result = foreseen(group, COME, Rollout(rounds=((first,),), start=CONSUMER, leaving=("bridge",)))
    assert [(m.step, m.round, m.stopped, m.started) for m in result.settled_groups[2:]] == [
        (2, 1, (first,), ()),
        (2, 1, (), (first,)),
        (2, 1, ("bridge",), ()),
    ]
    last = result.settled_groups[-1]
    assert (last.type, last.rebalances, last.moved) == (GroupType.CONSUMER, 1, 0)
    assert last.members[-1].away


@pytest.mark.parametrize("protocol", ["range", "roundrobin", "sticky", "cooperative-sticky"])
@pytest.mark.parametrize("members", [1, 2, 5])
@pytest.mark.parametrize("together", [1, 2])
def test_a_group_settled_owns_everything_once(protocol: str, members: int, together: int) -> None:
    group = group_of(protocol, members, 11)
    ids = [member.id for member in group.members]
    rounds = tuple(tuple(ids[start : start + together]) for start in range(0, members, together))
    position = Walk(group, topics_of(group), Leader.JAVA, BOUNCE_S)
    for start in (CONSUMER, MemberStart(assignors=(protocol,))):
        for moment in position.walk(Rollout(rounds=rounds, start=start)):
            assert_settled(moment, 11)


def assert_settled(moment: SettledGroup, partitions: int) -> None:
    there = [member for member in moment.members if not member.away]
    assert sum(member.partitions for member in there) == (partitions if there else 0)
    shares = [member.partitions for member in there] or [0]
    assert max(shares) - min(shares) <= 1
    assert all(member.partitions == 0 for member in moment.members if member.away)
    consumers = any(member.protocol is MemberProtocol.CONSUMER for member in there)
    assert moment.protocol is None or (moment.type is GroupType.CONSUMER) == consumers


def test_some_rounds_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    group = group_of("cooperative-sticky", 40, 400)
    rollouts = (one_by_one(group, CONSUMER), one_by_one(group, COOPERATIVE))
    whole = costs(group, *rollouts)
    assert len(whole) == 2
    monkeypatch.setattr(walk, "MOST_WORK", 4000)
    some = foreseen(group, *rollouts)
    assert len(some.settled_groups) < 60
    for expectation, (rebalances, moved, seconds) in zip(expected(some), whole, strict=True):
        assert expectation.rebalances == pytest.approx(rebalances, abs=2)
        assert expectation.moved == pytest.approx(moved, rel=0.05)
        assert expectation.without_owner_s == pytest.approx(seconds, rel=0.05)
        assert any("Walked: 9 of them" in line for line in expectation.arithmetic)


def test_which_rounds_are_walked() -> None:
    assert sampled(3, 10) == {0, 1, 2}
    assert sampled(1000, 10**9) == {0, 249, 499, 749, 999}
    assert {0, 499} <= sampled(500, 5500)
    assert sampled(2, 10, 1) == {1}
    assert [sampled(9, 10, most) for most in (1, 2, 3)] == [{4}, {0, 8}, {0, 4, 8}]
    assert sampled(9, 10, 9) == sampled(9, 10, 100) == set(range(9))


def test_the_arithmetic_adds_up() -> None:
    group = group_of("sticky", 4, 21)
    steps = expected(foreseen(group, one_by_one(group, CONSUMER), one_by_one(group, RANGE)))
    assert len(steps) == 2
    for step in steps:
        sums = [line for line in step.arithmetic if line.endswith("partition-seconds.")]
        total = sum(float(line.rsplit("= ", 1)[1].split()[0].replace(",", "")) for line in sums)
        assert total == pytest.approx(step.without_owner_s, abs=0.1 * len(sums))


@pytest.mark.parametrize(
    ("library", "is_assumed"), [("sarama", True), ("java", False), ("librdkafka", False)]
)
def test_what_is_assumed_of_the_library_is_said(library: str, is_assumed: bool) -> None:
    (expectation,) = expected(foreseen(ON_RANGE, one_by_one(ON_RANGE, RANGE), library=library))
    assert ("the assignors are assumed" in "\n".join(expectation.arithmetic)) == is_assumed


ON_RANGE = group_of("range", 3, 12)
TOPICS = topics_of(ON_RANGE)


@pytest.mark.parametrize(
    ("group", "topics"),
    [
        (replace(ON_RANGE, members=(), state=GroupState.EMPTY), TOPICS),
        (group_of("com.example.Weighted", 3, 12), TOPICS),
        (replace(ON_RANGE, members=tuple(replace(one, owned=None) for one in ON_RANGE.members)), TOPICS),
        (ON_RANGE, {}),
    ],
    ids=["empty", "an assignor that is not known", "owners that the source does not show", "no topics"],
)
def test_where_nothing_can_be_computed_nothing_is_made_up(group: Group, topics: dict[str, Topic]) -> None:
    rollout = one_by_one(ON_RANGE, MemberStart(assignors=(group.protocol or "range",)))
    assert costs(group, rollout, topics=topics) == []


def test_after_a_step_that_cannot_be_computed_none_is() -> None:
    group = ON_RANGE
    custom = one_by_one(group, MemberStart(assignors=("com.example.Weighted", "range")))
    steps = foreseen(group, one_by_one(group, RANGE), custom, one_by_one(group, RANGE)).steps
    assert [step.expectation is None for step in steps] == [False, True, True]
