"""The live view of `kohort migrate`: a run with its steps, its gate and its costs; several runs as a row each. Letters
and signs are ASCII, and color is never the only information."""

import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple, Self

import typer

from cli.render.cells import safe_text
from cli.render.document import columns
from cli.render.fit import without_middle
from cli.render.layout import column_lines
from cli.render.lines import Line, Piece, Role, folded, plain
from cli.render.redraw import Screen, shortened
from cli.verbs.migrate.event_documents import Event
from cli.verbs.migrate.lines import event_texts, named
from cli.verbs.migrate.telling import FleetStatus, Output, RunStatus
from cli.verbs.migrate.view_run import (
    LEAST_TEXT,
    cost_lines,
    fitted,
    gate_lines,
    hand_lines,
    round_count,
    share_of_worst,
    state_of,
    step_lines,
    stop_lines,
    way_text,
)
from groups.counts import counted
from groups.listing import shown_id
from groups.times import seconds_text

DRAW_S = 0.5  # The least time between two pictures without an event
LONGEST_LOG = 100  # Lines of events that are kept
LEAST_LOG = 4  # Lines of events that are shown, whatever else there is
FINAL_LOG = 10  # Lines of events that are left on the terminal at the end


class LoggedEvent(NamedTuple):
    at: str
    group: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """All that is drawn."""

    runs: Sequence[RunStatus]
    fleet: FleetStatus | None = None  # None if there is one run
    log: Sequence[LoggedEvent] = ()
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What to run next, by the group that has stopped."""
    interrupts: int = 0  # How often Ctrl-C was pressed


class LiveView:
    """Use it in a `with` block, in the main thread. When it is left, the terminal is as it was, with the last state."""

    def __init__(self) -> None:
        self._screen, self._is_drawn, self._is_lost = Screen(sys.stdout), False, False
        self._view = LiveState(runs=())
        self._log = deque[LoggedEvent](maxlen=LONGEST_LOG)
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
        with suppress(typer.Exit):
            self._screen.__exit__(None, None, None)
        if not self._is_lost:
            lines = view_lines(self._view, self._screen.size[0], None)
            Output().write("\n".join(map(plain, lines)).rstrip())

    def event(self, document: Mapping[str, object]) -> None:
        event = Event(document)
        if event.kind != "stopped":  # which is shown by itself
            self._log.extend(LoggedEvent(event.at, event.group, text) for text in event_texts(event))
        if event.kind in ("run-began", "stopped"):
            self._commands[event.group] = event.texts("commands")
        elif event.kind == "interrupted":
            self._interrupts = max(self._interrupts, event.count("times") or 1)
        self._next_s = 0.0

    def draw(self, runs: Sequence[RunStatus], fleet: FleetStatus | None = None) -> None:
        log, commands, interrupts = tuple(self._log), self._commands, self._interrupts
        self._view = LiveState(runs=runs, fleet=fleet, log=log, commands=commands, interrupts=interrupts)
        if self._is_lost or time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + DRAW_S
        try:
            if not self._is_drawn:
                self._screen.__enter__()
                self._is_drawn = True
            self._screen.draw(lambda width, height: view_lines(self._view, width, height))
        except typer.Exit:  # The terminal is closed: the run decides how it ends
            self._is_lost = True

    def end(self, _document: Mapping[str, object]) -> None:
        """Give the terminal back, with the last state."""
        self._leave()


def view_lines(view: LiveState, width: int, height: int | None) -> list[Line]:
    """The whole screen, never more than `height` lines; None: as it is left on the terminal at the end."""
    is_one = view.fleet is None and len(view.runs) == 1
    body = list(_run_lines(view, view.runs[0], width) if is_one else _fleet_lines(view, width))
    left = FINAL_LOG
    if height is not None:
        body = shortened(body, max(height - min(LEAST_LOG + 1, height // 4), 1))
        left = height - len(body) - 1
    return [*body, (), *_newest(view.log, left, width, several=not is_one)][:height]


def _newest(log: Sequence[LoggedEvent], most: int, width: int, *, several: bool) -> list[Line]:
    """The newest events that fit, whole."""
    newest: list[Line] = []
    for entry in reversed(log):
        lines = _log_lines(entry, width, several=several)
        if len(newest) + len(lines) > most:
            break
        newest = [*lines, *newest]
    return newest


def _log_lines(entry: LoggedEvent, width: int, *, several: bool) -> list[Line]:
    at = f"{safe_text(entry.at)}  "
    group = without_middle(safe_text(shown_id(entry.group)), max(width // 4, LEAST_TEXT), 6)
    name = f"{group}: " if several and entry.group else ""  # An event of the fleet has none
    lines = folded(at + name + safe_text(entry.text), width, indent=2)
    return [(Piece(at, Role.FAINT), Piece(lines[0][0].text.removeprefix(at))), *lines[1:]]


_HINTS = {
    0: ("; Ctrl-C stops after this round", "; Ctrl-C stops"),
    1: ("; stops after this round, Ctrl-C stops at once", "; stopping"),
}
"""What Ctrl-C does, by how often it was pressed; the longest that fits is shown."""


def _head(view: LiveState, name: str, width: int, *, is_over: bool) -> Line:
    """What is carried out, when this was observed, and for how long it has been running."""
    title = Piece("kohort migrate  ", Role.HEADING)
    ends = [run.began_at + timedelta(seconds=run.lasted_s) for run in view.runs]
    if not ends:
        return (title, Piece(safe_text(name)))
    lasted_s = (max(ends) - min(run.began_at for run in view.runs)).total_seconds()
    when = f"  {max(ends):%Y-%m-%dT%H:%M:%SZ}, {'after' if is_over else 'for'} {seconds_text(lasted_s)}"
    hints = () if is_over else _HINTS.get(view.interrupts, ("; stopping",))
    room = width - len(title.text) - len(when)
    hint = next((hint for hint in hints if len(hint) + min(len(name), LEAST_TEXT) <= room), "")
    room = max(room - len(hint), LEAST_TEXT)
    shown = without_middle(safe_text(name), room, room // 3)
    return (title, Piece(shown, Role.STRONG), Piece(when + hint, Role.FAINT))


# One run


def _run_lines(view: LiveState, run: RunStatus, width: int) -> Iterator[Line]:
    plan = run.plan
    yield _head(view, shown_id(plan.group), width, is_over=run.is_over)
    state, role = state_of(run)
    yield from folded(f"{state[0].upper()}{state[1:]}: {way_text(run)}", width, role)
    yield ()
    yield from step_lines(run, width)
    if run.stop is not None:
        yield ()
        yield from stop_lines(run, view.commands.get(plan.group, ()), width)
    if not run.is_over:
        yield from hand_lines(run, width)
        yield from gate_lines(run, width)
    yield from cost_lines(run, width)


# Several runs

_COUNTED = {
    "finished": Role.GOOD,
    "stopped": Role.BAD,
    "rolled back": Role.WARNING,
    "running": Role.STRONG,
    "to come": Role.PLAIN,
}


def _fleet_lines(view: LiveState, width: int) -> Iterator[Line]:
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
        name = without_middle(safe_text(shown_id(run.plan.group)), max(width // 2, LEAST_TEXT), 8)
        yield from stop_lines(run, view.commands.get(run.plan.group, ()), width, f"{name}: ")


def _count_lines(runs: Sequence[RunStatus], fleet: FleetStatus | None, width: int) -> Iterator[Line]:
    counts = Counter(state_of(run)[0] if run.is_over else "running" for run in runs)
    counts += Counter({"finished": fleet.finished_before, "to come": fleet.to_come} if fleet else {})
    line: list[Piece] = []
    for what, role in _COUNTED.items():
        count = counts[what]
        if count or what == "finished":
            line += [Piece(", " if line else ""), Piece(f"{count:,} {what}", role if count else Role.PLAIN)]
    yield tuple(line)
    if fleet is not None and fleet.text:
        yield from folded(safe_text(fleet.text), width)


def _row_lines(runs: Sequence[RunStatus], width: int) -> Iterator[Line]:
    rows = []
    for run in runs:
        state, role = state_of(run)
        if not run.is_over:
            state = "rolling back" if run.is_rollback else state.partition(" ")[0]
        step, round_ = run.place
        rounds = round_count(run.plan.steps[step - 1]) if 0 < step <= len(run.plan.steps) else 0
        hands = named([hand.label for hand in run.in_hand]) if run.in_hand else "-"
        rows.append(
            [
                Piece(safe_text(shown_id(run.plan.group))),
                Piece(state, role),
                Piece(f"{step}/{len(run.plan.steps)}"),
                Piece(f"{round_}/{rounds}" if rounds else ""),
                Piece(safe_text(without_middle(hands, width // 4, 8))),
                Piece("-" if run.lag is None else f"{run.lag:,}"),
                share_of_worst(run),
            ]
        )
    heads = columns("GROUP", "STATE", "#STEP", "#ROUND", "MEMBER", "#LAG", "#OF-WORST")
    yield from column_lines(heads, fitted(heads, rows, 0, width))
