"""The plans of a fleet before they are carried out: which can begin, which are left out, and in which waves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cli.errors import UsageError
from cli.progress import each_shown
from cli.render.cells import Cell, duration_cell
from cli.render.document import Block, Document, Heading, Table, Text, columns, table_of
from cli.render.lines import Role
from cli.selection import ReusableSource
from cli.verbs.migrate.event_documents import Facts, place_text
from cli.verbs.migrate.options import FleetOptions
from cli.verbs.migrate.prepare import PreparedPlan, check_runnable, prepare
from cli.verbs.migrate.preview import plan_data, restarts_to_come, stops_table
from cli.verbs.migrate.settings import RunSettings
from cli.verbs.plan.files import read_plan
from groups.counts import counted
from groups.times import seconds_text
from migration.execution.fleet import (
    Fleet,
    FleetGroup,
    GroupPhase,
    WaveOptions,
    Window,
    fleet_group,
    read_window,
)
from migration.model import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A group that is not begun."""

    file: Path
    plan: Plan
    why: str

    @property
    def group(self) -> str:
        return self.plan.group

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to do."""
        return not self.plan.steps and not self.plan.has_blocker


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlans:
    prepared: Mapping[str, PreparedPlan]  # By group
    left_out: tuple[LeftOut, ...]
    groups: tuple[FleetGroup, ...]  # Of `prepared`

    @property
    def has_blocked(self) -> bool:
        """Whether a group is left out that is not yet as planned."""
        return not all(one.is_done for one in self.left_out)

    @property
    def finished_before(self) -> int:
        return sum(group.phase is GroupPhase.FINISHED for group in self.groups)


def wave_options(options: FleetOptions) -> WaveOptions:
    """Raises UsageError: a window cannot be read."""
    return WaveOptions(
        first=tuple(dict.fromkeys(options.first or ())),
        at_once=options.at_once,
        pause_s=options.pause,
        spread=frozenset(options.spread or ()),
        most_stopped=options.max_stopped,
        windows=tuple(map(_window, options.window or ())),
    )


def _window(text: str) -> Window:
    try:
        return read_window(text)
    except ValueError as error:
        raise UsageError(f"--window {error}") from None


def fleet_of(plans: FleetPlans, options: WaveOptions) -> Fleet:
    """Raises UsageError: a canary has no plan that can begin."""
    out = {one.group: one.why for one in plans.left_out}
    for name in options.first:
        if name in out:
            raise UsageError(f"--first {name}: {out[name]}")
    try:
        return Fleet(plans.groups, options)
    except ValueError as error:
        raise UsageError(str(error)) from None


def prepare_fleet(
    files: Sequence[Path], source: ReusableSource, settings: RunSettings, *, executes: bool
) -> FleetPlans:
    """Raises CommandError: a plan or a group cannot be read. Raises UsageError: a file is no plan, or two are for the
    same group. A plan that must not be carried out is left out."""
    plans = {file: read_plan(file) for file in each_shown(files, "reading plan")}
    refuse_same_groups({file: plan.group for file, plan in plans.items()})
    prepared: dict[str, PreparedPlan] = {}
    left_out: list[LeftOut] = []
    source.get().is_followed = True
    source.get().describe([plan.group for plan in plans.values()], offsets=False)  # Remembers their types
    for file in each_shown(list(plans), "comparing plan and group"):
        plan = plans[file]
        try:
            check_runnable(file, plan)
            prepared[plan.group] = prepare(file, plan, source, settings, executes=executes)
        except UsageError as error:
            left_out.append(LeftOut(file=file, plan=plan, why=str(error).removeprefix(f"{file}: ")))
    groups = tuple(_fleet_group(one, settings) for one in prepared.values())
    return FleetPlans(prepared=prepared, left_out=tuple(left_out), groups=groups)


def prepare_one(
    files: Sequence[Path], source: ReusableSource, settings: RunSettings, *, executes: bool
) -> FleetPlans:
    """The same for the plan of one file; raises UsageError also if it must not be carried out."""
    (file,) = files
    plan = read_plan(file)
    check_runnable(file, plan)
    prepared = prepare(file, plan, source, settings, executes=executes)
    group = fleet_group(prepared.way, prepared.coordinator, settings.limits.watch_s)
    return FleetPlans(prepared={plan.group: prepared}, left_out=(), groups=(group,))


def refuse_same_groups(groups: Mapping[Path, str]) -> None:
    files: dict[str, Path] = {}
    for file, group in groups.items():
        if group in files:
            raise UsageError(
                f"{files[group]} and {file} are both plans for the group {group}: give one of them"
            )
        files[group] = file


def _fleet_group(prepared: PreparedPlan, settings: RunSettings) -> FleetGroup:
    """A group that finished in a former run is finished if its last gate is open now."""
    plan, former = prepared.plan, prepared.former
    group = fleet_group(prepared.way, prepared.coordinator, settings.limits.watch_s)
    is_finished = (
        not prepared.is_rollback
        and len(plan.steps) in prepared.notes.notes.opened
        and former.end is not None
        and former.end.kind == "finished"
        and prepared.gate is not None
        and prepared.gate.open is True
    )
    phase = GroupPhase.FINISHED if is_finished else group.phase
    return replace(group, phase=phase, has_begun=bool(former.events))


# The preview


def fleet_preview(plans: FleetPlans, settings: RunSettings, options: WaveOptions) -> Document:
    fleet = fleet_of(plans, replace(options, windows=(), pause_s=0.0))
    waves = list(_waves(fleet))
    return Document(
        command="migrate",
        data={
            "plans": [plan_data(prepared, settings) for prepared in plans.prepared.values()],
            "waves": [list(wave) for wave in waves],
            "left_out": [left_out_data(one) for one in plans.left_out],
        },
        blocks=list(_blocks(plans, settings, options, waves, fleet.canaries)),
    )


def left_out_data(left_out: LeftOut) -> Facts:
    return {"group": left_out.group, "file": str(left_out.file), "why": left_out.why}


def _waves(fleet: Fleet) -> Iterator[tuple[str, ...]]:
    """The waves as they come if every group finishes and no window closes."""
    while not fleet.is_over:
        wave = fleet.next(datetime.now(UTC), 0.0).begin
        yield wave
        for name in wave:
            fleet.ended(name, GroupPhase.FINISHED, 0.0)


def _blocks(
    plans: FleetPlans,
    settings: RunSettings,
    options: WaveOptions,
    waves: Sequence[tuple[str, ...]],
    canaries: Sequence[str],
) -> Iterator[Block]:
    if not plans.groups:
        yield Text("There is no plan that can be carried out.")
        yield from _left_out(plans)
        return
    groups = {group.name: group for group in plans.groups}
    numbers = {name: number for number, wave in enumerate(waves, 1) for name in wave}
    names = [*numbers, *(name for name in groups if name not in numbers)]
    restarts = sum(restarts_to_come(plans.prepared[name]) for name in numbers)
    lasts_s = sum(max(groups[name].lasts_s for name in wave) for wave in waves)
    yield Heading(f"{counted(len(groups), 'group')} in {counted(len(waves), 'wave')}", level=1)
    yield Text(f"{counted(restarts, 'restart')}, about {seconds_text(lasts_s)} without pauses.")
    rows = [
        _row(plans.prepared[name], groups[name], numbers.get(name), is_canary=name in canaries)
        for name in names
    ]
    yield Table(
        columns=columns(
            "#WAVE", "GROUP", "FROM", "#MEMBERS", "#STEPS", "#RESTARTS", "#DURATION", "REHEARSED", "STATE"
        ),
        rows=rows,
    )
    yield from _left_out(plans)
    yield from map(Text, _rules(groups, options))
    yield Heading("What stops a group")
    yield stops_table(settings)
    yield Text("`kohort migrate` with the plan of one group shows its rounds, lines and gates.", Role.FAINT)


def _left_out(plans: FleetPlans) -> Iterator[Block]:
    if plans.left_out:
        yield Heading("Left out")
        rows = sorted(plans.left_out, key=lambda one: one.is_done)
        yield table_of(rows, ("GROUP", "group"), ("WHY-NOT", "why"))


def _row(prepared: PreparedPlan, group: FleetGroup, wave: int | None, *, is_canary: bool) -> list[Cell]:
    plan = prepared.plan
    rehearsed = "no" if prepared.unrehearsed else "yes"
    row: list[Cell] = [
        wave,
        group.name,
        plan.origin,
        group.members,
        len(prepared.way.steps),
        restarts_to_come(prepared),
    ]
    return [*row, duration_cell(group.lasts_s), rehearsed, _state(prepared, group, is_canary=is_canary)]


def _state(prepared: PreparedPlan, group: FleetGroup, *, is_canary: bool) -> str:
    if group.phase is GroupPhase.FINISHED:
        return "finished before"
    if prepared.is_rollback:
        return "to be rolled back"
    if not group.has_begun:
        return "canary" if is_canary else "to do"
    return f"continues {place_text(prepared.place, 'at ')}"


def _rules(groups: Mapping[str, FleetGroup], options: WaveOptions) -> Iterator[str]:
    """How the fleet continues and ends, a sentence each."""
    yield (
        "A wave begins when every group of the one before has ended"
        + (f", and {seconds_text(options.pause_s)} later." if options.pause_s else ".")
        + " If a canary stops, no other group begins."
    )
    stopped = "one group has" if options.most_stopped == 1 else f"{options.most_stopped} groups have"
    yield f"When {stopped} stopped, no other begins; those that are running continue to their end."
    if options.windows:
        whole = [name for name, group in groups.items() if not group.can_be_held]
        yield (
            f"Groups begin within {' and '.join(map(str, options.windows))}. When the window closes, a group is held "
            "after its round, and continues when it opens."
        )
        if whole:
            yield f"Not held, because members would stay stopped: {', '.join(whole)}."
