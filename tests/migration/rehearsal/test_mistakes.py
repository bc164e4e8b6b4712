"""Operator mistakes, played: their symptoms, and the reaction of the gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from groups.model import Group, GroupState, GroupType
from migration.model import Destination, Plan, ProtocolIs
from migration.rehearsal.acts import Place
from migration.rehearsal.cast import Cast
from migration.rehearsal.mistakes import Inapplicable, Made, Mistake, mistakes_in
from migration.rehearsal.play import cast_for, rehearse
from migration.rehearsal.stage import Found
from migration.rehearsal.symptoms import GateOutcome, MistakePlayed, play_mistake, worst_of
from tests.migration.cases import CONSUMER, COOPERATIVE, NEW
from tests.migration.rehearsal.groups import TOPICS, classic_group, plan_of

CLOSED, SETTLED, OPENED = GateOutcome
INCONSISTENT, FENCED = "INCONSISTENT_GROUP_PROTOCOL", "FENCED_INSTANCE_ID"
Played = Mapping[tuple[Mistake, Place], MistakePlayed]


def _all(group: Group, to: Destination, seed: int = 1) -> Played:
    plan, found = plan_of(group, to), _found(group)
    cast = cast_for(plan, found)
    right = rehearse(plan, found, cast, seed, with_story=True)
    assert right.unsafe == ()
    played: dict[tuple[Mistake, Place], MistakePlayed] = {}
    for each in mistakes_in(plan, cast):
        if isinstance(each, Made):  # in a place before its round, then after it
            played.setdefault((each.mistake, each.place), play_mistake(plan, found, cast, each, right))
    return played


def _found(group: Group) -> Found:
    return Found(group=group, cluster=NEW, topics=TOPICS)


def _configured(cast: Cast, config: Mapping[str, str], after_error: str | None = None) -> Cast:
    actors = {
        member: replace(actor, script=replace(actor.script, config=config, after_error=after_error))
        for member, actor in cast.actors.items()
    }
    return replace(cast, actors=actors)


def _made(plan: Plan, cast: Cast, mistake: Mistake, step: int) -> Made:
    """The mistake in a step of the plan."""
    (made,) = (
        each
        for each in mistakes_in(plan, cast)
        if isinstance(each, Made) and (each.mistake, each.step) == (mistake, step)
    )
    return made


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


def _refused(played: MistakePlayed) -> set[tuple[str, str]]:
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
    cast = _configured(
        cast_for(plan, found), {"auto.commit.interval.ms": "1000", "session.timeout.ms": "20000"}, "die"
    )
    made = _made(plan, cast, Mistake.EARLY_SUCCESSOR, 1)
    endings = set()
    for seed in range(1, 13):
        wrong = rehearse(plan, found, cast, seed, with_story=True, operator=made.operator, last_step=1)
        errors = {each.error: each.member for each in wrong.refusals}
        endings.add((errors[FENCED], wrong.looks[-1].shown.type))
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
    cast = cast_for(plan, found)
    right = rehearse(plan, found, cast, 1)
    for mistake in (Mistake.DEPLOY, Mistake.WRONG_JAR):
        made = _made(plan, cast, mistake, 2)
        wrong = rehearse(plan, found, cast, 1, operator=made.operator)
        before = [[look for look in run.looks if look.place < made.place] for run in (right, wrong)]
        assert before[0] == before[1] != []


def test_requests_at_full_seconds_are_no_unrest() -> None:
    """Of a member that commits whenever the gate is asked."""
    group = classic_group(static=True)
    plan, found = replace(plan_of(group, CONSUMER), bounce_s=15), _found(group)
    settings = {"auto.commit.interval.ms": "1000", "heartbeat.interval.ms": "500"}
    cast = _configured(cast_for(plan, found), settings)
    made = _made(plan, cast, Mistake.OLD_MEMBER, 2)
    wrong = rehearse(plan, found, cast, 18, operator=made.operator)
    assert wrong.opened_wrongly == ()


def test_all_stopped_and_started() -> None:
    played = _all(classic_group("librdkafka:2.16.0"), COOPERATIVE)
    back = played[Mistake.OLD_MEMBER, (2, 1)]
    assert (back.outcome, back.symptom.shown.protocol) == (CLOSED, "range")
    assert {each.closed_by for each in played.values() if each.made.place[0] == 1} == {("state-in",)}


def test_an_impossible_mistake_has_a_reason() -> None:
    group = classic_group()
    plan = plan_of(group, CONSUMER)
    why = {
        each.mistake: each.why
        for each in mistakes_in(plan, cast_for(plan, _found(group)))
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
    cast = cast_for(plan, found)
    right = rehearse(plan, found, cast, 1, with_story=True, last_step=1)
    made = _made(plan, cast, Mistake.REVERSED_LIST, 1)
    played = play_mistake(plan, found, cast, made, right)
    assert played.outcome is OPENED
    assert "although m1 does not run as planned" in played.why
    assert worst_of([replace(played, outcome=CLOSED), played]) is played
