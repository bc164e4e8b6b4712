"""Plans carried out with real consumers on a real broker cost what their rehearsals say.

The hands and the gates are those of the rehearsal; only the group is real. KOHORT_MEASURED names a file that gets the
rows of the table in docs/rehearsal.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.verbs.plan.files import read_plan
from cli.verbs.rehearse.action import find
from migration.model import Plan
from migration.rehearsal.plan_run import PlanRun, as_planned, rehearse, simulated_for_plan
from migration.rehearsal.rehearsed import Rehearsed
from tests.cli.sources.live_source import live_source
from tests.migration.end_to_end.bridged import RealBridge, bridge
from tests.migration.end_to_end.conftest import Deploy, Follow
from tests.migration.end_to_end.deployment import Fleet
from tests.migration.end_to_end.fleets import java, librdkafka
from tests.migration.end_to_end.follower import PLAN_FILE
from tests.migration.end_to_end.real_group import RealGroup, client_config
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
    follower = follow(deployment)
    follower.make_plan(*to.split(), "--bounce-seconds", str(BOUNCE_S))
    plan = read_plan(follower.shell.directory / PLAN_FILE)
    with live_source(deployment.broker) as source:
        group = find(plan, source)
    simulated = simulated_for_plan(plan, group, [client_config(deployment)])
    rehearsed = [rehearse(plan, group, simulated, seed) for seed in SEEDS]
    assert [run.unsafe for run in rehearsed if run.unsafe] == []

    real: Any = RealGroup(group, simulated, deployment)
    command: Any = RealBridge(lambda: bridge(deployment, tmp_path))
    measured = PlanRun(plan, real, 1, as_planned, make_bridge=lambda *_: command).run(None, None)
    command.leave()
    assert measured.unsafe == ()
    # It left when the group was converted.
    assert command.process is None or command.process.process.returncode == 0
    rows = list(compared(plan, rehearsed, measured))
    _write_down(journey, rows)
    assert [row for row in rows if not row.agrees] == []
    deployment.finish().check()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    step: int
    figure: str
    low: float
    high: float
    measured: float

    @property
    def agrees(self) -> bool:
        absolute, relative = TOLERANCE[self.figure]
        return self.low * (1 - relative) - absolute <= self.measured <= self.high * (1 + relative) + absolute


def compared(plan: Plan, rehearsed: Sequence[Rehearsed], measured: Rehearsed) -> Iterator[Row]:
    """Each figure of each step, over all seeds and as it was."""
    for step, _ in enumerate(plan.steps, 1):
        for figure in TOLERANCE:
            values = [_figure(run, step, figure) for run in rehearsed]
            yield Row(
                step=step,
                figure=figure,
                low=min(values),
                high=max(values),
                measured=_figure(measured, step, figure),
            )


def _figure(run: Rehearsed, step: int, figure: str) -> float:
    played = [round_ for round_ in run.rounds if round_.step == step]
    if figure == "gate_open_after_s":
        return sum(round_.gate_open_after_s or 0.0 for round_ in played)
    return float(sum(getattr(round_.costs, figure) for round_ in played))


def _write_down(name: str, rows: Sequence[Row]) -> None:
    file = os.environ.get("KOHORT_MEASURED")
    if file:
        with Path(file).open("a") as lines:
            for row in rows:
                lines.write(
                    f"| {name} | {row.step} | {row.figure} | {row.low:g} to {row.high:g} | {row.measured:g} |\n"
                )
