"""The report on a migration, of one group or of several, as a page and as Markdown: what was done, what it cost next to
what was rehearsed, and why it stopped. It is made from the events of all runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from cli.output import render, write_file
from cli.render.cells import Cell, Link, duration_cell
from cli.render.document import (
    Block,
    Code,
    Details,
    Document,
    Heading,
    Item,
    Table,
    Text,
    columns,
    table_of,
)
from cli.render.lines import Role
from cli.render.output_format import OutputFormat
from cli.verbs.migrate.course import (
    LAG,
    HookCourse,
    MigrationCourse,
    RoundCourse,
    RunCourse,
    courses_of,
    moment_text,
)
from cli.verbs.migrate.event_documents import place_text
from cli.verbs.migrate.lines import MOST_NAMES, event_texts, figure_text
from cli.verbs.migrate.picture import picture_of
from groups.counts import counted, first_names, share
from groups.listing import shown_id
from groups.times import duration_text

HTML, MARKDOWN = "report.html", "report.md"
MOST_EVENTS = 2_000
MOST_ROWS = 40  # A longer table is folded
_COSTS = (
    ("time", "lasted_s"),
    ("rebalances", "rebalances"),
    ("time without an owner", "without_owner_s"),
    ("longest lag", LAG),
    ("records read twice", "read_twice"),
)
"""What is measured of a step, or rehearsed."""
_ENDS = {"finished": "finished", "stopped": "stopped", "rolled-back": "rolled back", "": "not ended"}
_ROLES = {"finished": Role.GOOD, "stopped": Role.BAD, "rolled-back": Role.WARNING, "": Role.WARNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbegun:
    """A group of a fleet that the last run has not begun."""

    group: str
    state: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFacts:
    """What the page of a fleet shows besides the events of its groups."""

    links: Mapping[str, str]  # The address of each group's own report
    unbegun: Sequence[Unbegun]
    ends: str  # Why not all groups began; or empty


def write_reports(
    directory: Path, documents: Iterable[Mapping[str, object]], fleet: FleetFacts | None = None
) -> Path:
    """Write the report as a page and as Markdown; the path of the page. Raises CommandError: they cannot be written."""
    document = report_document(documents, fleet)
    for name, output in ((HTML, OutputFormat.HTML), (MARKDOWN, OutputFormat.MARKDOWN)):
        text = StringIO()
        render(document, output, text)
        # A name of a broker or a member can have half of a character, which no file can
        write_file(directory / name, [text.getvalue().encode(errors="replace").decode()])
    return directory / HTML


def report_document(documents: Iterable[Mapping[str, object]], fleet: FleetFacts | None = None) -> Document:
    """`fleet`: None for the report of one group."""
    courses = courses_of(documents)
    blocks = _of_group(courses[0]) if fleet is None and len(courses) == 1 else _of_groups(courses, fleet)
    return Document(command="migrate", data={}, blocks=list(blocks))


# Several groups


def _of_groups(courses: Sequence[MigrationCourse], fleet: FleetFacts | None) -> Iterator[Block]:
    """All groups in a table, then those that did not finish. What has no separate report follows; of groups that
    finished, folded."""
    links, unbegun = (fleet.links, fleet.unbegun) if fleet else ({}, ())
    begun = {course.group for course in courses}
    unbegun_ever = [one for one in unbegun if one.group not in begun]
    groups = len(courses) + len(unbegun_ever)
    ends = Counter(course.end for course in courses)
    counts = [f"{ends[end]:,} {what}" for end, what in _ENDS.items() if ends[end]]
    counts += [f"{count:,} {state}" for state, count in Counter(one.state for one in unbegun_ever).items()]
    summary = ", ".join(counts) or "nothing has begun"
    yield Heading(f"Migration of {counted(groups, 'group')}: {summary}", level=1)
    if courses:
        began_ms = min(course.began_ms for course in courses)
        ended_ms = max(course.ended_ms for course in courses)
        role = Role.GOOD if ends["finished"] == groups else Role.BAD if ends["stopped"] else Role.WARNING
        share_text = f"{ends['finished']:,} of {counted(groups, 'group')} are migrated"
        share_text = "Every group is migrated" if ends["finished"] == groups else share_text
        yield Text(f"{share_text}, {_span(began_ms, ended_ms)}.", role)
    if fleet and fleet.ends:
        yield Text(f"Not every group was begun: {fleet.ends}", Role.WARNING)
    if courses:
        yield _group_table(courses, links)
    if unbegun:
        yield Heading("Not begun in this run")
        yield table_of(unbegun, "GROUP", "STATE", ("WHY-NOT", lambda one: one.why or None))
    for course in courses:
        if course.end != "finished":
            yield Heading(shown_id(course.group))
            yield from _stops(course, level=3) if course.group in links else _section(course, level=3)
    for course in courses:
        if course.end == "finished" and course.group not in links:
            summary = f"{shown_id(course.group)}: {_verdict(course)}"
            yield Details(summary=summary, blocks=tuple(_section(course, level=3)))


def _group_table(courses: Sequence[MigrationCourse], links: Mapping[str, str]) -> Table:
    def name(course: MigrationCourse) -> Cell:
        link = links.get(course.group)
        return course.group if link is None else Link(course.group, link)

    return table_of(
        sorted(courses, key=lambda course: list(_ROLES).index(course.end) if course.end != "finished" else 9),
        ("GROUP", name),
        ("STATE", lambda course: _ENDS[course.end]),
        ("RULE", lambda course: course.stop.text("rule") or None if course.stop else None),
        ("#STEPS", lambda course: f"{_complete(course)}/{len(course.steps)}"),
        ("#REBALANCES", lambda course: _count(_total(course, "rebalances"))),
        ("#UNOWNED-TIME", lambda course: duration_cell(_total(course, "without_owner_s"))),
        ("#OF-WORST", _of_worst),
        ("#LASTED", lambda course: duration_cell((course.ended_ms - course.began_ms) / 1000)),
    )


def _complete(course: MigrationCourse) -> int:
    return sum(step.is_complete for step in course.steps.values())


def _total(course: MigrationCourse, figure: str) -> float | None:
    costs = [step.cost(figure) for step in course.steps.values() if step.measured]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _count(number: float | None) -> int | None:
    return None if number is None else int(number)


def _of_worst(course: MigrationCourse) -> str | None:
    """The time without an owner as a share of the worst rehearsed, over the steps that have both."""
    figure = "without_owner_s"
    pairs = [
        (step.cost(figure), step.rehearsed.part("worst").number(figure)) for step in course.steps.values()
    ]
    known = [(cost, worst) for cost, worst in pairs if cost is not None and worst is not None]
    worst = sum(worst for _, worst in known)
    return f"{100 * sum(cost for cost, _ in known) / worst:.0f} %" if worst else None


# One group


def _of_group(course: MigrationCourse) -> Iterator[Block]:
    way = _way(course) or "migration"
    yield Heading(f"{shown_id(course.group)}: {way}, {_ENDS[course.end]}", level=1)
    is_above_worst = course.end == "finished" and any(is_above for *_, is_above in _figures(course))
    yield Text(f"{_verdict(course)}.", Role.WARNING if is_above_worst else _ROLES[course.end])
    yield from _section(course, level=2)


def _way(course: MigrationCourse) -> str:
    return f"{course.began.text('from')} to {course.began.text('to')}" if course.began.text("to") else ""


def _verdict(course: MigrationCourse) -> str:
    """What came of it, in a sentence without its period."""
    at = moment_text(course.ended_ms)
    where = ""
    if course.stop is not None:
        where = f" {place_text(course.stop.place, 'in ')}"
    match course.end:
        case "finished":
            return f"Finished at {at}; every step is complete, {_judged(course)}"
        case "stopped":
            rule = course.stop.text("rule") if course.stop else "unknown"
            steps = share(_complete(course), len(course.steps), "step", ("is", "are"))
            return f"Stopped at {at}{where} by the rule {rule}; {steps} complete"
        case "rolled-back":
            rule = f" after the rule {course.stop.text('rule')} stopped it{where}" if course.stop else ""
            return f"Rolled back at {at}{rule}; the group is as it was before step 1"
    return f"The last event is of {at}; Kohort was killed, or the run continues"


def _judged(course: MigrationCourse) -> str:
    """Whether the steps cost more than the worst rehearsal."""
    exceeded: dict[int, list[str]] = {}
    figures = list(_figures(course))
    for number, _, name, is_above in figures:
        if is_above:
            exceeded.setdefault(number, []).append(name)
    if not any(cells[-1] is not None for _, cells, *_ in figures):
        return "and was not rehearsed"
    if not exceeded:
        return "and cost no more than the worst rehearsal"
    steps = "; ".join(f"step {number} ({', '.join(names)})" for number, names in exceeded.items())
    return f"but cost more than the worst rehearsal: {steps}"


def _section(course: MigrationCourse, level: int) -> Iterator[Block]:
    yield Text(_what(course), Role.FAINT)
    yield from _stops(course, level)
    if any(step.measured for step in course.steps.values()):
        yield Heading("Cost of each step", level)
        yield _cost_table(course)
    picture = picture_of(course)
    if picture is not None:
        yield Heading("Timeline", level)
        yield picture
    if course.rounds:
        yield Heading("Rounds", level)
        yield from _folded(_round_table(course), counted(len(course.rounds), "round"))
    if len(course.runs) > 1:
        yield Heading("Runs", level)
        yield table_of(
            course.runs,
            ("#START", lambda run: moment_text(run.began_ms)),
            ("WHO", lambda run: run.who or None),
            ("STATE", lambda run: _how_ended(run, is_last=run is course.runs[-1])),
            ("#LASTED", lambda run: duration_cell((run.ended_ms - run.began_ms) / 1000)),
        )
    yield Details(summary=f"Events: {len(course.events):,}", blocks=(_event_table(course),))


def _what(course: MigrationCourse) -> str:
    began = course.began
    who = ", ".join(dict.fromkeys(run.who for run in course.runs if run.who)) or "an unknown user"
    cluster = f" on the cluster {began.text('cluster')}" if began.text("cluster") else ""
    span = _span(course.began_ms, course.ended_ms)
    runs = f"in {counted(len(course.runs), 'run')}" if len(course.runs) > 1 else ""
    facts = ", ".join(filter(None, (_way(course), began.text("path"), span, runs)))
    return f"Carried out by {who}{cluster}: {facts}. Times are UTC."


def _span(began_ms: int, ended_ms: int) -> str:
    return f"{moment_text(began_ms)} to {moment_text(ended_ms)} ({duration_text(ended_ms - began_ms)})"


def _stops(course: MigrationCourse, level: int) -> Iterator[Block]:
    """Each stop with its cause and what to do; the commands only of the one that the run ended with."""
    if course.stops:
        yield Heading("Stops", level)
    for at_ms, stop in course.stops:
        is_last = stop is course.stop
        where = stop.place_text + (", and then rolled back" if stop.kind == "rolling-back" else "")
        yield Item(
            lead=f"{stop.text('rule') or 'unknown'}:",
            text=stop.text("message"),
            details=tuple(filter(None, (f"At {moment_text(at_ms)}, {where}.", stop.text("remedy")))),
            role=Role.BAD if is_last else Role.FAINT,
        )
        if is_last and stop.texts("commands"):
            yield Code(stop.texts("commands"))


def _figures(course: MigrationCourse) -> Iterator[tuple[int, list[Cell], str, bool]]:
    """For each step and figure: the cells of a row, its name, and whether it is above the worst rehearsal."""
    for number, step in sorted(course.steps.items()):
        if not step.measured:
            continue
        for name, figure in _COSTS:
            median, worst = (step.rehearsed.part(part).number(figure) for part in ("median", "worst"))
            cost = step.cost(figure)
            if cost is None and (worst is None or (figure == "read_twice" and not worst)):
                continue
            values = (cost, median, worst)
            cells: list[Cell] = [None if value is None else figure_text(figure, value) for value in values]
            if step.is_partial and cost is not None:
                cells[0] = f"at least {cells[0]}"
            yield number, cells, name, cost is not None and worst is not None and cost > worst


def _cost_table(course: MigrationCourse) -> Table:
    """A row per figure; the title of a step is in its first row."""
    rows: list[list[Cell]] = []
    for number, cells, name, is_above in _figures(course):
        title = "" if rows and rows[-1][0] == number else course.steps[number].title
        is_judged = cells[0] is not None and cells[2] is not None
        answer = ("above worst" if is_above else "ok") if is_judged else None
        rows.append([number, title, name, *cells, answer])
    names = ("#STEP", "TITLE", "COST", "#MEASURED", "#MEDIAN", "#WORST", "VERDICT")
    return Table(columns=columns(*names), rows=rows)


def _round_table(course: MigrationCourse) -> Table:
    return table_of(
        course.rounds,
        ("#STEP", lambda one: f"{'back ' if one.is_rollback else ''}{one.step}"),
        ("#ROUND", "round"),
        ("#START", lambda one: moment_text(one.began_ms)),
        ("MEMBERS", _members),
        ("COMMANDS", lambda one: "; ".join(map(_command, one.commands[:MOST_NAMES])) or None),
        ("#GATE-WAIT", lambda one: _gate_wait(course, one)),
    )


def _members(round_: RoundCourse) -> str:
    names = round_.names or [command.name for command in round_.commands]
    return first_names(list(names), MOST_NAMES) if names else "none was left to restart"


def _command(command: HookCourse) -> str:
    lasted = "" if command.lasted_s is None else duration_text(1000 * command.lasted_s)
    how = f"failed after {lasted}, {command.problem}" if command.problem else lasted or "ended"
    return f"{command.action} {command.name}: {'did not end' if command.ended_ms is None else how}"


def _gate_wait(course: MigrationCourse, round_: RoundCourse) -> str:
    waited = duration_text(course.gate_wait_ms(round_))
    return waited if round_.opened_ms is not None else f"{waited}, not opened"


def _folded(table: Table, summary: str) -> Iterator[Block]:
    yield table if len(table.rows) <= MOST_ROWS else Details(summary=summary, blocks=(table,))


def _how_ended(run: RunCourse, *, is_last: bool) -> str:
    return _ENDS[run.end] if run.end else "running, or killed" if is_last else "killed"


def _event_table(course: MigrationCourse) -> Table:
    """A row per event; of many, the last ones."""
    lines = ((at_ms, text) for at_ms, event in course.events[-MOST_EVENTS:] for text in event_texts(event))
    rows = [[moment_text(at_ms), text] for at_ms, text in lines]
    return Table(columns=columns("#AT", "WHAT-HAPPENED"), rows=rows)
