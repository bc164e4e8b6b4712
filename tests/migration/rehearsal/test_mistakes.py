"""Operator mistakes, played: their symptoms, and the reaction of the gates, are recorded."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from groups.model import GroupType
from migration.model import ProtocolIs
from migration.rehearsal.mistakes import Inapplicable, Mistake, PlacedMistake, mistakes_in
from migration.rehearsal.rehearsed import GroupSummary
from migration.rehearsal.symptoms import GateOutcome, MistakeResult, play_mistake, worst_of
from tests.migration.cases import CONSUMER, COOPERATIVE
from tests.migration.rehearsal.groups import PlannedGroup, classic_group, planned
from tests.support.golden import assert_recorded
from tests.support.long import LONG

CLOSED, _, OPENED = GateOutcome
PLANS = {
    "two bounces": planned(classic_group(), COOPERATIVE),
    "two bounces of static members": planned(classic_group(static=True), COOPERATIVE),
    "a rolling upgrade": planned(classic_group(), CONSUMER),
    "a rolling upgrade of static members": planned(classic_group(static=True), CONSUMER),
    "all stopped and started": planned(classic_group("librdkafka:2.16.0"), COOPERATIVE),
}


def play(
    scene: PlannedGroup, placed: PlacedMistake, seed: int = 1, last_step: int | None = None
) -> MistakeResult:
    right = scene.rehearse(seed, with_story=True, last_step=last_step)
    assert right.unsafe == ()
    return play_mistake(scene.plan, scene.found, scene.simulated, placed, right)


@cache
def played(name: str, seed: int = 1) -> tuple[MistakeResult, ...]:
    scene = PLANS[name]
    return tuple(
        play(scene, placed, seed)
        for placed in mistakes_in(scene.plan, scene.simulated)
        if isinstance(placed, PlacedMistake)
    )


def made(scene: PlannedGroup, mistake: Mistake, step: int) -> PlacedMistake:
    (placed,) = (
        placed
        for placed in mistakes_in(scene.plan, scene.simulated)
        if isinstance(placed, PlacedMistake) and (placed.mistake, placed.step) == (mistake, step)
    )
    return placed


def reaction(result: MistakeResult) -> str:
    """Where it is made, and what the gate does."""
    placed, asked = result.placed, f"{result.step}.{result.round}" if result.round else f"{result.step}"
    when = ".".join(map(str, placed.place))
    closed_by = f" ({', '.join(sorted(result.closed_by))})" if result.closed_by else ""
    return f"{placed.mistake.value} at {when}: gate {asked} {result.outcome.value}{closed_by}"


def shown(summary: GroupSummary) -> str:
    group = (
        f"{summary.type and summary.type.value}, {summary.state and summary.state.value}, {summary.protocol}"
    )
    return f"{group}, {summary.members} members, {summary.upgraded} upgraded"


def symptoms(result: MistakeResult) -> Iterator[str]:
    symptom = result.symptom
    yield f"  shown: {shown(symptom.shown)}"
    if symptom.shown != symptom.planned:
        yield f"  planned: {shown(symptom.planned)}"
    if symptom.fewest != symptom.planned_fewest:
        yield f"  fewest: {symptom.fewest}, planned {symptom.planned_fewest}"
    for refused in sorted({f"{refused.member}: {refused.error}" for refused in symptom.refused}):
        yield f"  refused: {refused}"
    for name in ("rebalances", "read_twice"):
        if getattr(symptom.costs, name) > getattr(symptom.planned_costs, name):
            yield f"  more {name}"
    yield re.sub(r" \(id [^)]*\)", "", f"  {result.why}")


def test_the_symptoms_and_the_gates_are_as_recorded() -> None:
    """A skipped bounce is refused; a reversed list and a wrong jar keep the old assignor; an old member turns the group
    back, or cannot join; a deployment costs rebalances; static members that are away cannot be seen."""
    answers = {
        name: "\n".join(line for result in played(name) for line in (reaction(result), *symptoms(result)))
        for name in PLANS
    }
    assert_recorded("mistakes_played.txt", answers)


@LONG
@pytest.mark.parametrize("name", ["two bounces", "a rolling upgrade"])
@pytest.mark.parametrize("seed", [2, 3])
def test_gates_react_alike_whatever_the_seed(name: str, seed: int) -> None:
    assert [*map(reaction, played(name, seed))] == [*map(reaction, played(name))]


def test_an_early_successor_is_a_race() -> None:
    """As with real consumers that end with an exception: a heartbeat ends the old one, or a commit has it rejoin."""
    settings = {"auto.commit.interval.ms": "1000", "session.timeout.ms": "20000"}
    scene = planned(classic_group(static=True), CONSUMER, settings=settings, after_error="die")
    placed = made(scene, Mistake.EARLY_SUCCESSOR, 1)
    endings = set()
    for seed in range(1, 13):
        wrong = scene.rehearse(seed, with_story=True, operator=placed.operator, last_step=1)
        errors = {refused.error: refused.member for refused in wrong.refusals}
        endings.add((errors["FENCED_INSTANCE_ID"], wrong.polls[-1].shown.type))
    assert endings == {("m1", GroupType.CONSUMER), ("m1's successor", GroupType.CLASSIC)}


def test_nothing_differs_before_the_mistake() -> None:
    scene = PLANS["two bounces"]
    right = scene.rehearse()
    for mistake in (Mistake.DEPLOY, Mistake.WRONG_JAR):
        placed = made(scene, mistake, 2)
        wrong = scene.rehearse(operator=placed.operator)
        before = [[poll for poll in run.polls if poll.place < placed.place] for run in (right, wrong)]
        assert before[0] == before[1] != []


def test_requests_at_full_seconds_are_no_unrest() -> None:
    """Of a member that commits whenever the gate is asked."""
    settings = {"auto.commit.interval.ms": "1000", "heartbeat.interval.ms": "500"}
    scene = planned(classic_group(static=True), CONSUMER, settings=settings)
    scene = replace(scene, plan=replace(scene.plan, bounce_s=15))
    placed = made(scene, Mistake.OLD_MEMBER, 2)
    assert scene.rehearse(18, operator=placed.operator).opened_wrongly == ()


def test_an_impossible_mistake_has_a_reason() -> None:
    scene = PLANS["a rolling upgrade"]
    mistakes = mistakes_in(scene.plan, scene.simulated)
    assert {why.mistake: why.why for why in mistakes if isinstance(why, Inapplicable)} == {
        Mistake.SKIPPED_BOUNCE: "the plan has no two bounces",
        Mistake.REVERSED_LIST: "no step gives members a list of two assignors",
        Mistake.EARLY_SUCCESSOR: "no static member is restarted",
    }


def test_a_gate_that_asks_too_little_is_found() -> None:
    """Without the question for the assignor the reversed list goes through, and it is said who runs otherwise."""
    scene = PLANS["two bounces"]
    first, second = scene.plan.steps
    gate = tuple(condition for condition in first.gate if not isinstance(condition, ProtocolIs))
    scene = replace(scene, plan=replace(scene.plan, steps=(replace(first, gate=gate), second)))
    result = play(scene, made(scene, Mistake.REVERSED_LIST, 1), last_step=1)
    assert result.outcome is OPENED
    assert "although m1 does not run as planned" in result.why
    assert worst_of([replace(result, outcome=CLOSED), result]) is result
