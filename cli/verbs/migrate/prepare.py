"""A plan before it is carried out: whether it still fits the group, what it costs, and where a former run left it. Only
reads; `kohort migrate` without `--execute` shows no more than this."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cli.errors import CommandError, RefusedError, UsageError
from cli.selection import ReusableSource
from cli.verbs.gate.action import NotesFile
from cli.verbs.migrate.run_directory import FormerRuns, directory_of, read_former_runs
from cli.verbs.migrate.settings import RunSettings
from cli.verbs.migrate.sighting import Lookout
from cli.verbs.plan.files import read_plan
from groups.counts import counted, first_names
from groups.findings import Level
from groups.model import Group
from migration.execution.events import Place, RunHook
from migration.execution.machine import Execution, Phase
from migration.execution.memory import Resumed
from migration.execution.preflight import CannotCarryOutError, check_plan
from migration.execution.stops import StopRule
from migration.gate.observation import GateResult
from migration.model import Plan
from migration.plan_file import plan_to_data

SEEDS = 10  # Of a rehearsal, as `kohort plan --rehearse`
PLAN_COPY = "plan.yaml"  # The plan as it is carried out, in the directory of the run


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPlan:
    file: Path
    plan: Plan
    way: Plan  # What is carried out: the plan, or its rollback
    is_rollback: bool
    former: FormerRuns
    notes: NotesFile
    unrehearsed: str  # Why there are no rehearsed costs; empty if there are
    rehearsed_now: bool
    cluster: str | None
    coordinator: int | None  # The broker's id; None: not known
    place: Place  # The round in progress, or whose gate is awaited
    due: tuple[RunHook, ...]  # Restarts that a former run left
    gate: GateResult | None  # None if restarts are due
    found: tuple[str, ...]  # What is known of former runs, a sentence each

    @property
    def directory(self) -> Path:
        return directory_of(self.file)

    @property
    def numbers(self) -> range:
        """Of the steps of `way`."""
        return range(1, len(self.way.steps) + 1)

    @property
    def copy(self) -> Path:
        return self.directory / PLAN_COPY

    @property
    def resumed(self) -> Resumed:
        return _resumed(self.former, self.notes, self.plan)

    def reread(self) -> "PreparedPlan":
        """With what a run has written down since."""
        former = read_former_runs(self.directory, self.plan)
        return replace(self, former=former, notes=NotesFile.of_plan(self.file, self.plan, is_written=True))


def check_runnable(file: Path, plan: Plan) -> None:
    """Raises UsageError: it cannot be carried out."""
    try:
        check_plan(plan)
    except CannotCarryOutError as error:
        raise UsageError(f"{file}: {error}") from None
    if not plan.steps:
        why = f"the group {plan.group} already uses the target protocol: there is nothing to do"
        raise UsageError(f"{file}: {why}")


def prepare(
    file: Path, plan: Plan, source: ReusableSource, settings: RunSettings, *, executes: bool
) -> PreparedPlan:
    """Raises UsageError: the plan is not, or no longer, for this group; or it must not be carried out."""
    former, notes = read_former_runs(directory_of(file), plan), NotesFile.of_plan(file, plan, is_written=True)
    plan = _as_begun(file, plan, former)
    lookout = Lookout(plan=plan, source=source, with_offsets=False)
    execution = Execution(
        plan,
        replace(settings.limits, watch_s=0.0),
        resumed=_resumed(former, notes, plan),
        goes_back=settings.goes_back,
    )
    seen = lookout.look(time.monotonic(), execution.step)
    if seen.problem:
        raise (RefusedError if seen.is_refused else CommandError)(f"{plan.group}: {seen.problem}")
    if seen.group is None and not former.events:
        raise CommandError(f"{file}: there is no group {plan.group} in {source.name}")
    orders = execution.observe(seen)
    if not execution.acting:
        execution.observe(lookout.look(time.monotonic(), execution.step))
    if execution.phase is Phase.STOPPED and execution.stop is not None:
        refuse = RefusedError if execution.stop.rule is StopRule.REFUSED else UsageError
        raise refuse(f"{file}: {execution.stop.message} {execution.stop.remedy}")
    why_not, is_new = "", False
    if not execution.is_rollback:
        plan, why_not, is_new = _with_rehearsal(plan, former, seen.group, source)
    if plan.has_blocker:
        blocker = next(finding for finding in plan.findings if finding.level is Level.BLOCKER)
        raise UsageError(f"{file}: {blocker.message} {blocker.remedy}")
    if why_not and executes and not (settings.is_unrehearsed or former.hooks):
        raise UsageError(
            f"{file}: the plan cannot be rehearsed: {why_not}. With --unrehearsed it is carried out all the same: then "
            "no cost can stop it"
        )
    return PreparedPlan(
        file=file,
        plan=plan,
        way=execution.plan if execution.is_rollback else plan,
        is_rollback=execution.is_rollback,
        former=former,
        notes=notes,
        unrehearsed=why_not,
        rehearsed_now=is_new,
        cluster=seen.cluster.id,
        coordinator=seen.group.coordinator.id if seen.group and seen.group.coordinator else None,
        place=execution.place,
        due=tuple(order for order in orders if isinstance(order, RunHook)),
        gate=execution.gate,
        found=tuple(_found(plan, former, notes, execution)),
    )


def _as_begun(file: Path, plan: Plan, former: FormerRuns) -> Plan:
    """The plan, with the rehearsal of a run before. UsageError: the file has changed since its run began."""
    copy = directory_of(file) / PLAN_COPY
    if not former.events or not copy.exists():
        return plan
    begun = read_plan(copy)
    if _essence(begun) == _essence(plan):
        return begun if plan.rehearsal is None else plan
    if former.hooks:
        raise UsageError(
            f"{file}: its steps have changed since its run began: {copy} has the plan as it was. Copy that one back, "
            "or make a new plan of the group as it is now: kohort plan"
        )
    return plan


def _essence(plan: Plan) -> object:
    """What a run carries out, without texts and figures."""
    names = ("id", "config", "course", "between", "gate", "strays")
    return [{name: step.get(name) for name in names} for step in plan_to_data(plan)["steps"]]


def _resumed(former: FormerRuns, notes: NotesFile, plan: Plan) -> Resumed:
    return former.resumed({number: gate.members for number, gate in notes.notes.opened.items()}, plan)


def _with_rehearsal(
    plan: Plan, former: FormerRuns, group: Group | None, source: ReusableSource
) -> tuple[Plan, str, bool]:
    """The plan with the costs of a rehearsal on the present group, why it has none, and whether it was played now."""
    if plan.rehearsal is not None:
        return plan, "", False
    if former.hooks:
        return plan, "it has begun, and a rehearsal begins with the group as the plan found it", False
    present = {member.id for member in group.members} if group else set()
    if plan.baseline and any(member.id not in present for member in plan.baseline.members):
        return plan, "members have been restarted since it was made, so make a new one: kohort plan", False
    # Imports the simulation, which a plan that was rehearsed does not need.
    from cli.verbs.rehearse.action import find, rehearsed

    played, rehearsal = rehearsed(plan, find(plan, source.get()), (), SEEDS)
    if rehearsal is None:
        finding = next(finding for finding in played.findings if finding.rule == "rehearsal")
        why = finding.message.removeprefix("The plan was not rehearsed: ").rstrip(".")
        return plan, why, False
    return played, "", True


def _found(plan: Plan, former: FormerRuns, notes: NotesFile, execution: Execution) -> Iterator[str]:
    """What there is of former runs, and where this one begins."""
    if former.damaged:
        lines = counted(former.damaged, "line")
        yield f"{lines} of the log cannot be read: a member may be restarted once more than necessary."
    if former.others:
        yield "The directory of the run has the log of another plan too, which is not used."
    opened = [number for number in sorted(notes.notes.opened) if number]
    if former.resumed({}, plan).rollback is not None:
        yield "Its rollback has begun, and is continued."
    elif opened:
        last = opened[-1]
        yield f"Step {last} of {len(plan.steps)} is complete: its gate opened at {notes.notes.opened[last].at}."
    if former.end is not None:
        end = former.end
        how = f"stopped: {end.text('message')}" if end.kind == "stopped" else f"{end.kind.replace('-', ' ')}."
        yield f"The last run ended at {end.at}: {how}"
    elif former.events:
        yield f"The last run was killed: its last event is of {former.events[-1].at}."
    if running := former.running:
        names = first_names([hook.member for hook in running])
        yield f"The command that it started for {names} is still running: its end is awaited first."
    if execution.acting:
        names = first_names([hook.seat.label for hook in execution.acting])
        where = "the rollback" if execution.is_rollback else "the round in progress"
        yield f"Not yet restarted in {where}: {names}."
    elif execution.phase is Phase.WAITING and (former.events or opened):
        yield from execution.standing
