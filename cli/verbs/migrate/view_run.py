"""The parts of the live view that show one run: its steps, the members in hand, its gate, why it stopped, and its costs
next to what was rehearsed."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cli.render.cells import safe_text
from cli.render.document import Column, columns
from cli.render.fit import is_sentence, short_names, without_middle
from cli.render.layout import column_lines
from cli.render.lines import Line, Piece, Role, folded, line_width
from cli.verbs.migrate.event_documents import Event, place_text
from cli.verbs.migrate.lines import answer_of, figure_text, stop_text
from cli.verbs.migrate.telling import RunStatus
from groups.counts import counted
from groups.times import seconds_text
from migration.execution.costs import most_lag_s, most_without_owner_s
from migration.execution.machine import Phase
from migration.model import Step

MOST_CELLS = 24  # Of the rounds of a step; of more rounds, a cell shows several
DONE, IN_HAND, TO_COME, FAILED = "#", ">", ".", "!"
"""Cells of rounds."""
MOST_REASON = 4  # Lines of why a check is not open
LEAST_TEXT = 16  # The least width of a title or a name
FULL, EMPTY, BEYOND, MEDIAN, WORST = "#", "-", ">", "m", "w"
"""What a bar consists of."""
LEAST_BAR, MOST_BAR = 10, 40


def way_text(run: RunStatus) -> str:
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


def step_lines(run: RunStatus, width: int) -> Iterator[Line]:
    """A row per step: its state, its rounds as cells, and how long it has lasted."""
    rows = []
    for number, step in enumerate(run.plan.steps, 1):
        state, role = _step_state(run, number)
        costs = run.costs.get(number) if not run.is_rollback else None
        rounds, done = round_count(step), _rounds_done(run, number)
        drawn = f"{cells(rounds, done, _in_progress(run, number))} {done}/{rounds}" if rounds else ""
        title = Piece(safe_text(step.title), role if role is Role.FAINT else Role.PLAIN)
        lasted = Piece(seconds_text(costs.lasted_s) if costs else "")
        rows.append([Piece(state, role), Piece(str(number)), title, Piece(drawn, role), lasted])
    heads = columns("STATE", "#STEP", "DESCRIPTION", "ROUNDS", "#LASTED")
    yield from column_lines(heads, fitted(heads, rows, 2, width))


def round_count(step: Step) -> int:
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
        return round_count(run.plan.steps[number - 1])
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


def fitted(heads: Sequence[Column], rows: list[list[Piece]], position: int, width: int) -> list[list[Piece]]:
    """The rows, with the texts of one column as short as the others require: names lose their middle, sentences their
    end."""
    others = [
        max(len(column.name), *(line_width((row[at],)) for row in rows))
        for at, column in enumerate(heads)
        if at != position
    ]
    room = max(width - sum(others) - 2 * len(others), LEAST_TEXT)
    for row in rows:
        text = row[position].text
        tail = 0 if is_sentence(text) else room // 3
        row[position] = row[position]._replace(text=without_middle(text, room, tail))
    return rows


def hand_lines(run: RunStatus, width: int) -> Iterator[Line]:
    if not run.in_hand:
        return
    yield ()
    names = short_names((hand.label for hand in run.in_hand), max(width // 3, 12))
    for hand in run.in_hand:
        text = f"{hand.action} {safe_text(names[hand.label])}, its command has been running for"
        yield (Piece("In hand: ", Role.STRONG), Piece(f"{text} {seconds_text(hand.for_s)}"))


def gate_lines(run: RunStatus, width: int) -> Iterator[Line]:
    """The gate that is awaited, with why each of its checks is not open."""
    gate = run.gate
    if gate is None:
        return
    (step, round_), plan = run.place, run.plan
    if round_ and round_ >= round_count(plan.steps[step - 1]):
        round_ = 0  # The gate of the whole step
    left = "" if gate.open else f"; the run stops in {seconds_text(max(run.gives_up_s - run.waits_s, 0))}"
    yield ()
    yield (
        Piece(f"Gate {place_text((step, round_), 'of ')}: ", Role.STRONG),
        Piece(answer_of(gate.open), Role.GOOD if gate.open else Role.WARNING),
        Piece(f", after {seconds_text(run.waits_s)}{left}"),
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


def stop_lines(run: RunStatus, commands: Sequence[str], width: int, group: str = "") -> Iterator[Line]:
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
    """A row of the costs of a step; None: the figure is unknown, or there is no such figure."""

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


def cost_lines(run: RunStatus, width: int) -> Iterator[Line]:
    """The costs of the step in progress, or at the end of all steps, next to what was rehearsed and to the limits."""
    is_whole = run.phase is Phase.FINISHED
    every = range(1, len(run.plan.steps) + 1)
    rows = list(_costs(run, every if is_whole else (0 if run.is_rollback else run.place[0],)))
    if not rows:
        return
    heads = columns("COST", "#MEASURED", "#MEDIAN", "#WORST", "#LIMIT")
    texts = []
    for row in rows:
        figures = ("-" if figure is None else figure_text(row.figure, figure) for figure in row[2:])
        roles = (row.role, *[Role.PLAIN] * 3)
        texts.append([Piece(row.name), *map(Piece, figures, roles)])
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
        limit = most_lag_s(present, costs[0], tolerance) if present else None
        yield Cost(name, "lag_s", run.lag_s, limit=limit)
    is_judged = len(steps) == 1 and run.phase is not Phase.FINISHED
    limit = most_without_owner_s(plan, steps[0], tolerance) if is_judged else None
    names = {"without owner": "without_owner_s", "rebalances": "rebalances", "time": "lasted_s"}
    for name, figure in names.items():
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

    signs = [FULL if position < min(row.value / end, 1) * inner else EMPTY for position in range(inner)]
    for value, sign in ((row.median, MEDIAN), (row.worst, WORST)):
        if value is not None and value <= end:
            signs[at(value)] = sign
    if row.value > end:
        signs[-1] = BEYOND
    return f"[{''.join(signs)}]"


def share_of_worst(run: RunStatus) -> Piece:
    """The time without an owner in all steps so far, as a share of the worst that was rehearsed for them."""
    rehearsed = {number: step.rehearsed for number, step in enumerate(run.plan.steps, 1) if step.rehearsed}
    known = rehearsed.keys() & run.costs.keys()
    worst = sum(rehearsed[number].worst.without_owner_s for number in known)
    if run.is_rollback or not worst:
        return Piece("-")
    share = sum(run.costs[number].without_owner_s for number in known) / worst
    return Piece(f"{share * 100:.0f} %", Role.WARNING if share > 1 else Role.PLAIN)
