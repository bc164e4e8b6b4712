"""The live view of `kohort migrate`: a run with its steps, its gate and its costs; several runs as a row each. Letters
and signs are ASCII, and color is never the only information."""

import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple, Self

from cli.output import write_out
from cli.render.cells import safe_text
from cli.render.document import Column, columns
from cli.render.fit import is_sentence, short_names, without_middle
from cli.render.layout import column_lines
from cli.render.lines import Line, Piece, Role, folded, line_width, plain
from cli.verbs.migrate.lines import Event, answer_of, event_texts, figure_text, named, stop_text
from cli.verbs.migrate.telling import FleetStatus, RunStatus
from cli.verbs.watch.redraw import Screen, shortened
from groups.counts import counted
from groups.listing import shown_id
from groups.times import seconds_text
from migration.execution.costs import most_lag_s, most_without_owner_s
from migration.execution.machine import Phase
from migration.model import Step

DRAW_S = 0.5  # The least time between two pictures without an event
LONGEST_LOG = 100  # Lines of events that are kept
LEAST_LOG = 4  # Lines of events that are shown, whatever else there is
FINAL_LOG = 10  # Lines of events that are left on the terminal at the end
MOST_CELLS = 24  # Of the rounds of a step; of more rounds, a cell shows several
LEAST_NAME, LEAST_TITLE = 16, 16
LEAST_BAR, MOST_BAR = 10, 40
MOST_REASON = 4  # Lines of a check, or of a cause
DONE, IN_HAND, TO_COME, FAILED = "#", ">", ".", "!"
"""Cells of rounds."""
MEDIAN, WORST = "m", "w"
"""Marks in a bar."""


class LogLine(NamedTuple):
    at: str
    group: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that is drawn."""

    runs: Sequence[RunStatus]
    fleet: FleetStatus | None = None  # None if there is one run
    log: Sequence[LogLine] = ()
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What to run next, by the group that has stopped."""
    interrupts: int = 0  # How often Ctrl-C was pressed


class LiveView:
    """Use it in a `with` block, in the main thread. When it is left, the terminal is as it was, with the last state."""

    def __init__(self) -> None:
        self._screen, self._is_drawn = Screen(sys.stdout), False
        self._view = View(runs=())
        self._log = deque[LogLine](maxlen=LONGEST_LOG)
        self._commands: dict[str, Sequence[str]] = {}
        self._interrupts, self._next_s = 0, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        if not self._is_drawn:
            return
        self._is_drawn = False
        self._screen.__exit__(None, None, None)
        width, _ = self._screen.size
        lines = [plain(line) for line in view_lines(self._view, width, None)]
        write_out(lambda stream: stream.write("\n".join(lines).rstrip() + "\n"))

    def event(self, document: Mapping[str, object]) -> None:
        event = Event(document)
        if event.kind != "stopped":  # which is shown by itself
            self._log.extend(LogLine(event.at, event.group, text) for text in event_texts(event))
        if event.kind in ("run-began", "stopped"):
            self._commands[event.group] = event.texts("commands")
        elif event.kind == "interrupted":
            self._interrupts = max(self._interrupts, event.count("times") or 1)
        self._next_s = 0.0

    def draw(self, runs: Sequence[RunStatus], fleet: FleetStatus | None = None) -> None:
        log, commands = tuple(self._log), self._commands
        self._view = View(runs=runs, fleet=fleet, log=log, commands=commands, interrupts=self._interrupts)
        if not self._is_drawn:
            self._screen.__enter__()
            self._is_drawn = True
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + DRAW_S
            self._screen.draw(lambda width, height: view_lines(self._view, width, height))

    def end(self, _document: Mapping[str, object]) -> None:
        """Give the terminal back, with the last state."""
        self._leave()


def view_lines(view: View, width: int, height: int | None) -> list[Line]:
    """The whole screen, never more than `height` lines; None: as it is left on the terminal at the end."""
    is_one = view.fleet is None and len(view.runs) == 1
    body = list(_run_lines(view, view.runs[0], width) if is_one else _fleet_lines(view, width))
    if height is None:
        return [*body, (), *_newest(view.log, FINAL_LOG, width, several=not is_one)]
    body = shortened(body, max(height - min(LEAST_LOG + 1, height // 4), 1))
    left = height - len(body) - 1
    return [*body, (), *_newest(view.log, left, width, several=not is_one)][:height]


def _newest(log: Sequence[LogLine], most: int, width: int, *, several: bool) -> list[Line]:
    """The newest events that fit, whole."""
    newest: list[Line] = []
    for entry in reversed(log):
        lines = _log_lines(entry, width, several=several)
        if len(newest) + len(lines) > most:
            break
        newest = [*lines, *newest]
    return newest


def _log_lines(entry: LogLine, width: int, *, several: bool) -> list[Line]:
    at = f"{safe_text(entry.at)}  "
    group = f"{safe_text(without_middle(shown_id(entry.group), max(width // 4, 12), 6))}: " if several else ""
    lines = folded(at + group + safe_text(entry.text), width, indent=2)
    return [(Piece(at, Role.FAINT), Piece(lines[0][0].text.removeprefix(at))), *lines[1:]]


_HINTS = {
    0: ("; Ctrl-C stops after this round", "; Ctrl-C stops"),
    1: ("; stops after this round, Ctrl-C stops at once", "; stopping"),
}
"""What Ctrl-C does, by how often it was pressed; the longest that fits is shown."""


def _head(view: View, name: str, width: int, *, is_over: bool) -> Line:
    """What is carried out, when this was observed, and for how long it has been running."""
    title = Piece("kohort migrate  ", Role.HEADING)
    ends = [run.began_at + timedelta(seconds=run.lasted_s) for run in view.runs]
    if not ends:
        return (title, Piece(safe_text(name)))
    lasted = max(run.lasted_s for run in view.runs)
    when = f"  {max(ends):%Y-%m-%dT%H:%M:%SZ}, {'after' if is_over else 'for'} {seconds_text(lasted)}"
    hints = () if is_over else _HINTS.get(view.interrupts, ("; stopping",))
    room = width - len(title.text) - len(when)
    hint = next((hint for hint in hints if len(hint) + min(len(name), LEAST_NAME) <= room), "")
    room = max(room - len(hint), LEAST_NAME)
    shown = without_middle(safe_text(name), room, room // 3)
    return (title, Piece(shown, Role.STRONG), Piece(when + hint, Role.FAINT))


# One run


def _run_lines(view: View, run: RunStatus, width: int) -> Iterator[Line]:
    plan = run.plan
    yield _head(view, shown_id(plan.group), width, is_over=run.is_over)
    state, role = state_of(run)
    yield from folded(f"{state[0].upper()}{state[1:]}: {_way(run)}", width, role)
    yield ()
    yield from _step_lines(run, width)
    if run.stop is not None:
        yield ()
        yield from _stop_lines(run, view.commands.get(plan.group, ()), width)
    if not run.is_over:
        yield from _hand_lines(run, width)
        yield from _gate_lines(run, width)
    yield from _cost_lines(run, width)


def _way(run: RunStatus) -> str:
    plan = run.plan
    parts = [plan.path, f"{plan.origin} to {plan.destination.value}" if plan.origin else ""]
    parts += [counted(len(plan.baseline.members), "member") if plan.baseline else ""]
    parts += ["continued" if run.resumed else ""]
    return safe_text(", ".join(filter(None, parts)))


def state_of(run: RunStatus) -> tuple[str, Role]:
    """The state of a run in words."""
    match run.phase:
        case Phase.FINISHED:
            return "finished", Role.GOOD
        case Phase.ROLLED_BACK:
            return "rolled back", Role.WARNING
        case Phase.STOPPED:
            return "stopped", Role.BAD
        case phase if run.is_rollback:
            return f"rolling back, {_PHASES[phase]}", Role.WARNING
        case _ if len(run.opened - {0}) == len(run.plan.steps):
            return f"watching for {seconds_text(run.limits.watch_s)} that no member leaves", Role.STRONG
        case phase:
            return _PHASES[phase], Role.STRONG


_PHASES = {Phase.WAITING: "waiting for the gate", Phase.ACTING: "restarting"}


def _step_lines(run: RunStatus, width: int) -> Iterator[Line]:
    """A row per step: its state, its rounds as cells, and how long it has lasted."""
    rows = []
    for number, step in enumerate(run.plan.steps, 1):
        state, role = _step_state(run, number)
        costs = run.costs.get(number) if not run.is_rollback else None
        rounds, done = _rounds(step), _rounds_done(run, number)
        rows.append(
            [
                Piece(state, role),
                Piece(str(number)),
                Piece(safe_text(step.title), role if role is Role.FAINT else Role.PLAIN),
                Piece(
                    f"{cells(rounds, done, _in_progress(run, number))} {done}/{rounds}" if rounds else "",
                    role,
                ),
                Piece(seconds_text(costs.lasted_s) if costs else ""),
            ]
        )
    heads = columns("STATE", "#STEP", "DESCRIPTION", "ROUNDS", "#LASTED")
    yield from column_lines(heads, _fitted(heads, rows, 2, width))


def _rounds(step: Step) -> int:
    return len(step.rollout.rounds) if step.rollout else len(step.rounds)


def _step_state(run: RunStatus, number: int) -> tuple[str, Role]:
    if number in run.opened:
        return "done", Role.GOOD
    if number != run.place[0]:
        return "to come", Role.FAINT
    if run.is_over:
        return "stopped", Role.BAD
    return ("restarting" if run.phase is Phase.ACTING else "waiting"), Role.STRONG


def _rounds_done(run: RunStatus, number: int) -> int:
    step, round_ = run.place
    if number in run.opened:
        return _rounds(run.plan.steps[number - 1])
    return max(round_ - 1, 0) if number == step else 0


def _in_progress(run: RunStatus, number: int) -> str:
    """The cell of the round in progress; empty if the step has none."""
    if number != run.place[0] or number in run.opened or not run.place[1]:
        return ""
    return FAILED if run.is_over else IN_HAND


def cells(rounds: int, done: int, in_progress: str, most: int = MOST_CELLS) -> str:
    """`[##>..]`: a cell per round, or per several of more than `most`."""
    if not rounds:
        return ""
    each = -(-rounds // most)
    count, full = -(-rounds // each), done // each
    text = DONE * (count if done == rounds else min(full, count - 1)) + in_progress
    return f"[{text[:count].ljust(count, TO_COME)}]"


def _fitted(heads: Sequence[Column], rows: list[list[Piece]], position: int, width: int) -> list[list[Piece]]:
    """The rows, with the texts of one column as short as the others require: names lose their middle, sentences their
    end."""
    others = [
        max(len(column.name), *(line_width((row[at],)) for row in rows))
        for at, column in enumerate(heads)
        if at != position
    ]
    room = max(width - sum(others) - 2 * len(others), LEAST_TITLE)
    for row in rows:
        text = row[position].text
        tail = 0 if is_sentence(text) else room // 3
        row[position] = row[position]._replace(text=without_middle(text, room, tail))
    return rows


def _hand_lines(run: RunStatus, width: int) -> Iterator[Line]:
    if not run.in_hand:
        return
    yield ()
    names = short_names((hand.label for hand in run.in_hand), max(width // 3, 12))
    for hand in run.in_hand:
        text = f"{hand.action} {safe_text(names[hand.label])}"
        yield (
            Piece("In hand: ", Role.STRONG),
            Piece(f"{text}, its command has been running for {seconds_text(hand.for_s)}"),
        )


def _gate_lines(run: RunStatus, width: int) -> Iterator[Line]:
    """The gate that is awaited, with why each of its checks is not open."""
    gate = run.gate
    if gate is None:
        return
    (step, round_), plan = run.place, run.plan
    where = f"step {step}" if step else "before step 1"
    if round_ and round_ < _rounds(plan.steps[step - 1]):
        where += f", round {round_}"
    left = f"; the run stops in {seconds_text(max(run.gives_up_s - run.waits_s, 0))}"
    is_open = gate.open
    role = Role.GOOD if is_open else Role.WARNING
    yield ()
    yield (
        Piece(f"Gate of {where}: " if step else f"Gate {where}: ", Role.STRONG),
        Piece(answer_of(is_open), role),
        Piece(f", after {seconds_text(run.waits_s)}{'' if is_open else left}"),
    )
    texts = [("off plan", text) for text in gate.reasons] if gate.differences or gate.strayed else []
    texts += [
        (answer_of(check.holds), f"{check.check}: {check.text}") for check in gate.checks if not check.holds
    ]
    if passed := [check.check for check in gate.checks if check.holds]:
        texts.append((answer_of(True), ", ".join(passed)))
    for answer, text in texts:
        first, *more = folded(safe_text(text), width - 11, indent=0)[:MOST_REASON]
        yield (Piece(f"  {answer:<9}", Role.GOOD if answer == answer_of(True) else Role.WARNING), first[0])
        yield from ((Piece(" " * 11), line[0]) for line in more)


def _stop_lines(run: RunStatus, commands: Sequence[str], width: int, group: str = "") -> Iterator[Line]:
    """Why it stopped, and what to do; also while it is being rolled back."""
    for stop, what in ((run.stop, "stopped"), (run.rollback_stop, "the rollback stopped")):
        if stop is not None:
            remedy = stop.remedy if run.is_over else ""
            facts = {"rule": stop.rule.value, "message": stop.message, "remedy": remedy}
            text = f"{group}{what} by the rule {stop_text(Event(facts))}"
            yield from folded(safe_text(text[:1].upper() + text[1:] if not group else text), width, Role.BAD)
    for command in commands:
        yield (Piece("    "), Piece(safe_text(command), Role.STRONG))


class Cost(NamedTuple):
    """A row of the costs of a step; None: not known, or there is none."""

    name: str
    figure: str  # As `figure_text` takes it
    value: float | None
    median: float | None = None
    worst: float | None = None
    limit: float | None = None

    @property
    def role(self) -> Role:
        if self.value is None:
            return Role.PLAIN
        if self.limit is not None and self.value > self.limit:
            return Role.BAD
        return Role.WARNING if self.worst is not None and self.value > self.worst else Role.PLAIN


def _cost_lines(run: RunStatus, width: int) -> Iterator[Line]:
    """The costs of the step in progress, or at the end of all steps, next to what was rehearsed and to the limits."""
    is_whole = run.phase is Phase.FINISHED
    every = range(1, len(run.plan.steps) + 1)
    rows = list(_costs(run, every if is_whole else (0 if run.is_rollback else run.place[0],)))
    if not rows:
        return
    heads = columns("COST", "#MEASURED", "#MEDIAN", "#WORST", "#LIMIT")
    texts = [
        [
            Piece(row.name),
            *(
                Piece("-" if figure is None else figure_text(row.figure, figure), role)
                for figure, role in zip(row[2:], (row.role, *[Role.PLAIN] * 3), strict=True)
            ),
        ]
        for row in rows
    ]
    lines = list(column_lines(heads, texts))
    taken = max(map(line_width, lines))
    room = min(width - taken - 2, MOST_BAR)
    yield ()
    of_what = f"step {run.place[0]}"
    if is_whole or run.is_rollback:
        of_what = "the rollback" if run.is_rollback else "this run" if run.resumed else "all steps"
    what = Piece(f"Costs of {of_what}", Role.STRONG)
    if room < LEAST_BAR or not any(bar(row, room) for row in rows):
        yield from ((what,), *lines)
        return
    legend = f" ({MEDIAN}: rehearsed median, {WORST}: worst; a bar ends at the limit)"
    yield from ((what, Piece(legend, Role.FAINT)), lines[0])
    for row, line in zip(rows, lines[1:], strict=True):
        drawn = bar(row, room)
        blank = Piece(" " * (taken - line_width(line) + 2))
        yield (*line, blank, Piece(drawn, row.role)) if drawn else line


def _costs(run: RunStatus, numbers: Iterable[int]) -> Iterator[Cost]:
    """The costs of steps, added up; number 0 is the rollback, which is not rehearsed step by step."""
    known = [number for number in numbers if number in run.costs]
    if not known:
        return
    plan, tolerance, costs = run.plan, run.limits.tolerance, [run.costs[number] for number in known]
    steps = [plan.steps[number - 1] for number in known if number]
    present = steps[0] if len(steps) == 1 and not run.is_over else None
    if run.lag is not None or run.lag_s is not None:
        name = "lag" if run.lag is None else f"lag ({counted(run.lag, 'record')})"
        yield Cost(
            name, "lag_s", run.lag_s, limit=most_lag_s(present, costs[0], tolerance) if present else None
        )
    partitions = sum(plan.baseline.partitions.values()) if plan.baseline else 0
    is_judged = len(steps) == 1 and run.phase is not Phase.FINISHED
    limit = most_without_owner_s(steps[0], partitions, tolerance) if is_judged else None
    for name, figure in (
        ("without owner", "without_owner_s"),
        ("rebalances", "rebalances"),
        ("time", "lasted_s"),
    ):
        median, worst = (
            _sum(getattr(getattr(step.rehearsed, of), figure, None) for step in steps)
            for of in ("median", "worst")
        )
        measured = _sum(getattr(one, figure) for one in costs)
        yield Cost(name, figure, measured, median, worst, limit if figure == "without_owner_s" else None)


def _sum(figures: Iterable[float | None]) -> float | None:
    known = list(figures)
    return None if None in known or not known else sum(figure for figure in known if figure is not None)


def bar(row: Cost, room: int) -> str:
    """`[####m##w----]`: up to the measured value, with the rehearsed ones, as long as the limit, or else the worst; `>`
    at its end is a value beyond it. Empty without either."""
    end = row.limit or row.worst
    if row.value is None or not end:
        return ""
    inner = room - 2

    def at(value: float) -> int:
        return min(int(value / end * inner), inner - 1)

    signs = [DONE if position < min(row.value / end, 1) * inner else "-" for position in range(inner)]
    for value, sign in ((row.median, MEDIAN), (row.worst, WORST)):
        if value is not None and value <= end:
            signs[at(value)] = sign
    if row.value > end:
        signs[-1] = ">"
    return f"[{''.join(signs)}]"


# Several runs


def _fleet_lines(view: View, width: int) -> Iterator[Line]:
    """Counts, what comes next, a row per group that has stopped or is running, and why groups stopped."""
    runs, fleet = view.runs, view.fleet
    groups = fleet.groups if fleet else len(runs)
    is_over = all(run.is_over for run in runs) and not (fleet and fleet.to_come)
    yield _head(view, counted(groups, "group"), width, is_over=is_over)
    yield from _count_lines(runs, fleet, width)
    stopped = [run for run in runs if run.stop is not None]
    running = [run for run in runs if run.stop is None and not run.is_over]
    if shown := [*stopped, *running]:
        yield ()
        yield from _row_lines(shown, width)
    for run in stopped:
        yield ()
        name = without_middle(safe_text(shown_id(run.plan.group)), max(width // 2, LEAST_NAME), 8)
        yield from _stop_lines(run, view.commands.get(run.plan.group, ()), width, f"{name}: ")


def _count_lines(runs: Sequence[RunStatus], fleet: FleetStatus | None, width: int) -> Iterator[Line]:
    counts = Counter(_of_fleet(run) for run in runs)
    numbers = [
        ("finished", counts["finished"] + (fleet.finished_before if fleet else 0), Role.GOOD),
        ("stopped", counts["stopped"], Role.BAD),
        ("rolled back", counts["rolled back"], Role.WARNING),
        ("running", counts["running"], Role.STRONG),
        ("to come", fleet.to_come if fleet else 0, Role.PLAIN),
    ]
    line: list[Piece] = []
    for what, count, role in numbers:
        if count or what == "finished":
            line += [Piece(", " if line else ""), Piece(f"{count:,} {what}", role if count else Role.PLAIN)]
    yield tuple(line)
    if fleet is not None and fleet.text:
        yield from folded(safe_text(fleet.text), width)


def _of_fleet(run: RunStatus) -> str:
    return state_of(run)[0] if run.is_over else "running"


def _row_lines(runs: Sequence[RunStatus], width: int) -> Iterator[Line]:
    rows = []
    for run in runs:
        state, role = _fleet_state(run)
        step, round_ = run.place
        rounds = _rounds(run.plan.steps[step - 1]) if 0 < step <= len(run.plan.steps) else 0
        rows.append(
            [
                Piece(safe_text(shown_id(run.plan.group))),
                Piece(state, role),
                Piece(f"{step}/{len(run.plan.steps)}"),
                Piece(f"{round_}/{rounds}" if rounds else ""),
                Piece(safe_text(without_middle(named([hand.label for hand in run.in_hand]), width // 4, 8)))
                if run.in_hand
                else Piece("-"),
                Piece("-" if run.lag is None else f"{run.lag:,}"),
                _share_of_worst(run),
            ]
        )
    heads = columns("GROUP", "STATE", "#STEP", "#ROUND", "MEMBER", "#LAG", "#OF-WORST")
    yield from column_lines(heads, _fitted(heads, rows, 0, width))


def _fleet_state(run: RunStatus) -> tuple[str, Role]:
    state, role = state_of(run)
    return state if run.is_over else "rolling back" if run.is_rollback else state.partition(" ")[0], role


def _share_of_worst(run: RunStatus) -> Piece:
    """The time without an owner in all steps so far, as a share of the worst that was rehearsed for them."""
    steps = {number: step.rehearsed for number, step in enumerate(run.plan.steps, 1)}
    known = [
        (run.costs[number], step.worst) for number, step in steps.items() if step and number in run.costs
    ]
    worst = sum(figures.without_owner_s for _, figures in known)
    if run.is_rollback or not worst:
        return Piece("-")
    share = sum(costs.without_owner_s for costs, _ in known) / worst
    return Piece(f"{share * 100:.0f} %", Role.WARNING if share > 1 else Role.PLAIN)
