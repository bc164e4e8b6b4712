"""Operator mistakes, played: their symptoms, and the reaction of the gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from groups.model import Group, GroupState, GroupType
from migration.model import Destination, Plan, ProtocolIs
from migration.rehearsal.mistakes import Inapplicable, Mistake, PlacedMistake, mistakes_in
from migration.rehearsal.plan_run import rehearse, simulated_for_plan
from migration.rehearsal.simulated_members import FoundGroup, SimulatedMembers, StepRound
from migration.rehearsal.symptoms import GateOutcome, MistakeResult, play_mistake, worst_of
from tests.migration.cases import CONSUMER, COOPERATIVE, NEW
from tests.migration.rehearsal.groups import TOPICS, classic_group, plan_of

CLOSED, SETTLED, OPENED = GateOutcome
INCONSISTENT, FENCED = "INCONSISTENT_GROUP_PROTOCOL", "FENCED_INSTANCE_ID"
Played = Mapping[tuple[Mistake, StepRound], MistakeResult]


def _all(group: Group, to: Destination, seed: int = 1) -> Played:
    plan, found = plan_of(group, to), _found(group)
    simulated = simulated_for_plan(plan, found)
    right = rehearse(plan, found, simulated, seed, with_story=True)
    assert right.unsafe == ()
    played: dict[tuple[Mistake, StepRound], MistakeResult] = {}
    for each in mistakes_in(plan, simulated):
        if isinstance(each, PlacedMistake):  # in a place before its round, then after it
            played.setdefault((each.mistake, each.place), play_mistake(plan, found, simulated, each, right))
    return played


def _found(group: Group) -> FoundGroup:
    return FoundGroup(group=group, cluster=NEW, topics=TOPICS)


def _configured(
    simulated: SimulatedMembers, config: Mapping[str, str], after_error: str | None = None
) -> SimulatedMembers:
    members = {
        member: replace(each, script=replace(each.script, config=config, after_error=after_error))
        for member, each in simulated.members.items()
    }
    return replace(simulated, members=members)


def _made(plan: Plan, simulated: SimulatedMembers, mistake: Mistake, step: int) -> PlacedMistake:
    """The mistake in a step of the plan."""
    (placed,) = (
        each
        for each in mistakes_in(plan, simulated)
        if isinstance(each, PlacedMistake) and (each.mistake, each.step) == (mistake, step)
    )
    return placed


@pytest.fixture(scope="module", params=[1, 2, 3])
def bounces(request: pytest.FixtureRequest) -> Played:
    """Two bounces of a Java group."""
    return _all(classic_group(), COOPERATIVE, request.param)


@pytest.fixture(scope="module")
def static_bounces() -> Played:
    """The same, of static members."""
    return _all(classic_group(static=True), COOPERATIVE)


@pytest.fixture(scope="module", params=[1, 2, 3])
def upgrade(request: pytest.FixtureRequest) -> Played:
    """A rolling upgrade to the consumer protocol."""
    return _all(classic_group(), CONSUMER, request.param)


def _refused(played: MistakeResult) -> set[tuple[str, str]]:
    return {(each.member, each.error) for each in played.symptom.refused}


def test_a_skipped_bounce_is_refused(bounces: Played) -> None:
    played = bounces[Mistake.SKIPPED_BOUNCE, (1, 1)]
    assert _refused(played) == {("m1", INCONSISTENT)}
    assert (played.symptom.shown.protocol, played.symptom.shown.members) == ("range", 2)
    assert (played.outcome, played.closed_by) == (CLOSED, ("member-count",))
    assert "m1" in played.why


def test_a_reversed_list_leaves_the_old_assignor(bounces: Played) -> None:
    """The rounds have settled; only the gate of the step asks for the assignor."""
    played = bounces[Mistake.REVERSED_LIST, (1, 1)]
    assert played.symptom.refused == ()
    assert (played.symptom.shown.protocol, played.symptom.planned.protocol) == ("range", "cooperative-sticky")
    assert played.symptom.shown.state is GroupState.STABLE
    assert (played.outcome, played.closed_by, played.round) == (CLOSED, ("protocol-is",), None)


def test_a_round_too_early_waits_for_rest(bounces: Played) -> None:
    for step in (1, 2):
        played = bounces[Mistake.TOO_EARLY, (step, 1)]
        assert (played.symptom.fewest, played.symptom.planned_fewest) == (1, 2)
        assert played.outcome is SETTLED
        assert {"member-count", "rest"} <= set(played.closed_by)


def test_an_old_member_turns_the_group_back_between_the_bounces(bounces: Played) -> None:
    played = bounces[Mistake.OLD_MEMBER, (2, 1)]
    assert (played.symptom.shown.protocol, played.symptom.planned.protocol) == ("range", "cooperative-sticky")
    # The member of the next round is away: it is asked before it rejoins.
    assert (played.outcome, played.closed_by) == (CLOSED, ("strayed", "member-count", "protocol-is"))


def test_an_old_member_cannot_join_after_the_bounces(bounces: Played) -> None:
    played = bounces[Mistake.OLD_MEMBER, (2, 3)]
    assert _refused(played) == {("m3", INCONSISTENT)}
    assert (played.outcome, played.closed_by) == (CLOSED, ("member-count",))


def test_a_wrong_jar_keeps_the_old_assignor(bounces: Played) -> None:
    for step, closed_by in ((1, ("protocol-is",)), (2, ("strayed", "protocol-is"))):
        played = bounces[Mistake.WRONG_JAR, (step, 1)]
        assert played.symptom.shown.protocol == "range"
        assert (played.outcome, played.closed_by) == (CLOSED, closed_by)


def test_a_deploy_costs_rebalances_and_ends_well_in_the_first_bounce(bounces: Played) -> None:
    played = bounces[Mistake.DEPLOY, (1, 2)]
    assert played.symptom.costs.rebalances > played.symptom.planned_costs.rebalances
    assert played.symptom.fewest == 0
    assert played.outcome is SETTLED


def test_a_deploy_in_the_second_bounce_cannot_be_seen(bounces: Played) -> None:
    """All have new ids and the group has the new assignor; that one still lists both, no broker shows."""
    played = bounces[Mistake.DEPLOY, (2, 2)]
    assert played.outcome is OPENED
    assert "m3 does not run as planned" in played.why


def test_mistakes_of_an_upgrade(upgrade: Played) -> None:
    old, jar = upgrade[Mistake.OLD_MEMBER, (2, 1)], upgrade[Mistake.WRONG_JAR, (2, 1)]
    assert old.symptom.shown.type is GroupType.CLASSIC
    assert (old.outcome, old.closed_by[0]) == (CLOSED, "strayed")
    assert (jar.symptom.shown.upgraded, jar.symptom.planned.upgraded) == (1, 2)
    assert (jar.outcome, jar.closed_by) == (CLOSED, ("as-planned",))
    assert all(each.outcome is not OPENED for each in upgrade.values())


def test_a_successor_too_early_is_fenced_or_fences(static_bounces: Played) -> None:
    """Both processes run and are put out by each other; the broker shows one member, and the gate opens."""
    played = static_bounces[Mistake.EARLY_SUCCESSOR, (2, 1)]
    assert _refused(played) == {("m1", FENCED), ("m1's successor", FENCED)}
    assert played.symptom.costs.read_twice > played.symptom.planned_costs.read_twice
    assert played.outcome is OPENED
    assert "m1 and m1's successor run at the same time" in played.why


def test_an_early_successor_is_a_race() -> None:
    """As with real consumers that end with an exception: a heartbeat ends the old one, or a commit has it rejoin."""
    plan, found = plan_of(classic_group(static=True), CONSUMER), _found(classic_group(static=True))
    simulated = _configured(
        simulated_for_plan(plan, found),
        {"auto.commit.interval.ms": "1000", "session.timeout.ms": "20000"},
        "die",
    )
    placed = _made(plan, simulated, Mistake.EARLY_SUCCESSOR, 1)
    endings = set()
    for seed in range(1, 13):
        wrong = rehearse(plan, found, simulated, seed, with_story=True, operator=placed.operator, last_step=1)
        errors = {each.error: each.member for each in wrong.refusals}
        endings.add((errors[FENCED], wrong.polls[-1].shown.type))
    assert endings == {("m1", GroupType.CONSUMER), ("m1's successor", GroupType.CLASSIC)}


def test_a_successor_too_early_ends_an_upgrade() -> None:
    """The old process takes the instance id back, which ends the new one; then its session ends too."""
    played = _all(classic_group(static=True), CONSUMER)[Mistake.EARLY_SUCCESSOR, (1, 1)]
    assert ("m1's successor", FENCED) in _refused(played)
    assert (played.symptom.shown.type, played.symptom.shown.members) == (GroupType.CLASSIC, 2)
    assert played.outcome is CLOSED


def test_static_members_that_are_away_cannot_be_seen(static_bounces: Played) -> None:
    """Within its session a broker shows a static member that does not run as a member."""
    for mistake, place in ((Mistake.TOO_EARLY, (1, 1)), (Mistake.DEPLOY, (1, 2))):
        played = static_bounces[mistake, place]
        assert played.outcome is OPENED
        assert "has not rejoined" in played.why


def test_nothing_differs_before_the_mistake() -> None:
    group = classic_group()
    plan, found = plan_of(group, COOPERATIVE), _found(group)
    simulated = simulated_for_plan(plan, found)
    right = rehearse(plan, found, simulated, 1)
    for mistake in (Mistake.DEPLOY, Mistake.WRONG_JAR):
        placed = _made(plan, simulated, mistake, 2)
        wrong = rehearse(plan, found, simulated, 1, operator=placed.operator)
        before = [[poll for poll in run.polls if poll.place < placed.place] for run in (right, wrong)]
        assert before[0] == before[1] != []


def test_requests_at_full_seconds_are_no_unrest() -> None:
    """Of a member that commits whenever the gate is asked."""
    group = classic_group(static=True)
    plan, found = replace(plan_of(group, CONSUMER), bounce_s=15), _found(group)
    settings = {"auto.commit.interval.ms": "1000", "heartbeat.interval.ms": "500"}
    simulated = _configured(simulated_for_plan(plan, found), settings)
    placed = _made(plan, simulated, Mistake.OLD_MEMBER, 2)
    wrong = rehearse(plan, found, simulated, 18, operator=placed.operator)
    assert wrong.opened_wrongly == ()


def test_all_stopped_and_started() -> None:
    played = _all(classic_group("librdkafka:2.16.0"), COOPERATIVE)
    back = played[Mistake.OLD_MEMBER, (2, 1)]
    assert (back.outcome, back.symptom.shown.protocol) == (CLOSED, "range")
    assert {each.closed_by for each in played.values() if each.placed.place[0] == 1} == {("state-in",)}


def test_an_impossible_mistake_has_a_reason() -> None:
    group = classic_group()
    plan = plan_of(group, CONSUMER)
    why = {
        each.mistake: each.why
        for each in mistakes_in(plan, simulated_for_plan(plan, _found(group)))
        if isinstance(each, Inapplicable)
    }
    assert why == {
        Mistake.SKIPPED_BOUNCE: "the plan has no two bounces",
        Mistake.REVERSED_LIST: "no step gives members a list of two assignors",
        Mistake.EARLY_SUCCESSOR: "no static member is restarted",
    }


def test_a_gate_that_asks_too_little_is_found() -> None:
    """Without the question for the assignor the reversed list goes through, and it is said who runs otherwise."""
    group = classic_group()
    plan, found = plan_of(group, COOPERATIVE), _found(group)
    gate = tuple(one for one in plan.steps[0].gate if not isinstance(one, ProtocolIs))
    plan = replace(plan, steps=(replace(plan.steps[0], gate=gate), plan.steps[1]))
    simulated = simulated_for_plan(plan, found)
    right = rehearse(plan, found, simulated, 1, with_story=True, last_step=1)
    placed = _made(plan, simulated, Mistake.REVERSED_LIST, 1)
    played = play_mistake(plan, found, simulated, placed, right)
    assert played.outcome is OPENED
    assert "although m1 does not run as planned" in played.why
    assert worst_of([replace(played, outcome=CLOSED), played]) is played
