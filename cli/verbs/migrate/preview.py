"""The document of `kohort migrate` without `--execute`, and of the question: all that would be done, and what would
stop it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

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
from cli.verbs.migrate.event_documents import Facts, change_data, rehearsed_data
from cli.verbs.migrate.prepare import PreparedPlan
from cli.verbs.migrate.run import RunSettings
from cli.verbs.plan.blocks import rehearsed_line
from groups.counts import counted, first_names
from groups.model import Problem
from groups.times import seconds_text
from migration.bridge import BRIDGE
from migration.execution.costs import most_without_owner_s
from migration.execution.events import Place
from migration.execution.rounds import Rounds
from migration.execution.settings import SettingsChange, settings_after
from migration.execution.stops import Limits, StopRule
from migration.gate.notes import fingerprint
from migration.model import Plan, PlannedMember, RoundAction, Step
from migration.plan_file import condition_tag

_DONE = {RoundAction.RESTART: "restart", RoundAction.STOP: "stop", RoundAction.START: "start"}
_FIGURES = ("rebalances", "moved", "without_owner_s", "read_twice", "lasted_s")
MOST_ROWS = 40  # Members of a step in the table; JSON has all


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
    """What is to be confirmed, after `about to`."""
    restarts = sum(_restarts(prepared.plan) for prepared in plans)
    groups = f"the group {plans[0].plan.group}" if len(plans) == 1 else counted(len(plans), "group")
    return f"migrate {groups}, which takes {counted(restarts, 'restart')}"


def _restarts(plan: Plan) -> int:
    return sum(len(members) for step in plan.steps if step.rollout for members in step.rollout.rounds)


# For people


def _blocks(prepared: PreparedPlan, settings: RunSettings) -> Iterator[Block]:
    plan = prepared.plan
    members = len(plan.baseline.members) if plan.baseline else 0
    yield Heading(f"{plan.group}: {plan.origin} → {plan.destination.value}", level=1)
    yield Text(f"{plan.path.capitalize()}: {counted(len(plan.steps), 'step')}, {counted(members, 'member')}.")
    yield Text(_rehearsed(prepared), Role.WARNING if prepared.unrehearsed else Role.GOOD)
    if prepared.found:
        yield Bullets(prepared.found)
    yield Text(_begins(prepared))
    for number, step in enumerate(plan.steps, 1):
        yield from _step_blocks(prepared, settings, number, step)
    yield Text(f"The log of the run: {prepared.directory}")


def _rehearsed(prepared: PreparedPlan) -> str:
    if prepared.unrehearsed:
        return f"Not rehearsed: {prepared.unrehearsed}. No cost can stop it."
    noted = prepared.plan.rehearsal
    line = "" if noted is None else rehearsed_line(noted)
    return f"{line} It was rehearsed now: the plan had not been." if prepared.rehearsed_now else line


def _begins(prepared: PreparedPlan) -> str:
    where = "before step 1" if not prepared.place[0] else f"at {place_text(prepared.place)}"
    if prepared.due:
        return f"It begins {where}, with {first_names([hook.seat.label for hook in prepared.due])}."
    gate = prepared.gate
    if gate is None or gate.open:
        return f"It begins {where}: the gate is open now."
    return f"It begins {where}: the gate is not open now ({'; '.join(gate.reasons)}), and is awaited."


def place_text(place: Place) -> str:
    return f"step {place[0]}, round {place[1]}" if place[1] else f"step {place[0]}"


def _step_blocks(prepared: PreparedPlan, settings: RunSettings, number: int, step: Step) -> Iterator[Block]:
    plan = prepared.plan
    yield Heading(f"Step {number} of {len(plan.steps)}: {step.title}")
    rounds = list(_rounds(prepared, number))
    if not rounds:
        yield Text("Nothing is restarted: the step is awaited.")
    for libraries, change in _changes(rounds):
        lines = [f"{key}={value}" for key, value in change.lines.items()]
        lines += [f"# remove: {key}" for key in change.removed]
        if lines:
            yield Text(
                f"Lines{f' of {libraries}' if libraries else ''}, against the configuration before the migration:"
            )
            yield Code(tuple(lines), language="properties")
        for remark in change.remarks:
            yield Text(_remark_text(remark), Role.WARNING)
    shown = rounds[:MOST_ROWS]
    if shown:
        yield table_of(
            shown,
            ("#ROUND", "round"),
            ("ACTION", "action"),
            ("MEMBER", "name"),
            ("CLIENT-ID", "client_id"),
            "HOST",
            ("LIBRARY", "library"),
            ("STATE", "state"),
        )
    if len(rounds) > len(shown):
        yield Text(f"{counted(len(rounds) - len(shown), 'more member')}; --output json has all.", Role.FAINT)
    if step.complete_when:
        yield Text(f"Gate: {step.complete_when}")
    if step.rehearsed is not None:
        played = (("median", step.rehearsed.median), ("worst", step.rehearsed.worst))
        rows: list[list[Cell]] = [[what, *cells_of(fields(figures, *_FIGURES))] for what, figures in played]
        names = ("FIGURES", "#REBALANCES", "#MOVED", "#UNOWNED-TIME", "#READ-TWICE", "#LASTED")
        yield Table(columns=columns(*names), rows=rows)
        most_s = _most_without_owner_s(plan, step, settings.limits)
        if most_s is not None:
            yield Text(
                f"It is stopped when partitions have had no owner for more than {seconds_text(most_s)} in all."
            )


def _remark_text(remark: str) -> str:
    """What no file of lines can say, which the command must see to."""
    if remark.startswith("#"):
        return f"The command must also {remark.lstrip('# ')}."
    return f"The command must see that this is in the program's code: {remark}"


def _most_without_owner_s(plan: Plan, step: Step, limits: Limits) -> float | None:
    partitions = sum(plan.baseline.partitions.values()) if plan.baseline else 0
    return most_without_owner_s(step, partitions, limits.tolerance)


def _changes(rounds: Sequence[Facts]) -> Iterator[tuple[str, SettingsChange]]:
    """Each change of a step once, with the libraries that it is for; empty if there is only one."""
    libraries: dict[str, set[str]] = {}
    changes: dict[str, SettingsChange] = {}
    for row in rounds:
        change = row["change"]
        if isinstance(change, SettingsChange) and row["action"] != "stop":
            key = repr(change)
            changes[key] = change
            libraries.setdefault(key, set()).add(str(row["library"] or "the others"))
    for key, change in changes.items():
        yield ", ".join(sorted(libraries[key])) if len(changes) > 1 else "", change


def _rounds(prepared: PreparedPlan, number: int) -> Iterator[Facts]:
    """A row for each member of each round of a step."""
    plan = prepared.plan
    rollout = plan.steps[number - 1].rollout
    if rollout is None or plan.baseline is None:
        return
    seats = {member.id: member for member in plan.baseline.members}
    order = Rounds(plan)
    due = {member for hook in prepared.due for member in hook.members}
    for round_, members in enumerate(rollout.rounds, 1):
        for member in members:
            seat = seats.get(member, PlannedMember(id=member, client_id=member))
            action = "kohort bridge" if member == BRIDGE else _DONE[rollout.action]
            yield {
                "round": round_,
                "action": action,
                **fields(seat, "id", "instance", "client_id", "host", "library"),
                "name": seat.label,
                "change": _change(order, member, number, seat.library, rollout.action),
                "state": _state(prepared, (number, round_), member in due),
            }


def _change(
    order: Rounds, member: str, number: int, library: str | None, action: RoundAction
) -> SettingsChange:
    if action is RoundAction.STOP or member == BRIDGE:
        return SettingsChange()
    return settings_after(order.steps_of(member, number), library)


def _state(prepared: PreparedPlan, place: Place, is_due: bool) -> str:
    if place < prepared.place or (place == prepared.place and not is_due):
        return "done"
    return "due" if is_due else "to do"


def stops_table(settings: RunSettings) -> Table:
    return table_of(
        [{"rule": rule.value, "when": when} for rule, when in stop_texts(settings).items()],
        ("RULE", "rule"),
        ("STOPS-WHEN", "when"),
    )


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
        StopRule.OUTSIDE_RESTART: "a member is restarted before its turn, or again",
        StopRule.WRONG_MEMBER: "the command restarted another member",
        StopRule.WRONG_CONFIGURATION: "a member returns without the lines of its step",
        StopRule.CHANGED: "topics have changed"
        + (": accepted, by --accept-drift" if limits.accept_drift else ", unless --accept-drift is given"),
        StopRule.LAG: f"the lag grows by more than {tolerance}, at least 1 min of records",
        StopRule.WITHOUT_OWNER: f"partitions have no owner for more than {tolerance}",
        StopRule.DIAGNOSE: "`kohort diagnose` finds an error that was not there at the start",
        StopRule.UNREADABLE: f"the group cannot be read for {seconds_text(limits.unreadable_s)}",
        StopRule.REFUSED: "the broker refuses",
        StopRule.HOOK: "the command fails, or its member is still the same one",
        StopRule.HOOK_TIMEOUT: f"the command takes longer than {seconds_text(settings.restart_s)}",
        StopRule.BRIDGE: "`kohort bridge` ends before the group is converted",
        StopRule.INTERRUPTED: "Ctrl-C: after the round in progress; twice: at once",
    }


# For programs


def plan_data(prepared: PreparedPlan, settings: RunSettings) -> Facts:
    """The plan in the document before it is carried out; the fields of a run say that nothing was done."""
    plan = prepared.plan
    return {
        "group": plan.group,
        "plan": fingerprint(plan),
        "file": str(prepared.file),
        "log": str(prepared.directory),
        "state": "waiting",
        "step": prepared.place[0],
        "round": prepared.place[1],
        "found": list(prepared.found),
        "rehearsal": plan.rehearsal and fields(plan.rehearsal, "at", "seed", "seeds"),
        "unrehearsed": prepared.unrehearsed or None,
        "gate": prepared.gate and fields(prepared.gate, "open", "reasons"),
        "limits": {**asdict(settings.limits), "restart_s": settings.restart_s},
        "on_stop": "rollback" if settings.rolls_back else "stop",
        "restarts": 0,
        "steps": [_step_data(prepared, settings, number) for number in range(1, len(plan.steps) + 1)],
        "stopped": None,
        "report": None,
        "error": None,
    }


def _step_data(prepared: PreparedPlan, settings: RunSettings, number: int) -> Facts:
    plan = prepared.plan
    step = plan.steps[number - 1]
    rows = [{**row, "change": _as_data(row["change"])} for row in _rounds(prepared, number)]
    return {
        "step": number,
        "id": step.id or None,
        "title": step.title,
        "restarts": rows,
        "between": [condition_tag(one) for one in step.between],
        "gate": [condition_tag(one) for one in step.gate],
        "complete_when": step.complete_when or None,
        "rehearsed": rehearsed_data(step),
        "measured": None,
        "most_without_owner_s": _most_without_owner_s(plan, step, settings.limits),
    }


def _as_data(change: object) -> Facts | None:
    return change_data(change) if isinstance(change, SettingsChange) else None
