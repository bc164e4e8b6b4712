"""A plan in the documents of `kohort migrate`: what would be done with each member and what would stop it, and, after a
run, what was done. Without `--execute`, and above the question, it is all that is shown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from cli.render.cells import Cell
from cli.render.document import (
    Block,
    Bullets,
    Code,
    Document,
    Heading,
    Table,
    Text,
    cells_of,
    columns,
    fields,
    table_of,
)
from cli.render.lines import Role
from cli.verbs.migrate.event_documents import Facts, change_data, measured_data, place_text, rehearsed_data
from cli.verbs.migrate.prepare import PreparedPlan
from cli.verbs.migrate.settings import RunSettings
from cli.verbs.plan.blocks import rehearsed_line
from groups.counts import counted, first_names
from groups.model import Problem
from groups.times import seconds_text
from migration.bridge import BRIDGE
from migration.execution.costs import LEAST_LAG_S, StepCosts, most_lag_growth_s, most_without_owner_s
from migration.execution.events import Place
from migration.execution.rollback import BACK
from migration.execution.rounds import PlanRounds
from migration.execution.settings import SettingsChange, settings_after
from migration.execution.stops import StopRule
from migration.gate.notes import fingerprint
from migration.model import PlannedMember, RoundAction, Step, StepFigures
from migration.plan_file import condition_tag

_FIGURES = ("rebalances", "moved", "without_owner_s", "read_twice", "lasted_s")
MOST_ROWS = 40  # Members of a step in the table; JSON has all


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
        "steps": [_step_data(prepared, settings, number, costs or {}) for number in prepared.numbers],
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
        "most_without_owner_s": most_without_owner_s(prepared.plan, step, settings.limits.tolerance),
        "most_lag_growth_s": most_lag_growth_s(step, settings.limits.tolerance),
    }


def preview_document(
    plans: Sequence[PreparedPlan], settings: RunSettings, problems: tuple[Problem, ...] = ()
) -> Document:
    blocks = [block for prepared in plans for block in _blocks(prepared, settings)]
    limits = [Heading("What stops it"), stops_table(settings)]
    return Document(
        command="migrate",
        data={"plans": [plan_data(prepared, settings) for prepared in plans]},
        blocks=[*blocks, *(limits if plans else ())],
        errors=problems,
    )


def question(plans: Sequence[PreparedPlan]) -> str:
    """What the operator confirms, after `about to`."""
    todo = sum(restarts_to_come(prepared) for prepared in plans)
    groups = f"the group {plans[0].plan.group}" if len(plans) == 1 else counted(len(plans), "group")
    what = "roll back" if all(prepared.is_rollback for prepared in plans) else "migrate"
    return f"{what} {groups}, which takes {counted(todo, 'restart')}"


def restarts_to_come(prepared: PreparedPlan) -> int:
    restarts = (restart for number in prepared.numbers for restart in restarts_of(prepared, number))
    return sum(restart.state != "done" and restart.member.client_id != BRIDGE for restart in restarts)


# For people


def _blocks(prepared: PreparedPlan, settings: RunSettings) -> Iterator[Block]:
    plan, way = prepared.plan, prepared.way
    members = len(plan.baseline.members) if plan.baseline else 0
    is_back = prepared.is_rollback
    way_text = f"back to {plan.origin}" if is_back else f"{plan.origin} → {plan.destination.value}"
    yield Heading(f"{plan.group}: {way_text}", level=1)
    yield Text(f"{way.path.capitalize()}: {counted(len(way.steps), 'step')}, {counted(members, 'member')}.")
    if not is_back:
        yield Text(_rehearsed(prepared), Role.WARNING if prepared.unrehearsed else Role.GOOD)
    if prepared.found:
        yield Bullets(prepared.found)
    yield Text(_begins(prepared))
    for number, step in enumerate(way.steps, 1):
        yield from _step_blocks(prepared, settings, number, step)
    yield Text(f"The log of the run: {prepared.directory}")


def _rehearsed(prepared: PreparedPlan) -> str:
    if prepared.unrehearsed:
        return f"Not rehearsed: {prepared.unrehearsed}. No cost can stop it."
    noted = prepared.plan.rehearsal
    line = "" if noted is None else rehearsed_line(noted)
    return f"{line} It was rehearsed now: the plan had not been." if prepared.rehearsed_now else line


def _begins(prepared: PreparedPlan) -> str:
    if not prepared.way.steps:
        return "Nothing was begun, so there is nothing to go back from."
    where = place_text(prepared.place, "at ")
    if prepared.due:
        return f"It begins {where}, with {first_names([hook.seat.label for hook in prepared.due])}."
    if not restarts_to_come(prepared):
        left = "only the last gate is checked, and the group is watched for a while"
        return f"Nothing is left to restart: {left}."
    gate = prepared.gate
    if gate is None or gate.open:
        return f"It begins {where}: the gate is open now."
    return f"It begins {where}: the gate is not open now ({'; '.join(gate.reasons)}), and is awaited."


def _step_blocks(prepared: PreparedPlan, settings: RunSettings, number: int, step: Step) -> Iterator[Block]:
    plan = prepared.plan
    yield Heading(f"Step {number} of {len(prepared.way.steps)}: {step.title}")
    restarts = list(restarts_of(prepared, number))
    if not restarts:
        yield Text("Nothing is restarted: the step is awaited.")
    for libraries, change in _changes(restarts):
        named = f"Lines of {libraries}" if libraries else "Lines"
        lines = [f"{key}={value}" for key, value in change.lines.items()]
        lines += [f"# remove: {key}" for key in change.removed]
        if lines:
            yield Text(f"{named}, against the configuration before the migration:")
            yield Code(tuple(lines), language="properties")
        else:
            yield Text(f"{named}: as before the migration.")
        for remark in change.remarks:
            yield Text(_remark_text(remark), Role.WARNING)
    shown = restarts[:MOST_ROWS]
    if shown:
        yield table_of(
            shown,
            "#ROUND",
            "ACTION",
            ("MEMBER", lambda restart: restart.member.label),
            ("HOST", lambda restart: restart.member.host),
            "LIBRARY",
            "STATE",
        )
    if rest := len(restarts) - len(shown):
        yield Text(f"{counted(rest, 'more member')}; --output json has all.", Role.FAINT)
    if step.complete_when:
        yield Text(f"Gate: {step.complete_when}")
    if step.rehearsed is not None:
        played = (("median", step.rehearsed.median), ("worst", step.rehearsed.worst))
        rows: list[list[Cell]] = [[what, *cells_of(_figures(figures))] for what, figures in played]
        names = ("FIGURES", "#REBALANCES", "#MOVED", "#UNOWNED-TIME", "#READ-TWICE", "#LASTED")
        yield Table(columns=columns(*names), rows=rows)
        most_s = most_without_owner_s(plan, step, settings.limits.tolerance)
        growth_s = most_lag_growth_s(step, settings.limits.tolerance)
        if most_s is not None:
            lag = "" if growth_s is None else f", or the lag has grown by more than {seconds_text(growth_s)}"
            unowned = f"partitions have had no owner for more than {seconds_text(most_s)} in all"
            yield Text(f"It is stopped when {unowned}{lag}.")


def _figures(figures: StepFigures) -> dict[str, float | None]:
    """The figures of a rehearsal; those that were read from a file are whole numbers again."""
    known = fields(figures, *_FIGURES)
    return {
        name: int(figure) if figure is not None and float(figure).is_integer() else figure
        for name, figure in known.items()
    }


def _remark_text(remark: str) -> str:
    """What no file of lines can say, which the command must see to."""
    if remark.startswith("#"):
        return f"The command must also {remark.lstrip('# ')}."
    return f"The command must see that this is in the program's code: {remark}"


def _changes(restarts: Sequence[PlannedRestart]) -> Iterator[tuple[str, SettingsChange]]:
    """Each change of a step once, with the libraries that it is for; empty if there is only one."""
    by_text = {
        repr(restart.change): restart.change for restart in restarts if restart.change != SettingsChange()
    }
    for text, change in by_text.items():
        libraries = {restart.library or "the others" for restart in restarts if repr(restart.change) == text}
        yield ", ".join(sorted(libraries)) if len(by_text) > 1 else "", change


def stops_table(settings: RunSettings) -> Table:
    rows: list[list[Cell]] = [[rule.value, when] for rule, when in stop_texts(settings).items()]
    return Table(columns=columns("RULE", "WHEN"), rows=rows)


def stop_texts(settings: RunSettings) -> Mapping[StopRule, str]:
    """When each rule stops a run, with its limits."""
    limits = settings.limits
    gate, back = seconds_text(limits.gate_s), seconds_text(limits.return_s)
    tolerance = f"{limits.tolerance:g} times what was rehearsed at worst"
    return {
        StopRule.PLAN: "the group is not, or no longer, the one that the plan was made for",
        StopRule.OFF_PLAN: "the group has left the plan in a way that the plan names",
        StopRule.GATE: f"a gate does not open within {gate} after the last command of its round",
        StopRule.MEMBER_MISSING: f"a member is not back {back} after its command",
        StopRule.MEMBER_LOST: f"a member whose turn it was not is away for {back}",
        StopRule.UNEXPECTED_MEMBER: "a member joins that the plan does not have",
        StopRule.OUTSIDE_RESTART: "two members have new ids within 5 min, or one twice, and it was not their turn",
        StopRule.WRONG_MEMBER: "the command restarted another member",
        StopRule.WRONG_CONFIGURATION: "a member returns without the lines of its step",
        StopRule.CHANGED: "topics have changed"
        + (": accepted, by --accept-drift" if limits.accept_drift else ", unless --accept-drift is given"),
        StopRule.LAG: f"the lag grows by the records of {limits.tolerance:g} rounds as rehearsed at worst, at "
        f"least of {seconds_text(LEAST_LAG_S)}",
        StopRule.WITHOUT_OWNER: f"partitions have no owner for more than {tolerance}",
        StopRule.DIAGNOSE: "`kohort diagnose` finds an error that was not there at the start",
        StopRule.UNREADABLE: f"the group cannot be read for {seconds_text(limits.unreadable_s)}",
        StopRule.REFUSED: "the broker refuses",
        StopRule.HOOK: "the command fails, or its member is still the same one",
        StopRule.HOOK_TIMEOUT: f"the command takes longer than {seconds_text(settings.restart_s)}",
        StopRule.BRIDGE: "`kohort bridge` ends before the group is converted",
        StopRule.LOG: "the log of the run cannot be written",
        StopRule.INTERRUPTED: "Ctrl-C: after the round in progress; twice: at once",
        StopRule.WINDOW: "the window closes: after the round in progress, until it opens",
    }
