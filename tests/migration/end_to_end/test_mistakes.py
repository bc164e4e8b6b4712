"""Operator mistakes, done with real consumers on a real broker: it looks and is gated as the rehearsal says.

The hands are those of the rehearsal, and so are the gates; only the group is real. Restarts are shorter, and a gate
that stays closed is waited for less long. The rehearsed consumers have the settings of the real ones.

Two processes with one instance id put each other out by whose request comes first, on a real broker too: one outcome of
a broker must be among those of several seeds. Of everything else one seed and one outcome are compared.
"""

from dataclasses import replace
from typing import Any

import pytest

from migration.rehearsal import plan_run
from migration.rehearsal.mistakes import Mistake, PlacedMistake, mistakes_in
from migration.rehearsal.plan_run import PlanRun, rehearse
from migration.rehearsal.symptoms import GateOutcome, MistakeResult, compare, play_mistake
from tests.migration.end_to_end.conftest import Deploy, Follow
from tests.migration.end_to_end.deployment import Fleet
from tests.migration.end_to_end.fleets import java, librdkafka
from tests.migration.end_to_end.real_group import RealGroup, planned
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]

BOUNCE_S = 6
STATIC_BOUNCE_S = 15
"""Of static members, which a gate must not see while they are away: some looks long, and shorter than their session."""
SEEDS = range(1, 31)  # Of a race
RACES = frozenset({Mistake.EARLY_SUCCESSOR})
PATIENCE_S = 40.0  # For a gate that stays closed: twice the members' session
TO_COOPERATIVE, TO_CONSUMER = "--to cooperative --client java", "--to consumer --client java:4.3.1"
RDKAFKA_TO_CONSUMER = "--to consumer --client librdkafka:2.16.0"
FATAL = frozenset(
    {"INCONSISTENT_GROUP_PROTOCOL", "FENCED_INSTANCE_ID", "UNRELEASED_INSTANCE_ID", "GROUP_ID_NOT_FOUND"}
)
"""Errors that every library throws when it is answered them."""


FLEETS: dict[str, tuple[Fleet, str, dict[Mistake, tuple[int, ...]]]] = {
    "java": (
        java("range"), TO_COOPERATIVE,
        {Mistake.SKIPPED_BOUNCE: (1,), Mistake.REVERSED_LIST: (1,), Mistake.TOO_EARLY: (1, 2),
         Mistake.OLD_MEMBER: (1, 2), Mistake.WRONG_JAR: (1, 2), Mistake.DEPLOY: (1, 2)},
    ),
    "java_static": (
        java("range", static=True), TO_COOPERATIVE,
        {Mistake.TOO_EARLY: (1,), Mistake.EARLY_SUCCESSOR: (1, 2), Mistake.DEPLOY: (2,)},
    ),
    "java_static_to_consumer": (
        java("range", static=True), TO_CONSUMER, {Mistake.OLD_MEMBER: (1, 2), Mistake.EARLY_SUCCESSOR: (1, 2)},
    ),
    "librdkafka_to_consumer": (
        librdkafka("range"), RDKAFKA_TO_CONSUMER,
        {Mistake.TOO_EARLY: (1, 2), Mistake.OLD_MEMBER: (1, 2), Mistake.WRONG_JAR: (1, 2), Mistake.DEPLOY: (1, 2)},
    ),
}  # fmt: skip
"""How each migrates, and the steps in which each mistake is made."""


@pytest.mark.parametrize(
    ("name", "mistake", "step"),
    [
        (name, mistake, step)
        for name, (_, _, mistakes) in FLEETS.items()
        for mistake, steps in mistakes.items()
        for step in steps
    ],
)
def test_a_mistake_looks_as_rehearsed(
    name: str, mistake: Mistake, step: int, deploy: Deploy, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, to, _ = FLEETS[name]
    deployment = deploy(replace(fleet, polls_again=True))
    bounce_s = STATIC_BOUNCE_S if fleet.static else BOUNCE_S
    plan, group, members = planned(follow(deployment), f"{to} --bounce-seconds {bounce_s}")
    placed = next(
        placed
        for placed in mistakes_in(plan, members)
        if isinstance(placed, PlacedMistake) and (placed.mistake, placed.step) == (mistake, step)
    )
    rehearsed: list[MistakeResult] = []
    for seed in SEEDS if placed.mistake in RACES else SEEDS[:1]:
        right = rehearse(plan, group, members, seed, with_story=True)
        assert right.unsafe == (), "done right, the plan is safe"
        rehearsed.append(play_mistake(plan, group, members, placed, right))

    monkeypatch.setattr(plan_run, "PATIENCE_S", PATIENCE_S)
    real: Any = RealGroup(group, members, deployment)
    wrong = PlanRun(plan, real, right.seed, placed.operator).run(None, placed.last_step)
    assert wrong.polls[-1].place >= placed.place, ("stopped before the mistake", wrong.unsafe)
    seen = compare(placed, wrong, right)
    assert _essence(seen) in list(map(_essence, rehearsed)), (seen.why, {result.why for result in rehearsed})


def _essence(played: MistakeResult) -> dict[str, object]:
    """What the rehearsal and the broker must agree about."""
    shown = played.symptom.shown
    return {
        "gate": played.outcome.value,
        "closed by": sorted(played.closed_by) if played.outcome is GateOutcome.CLOSED else None,
        "errors": sorted({refusal.error for refusal in played.symptom.refused} & FATAL),
        "group": (shown.type, shown.protocol, shown.members, shown.upgraded),
        "fewest members": None if played.placed.mistake in RACES else played.symptom.fewest,
    }
