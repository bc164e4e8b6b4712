"""A plan of a group on its screen: its steps with their gates, as polls show the group, and its findings. Nothing is
recorded here: `kohort gate` keeps the members at an open gate next to the plan, which later gates compare with."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cli.render.lines import Role
from cli.verbs.plan.directory import file_names
from cli.verbs.top.sight import Sight
from cli.verbs.top.tables import GridColumn, GridRow, GridTable
from groups.counts import counted
from groups.findings import Level
from groups.model import Group
from groups.yaml_files import TreeError, load_tree, read_text
from migration.gate.judge import check_steady, judge_gate
from migration.gate.notes import SUFFIX as NOTES_SUFFIX
from migration.gate.notes import Notes, NotesError, fingerprint, notes_from_data
from migration.gate.observation import GateObservation, GateResult, undecided
from migration.model import Plan, PlanVerdict

SUFFIX = ".plan.yaml"
STEP_COLUMNS = (
    GridColumn("STEP", is_number=True),
    GridColumn("GATE", least_width=8),
    GridColumn("WHAT", least_width=30),
    GridColumn("ROUNDS", is_number=True),
    GridColumn("RECORDED"),
)
FINDING_COLUMNS = (GridColumn("LEVEL"), GridColumn("RULE"), GridColumn("FINDING"), GridColumn("REMEDY"))
_LEVELS = {Level.BLOCKER: Role.BAD, Level.WARNING: Role.WARNING, Level.INFO: Role.FAINT}
_OPEN = {True: ("open", Role.GOOD), False: ("not yet", Role.WARNING), None: ("unknown", Role.WARNING)}


def file_of(group: str) -> Path:
    """Where the plan of a group is kept if the user names no file: `billing.plan.yaml` in this directory."""
    return Path(Path(file_names([group])[group]).stem + SUFFIX)


def notes_file(plan_file: Path) -> Path:
    return plan_file.with_name(plan_file.name + NOTES_SUFFIX)


def notes_of(plan: Plan, plan_file: Path | None) -> Notes:
    """The notes next to a plan's file; none if they are missing, cannot be read, or are those of another plan."""
    if plan_file is not None and notes_file(plan_file).exists():
        try:
            file = notes_file(plan_file)
            return notes_from_data(load_tree(file, read_text(file)), plan)
        except (TreeError, NotesError):  # `kohort gate` reports it
            pass
    return Notes(plan=fingerprint(plan))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInSight:
    """A plan, and the results of its gates by number: 0 is the gate before the first step."""

    plan: Plan
    notes: Notes
    results: Mapping[int, GateResult] = field(default_factory=dict)  # Without those that are recorded as open
    group: Group | None = None  # That the results are about
    at_ms: int | None = None

    @property
    def current(self) -> int:
        """The number of the gate that is awaited: the one after the last recorded one. If none is recorded, step 1 has
        begun when the members are not those that the plan found."""
        if self.notes.opened:
            return min(max(self.notes.opened) + 1, len(self.plan.steps))
        baseline, before = self.plan.baseline, self.results.get(0)
        if baseline is None or before is None or self.group is None:
            return 0
        has_begun = {one.id for one in baseline.members} != {member.id for member in self.group.members}
        return 1 if has_begun or before.differences else 0

    def seen(self, sight: Sight, *, is_live: bool, is_whole: bool) -> "PlanInSight":
        """The gates of what a poll has shown. A gate is open only if a live group is the same in two polls."""
        plan, seen = self.plan, sight.groups.get(self.plan.group)
        is_gone = is_whole and sight.at_ms is not None and plan.group not in sight.listings
        if sight.cluster is None or (seen is None and not is_gone):
            return self
        group = None if seen is None else seen.polled.group
        at_ms = sight.at_ms if seen is None else seen.at_ms
        if seen is not None and group is None:
            return self  # It could not be read: the screen says so
        if at_ms == self.at_ms:
            return self
        partitions = {name: topic.partitions for name, topic in sight.topics.items()}
        results = {}
        for number in range(max(self.notes.opened, default=-1) + 1, len(plan.steps) + 1):
            position = number - 1
            result = judge_gate(
                GateObservation(
                    plan=plan,
                    position=position,
                    group=group,
                    cluster=sight.cluster,
                    partitions=partitions,
                    is_whole=is_whole,
                    began_with=self.notes.members_at(position, plan),
                )
            )
            if is_live and result.open:
                steady = undecided("steady", "another poll must show the same group")
                if self.at_ms is not None:
                    steady = check_steady(_steady(self.group), _steady(group))
                result = replace(result, checks=(*result.checks, steady))
            results[number] = result
        return replace(self, results=results, group=group, at_ms=at_ms)

    def state(self, number: int) -> tuple[str | None, Role | None]:
        """The state of a gate in a word; None before the group was read, and after the awaited gate."""
        if number in self.notes.opened:
            return "opened", Role.GOOD
        result = self.results.get(number)
        if result is None or number > self.current:
            return None, None
        if result.differences:
            return "refused", Role.BAD
        return ("off plan", Role.BAD) if result.strayed is not None else _OPEN[result.open]

    def answer(self, number: int) -> str:
        """The state of a gate as a sentence, and what to do."""
        if number in self.notes.opened:
            return f"Opened at {self.notes.opened[number].at}."
        result, steps = self.results.get(number), self.plan.steps
        if result is None:
            return "The group has not been read yet."
        if result.differences:
            return "Refused: the group does not match this plan, or no longer does."
        if result.strayed is not None:
            back = result.strayed.back_to
            return f"Off plan: go back to step {back + 1}: {steps[back].title}."
        if result.open is not True:
            closed = "Not complete" if number else "Not ready"
            return f"{closed}: do not continue." if result.open is False else "Unknown: do not continue yet."
        if number == len(steps):
            return "Open: the plan is complete; i records it."
        return f"Open: i records it, then continue with step {number + 1}: {steps[number].title}."

    def lines(self, number: int) -> list[str]:
        """The gate of a step: its answer, and what was observed."""
        title = f"Step {number}: {self.plan.steps[number - 1].title}" if number else "Before step 1"
        lines = [title, self.answer(number)]
        result = self.results.get(number)
        if result is None:
            return lines
        marks = {True: "yes", False: "no ", None: " - "}
        lines += [f"  {one.what}: {one.plan} in the plan, {one.now} now" for one in result.differences]
        lines += [f"  {result.strayed.message}"] if result.strayed else []
        return lines + [f"  {marks[check.holds]} {check.text}" for check in result.checks]

    def head(self, file: Path | None) -> list[str]:
        plan = self.plan
        levels = Counter(finding.level.value for finding in plan.findings)
        counts = [counted(levels[level], level) for level in ("blocker", "warning") if levels[level]]
        verdict = {PlanVerdict.BLOCKED: "Blocked", PlanVerdict.UNKNOWN: "Unknown"}.get(plan.verdict, "Ready")
        parts = [", with ".join([verdict, " and ".join(counts)] if counts else [verdict])]
        if plan.steps:
            parts.append(", ".join([counted(len(plan.steps), "step"), *([plan.path] if plan.path else [])]))
        elif not plan.has_blocker:
            parts.append("there is nothing to do")
        keys = "i checks the gate of a step, u rehearses"
        where = f"In {file}: {keys}." if file is not None else f"Not kept yet: W writes it to a file; {keys}."
        return [f"{plan.origin} → {plan.destination.value}: {'; '.join(parts)}.", where]


def _steady(group: Group | None) -> Group | None:
    """A group as brokers describe it, without what is read or computed besides, and changes although it has settled."""
    return group and replace(
        group,
        leader=None, leader_problem=None, offsets=None, pending=None, settings=None,
        commit_gap_ms=None, rebalanced_ms=None, emptied_ms=None,
    )  # fmt: skip


def steps_table(shown: PlanInSight) -> GridTable:
    rows = []
    for number in range(len(shown.plan.steps) + 1):
        step = shown.plan.steps[number - 1] if number else None
        state, role = shown.state(number)
        opened = shown.notes.opened.get(number)
        cells = (
            *(number, state, step.title if step else "before the first step"),
            *(len(step.rounds) or None if step else None, opened.at if opened else None),
        )
        rows.append(GridRow(str(number), cells, {} if role is None else {1: role}))
    return GridTable(columns=STEP_COLUMNS, rows=rows if shown.plan.steps else [])


def findings_table(plan: Plan) -> GridTable:
    return GridTable(
        columns=FINDING_COLUMNS,
        rows=[
            GridRow(
                str(number), (one.level.value, one.rule, one.message, one.remedy), {0: _LEVELS[one.level]}
            )
            for number, one in enumerate(plan.findings)
        ],
    )
