"""Plans carried out with real consumers on a real broker cost what their rehearsals say.

The hands and the gates are those of the rehearsal; only the group is real.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from migration.model import Plan
from migration.rehearsal.plan_run import PlanRun, as_planned, rehearse
from migration.rehearsal.rehearsed import Rehearsed
from tests.migration.end_to_end.bridged import RealBridge, bridge
from tests.migration.end_to_end.conftest import Deploy, Follow
from tests.migration.end_to_end.deployment import Fleet
from tests.migration.end_to_end.fleets import java, librdkafka
from tests.migration.end_to_end.real_group import RealGroup, planned
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]

BOUNCE_S = 6
SEEDS = range(1, 21)
TOLERANCE: Mapping[str, tuple[float, float]] = {
    "rebalances": (1, 0),
    "moved": (2, 0),
    "without_owner_s": (1, 0.05),
    "read_twice": (5, 0),
    "gate_open_after_s": (3, 0.05),
}
"""How far below the least and above the most of the seeds a figure may be, and the share of it that comes on top: real
processes take a moment to start, and a gate is asked every two seconds."""


LIBRDKAFKA = "librdkafka:2.16.0"
JOURNEYS: dict[str, tuple[Fleet, str]] = {
    "two bounces": (java("range"), "--to cooperative --client java"),
    "stop and start": (librdkafka("range"), f"--to cooperative --client {LIBRDKAFKA}"),
    "rolling upgrade": (librdkafka("range"), f"--to consumer --client {LIBRDKAFKA}"),
    "static": (java("range", static=True), "--to consumer --client java:4.3.1"),
    "downgrade": (
        Fleet(library="librdkafka", config={"group.protocol": "consumer"}),
        f"--to classic --client {LIBRDKAFKA}",
    ),
    "bridge": (librdkafka("cooperative-sticky"), f"--to consumer --client {LIBRDKAFKA}"),
}


@pytest.mark.parametrize("journey", JOURNEYS)
def test_a_plan_costs_what_was_rehearsed(
    journey: str, deploy: Deploy, follow: Follow, tmp_path: Path
) -> None:
    fleet, to = JOURNEYS[journey]
    deployment = deploy(fleet)
    plan, group, simulated = planned(follow(deployment), f"{to} --bounce-seconds {BOUNCE_S}")
    rehearsed = [rehearse(plan, group, simulated, seed) for seed in SEEDS]
    assert [run.unsafe for run in rehearsed if run.unsafe] == []

    real: Any = RealGroup(group, simulated, deployment)
    command: Any = RealBridge(lambda: bridge(deployment, tmp_path))
    measured = PlanRun(plan, real, 1, as_planned, make_bridge=lambda *_: command).run(None, None)
    command.leave()
    assert measured.unsafe == ()
    # It left when the group was converted.
    assert command.process is None or command.process.process.returncode == 0
    assert list(differences(plan, rehearsed, measured)) == []
    deployment.finish().check()


def differences(plan: Plan, rehearsed: Sequence[Rehearsed], measured: Rehearsed) -> Iterator[str]:
    """The figures of steps that are not as in any of the seeds, but for the tolerance."""
    for step, _ in enumerate(plan.steps, 1):
        for figure, (absolute, relative) in TOLERANCE.items():
            values = [_figure(run, step, figure) for run in rehearsed]
            low, high, real = min(values), max(values), _figure(measured, step, figure)
            if not low * (1 - relative) - absolute <= real <= high * (1 + relative) + absolute:
                yield f"step {step}, {figure}: {low:g} to {high:g} rehearsed, {real:g} measured"


def _figure(run: Rehearsed, step: int, figure: str) -> float:
    played = [round_ for round_ in run.rounds if round_.step == step]
    if figure == "gate_open_after_s":
        return sum(round_.gate_open_after_s or 0.0 for round_ in played)
    return float(sum(getattr(round_.costs, figure) for round_ in played))
