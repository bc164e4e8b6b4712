"""Rehearsals of plans, right ones and wrong ones."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from groups.model import Client, Group, GroupType, MemberProtocol
from migration.client_config import ClientConfig, kept
from migration.model import Destination, MemberStart, Plan, Rollout, RoundAction, StateIn
from migration.rehearsal.plan_run import places, rehearse, simulated_for_plan
from migration.rehearsal.rehearsed import Rehearsed
from migration.rehearsal.simulated_members import CannotRehearseError, FoundGroup, simulated_members
from migration.rehearsal.simulation import RehearsalCosts
from tests.migration import cases
from tests.migration.cases import CLASSIC, CONSUMER, COOPERATIVE, EAGER, NEW
from tests.migration.rehearsal.groups import PARTITIONS, TOPICS, classic_group, plan_of


def _rehearse(
    of: Plan, group: Group, seed: int = 1, *, stop_at: tuple[int, int] | None = None, with_story: bool = False
) -> Rehearsed:
    found = FoundGroup(group=group, cluster=NEW, topics=TOPICS)
    return rehearse(of, found, simulated_for_plan(of, found), seed, stop_at=stop_at, with_story=with_story)


def _rebalances(rehearsed: Rehearsed) -> Sequence[int]:
    return [each.costs.rebalances for each in rehearsed.rounds]


@pytest.mark.parametrize("seed", range(1, 11))
def test_two_bounces_are_safe(seed: int) -> None:
    group = classic_group()
    found = plan_of(group, COOPERATIVE)
    rehearsed = _rehearse(found, group, seed)
    assert rehearsed.unsafe == ()
    assert [(each.step, each.round) for each in rehearsed.rounds] == list(places(found))
    # A stop and a start, and in the second bounce a third one where a cooperative group moves something.
    assert _rebalances(rehearsed)[:3] == [2, 2, 2]
    assert set(_rebalances(rehearsed)[3:]) <= {2, 3}
    assert all((each.gate_open_after_s or 0) >= found.bounce_s for each in rehearsed.rounds)


def test_it_begins_as_found() -> None:
    """Range follows from the member ids, which are those that were found."""
    group = classic_group()
    assert _rehearse(plan_of(group, COOPERATIVE), group).misplaced == 0


def _dealt_otherwise(group: Group) -> Group:
    """As after a history of members that came and went."""
    owned: Sequence[tuple[int, ...]] = ((0, 5), (2, 3), (1, 4))
    return replace(
        group,
        members=tuple(
            replace(one, owned={"orders": numbers}) for one, numbers in zip(group.members, owned, strict=True)
        ),
    )


@pytest.mark.parametrize(
    ("client", "protocol"),
    [
        ("java:4.1.0", "cooperative-sticky"),
        ("java:4.1.0", "sticky"),
        ("librdkafka:2.16.0", "cooperative-sticky"),
    ],
)
@pytest.mark.parametrize("static", [False, True])
def test_a_sticky_group_begins_as_its_history_has_left_it(client: str, protocol: str, static: bool) -> None:
    group = _dealt_otherwise(classic_group(client, protocol, static=static))
    to = EAGER if protocol == "cooperative-sticky" else COOPERATIVE
    rehearsed = _rehearse(plan_of(group, to), group)
    assert rehearsed.misplaced == 0
    assert rehearsed.violations == ()


@pytest.mark.parametrize("static", [False, True])
def test_a_consumer_group_begins_with_its_target(static: bool) -> None:
    dealt = _dealt_otherwise(classic_group(static=static))
    members = tuple(
        replace(one, protocol=MemberProtocol.CONSUMER, protocols=None, target=one.owned, epoch=7)
        for one in dealt.members
    )
    group = replace(
        dealt,
        type=GroupType.CONSUMER,
        protocol="uniform",
        generation=None,
        group_epoch=7,
        assignment_epoch=7,
        members=members,
    )
    rehearsed = _rehearse(plan_of(group, CLASSIC), group)
    assert rehearsed.misplaced == 0
    assert rehearsed.unsafe == ()


def test_a_seed_gives_the_same_again() -> None:
    group = classic_group()
    found = plan_of(group, CONSUMER)
    first, again, other = (_rehearse(found, group, seed) for seed in (7, 7, 8))
    assert first == again
    assert first.rounds != other.rounds


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("to", [COOPERATIVE, CONSUMER])
def test_every_rollback_arrives(to: Destination, static: bool) -> None:
    group = classic_group(static=static)
    found = plan_of(group, to)
    for place in places(found):
        rehearsed = _rehearse(found, group, stop_at=place)
        assert rehearsed.unsafe == (), place
        assert rehearsed.back is not None
        assert rehearsed.back.arrived


def test_a_static_member_costs_no_rebalance_within_its_session() -> None:
    group = classic_group(static=True)
    rehearsed = _rehearse(plan_of(group, CONSUMER), group)
    assert rehearsed.unsafe == ()
    assert sum(each.costs.moved for each in rehearsed.rounds) == 0


def test_stop_and_start() -> None:
    group = classic_group("librdkafka:2.16.0")
    found = plan_of(group, COOPERATIVE)
    assert "stop" in found.path
    rehearsed = _rehearse(found, group)
    assert rehearsed.unsafe == ()
    assert rehearsed.rounds[-1].costs.without_owner_s > 0


def _skipping(found: Plan) -> Plan:
    """The plan of two bounces, whose first one brings the list of the second."""
    first, second = found.steps
    return replace(found, steps=(replace(first, rollout=second.rollout), second))


def test_a_skipped_bounce_stays_before_a_closed_gate() -> None:
    """The first restart with the new assignor alone: that member cannot join (KIP-429)."""
    group = classic_group()
    found = plan_of(group, COOPERATIVE)
    rehearsed = _rehearse(_skipping(found), group)
    assert len(rehearsed.rounds) == 1
    assert rehearsed.rounds[0].gate_open_after_s is None
    assert "does not open" in rehearsed.unsafe[0]


def test_the_story_says_why() -> None:
    group = classic_group()
    found = plan_of(group, COOPERATIVE)
    rehearsed = _rehearse(_skipping(found), group, with_story=True)
    assert any("INCONSISTENT_GROUP_PROTOCOL" in line for line in rehearsed.story)


def test_a_gate_that_asks_too_little_opens_too_early() -> None:
    """It takes the group for ready as soon as the others have taken over."""
    group = classic_group()
    found = plan_of(group, CONSUMER)
    hasty = replace(
        found.steps[0],
        gate=(StateIn(states=(cases.GROUP.state,)),),
        between=(),
        strays=(),
    )
    rehearsed = _rehearse(replace(found, steps=(hasty,)), group)
    assert any("opens too early" in reason for reason in rehearsed.unsafe)


def test_a_group_that_cannot_be_converted() -> None:
    """The brokers' policy forbids it: the first member is refused, and the gate stays closed."""
    group = classic_group()
    found = plan_of(group, CONSUMER)
    forbidding = replace(NEW, settings={"group.consumer.migration.policy": "disabled"})
    of = FoundGroup(group=group, cluster=forbidding, topics=TOPICS)
    rehearsed = rehearse(found, of, simulated_for_plan(found, of), 1)
    assert "does not open" in rehearsed.unsafe[0]


@pytest.mark.parametrize(("origin", "to"), [("cooperative-sticky", EAGER), ("consumer", CLASSIC)])
def test_the_ways_back_as_plans(origin: str, to: Destination) -> None:
    group = classic_group()
    if origin == "consumer":
        members = tuple(
            replace(one, protocol=cases.upgraded().protocol, protocols=None, target=one.owned, epoch=3)
            for one in group.members
        )
        group = replace(group, type=GroupType.CONSUMER, protocol="uniform", members=members, group_epoch=3)
    else:
        group = classic_group(protocol=origin)
    rehearsed = _rehearse(plan_of(group, to), group)
    assert rehearsed.unsafe == ()
    assert rehearsed.rounds


def test_a_library_without_a_policy_is_played_as_the_nearest_one() -> None:
    group = classic_group("franz-go:1.19.0")
    simulated = simulated_members(group, plan_of(group, CONSUMER).baseline.members)  # type: ignore[union-attr]
    assert {each.script.library for each in simulated.members.values()} == {"java"}
    assert simulated.remarks == (
        "franz-go (m1 and 2 more) cannot be simulated: simulated as java, the closest one",
    )


def _config(text: str, member: str | None = None) -> ClientConfig:
    entries = [(*line.split("="), number) for number, line in enumerate(text.split(), 1)]
    return ClientConfig(name="x.properties", settings=tuple(kept(entries)), member=member)  # type: ignore[arg-type]


def test_members_are_configured_as_their_files_say() -> None:
    """That of a member wins over that of all; what is filled in later is not known."""
    group = classic_group()
    everybody = _config(
        "heartbeat.interval.ms=500 session.timeout.ms=${SESSION} auto.commit.interval.ms=1000"
    )
    own = _config("heartbeat.interval.ms=700", member="m2")
    simulated = simulated_members(group, plan_of(group, COOPERATIVE).baseline.members, (own, everybody))  # type: ignore[union-attr]
    settings = {each.name: each.script.config for each in simulated.members.values()}
    usual = {"heartbeat.interval.ms": "500", "auto.commit.interval.ms": "1000"}
    assert settings == {"m1": usual, "m2": {**usual, "heartbeat.interval.ms": "700"}, "m3": usual}


def test_members_with_quick_heartbeats_wait_less() -> None:
    group = classic_group()
    found = plan_of(group, COOPERATIVE)
    of = FoundGroup(group=group, cluster=NEW, topics=TOPICS)
    slow, quick = (
        sum(
            (each.costs for each in rehearse(found, of, simulated_for_plan(found, of, configs), 1).rounds),
            RehearsalCosts(),
        )
        for configs in ((), (_config("heartbeat.interval.ms=300"),))
    )
    assert quick.without_owner_s < slow.without_owner_s / 2


@pytest.mark.parametrize(("delay_ms", "together"), [("3000", True), ("0", False)])
def test_processes_that_start_together_are_up_one_after_the_other(delay_ms: str, together: bool) -> None:
    """Only a broker that waits for the others has one rebalance for all of them (KIP-134)."""
    group = classic_group("librdkafka:2.16.0")
    found = plan_of(group, COOPERATIVE)
    cluster = replace(NEW, settings={**(NEW.settings or {}), "group.initial.rebalance.delay.ms": delay_ms})
    of = FoundGroup(group=group, cluster=cluster, topics=TOPICS)
    played = rehearse(found, of, simulated_for_plan(found, of), 1).rounds
    (start,) = (
        number
        for number, step in enumerate(found.steps, 1)
        if step.rollout is not None and step.rollout.action is RoundAction.START
    )
    (rebalances,) = (each.costs.rebalances for each in played if each.step == start)
    assert (rebalances == 1) is together


def test_what_cannot_be_rehearsed() -> None:
    group = classic_group()
    found = plan_of(group, COOPERATIVE)
    of = FoundGroup(group=group, cluster=NEW, topics=TOPICS)
    old = replace(found, steps=tuple(replace(step, rollout=None) for step in found.steps))
    with pytest.raises(CannotRehearseError, match=r"step 1 .*make a new plan"):
        simulated_for_plan(old, of)
    with pytest.raises(CannotRehearseError, match="does not name the group"):
        simulated_for_plan(replace(found, baseline=None), of)
    with pytest.raises(CannotRehearseError, match="nothing to rehearse"):
        simulated_for_plan(
            replace(found, steps=(replace(found.steps[0], rollout=None, rounds=(), round_action=None),)), of
        )
    left = replace(group.members[0], client=Client(id="kohort-bridge"))
    with pytest.raises(CannotRehearseError, match="the group has a bridge leader"):
        simulated_for_plan(found, replace(of, group=replace(group, members=(*group.members, left))))
    unknown = replace(group, members=(replace(group.members[0], subscription=None, owned=None),))
    with pytest.raises(CannotRehearseError, match="subscription of"):
        simulated_for_plan(found, replace(of, group=unknown))
    custom = replace(group, members=(replace(group.members[0], protocols=("etl-balanced",)),))
    with pytest.raises(CannotRehearseError, match="etl-balanced, an assignor that Kohort does not have"):
        simulated_for_plan(found, replace(of, group=custom))


def test_a_course_that_restarts_everybody_at_once() -> None:
    """All partitions wait for the bounce."""
    group = classic_group()
    found = plan_of(group, CONSUMER)
    everybody = tuple(member.id for member in group.members)
    start = found.steps[0].rollout.start if found.steps[0].rollout else MemberStart()
    step = replace(
        found.steps[-1], rounds=(everybody,), rollout=Rollout(rounds=(everybody,), start=start), strays=()
    )
    rehearsed = _rehearse(replace(found, steps=(step,)), group)
    assert rehearsed.unsafe == ()
    assert rehearsed.rounds[0].costs.without_owner_s >= PARTITIONS * found.bounce_s


def test_members_with_an_empty_rack_become_consumers() -> None:
    """As librdkafka's are described, which send an empty rack to a classic group, and none in a heartbeat."""
    group = classic_group("librdkafka:2.16.0")
    group = replace(group, members=tuple(replace(one, rack="") for one in group.members))
    played = _rehearse(plan_of(group, CONSUMER), group, with_story=True)
    assert played.unsafe == ()
    assert "INVALID_REQUEST" not in {each.error for each in played.refusals}
