"""Runs of plans at a moment, as a view shows them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from cli.verbs.migrate.telling import InHand, RunStatus
from groups.model import GroupState
from migration.execution.costs import StepCosts
from migration.execution.machine import Phase
from migration.execution.stops import ExecutionLimits, ExecutionStop, StopRule
from migration.gate.observation import GateResult, no, undecided, yes
from migration.model import Plan, RehearsedStep, StepFigures
from tests.migration.cases import COOPERATIVE
from tests.migration.rehearsal.groups import classic_group, plan_of

BEGAN = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)
MEDIAN = StepFigures(
    rebalances=6, moved=12, without_owner_s=24.0, read_twice=0, commits_refused=0, lasted_s=70.0
)
WORST = replace(MEDIAN, rebalances=7, without_owner_s=31.5, lasted_s=92.0)
CLOSED = GateResult(
    checks=(
        no("rest", f"a rebalance is in progress: the group is {GroupState.PREPARING_REBALANCE.value}"),
        yes("replaced", "2 of 3 members have been restarted: m1, m2"),
        undecided("no-user-data", "whether assignments carry user data is unknown"),
    )
)
MISSING = ExecutionStop(
    rule=StopRule.MEMBER_MISSING,
    message="m2 (id m2-00000000-0000-4000-8000-000000000002, host /10.0.0.2) is not in the group, 2 min after its "
    "command ended with exit status 0.",
    at_s=300.0,
)


@cache
def two_bounces(group: str = "payments") -> Plan:
    """Of three members, one after another; rehearsed."""
    plan = plan_of(classic_group(), COOPERATIVE)
    steps = tuple(replace(step, rehearsed=RehearsedStep(median=MEDIAN, worst=WORST)) for step in plan.steps)
    return replace(plan, group=group, steps=steps)


def costs(lasted_s: float = 61.2, without_owner_s: float = 14.5, **more: Any) -> StepCosts:
    values = {"rebalances": 4, "lag_s": 4.2, "most_lag_s": 9.0, "first_lag_s": 1.0, **more}
    return StepCosts(began_s=0.0, lasted_s=lasted_s, without_owner_s=without_owner_s, **values)


def status(group: str = "payments", **changes: Any) -> RunStatus:
    """The second round of the first step, while its command is running; with `changes`."""
    known: Mapping[str, Any] = {
        "plan": two_bounces(group),
        "phase": Phase.ACTING,
        "is_rollback": False,
        "place": (1, 2),
        "opened": frozenset({0}),
        "in_hand": (InHand(label="m2", action="restart", for_s=12.3),),
        "gate": None,
        "waits_s": 0.0,
        "gives_up_s": 300.0,
        "lag": 1_203,
        "lag_s": 4.2,
        "costs": {1: costs()},
        "limits": ExecutionLimits(),
        "stop": None,
        "rollback_stop": None,
        "began_at": BEGAN,
        "lasted_s": 252.0,
        "resumed": False,
    }
    return RunStatus(**{**known, **changes})


def waiting(group: str = "payments", **changes: Any) -> RunStatus:
    facts = {"phase": Phase.WAITING, "in_hand": (), "gate": CLOSED, "waits_s": 12.0}
    return status(group, **{**facts, **changes})


def stopped(group: str = "payments", **changes: Any) -> RunStatus:
    facts = {"phase": Phase.STOPPED, "in_hand": (), "stop": MISSING}
    return status(group, **{**facts, **changes})


def finished(group: str = "payments", **changes: Any) -> RunStatus:
    facts = {"phase": Phase.FINISHED, "in_hand": (), "opened": frozenset({0, 1, 2}), "place": (2, 3)}
    ended = {1: costs(), 2: costs(66.0, 35.0, rebalances=6)}
    return status(group, **{**facts, "costs": ended, **changes})
