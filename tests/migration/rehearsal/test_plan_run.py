"""Rehearsals of plans, right ones and wrong ones."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from groups.model import Client, Group, GroupType, Member, MemberProtocol
from migration.client_config import ClientConfig, kept
from migration.model import Destination, MemberStart, Rollout, StateIn, Step
from migration.rehearsal.plan_run import places
from migration.rehearsal.simulated_members import CannotRehearseError
from tests.migration import cases
from tests.migration.cases import CLASSIC, CONSUMER, COOPERATIVE, EAGER, NEW
from tests.migration.rehearsal.groups import PlannedGroup, classic_group, planned
from tests.support.golden import assert_recorded


def dealt_otherwise(group: Group) -> Group:
    """As after a history of members that came and went."""
    owned: Sequence[tuple[int, ...]] = ((0, 5), (2, 3), (1, 4))
    dealt = (replace(one, owned={"orders": parts}) for one, parts in zip(group.members, owned, strict=True))
    return replace(group, members=tuple(dealt))


def upgraded(group: Group) -> Group:
    """The group on the consumer protocol."""
    members = tuple(
        replace(one, protocol=MemberProtocol.CONSUMER, protocols=None, target=one.owned, epoch=7)
        for one in group.members
    )
    group = replace(group, type=GroupType.CONSUMER, protocol="uniform", generation=None, members=members)
    return replace(group, group_epoch=7, assignment_epoch=7)


def changed(scene: PlannedGroup, *steps: Step) -> PlannedGroup:
    return replace(scene, plan=replace(scene.plan, steps=steps))


def at_once(scene: PlannedGroup) -> PlannedGroup:
    """A plan that restarts everybody at once: all partitions wait for the bounce."""
    everybody, first = (tuple(member.id for member in scene.group.members),), scene.plan.steps[0]
    rollout = Rollout(rounds=everybody, start=first.rollout.start if first.rollout else MemberStart())
    return changed(scene, replace(scene.plan.steps[-1], rounds=everybody, rollout=rollout, strays=()))


LIBRDKAFKA = classic_group("librdkafka:2.16.0")
COOPERATIVE_STICKY = "cooperative-sticky"
EMPTY_RACK = replace(LIBRDKAFKA, members=tuple(replace(member, rack="") for member in LIBRDKAFKA.members))
SAFE: dict[str, PlannedGroup] = {
    **{
        f"{protocol} of {client}, as its history has left it{', static' * static}": planned(
            dealt_otherwise(classic_group(client, protocol, static=static)),
            EAGER if protocol == COOPERATIVE_STICKY else COOPERATIVE,
        )
        for client, protocol in (
            ("java:4.1.0", COOPERATIVE_STICKY),
            ("java:4.1.0", "sticky"),
            ("librdkafka:2.16.0", COOPERATIVE_STICKY),
        )
        for static in (False, True)
    },
    **{
        f"a consumer group with its target{', static' * static}": planned(
            upgraded(dealt_otherwise(classic_group(static=static))), CLASSIC
        )
        for static in (False, True)
    },
    "static members within their sessions": planned(classic_group(static=True), CONSUMER),
    # From 4.4 on, the first member that requests another assignor than the brokers' default causes a rebalance.
    "static members within their sessions, on 4.4": planned(
        classic_group(static=True), CONSUMER, cluster=replace(NEW, kafka="4.4")
    ),
    "stop and start": planned(LIBRDKAFKA, COOPERATIVE),
    # Only a broker that waits for the others has one rebalance for all that start together (KIP-134).
    **{
        f"stop and start with a delay of {delay_ms} ms": planned(
            LIBRDKAFKA,
            COOPERATIVE,
            cluster=replace(
                NEW, settings={**(NEW.settings or {}), "group.initial.rebalance.delay.ms": delay_ms}
            ),
        )
        for delay_ms in ("0", "3000")
    },
    # librdkafka's are described with it: they send it to a classic group, and none in a heartbeat.
    "members with an empty rack": planned(EMPTY_RACK, CONSUMER),
    "everybody at once": at_once(planned(classic_group(), CONSUMER)),
}


def test_what_safe_plans_cost_is_as_recorded() -> None:
    answers = {}
    for name, scene in SAFE.items():
        rehearsed = scene.rehearse()
        assert (rehearsed.unsafe, rehearsed.misplaced, rehearsed.violations) == ((), 0, ())
        answers[name] = "\n".join(
            f"{played.step}.{played.round}: {played.costs.rebalances} rebalances, {played.costs.moved} moved, "
            f"{played.costs.without_owner_s:.0f} s without an owner"
            for played in rehearsed.rounds
        )
    assert_recorded("rehearsed_plans.txt", answers)


@pytest.mark.parametrize("seed", range(1, 11))
def test_two_bounces_are_safe(seed: int) -> None:
    scene = planned(classic_group(), COOPERATIVE)
    rehearsed = scene.rehearse(seed)
    assert rehearsed.unsafe == ()
    assert rehearsed.misplaced == 0, "range follows from the member ids, which are those that were found"
    assert [(played.step, played.round) for played in rehearsed.rounds] == list(places(scene.plan))
    # A stop and a start, and in the second bounce a third one where a cooperative group moves something.
    rebalances = [played.costs.rebalances for played in rehearsed.rounds]
    assert rebalances[:3] == [2, 2, 2]
    assert set(rebalances[3:]) <= {2, 3}
    assert all((played.gate_open_after_s or 0) >= scene.plan.bounce_s for played in rehearsed.rounds)


def test_a_seed_gives_the_same_again() -> None:
    scene = planned(classic_group(), CONSUMER)
    first, again, other = (scene.rehearse(seed) for seed in (7, 7, 8))
    assert first == again
    assert first.rounds != other.rounds


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("to", [COOPERATIVE, CONSUMER])
def test_every_rollback_arrives(to: Destination, static: bool) -> None:
    scene = planned(classic_group(static=static), to)
    for position in places(scene.plan):
        rehearsed = scene.rehearse(stop_at=position)
        assert (rehearsed.unsafe, rehearsed.back and rehearsed.back.arrived) == ((), True), position


def test_a_skipped_bounce_stays_before_a_closed_gate() -> None:
    """The first restart has the list of the second bounce, the new assignor alone: it cannot join (KIP-429)."""
    scene = planned(classic_group(), COOPERATIVE)
    first, second = scene.plan.steps
    rehearsed = changed(scene, replace(first, rollout=second.rollout), second).rehearse(with_story=True)
    assert [played.gate_open_after_s for played in rehearsed.rounds] == [None]
    assert "does not open" in rehearsed.unsafe[0]
    assert any("INCONSISTENT_GROUP_PROTOCOL" in line for line in rehearsed.story)


def test_a_gate_that_asks_too_little_opens_too_early() -> None:
    """It takes the group for ready as soon as the others have taken over."""
    scene = planned(classic_group(), CONSUMER)
    gate = (StateIn(states=(cases.GROUP.state,)),)
    rehearsed = changed(scene, replace(scene.plan.steps[0], gate=gate, between=(), strays=())).rehearse()
    assert any("opens too early" in reason for reason in rehearsed.unsafe)


def test_a_group_that_cannot_be_converted() -> None:
    """The brokers' policy forbids it: the first member is refused, and the gate stays closed."""
    forbidding = replace(NEW, settings={"group.consumer.migration.policy": "disabled"})
    rehearsed = planned(classic_group(), CONSUMER, cluster=forbidding).rehearse()
    assert "does not open" in rehearsed.unsafe[0]


def test_a_library_without_a_policy_is_played_as_the_nearest_one() -> None:
    simulated = planned(classic_group("franz-go:1.19.0"), CONSUMER).simulated
    assert {member.script.library for member in simulated.members.values()} == {"java"}
    assert simulated.remarks == (
        "franz-go (m1 and 2 more) cannot be simulated: simulated as java, the closest one",
    )


def _config(text: str, member: str | None = None) -> ClientConfig:
    entries = [(*line.split("="), number) for number, line in enumerate(text.split(), 1)]
    return ClientConfig(name="x.properties", settings=tuple(kept(entries)), member=member)  # type: ignore[arg-type]


def test_members_are_configured_as_their_files_say() -> None:
    """That of a member wins over that of all; what is filled in later is not known."""
    everybody = _config(
        "heartbeat.interval.ms=500 session.timeout.ms=${SESSION} auto.commit.interval.ms=1000"
    )
    config = _config("heartbeat.interval.ms=700", member="m2")
    simulated = planned(classic_group(), COOPERATIVE, configs=(config, everybody)).simulated
    settings = {member.name: member.script.config for member in simulated.members.values()}
    usual = {"heartbeat.interval.ms": "500", "auto.commit.interval.ms": "1000"}
    assert settings == {"m1": usual, "m2": {**usual, "heartbeat.interval.ms": "700"}, "m3": usual}


def test_members_with_quick_heartbeats_wait_less() -> None:
    slow, quick = (
        sum(
            played.costs.without_owner_s
            for played in planned(classic_group(), COOPERATIVE, configs=configs).rehearse().rounds
        )
        for configs in ((), (_config("heartbeat.interval.ms=300"),))
    )
    assert quick < slow / 2


def test_what_cannot_be_rehearsed() -> None:
    scene = planned(classic_group(), COOPERATIVE)
    plan, group, first = scene.plan, scene.group, scene.group.members[0]
    nothing = replace(plan.steps[0], rollout=None, rounds=(), round_action=None)
    left = replace(first, client=Client(id="kohort-bridge"))
    for other, reason in (
        (changed(scene, *(replace(step, rollout=None) for step in plan.steps)), r"step 1 .*make a new plan"),
        (replace(scene, plan=replace(plan, baseline=None)), "does not name the group"),
        (changed(scene, nothing), "nothing to rehearse"),
        (with_members(scene, *group.members, left), "the group has a bridge leader"),
        (with_members(scene, replace(first, subscription=None, owned=None)), "subscription of"),
        (
            with_members(scene, replace(first, protocols=("etl-balanced",))),
            "etl-balanced, an assignor that Kohort does not have",
        ),
    ):
        with pytest.raises(CannotRehearseError, match=reason):
            assert other.simulated


def with_members(scene: PlannedGroup, *members: Member) -> PlannedGroup:
    return replace(scene, group=replace(scene.group, members=members))
