"""The parts of the live view that show costs next to what was rehearsed."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cli.render.document import columns
from cli.render.layout import column_lines
from cli.render.lines import Line, Piece, Role, line_width
from cli.verbs.migrate.lines import figure_text
from cli.verbs.migrate.telling import RunStatus
from groups.counts import counted
from migration.execution.costs import most_lag_s, most_without_owner_s
from migration.execution.machine import Phase

FULL, EMPTY, BEYOND, MEDIAN, WORST = "#", "-", ">", "m", "w"
"""What a bar consists of."""
LEAST_BAR, MOST_BAR = 10, 40


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


def cost_lines(run: RunStatus, width: int) -> Iterator[Line]:
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

    signs = [FULL if position < min(row.value / end, 1) * inner else EMPTY for position in range(inner)]
    for value, sign in ((row.median, MEDIAN), (row.worst, WORST)):
        if value is not None and value <= end:
            signs[at(value)] = sign
    if row.value > end:
        signs[-1] = BEYOND
    return f"[{''.join(signs)}]"


def share_of_worst(run: RunStatus) -> Piece:
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
