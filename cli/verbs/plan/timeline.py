"""The picture of a plan: the protocols and partitions of the group and its members, round by round.

For a large group, bars count members and partitions by kind. Color is never the only information: kinds have letters
too, and every element has a title.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from cli.errors import UsageError
from cli.output import write_file
from cli.render import lanes as draw
from cli.render.document import Block, Heading, Picture
from groups.counts import counted
from groups.model import MemberProtocol
from migration.model import Plan, SettledGroup, SettledMember

LEFT = 170
WIDEST = 90  # Maximum width of a column: a few columns need not fill the page
LANE = 34
CROWD = 130
GAP = 14


def write_timeline(file: Path, plans: Sequence[Plan]) -> None:
    """Draw the only plan; UsageError if there are several, or if it has no rounds."""
    if len(plans) != 1:
        raise UsageError(f"--svg draws one plan; this is {len(plans)}")
    picture = picture_of(plans[0])
    if picture is None:
        raise UsageError(f"--svg: the plan of {plans[0].group} has no rounds to draw")
    write_file(file, draw.draw_file(picture.drawing()))


def timeline_blocks(plan: Plan) -> Iterator[Block]:
    picture = picture_of(plan)
    if picture is not None:
        yield Heading("Timeline")
        yield picture


def picture_of(plan: Plan) -> Picture | None:
    """The picture of the group, round by round; None if the plan's rounds could not be computed."""
    names = {
        member: name
        for step in plan.steps
        if step.rollout
        # A temporary member joins and leaves without a round in the runbook.
        for ids, labels in zip(step.rollout.rounds, step.rounds, strict=False)
        for member, name in zip(ids, labels, strict=False)
    }
    rounds = sum(len(step.rollout.rounds) for step in plan.steps if step.rollout)
    timeline = timeline_of(plan.settled_groups, names, rounds)
    if timeline is None:
        return None
    text = in_words(timeline)
    title = f"What {plan.group} and its members speak and own, round by round"
    return Picture(text=text, drawing=lambda: timeline_drawing(timeline, title, text))


def in_words(timeline: PlanTimeline) -> str:
    """`The group is classic, range as found; then consumer, uniform from step 1, round 2 (start). …`"""
    spans = []
    for group, frames in groupby(timeline.frames, key=lambda frame: frame.group):
        first = next(frames)
        where, _, done = first.title.partition(": ")
        since = f"{where} ({done})" if done else where
        spans.append(f"{group} from {since}" if first.step else f"{group} as found")
    text = f"The group is {'; then '.join(spans)}. Members as found: {_counts(timeline, 0)}"
    text += f"; at the end: {_counts(timeline, -1)}."
    if timeline.left_out:
        text += f" Not drawn, since similar to their neighbors: {counted(timeline.left_out, 'round')}."
    return f"{text} Computed, not measured."


def _counts(timeline: PlanTimeline, frame: int) -> str:
    counts = {kind: row[frame] for kind, row in zip(timeline.kinds, timeline.members, strict=True)}
    shown = [f"{count:,} {kind}" for kind, count in counts.items() if count and kind != STOPPED]
    return ", ".join(shown) or "none"


def timeline_drawing(timeline: PlanTimeline, title: str, text: str) -> draw.Drawing:
    axis = draw.columns_axis(len(timeline.frames), LEFT, WIDEST)
    picture = _Picture(timeline, axis)
    lanes = [*picture.steps(), *picture.rows()]
    starts = [run.start for _, run in draw.runs([frame.step for frame in timeline.frames])]
    steps = draw.Lane(height=0, rules=starts, rule_height=sum(lane.height for lane in lanes))
    lanes = [steps, *lanes, draw.Lane(height=4)]
    return draw.Drawing(title=title, text=text, axis=axis, legend=picture.legend(), lanes=lanes)


class _Picture:
    def __init__(self, timeline: PlanTimeline, axis: draw.Axis) -> None:
        self.timeline, self.column = timeline, axis.unit
        left = iter(ascii_uppercase)  # Stopped members are hatched, and have no letter.
        self.letters = ["" if kind == STOPPED else next(left, "") for kind in timeline.kinds]
        self.titles = [frame.title for frame in timeline.frames]

    def legend(self) -> list[tuple[str, str]]:
        kinds = [
            (self._style(kind)[1], f"{self.letters[kind]} {label}".lstrip())
            for kind, label in enumerate(self.timeline.kinds)
        ]
        unowned = not self.timeline.lanes and any(self.timeline.partitions[-1])
        return [*kinds, (draw.NONE, "no owner")] if unowned else kinds

    def steps(self) -> Iterator[draw.Lane]:
        frames = self.timeline.frames
        names = []
        for step, run in draw.runs([frame.step for frame in frames]):
            label = f"Step {step}" if step else "As found"
            if draw.LETTER * len(label) > len(run) * self.column:
                label = str(step) if step else ""
            names.append(draw.Label(label, y=12, at=run.start, shift=3, style="strong"))
        yield draw.Lane(height=18, texts=names)
        marks = [f"{frame.round}{_mark(frame.title)}" if frame.step else "" for frame in frames]
        label = "round: \u2193 stop, \u2191 start" if any(map(_mark, self.titles)) else "round"
        every = ceil(draw.LETTER * (1 + max(map(len, marks))) / self.column)
        drawn = range(0, len(frames), every)
        rounds = [draw.Label(marks[frame], y=10, at=frame + 0.5, style="faint middle") for frame in drawn]
        yield draw.Lane(height=16, texts=(draw.Label(label, y=10, style="faint end"), *rounds))

    def rows(self) -> Iterator[draw.Lane]:
        frames = self.timeline.frames
        boxes = [
            draw.named_box(run, group, f"group: {group}, {self._span_title(run)}", self.column)
            for group, run in draw.runs([frame.group for frame in frames])
        ]
        yield draw.Lane(height=22 + GAP, texts=(draw.Label("group", y=15, style="end strong"),), spans=boxes)
        if self.timeline.lanes:
            most = max(1, *(max(lane.partitions) for lane in self.timeline.lanes))
            note = f"numbers and bars: partitions of each member, at most {most:,}"
            yield draw.Lane(height=6, texts=(draw.Label(note, y=0, at=0, style="faint"),))
            yield from (self._member(lane, most) for lane in self.timeline.lanes)
        else:
            yield self._stacked_bars("members", self.timeline.members)
            yield self._stacked_bars("partitions", self.timeline.partitions)
        yield draw.Lane(height=GAP / 2)
        yield self._cost("rebalances", [frame.rebalances for frame in frames])
        yield self._cost("partitions moved", [frame.moved for frame in frames])
        yield self._cost("without owner, s", [frame.without_owner_s for frame in frames])

    def _member(self, lane: MemberLane, most: int) -> draw.Lane:
        label = draw.Label(draw.shortened(lane.name, LEFT - 12), y=20, title=lane.name)
        return draw.Lane(
            height=LANE,
            texts=(label,),
            spans=[self._span(lane, *span, most) for span in draw.runs(lane.kinds)],
        )

    def _span(self, lane: MemberLane, kind: int, run: range, most: int) -> draw.Box:
        (style, of_bars), bars, texts = self._style(kind), [], []
        for frame in run:
            owned = lane.partitions[frame]
            if owned:
                bars.append(self._bar(frame, of_bars, LANE - 4, 16 * owned / most))
            if self.timeline.kinds[kind] != STOPPED and draw.LETTER * len(str(owned)) + 10 < self.column:
                texts.append(draw.Label(str(owned), y=11, at=frame + 1, shift=-3))
        texts.append(draw.Label(self.letters[kind], y=10, at=run.start, shift=2, style="strong"))
        title = f"{lane.name}: {self.timeline.kinds[kind]}, {self._span_title(run)}"
        inside: dict[str, Any] = {"bars": tuple(bars), "texts": tuple(texts)}
        return draw.Box(start=run.start, end=run.stop, style=style, title=title, height=LANE - 4, **inside)

    def _stacked_bars(self, what: str, rows: Sequence[Sequence[int]]) -> draw.Lane:
        """Bars of all members or partitions, stacked by kind; the last row of partitions has no owner."""
        most = max(sum(column) for column in zip(*rows, strict=True))
        spans = []
        for frame, title in enumerate(self.titles):
            base = float(CROWD)
            for kind, row in enumerate(rows):
                if not row[frame]:
                    continue
                has_owner = kind < len(self.timeline.kinds)
                owner = self.timeline.kinds[kind] if has_owner else "no owner"
                style = self._style(kind)[1] if has_owner else draw.NONE
                high = CROWD * row[frame] / most
                tooltip = f"{title}: {row[frame]:,} {what}: {owner}"
                spans.append(self._bar(frame, style, base, high, gap=0.5, title=tooltip))
                base -= high
        names = (
            draw.Label(what, y=12, style="end strong"),
            draw.Label(f"{most:,}", y=28, style="end faint"),
            draw.Label("0", y=CROWD, style="end faint"),
        )
        return draw.Lane(height=CROWD + GAP, texts=names, spans=spans)

    def _cost(self, what: str, values: Sequence[float]) -> draw.Lane:
        most, bottom = max(values), 34.0
        texts = [f"{value:,.0f}" for value in values]
        widest = {
            draw.LETTER * max(map(len, fitting)) + 2: fitting for fitting in ([*map(_brief, values)], texts)
        }
        written = next((fitting for width, fitting in reversed(widest.items()) if width < self.column), None)
        spans = []
        for frame, value in enumerate(values):
            if not value:
                continue
            high = 18 * value / most
            text = written[frame] if written else ""
            number = draw.Label(text, y=bottom - high - 3, at=frame + 0.5, style="middle")
            title = f"{self.titles[frame]}: {texts[frame]} {what}"
            spans.append(self._bar(frame, "bar", bottom, high, title=title, texts=(number,)))
        name = draw.Label(what if written else f"{what}, at most {most:,.0f}", y=bottom - 4)
        return draw.Lane(height=bottom + 4, texts=(name,), spans=spans)

    def _bar(self, frame: int, style: str, bottom: float, height: float, **others: Any) -> draw.Box:
        place = {"start": frame, "end": frame + 1, "top": bottom - height, "height": height}
        return draw.Box(**{"gap": 1.0, "title": "", **place, **others}, style=style)

    def _style(self, kind: int) -> tuple[str, str]:
        if self.timeline.kinds[kind] == STOPPED:
            return draw.AWAY, draw.AWAY
        # Stopped members have no separate color.
        number = sum(1 for label in self.timeline.kinds[:kind] if label != STOPPED) % 8
        return f"t{number}", f"k{number}"

    def _span_title(self, run: range) -> str:
        first, last = self.titles[run.start], self.titles[run[-1]]
        return first if first == last else f"from {first} to {last}"


def _brief(number: float) -> str:
    """A number in about four characters: `950`, `15k`, `2.5M`; titles contain the full numbers."""
    if number < 1000:
        return f"{number:.0f}"
    thousands = number / 1000
    if thousands < 999.5:
        return f"{thousands:.1f}k" if thousands < 9.95 else f"{thousands:.0f}k"
    return f"{thousands / 1000:.1f}M"


def _mark(title: str) -> str:
    """An arrow for the half of a round, stop or start, if the round has two."""
    return {"stop": "\u2193", "start": "\u2191"}.get(title.rpartition(": ")[2], "")


MOST_FRAMES = 40  # The most columns that are distinguishable on a page
MOST_LANES = 30  # The most members that are distinguishable on a page
STOPPED = "away"
UNKNOWN_LIST = "list not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineFrame:
    """A moment: a column of the picture."""

    step: int  # 0 for the group as it was found
    round: int
    title: str
    group: str  # Type and assignor of the group: `classic, range`; `empty` without members
    rebalances: int
    moved: int
    without_owner_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLane:
    name: str
    kinds: tuple[int, ...]  # Indices into the timeline's kinds
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTimeline:
    frames: tuple[TimelineFrame, ...]
    kinds: tuple[str, ...]
    """The kinds of members, in order of appearance: `classic: range`, `consumer`, `stopped`."""
    lanes: tuple[MemberLane, ...]  # Empty if the group has more than `MOST_LANES` members
    members: tuple[tuple[int, ...], ...]  # The number of members of each kind: a row for each kind
    partitions: tuple[tuple[int, ...], ...]
    """Partitions owned by members of each kind, and in the last row partitions without an owner."""
    left_out: int  # The number of rounds that are not shown: there are too many, or they were not walked


def timeline_of(
    settled_groups: Sequence[SettledGroup], names: Mapping[str, str], rounds: int
) -> PlanTimeline | None:
    """The timeline of a walk, or None; `names` are members' names for people, `rounds` the number in the plan."""
    if len(settled_groups) < 2:
        return None
    shown = _shown(settled_groups)
    origins = list(dict.fromkeys(member.origin for settled in settled_groups for member in settled.members))
    members = [{member.origin: member for member in together[-1].members} for together in shown]
    kinds: dict[str, int] = {}
    table = [[kinds.setdefault(_kind(row.get(origin)), len(kinds)) for origin in origins] for row in members]
    owned = [[row[origin].partitions if origin in row else 0 for origin in origins] for row in members]
    most = max(map(sum, owned))
    lanes = [
        MemberLane(
            name=names.get(origin, origin),
            kinds=tuple(row[position] for row in table),
            partitions=tuple(row[position] for row in owned),
        )
        for position, origin in enumerate(origins)
    ]
    members_of: list[tuple[int, ...]] = []
    partitions: list[tuple[int, ...]] = []
    for kind in range(len(kinds)):
        members_of.append(tuple(row.count(kind) for row in table))
        both = zip(table, owned, strict=True)
        partitions.append(
            tuple(sum(count for of, count in zip(*pair, strict=True) if of == kind) for pair in both)
        )
    return PlanTimeline(
        frames=tuple(map(_frame, shown)),
        kinds=tuple(kinds),
        lanes=tuple(lanes) if len(lanes) <= MOST_LANES else (),
        members=tuple(members_of),
        partitions=(*partitions, tuple(most - sum(row) for row in owned)),
        left_out=rounds - len({(together[-1].step, together[-1].round) for together in shown[1:]}),
    )


def _shown(settled_groups: Sequence[SettledGroup]) -> list[Sequence[SettledGroup]]:
    """The columns: all moments, or all rounds, or some rounds; each with its moments, of which the last is shown."""
    if len(settled_groups) <= MOST_FRAMES:
        return [[settled] for settled in settled_groups]
    rounds: dict[tuple[int, int], list[SettledGroup]] = {}
    for settled in settled_groups:
        rounds.setdefault((settled.step, settled.round), []).append(settled)
    together = list(rounds.values())
    if len(together) <= MOST_FRAMES:
        return list(together)
    indexes = [index * (len(together) - 1) // (MOST_FRAMES - 1) for index in range(MOST_FRAMES)]
    return [together[index] for index in indexes]


def _frame(settled_groups: Sequence[SettledGroup]) -> TimelineFrame:
    last = settled_groups[-1]
    done = " and ".join("stop" if settled.stopped else "start" for settled in settled_groups)
    return TimelineFrame(
        step=last.step,
        round=last.round,
        title=f"step {last.step}, round {last.round}: {done}" if last.step else "as found",
        group=f"{last.type.value}, {last.protocol}" if last.protocol else "empty",
        rebalances=sum(settled.rebalances for settled in settled_groups),
        moved=sum(settled.moved for settled in settled_groups),
        without_owner_s=sum(wait.total_s for settled in settled_groups for wait in settled.waits),
    )


def _kind(member: SettledMember | None) -> str:
    if member is None or member.away:
        return STOPPED
    if member.protocol is MemberProtocol.CONSUMER:
        return "consumer"
    return f"classic: {', '.join(member.assignors) or UNKNOWN_LIST}"
