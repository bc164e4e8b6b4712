"""What happens in a run, and in that of a fleet, as documents: the lines of `PLAN.yaml.run/events.jsonl`, of a fleet's
journal and of `--output json`, and what the report is made from. Steps and rounds count from 1, 0 is the gate before
the first step; `members` has the ids that members had when the plan was made, `names` is for people. Schema:
docs/schemas/migrate.json.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from cli.journal.recording import host_name, user_name
from cli.render.document import fields
from groups.times import MOST_S
from migration.execution.costs import StepCosts
from migration.execution.events import (
    GateChecked,
    Happening,
    HookResult,
    MemberRejoined,
    MemberReturned,
    Place,
    RollbackBegan,
    RoundBegan,
    RunHook,
    StepEnded,
)
from migration.execution.fleet import FleetWait, GroupPhase, WaveOptions
from migration.execution.settings import SettingsChange
from migration.execution.stops import ExecutionStop
from migration.model import Plan, PlannedMember, Step

Facts: TypeAlias = dict[str, object]
EventDocument: TypeAlias = Mapping[str, object]
FORMAT_VERSION = 1
_NO_TIME = "(no time)"


@dataclass(frozen=True, slots=True)
class Event:
    """An event document, whose fields are empty or None where they are missing or of another type."""

    document: Mapping[str, object]

    def text(self, name: str) -> str:
        value = self.document.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.document.get(name)
        return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()

    def number(self, name: str) -> float | None:
        value = self.document.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if abs(value) < MOST_S else None  # NaN is not less

    def count(self, name: str) -> int | None:
        number = self.number(name)
        return None if number is None else int(number)

    def truth(self, name: str) -> bool | None:
        value = self.document.get(name)
        return value if isinstance(value, bool) else None

    def part(self, name: str) -> "Event":
        value = self.document.get(name)
        return Event(value if isinstance(value, dict) else {})

    def parts(self, name: str) -> list["Event"]:
        values = self.document.get(name)
        values = values if isinstance(values, list | tuple) else ()
        return [Event(value) for value in values if isinstance(value, dict)]

    @property
    def kind(self) -> str:
        return self.text("event")

    @property
    def group(self) -> str:
        return self.text("group")

    @property
    def at(self) -> str:
        return self.text("at")[:40] or _NO_TIME

    @property
    def place(self) -> tuple[int, int]:
        """The step and the round, from 1; 0: before the first step, and for a step without rounds."""
        return self.count("step") or 0, self.count("round") or 0

    @property
    def place_text(self) -> str:
        return f"{'rollback, ' if self.truth('rollback') else ''}{place_text(self.place)}"


def place_text(place: Place, within: str = "") -> str:
    """`step 2, round 1` with a word such as `in ` before it; or `before step 1`."""
    step, round_ = place
    return f"{within}step {step}{f', round {round_}' if round_ else ''}" if step else "before step 1"


def event_document(group: str, plan: str, facts: Facts) -> EventDocument:
    """An event of a group's run, now; `plan` is the plan's fingerprint."""
    return fleet_document({"group": group, "plan": plan, **facts})


def fleet_document(facts: Facts) -> EventDocument:
    """An event of the fleet, now."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"kohort": FORMAT_VERSION, "command": "migrate", "at": at, **facts}


def run_began(plan: Plan, found: Sequence[str], *, resumed: bool) -> Facts:
    """`found`: what is known of former runs, a sentence each."""
    return {
        "event": "run-began",
        "resumed": resumed,
        "found": list(found),
        "who": f"{user_name()}@{host_name()}",
        "cluster": plan.baseline.cluster if plan.baseline else None,
        "path": plan.path,
        "from": plan.origin,
        "to": plan.destination.value,
        "steps": [
            {
                "title": step.title,
                "action": step.rollout.action.value if step.rollout else None,
                "rounds": [list(names) for names in step.rounds],
                "rehearsed": rehearsed_data(step),
            }
            for step in plan.steps
        ],
    }


def of_happening(
    happening: Happening,
    steps: Sequence[Step],
    costs: Mapping[int, StepCosts],
    lag_s: float | None,
    *,
    rollback: bool,
) -> Facts:
    """`lag_s`: the lag, as the time in which as many records are written; None: not known."""
    lag: Facts = {"lag_s": None if lag_s is None else round(lag_s, 1)}
    match happening:
        case RoundBegan(place=place, members=names):
            return {"event": "round-began", **_where(place, rollback=rollback), "names": list(names), **lag}
        case MemberReturned(place=place, seat=seat, member=member):
            of_member = _member_data(member, seat)
            return {"event": "member-returned", **_where(place, rollback=rollback), **of_member, **lag}
        case MemberRejoined(place=place, seat=seat, member=member):
            of_member = _member_data(member, seat)
            return {"event": "member-rejoined", **_where(place, rollback=rollback), **of_member}
        case GateChecked(place=place, result=result):
            checks = [fields(check, "check", "holds", "text") for check in result.checks]
            of_gate: Facts = {"open": result.open, "reasons": list(result.reasons), "checks": checks}
            return {"event": "gate", **_where(place, rollback=rollback), **of_gate, **lag}
        case RollbackBegan(stop=stop, begun=begun, absent=absent, members=members):
            last = max(begun, default=0)
            return {
                "event": "rolling-back",
                "step": last,
                **_costs_data(last, steps, costs),
                "steps": [steps[number - 1].title for number in sorted(begun, reverse=True)],
                "rule": stop.rule.value,
                "message": stop.message,
                "begun": {str(step): list(seats) for step, seats in begun.items()},
                "absent": list(absent),
                "ids": [member.id for member in members],
            }
        case StepEnded(step=step, members=members):
            of_step = _costs_data(0 if rollback else step, steps, costs)
            ids = [member.id for member in members]
            return {"event": "step-ended", "step": step, "rollback": rollback, "ids": ids, **of_step}


def _member_data(member: str, seat: PlannedMember) -> Facts:
    return {"member": member, "name": seat.label, "id": seat.id}


def _where(place: Place, *, rollback: bool) -> Facts:
    return {"step": place[0], "round": place[1], "rollback": rollback}


def _costs_data(step: int, steps: Sequence[Step], costs: Mapping[int, StepCosts]) -> Facts:
    """What a step has cost, and was rehearsed to cost."""
    rehearsed = rehearsed_data(steps[step - 1]) if step else None
    return {"measured": measured_data(costs.get(step) if step else None), "rehearsed": rehearsed}


def hook_began(order: RunHook) -> Facts:
    return {
        "event": "hook-began",
        **_where(order.place, rollback=order.is_rollback),
        "members": list(order.members),
        "ids": list(order.ids),
        "name": order.seat.label,
        "action": order.action.value,
        "change": change_data(order.change),
    }


def hook_runs(order: RunHook, process: int, started: str) -> Facts:
    """`started` distinguishes the process from a later one with the same number."""
    return {"event": "hook-runs", "name": order.seat.label, "process": process, "started": started}


def hook_ended(order: RunHook, result: HookResult, lasted_s: float) -> Facts:
    return {
        "event": "hook-ended",
        **_where(order.place, rollback=order.is_rollback),
        "members": list(order.members),
        "name": order.seat.label,
        "problem": result.problem or None,
        "timed_out": result.timed_out,
        "lasted_s": round(lasted_s, 1),
    }


def interrupted(times: int) -> Facts:
    return {"event": "interrupted", "times": times}


def unread(problem: str) -> Facts:
    """Why the group cannot be read now; empty: it can be read again."""
    return {"event": "unread", "problem": problem or None}


def held() -> Facts:
    """The window has closed: it stops after the round in progress, and continues when the window opens."""
    return {"event": "held"}


def bridge_line(text: str) -> Facts:
    """What the bridge does; `kohort bridge --watch` prints it."""
    return {"event": "bridge", "text": text}


def stopped(
    stop: ExecutionStop,
    place: Place,
    commands: Sequence[str],
    steps: Sequence[Step],
    costs: Mapping[int, StepCosts],
    standing: Sequence[str] = (),
    *,
    rollback: bool,
) -> Facts:
    """`standing`: where the group is, a sentence each; `rollback`: whether the rollback stopped: then `place` is of it,
    and its step has no costs."""
    return {
        "event": "stopped",
        **_where(place, rollback=rollback),
        **stop_data(stop),
        "standing": list(standing),
        "commands": list(commands),
        **_costs_data(0 if rollback else place[0], steps, costs),
    }


def rolled_back(lasted_s: float) -> Facts:
    return {"event": "rolled-back", "lasted_s": round(lasted_s, 1)}


def finished(lasted_s: float) -> Facts:
    return {"event": "finished", "lasted_s": round(lasted_s, 1)}


def change_data(change: SettingsChange) -> Facts:
    return {"set": dict(change.lines), "remove": list(change.removed), "remarks": list(change.remarks)}


def stop_data(stop: ExecutionStop) -> Facts:
    return {"rule": stop.rule.value, "message": stop.message, "remedy": stop.remedy}


def measured_data(costs: StepCosts | None) -> Facts | None:
    if costs is None:
        return None
    return {
        "lasted_s": round(costs.lasted_s, 1),
        "rebalances": costs.rebalances,
        "without_owner_s": round(costs.without_owner_s, 1),
        "most_lag_s": None if costs.most_lag_s is None else round(costs.most_lag_s, 1),
    }


def rehearsed_data(step: Step) -> Facts | None:
    return None if step.rehearsed is None else asdict(step.rehearsed)


# Of a fleet, besides the events of its groups


def fleet_began(
    groups: Sequence[str],
    finished: Sequence[str],
    left_out: Sequence[Facts],
    options: WaveOptions,
    *,
    resumed: bool,
) -> Facts:
    """`finished`: groups that a former run finished; `resumed`: whether there was one."""
    return {
        "event": "fleet-began",
        "resumed": resumed,
        "who": f"{user_name()}@{host_name()}",
        "groups": list(groups),
        "finished": list(finished),
        "left_out": list(left_out),
        "options": {
            "first": list(options.first),
            "at_once": options.at_once,
            "pause_s": options.pause_s,
            "spread": sorted(spread.value for spread in options.spread),
            "max_stopped": options.most_stopped,
            "windows": list(map(str, options.windows)),
        },
    }


def wave_began(wave: int, groups: Sequence[str], *, canary: bool) -> Facts:
    return {"event": "wave-began", "wave": wave, "canary": canary, "groups": list(groups)}


def waits(wait: FleetWait) -> Facts:
    """Nothing is running: the fleet waits for the window, or for the end of a pause."""
    until = None if wait.until is None else f"{wait.until:%Y-%m-%dT%H:%M:%SZ}"
    return {"event": "fleet-waits", "why": wait.why, "until": until}


def group_ended(group: str, phase: GroupPhase, stop: ExecutionStop | None, error: str) -> Facts:
    """`error`: why its plan could not be carried out at all."""
    stopped = None if stop is None else stop_data(stop)
    facts: Facts = {"stopped": stopped, "error": error or None}
    return {"event": "group-ended", "group": group, "state": phase.value, **facts}


def fleet_ended(phases: Mapping[str, GroupPhase], ends: str, lasted_s: float) -> Facts:
    """`ends`: why not all groups began; empty if they did."""
    states = [phase.value for phase in phases.values()]
    counts = {phase.value: states.count(phase.value) for phase in GroupPhase if phase.value in states}
    return {"event": "fleet-ended", "states": counts, "reason": ends or None, "lasted_s": round(lasted_s, 1)}
