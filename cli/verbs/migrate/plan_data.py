"""A plan in the documents of `kohort migrate`: what would be done with each member, and, after a run, what was done."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from cli.render.document import fields
from cli.verbs.migrate.event_documents import Facts, change_data, measured_data, rehearsed_data
from cli.verbs.migrate.prepare import PreparedPlan
from cli.verbs.migrate.settings import RunSettings
from migration.bridge import BRIDGE
from migration.execution.costs import StepCosts, most_lag_growth_s, most_without_owner_s
from migration.execution.events import Place
from migration.execution.rollback import BACK
from migration.execution.rounds import PlanRounds
from migration.execution.settings import SettingsChange, settings_after
from migration.execution.stops import ExecutionLimits
from migration.gate.notes import fingerprint
from migration.model import Plan, PlannedMember, RoundAction, Step
from migration.plan_file import condition_tag


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRestart:
    """What happens to a member in a round."""

    round: int
    action: str
    member: PlannedMember
    change: SettingsChange  # Against its configuration before the migration
    state: str  # `to do`; `due`: a former run left it; `done`

    @property
    def library(self) -> str | None:
        return self.member.library


def restarts_of(prepared: PreparedPlan, number: int) -> Iterator[PlannedRestart]:
    """Those of a step, in order."""
    plan, step = prepared.plan, prepared.way.steps[number - 1]
    seats = {member.id: member for member in plan.baseline.members} if plan.baseline else {}
    due = {member for hook in prepared.due for member in hook.members}
    last = int(step.id.removeprefix(BACK)) - 1 if prepared.is_rollback else number
    order = PlanRounds(plan)
    for round_, members in enumerate(step.rollout.rounds if step.rollout else (), 1):
        for id_ in members:
            member = seats.get(id_, PlannedMember(id=id_, client_id=id_))
            action = step.rollout.action if step.rollout else RoundAction.RESTART
            is_set = action is not RoundAction.STOP and id_ != BRIDGE
            steps = order.steps_of(id_, last) if is_set else ()
            yield PlannedRestart(
                round=round_,
                action="kohort bridge" if id_ == BRIDGE else action.value,
                member=member,
                change=settings_after(steps, member.library),
                state=_state((number, round_), prepared.place, is_due=id_ in due),
            )


def _state(place: Place, present: Place, *, is_due: bool) -> str:
    if is_due:
        return "due"
    return "done" if place <= present else "to do"


def allowed_without_owner_s(plan: Plan, step: Step, limits: ExecutionLimits) -> float | None:
    """The partition-seconds at which a step is stopped; None: it was not rehearsed."""
    partitions = sum(plan.baseline.partitions.values()) if plan.baseline else 0
    return most_without_owner_s(step, partitions, limits.tolerance)


def plan_data(
    prepared: PreparedPlan,
    settings: RunSettings,
    *,
    state: str = "waiting",
    place: Place | None = None,
    restarts: int = 0,
    costs: Mapping[int, StepCosts] | None = None,
    stopped: Facts | None = None,
    error: str | None = None,
) -> Facts:
    """Without more, the plan before it is carried out; `place`: where its run is; `stopped`: the event of its stop."""
    plan = prepared.plan
    step, round_ = place or prepared.place
    rules = ("rule", "message", "remedy", "commands")
    return {
        "group": plan.group,
        "plan": fingerprint(plan),
        "file": str(prepared.file),
        "log": str(prepared.directory),
        "state": state,
        "rollback": prepared.is_rollback,
        "step": step,
        "round": round_,
        "found": list(prepared.found),
        "rehearsal": plan.rehearsal and fields(plan.rehearsal, "at", "seed", "seeds"),
        "unrehearsed": prepared.unrehearsed or None,
        "gate": prepared.gate and {"open": prepared.gate.open, "reasons": list(prepared.gate.reasons)},
        "limits": {**asdict(settings.limits), "restart_s": settings.restart_s},
        "on_stop": "rollback" if settings.rolls_back else "stop",
        "restarts": restarts,
        "steps": [
            _step_data(prepared, settings, number, costs or {})
            for number in range(1, len(prepared.way.steps) + 1)
        ],
        "stopped": stopped and {name: stopped[name] for name in rules},
        "report": None,
        "error": error,
    }


def _step_data(
    prepared: PreparedPlan, settings: RunSettings, number: int, costs: Mapping[int, StepCosts]
) -> Facts:
    step = prepared.way.steps[number - 1]
    rows = [
        {
            **fields(restart, "round", "action"),
            **fields(restart.member, "id", "instance", "client_id", "host", "library"),
            "name": restart.member.label,
            "change": change_data(restart.change),
            "state": restart.state,
        }
        for restart in restarts_of(prepared, number)
    ]
    return {
        "step": number,
        "id": step.id or None,
        "title": step.title,
        "restarts": rows,
        "between": [condition_tag(one) for one in step.between],
        "gate": [condition_tag(one) for one in step.gate],
        "complete_when": step.complete_when or None,
        "rehearsed": rehearsed_data(step),
        "measured": measured_data(costs.get(number)),
        "most_without_owner_s": allowed_without_owner_s(prepared.plan, step, settings.limits),
        "most_lag_growth_s": most_lag_growth_s(step, settings.limits.tolerance),
    }
