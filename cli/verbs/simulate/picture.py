"""The picture of a run: events, a lane for each member, with its partitions over time and its callbacks, the seconds.
A hatched bar belongs to a member that the coordinator had already removed. Every element has a title: color is never
the only information."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from cli.errors import CommandError
from cli.output import write_file
from cli.render import lanes as draw
from cli.render.document import Picture
from cli.verbs.simulate.action import SimulationResult
from coordinator.consumer.outputs import CallbackKind
from coordinator.faults import ChangeTopic, FailCoordinator
from coordinator.simulation.result import CallbackCall, Ownership, RunResult
from coordinator.simulation.scenario import Direction, Variant
from coordinator.simulation.story import partition_text
from groups.counts import counted
from groups.times import seconds_text

LEFT, RIGHT = 120, 24
ROW = 13  # Height of a partition's row
MOST_ROWS = 12  # Most rows of partitions that a lane shows; with more, it shows the number of partitions
CROWD = 40  # Height of the lane of a member with more rows
MARKS = 7  # Height of the marks of callbacks
MARK_WIDTH = 3.0
MOST_LANES = 60
MOST_NAMED = 8
KINDS_COUNT = 8


class Costs(Protocol):
    """The costs of a run, for its description in words."""

    @property
    def rebalances(self) -> int: ...
    @property
    def moved(self) -> int: ...
    @property
    def without_owner_s(self) -> float: ...
    @property
    def read_twice(self) -> int: ...


_CALLBACK_STYLES = {CallbackKind.ASSIGNED: "k2", CallbackKind.REVOKED: "k3", CallbackKind.LOST: draw.NONE}
LEGEND = (
    *((style, kind.value) for kind, style in _CALLBACK_STYLES.items()),
    (draw.AWAY, "owned by a member that was removed; coordinator or network away"),
)


def write_picture(file: Path, simulated: SimulationResult) -> None:
    """Write the pictures of all protocols into one file. CommandError if no run was completed."""
    shown = [runs.shown for runs in simulated.runs if runs.shown is not None]
    if not shown:
        raise CommandError("--svg: no run was completed, so there is nothing to draw")
    write_file(file, draw.draw_file(_drawing(shown)))


def picture_of(result: RunResult) -> Picture:
    """The picture of one run."""
    return Picture(text=in_words(result), drawing=lambda: _drawing([result]))


def in_words(result: RunResult) -> str:
    """The owners at the end as text."""
    owners = [(member, owned) for member, owned in sorted(result.final.items()) if owned]
    named = "; ".join(f"{member} owns {partition_text(owned)}" for member, owned in owners[:MOST_NAMED])
    if (more := len(owners) - MOST_NAMED) > 0:
        named += f"; {more} more members own the rest"
    return f"At {result.ended_s:g} s: {named or 'no member owns a partition'}."


def _drawing(results: Sequence[RunResult]) -> draw.Drawing:
    scenario = results[0].scenario
    axis = axis_of(0.0, max(result.ended_s for result in results))
    lanes: list[draw.Lane] = []
    for result in results:
        lanes.append(title_lane(f"{_protocol(result)}: {costs_in_words(result)}", axis))
        lanes += member_lanes(result, axis)
    text = " ".join(f"{_protocol(result)}: {in_words(result)}" for result in results)
    return draw.Drawing(title=f"{scenario.name}: owners", text=text, axis=axis, legend=LEGEND, lanes=lanes)


def axis_of(start_s: float, end_s: float) -> draw.Axis:
    """Simulated time, as wide as the page."""
    unit = (draw.WIDTH - LEFT - RIGHT) / max(end_s - start_s, 0.001)
    return draw.Axis(left=LEFT, start=start_s, end=max(end_s, start_s + 0.001), unit=unit)


def _protocol(result: RunResult) -> str:
    return "as written" if result.variant is Variant.AS_WRITTEN else result.variant.value


def title_lane(title: str, axis: draw.Axis) -> draw.Lane:
    """The title of the lanes below it."""
    label = draw.Label(title, y=12, at=axis.start, shift=-LEFT + 4, style="strong")
    return draw.Lane(height=20, texts=(label,))


def costs_in_words(costs: Costs) -> str:
    """The figures of a run, or of a part of it."""
    return (
        f"{counted(costs.rebalances, 'rebalance')}, {counted(costs.moved, 'partition')} moved, "
        f"{costs.without_owner_s:,.1f} partition-seconds without an owner, "
        f"{counted(costs.read_twice, 'record')} read twice"
    )


def member_lanes(result: RunResult, axis: draw.Axis) -> Iterator[draw.Lane]:
    """The events of the world, a lane for each member, and the seconds."""
    members = sorted({*result.scenario.members, *(stay.member for stay in result.presence)})
    drawn = [_member(member, result, axis) for member in members[:MOST_LANES]]
    marks = [ms / 1000 for ms in draw.round_places(int(axis.start * 1000), int(axis.end * 1000))]
    lanes = [_world(result, axis), *drawn]
    yield draw.Lane(height=0, rules=marks, rule_height=sum(lane.height for lane in lanes))
    yield from lanes
    times = [draw.Label(f"{seconds:g} s", y=12, at=seconds, style="faint middle") for seconds in marks]
    yield draw.Lane(height=16, texts=times)
    if (more := len(members) - MOST_LANES) > 0:
        rest = draw.Label(f"{more:,} more members", y=12, at=axis.start, style="faint")
        yield draw.Lane(height=16, texts=(rest,))
    yield draw.Lane(height=10)


def _world(result: RunResult, axis: draw.Axis) -> draw.Lane:
    """Events of the coordinator, the network and the topics, and broken invariants."""
    away = [
        (event.at, event.at + event.for_s, f"coordinator: {event.fault.value}, {seconds_text(event.for_s)}")
        for event in result.scenario.events
        if isinstance(event, FailCoordinator)
    ]
    for cut in result.scenario.faults.partitions:
        lost = "requests and no answers" if cut.direction is Direction.BOTH else cut.direction.value
        away.append((cut.start_s, cut.end_s, f"no {lost} of {', '.join(cut.members)}"))
    spans = [
        draw.Box(start=start, end=end, style=draw.AWAY, title=title, top=1, height=14)
        for start, end, title in away
    ]
    for violation in result.violations:
        at, title = violation.at_s, f"{violation.invariant} does not hold: {violation.message}"
        spans.append(draw.Box(start=at, end=at + 2 / axis.unit, style=draw.NONE, title=title, height=16))
    marks = sorted(_marks(result), key=lambda mark: mark[0])
    ends = [*(at for at, *_ in marks[1:]), axis.end][: len(marks)]
    texts = [draw.Label("world", y=12)]
    for (at, text, title, style), end in zip(marks, ends, strict=True):
        short = draw.fitting(text, axis.x(end) - axis.x(at) - 4)
        texts.append(draw.Label(short, y=12, at=at, shift=2, style=style, title=title))
    return draw.Lane(height=18, texts=texts, spans=spans)


def _marks(result: RunResult) -> Iterator[tuple[float, str, str, str]]:
    """Marks: the time in seconds, a short text, the full text, and the style."""
    for event in result.scenario.events:
        if isinstance(event, FailCoordinator):
            yield event.at, event.fault.value, f"coordinator: {event.fault.value} at {event.at:g} s", "faint"
        elif isinstance(event, ChangeTopic):
            count = "gone" if event.count is None else f"{event.count}"
            text = f"{event.topic} {count}"
            title = f"{text} partitions at {event.at:g} s".replace("gone partitions", "deleted")
            yield event.at, text, title, "faint"
    for violation in result.violations[:1]:
        yield violation.at_s, violation.invariant, violation.message, "strong"


def _member(member: str, result: RunResult, axis: draw.Axis) -> draw.Lane:
    owned = [owner for owner in result.owners if owner.member == member]
    rows = _in_rows(owned)
    height = max(len(rows) * ROW, ROW) if len(rows) <= MOST_ROWS else CROWD
    spans: list[draw.Box] = []
    for stay in result.presence:
        if stay.member == member:
            start, end = stay.start_s, stay.end_s
            title = f"{member} runs from {start:g} s to {end:g} s"
            spans.append(draw.Box(start=start, end=end, style="box", title=title, height=height + MARKS))
    if len(rows) <= MOST_ROWS:
        for number, row in enumerate(rows):
            for owner in row:
                spans += _partition(owner, number * ROW, axis)
    else:
        spans += _counts(member, owned, len(rows))
    spans += [_callback(made, height, axis) for made in result.callbacks if made.member == member]
    y = height / 2 + 5
    texts = [draw.Label(draw.shortened(member, LEFT - 12), y=y, title=member)]
    for error in result.thrown:
        if error.member == member:
            title = f"{error.error}: {error.message}"
            texts.append(draw.Label("!", y=y, at=error.at_s, style="strong", title=title))
    return draw.Lane(height=height + MARKS + 5, texts=texts, spans=spans)


def _in_rows(owned: Sequence[Ownership]) -> list[list[Ownership]]:
    """Rows of intervals that do not overlap; a partition that returns gets its former row, if that is free."""
    rows: list[list[Ownership]] = []
    for owner in sorted(owned, key=lambda owner: (owner.start_s, owner.topic, owner.partition)):
        partition = (owner.topic, owner.partition)
        free = [row for row in rows if row[-1].end_s <= owner.start_s]
        former = [row for row in free if (row[-1].topic, row[-1].partition) == partition]
        row = next(iter([*former, *free]), None)
        if row is None:
            rows.append(row := [])
        row.append(owner)
    return rows


def _partition(owned: Ownership, top: float, axis: draw.Axis) -> Iterator[draw.Box]:
    """A bar, hatched from the time when the coordinator has removed the member."""
    start, end, name = owned.start_s, owned.end_s, f"{owned.topic} {owned.partition}"
    title = f"{owned.member} owns {name} from {start:g} s to {end:g} s"
    text = draw.fitting(name, axis.x(end) - axis.x(start) - 6)
    texts = (draw.Label(text, y=top + ROW - 4, at=start, shift=3, style=""),) if text else ()
    kind = owned.partition % KINDS_COUNT
    strip = draw.Box(start=start, end=end, style=f"k{kind}", top=top + ROW - 3, height=2)
    bar = draw.Box(start=start, end=end, style=f"t{kind}", title=title, top=top + 1, height=ROW - 2)
    yield replace(bar, bars=(strip,), texts=texts)
    if (removed := owned.zombie_from_s) is not None:
        title = f"{title}; removed from the group at {removed:g} s"
        yield replace(bar, start=max(removed, start), style=draw.AWAY, title=title)


def _counts(member: str, owned: Sequence[Ownership], most: int) -> Iterator[draw.Box]:
    """Bars whose height is the number of partitions."""
    steps = sorted({owner.start_s for owner in owned} | {owner.end_s for owner in owned})
    for start, end in pairwise(steps):
        count = sum(owner.start_s <= start and end <= owner.end_s for owner in owned)
        if count:
            high = CROWD * count / most
            title = f"{member} owns {count} partitions from {start:g} s to {end:g} s"
            yield draw.Box(start=start, end=end, style="t1", title=title, top=CROWD - high, height=high)


def _callback(made: CallbackCall, top: float, axis: draw.Axis) -> draw.Box:
    """A mark: revocations before their time and assignments after it, so that neither hides the other."""
    width, style = MARK_WIDTH / axis.unit, _CALLBACK_STYLES[made.kind]
    start = made.at_s if made.kind is CallbackKind.ASSIGNED else made.at_s - width
    title = f"{made.member}: {made.kind.value} {partition_text(made.partitions)} at {made.at_s:g} s"
    return draw.Box(start=start, end=start + width, style=style, title=title, top=top + 1, height=MARKS - 2)
