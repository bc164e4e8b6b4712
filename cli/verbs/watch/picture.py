"""A recording as a picture: the owner of each partition over time, and gaps without one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Self, TypeAlias

from cli.output import write_file
from cli.render import lanes as draw
from cli.verbs.watch.event_text import clock_text, places_text
from cli.verbs.watch.events import Place, owners_of
from cli.verbs.watch.recording import Recording
from cli.verbs.watch.state import WatchedGroup, WatchState, owners_are_shown
from groups.model import by_topic
from groups.times import EPOCH, duration_text

LEFT, RIGHT = 190, 16
HEIGHT = 20  # Height of a lane
MOST_LANES = 60
"""Maximum number of lanes: more are not distinguishable. Partitions that always had the same owner share a lane."""
UNKNOWN = "?"  # An unknown value: owners while a classic group rebalances, or a group that could not be read
KINDS_COUNT = 8
_DAY_MS = 86_400_000
Owner: TypeAlias = str | None  # Labels of members, joined; None means no owner


@dataclass(frozen=True, slots=True)
class Run:
    """A value that stayed the same from one observation to another."""

    start_ms: int
    end_ms: int
    value: Owner


@dataclass(slots=True)
class ValueHistory:
    """Collects runs: a value for each observation at which it changed."""

    changes: list[tuple[int, Owner]] = field(default_factory=list)

    def at(self, ms: int, value: Owner) -> None:
        if not self.changes or self.changes[-1][1] != value:
            self.changes.append((ms, value))

    def runs(self, end_ms: int) -> tuple[Run, ...]:
        """All runs, the last one until the end."""
        ends = [*(ms for ms, _ in self.changes[1:]), end_ms]
        return tuple(Run(start, end, value) for (start, value), end in zip(self.changes, ends, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnershipLane:
    """A lane: partitions that had the same owners at the same times."""

    places: tuple[Place, ...]
    runs: tuple[Run, ...]

    @property
    def without_owner_ms(self) -> int:
        """How long the partitions had no owner, in ms."""
        return sum(run.end_ms - run.start_ms for run in self.runs if run.value is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnershipHistory:
    lanes: tuple[OwnershipLane, ...]  # The lanes that are drawn
    left_out: int  # Number of partitions that are not drawn; those that changed least are left out

    @classmethod
    def of(cls, by_place: Mapping[Place, tuple[Run, ...]]) -> Self:
        together: dict[tuple[Run, ...], list[Place]] = {}
        for partition in sorted(by_place):
            together.setdefault(by_place[partition], []).append(partition)
        lanes = [OwnershipLane(places=tuple(places), runs=runs) for runs, places in together.items()]
        drawn = sorted(lanes, key=lambda lane: (-len(lane.runs), lane.places))[:MOST_LANES]
        drawn.sort(key=lambda lane: lane.places)
        return cls(lanes=tuple(drawn), left_out=len(by_place) - sum(len(lane.places) for lane in drawn))


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedHistory:
    group: str
    states: tuple[Run, ...]
    owners: OwnershipHistory


def write_picture(file: Path, recording: Recording, *, force: bool) -> None:
    """Write the picture of all recorded groups; UsageError if the file exists, unless `force`."""
    write_file(file, picture_lines(recording), new=not force)


def stories(recording: Recording) -> list[WatchedHistory]:
    """Each group of a recording over time."""
    state = WatchState()
    states: dict[str, ValueHistory] = {}
    tracks: dict[str, dict[Place, ValueHistory]] = {}
    end_ms = _end_ms(recording)
    for observation in recording.observations:
        state, _ = state.step(observation)
        for name, watched in state.groups.items():
            is_observed = name in observation.groups
            known = "no such group" if watched.shown is None else watched.shown.state.value
            states.setdefault(name, ValueHistory()).at(observation.at_ms, known if is_observed else UNKNOWN)
            of_group = tracks.setdefault(name, {})
            owners = shown_owners(watched, state.labels) if is_observed else {}
            for partition in watched.wanted | of_group.keys():
                value = owners.get(partition) if is_observed else UNKNOWN
                of_group.setdefault(partition, ValueHistory()).at(observation.at_ms, value)
    return [
        WatchedHistory(
            group=name,
            states=track.runs(end_ms),
            owners=OwnershipHistory.of(
                {partition: owners.runs(end_ms) for partition, owners in tracks[name].items()}
            ),
        )
        for name, track in states.items()
    ]


def picture_lines(recording: Recording) -> Iterator[str]:
    histories = stories(recording)
    start_ms, end_ms = recording.observations[0].at_ms, _end_ms(recording)
    every_ms, last_ms = recording.header.every_ms, recording.observations[-1].at_ms
    every = f", observed every {duration_text(every_ms)}" if every_ms else ""
    text = (
        f"{clock_text(start_ms)} to {clock_text(last_ms)} UTC{every}; what changed, did so before its border"
    )
    # If the clock was set back, draw at the start of the axis.
    unit = (draw.WIDTH - LEFT - RIGHT) / (end_ms - start_ms)
    axis = draw.Axis(left=LEFT, start=start_ms, end=end_ms, unit=unit)
    lanes = [draw.Lane(height=20, texts=(draw.Label(text, y=8, at=start_ms, style="faint"),))]
    for story in histories:
        lanes += _lanes(story, axis)
    title = f"{', '.join(story.group for story in histories)}: who owned what"
    legend = (draw.NONE, "no owner"), (draw.AWAY, "not shown")
    return draw.draw_file(draw.Drawing(title=title, text=text, axis=axis, legend=legend, lanes=lanes))


def _lanes(story: WatchedHistory, axis: draw.Axis) -> Iterator[draw.Lane]:
    """The lanes of a group: its state, and its partitions."""
    yield draw.Lane(height=22, texts=(draw.Label(story.group, y=14, style="strong"),))
    states = []
    for run in story.states:
        style = draw.AWAY if run.value == UNKNOWN else "box"
        states.append(_span(run, style, run.value or "", story.group, axis))
    yield draw.Lane(height=HEIGHT + 4, texts=(draw.Label("state", y=14),), spans=states)
    yield from owner_lanes(story.owners, axis)


def owner_lanes(
    story: OwnershipHistory, axis: draw.Axis, rules: Sequence[int] | None = None
) -> Iterator[draw.Lane]:
    """The lanes of partitions, dashed lines at `rules` or at round times, the times, and a note on omitted ones."""
    kinds = _kinds(story)
    marks = list(draw.clock_places(int(axis.start), int(axis.end)))
    yield draw.Lane(height=0, rules=marks if rules is None else rules, rule_height=HEIGHT * len(story.lanes))
    for lane in story.lanes:
        label, gap_ms = places_text(by_topic(lane.places)), lane.without_owner_ms
        without = f", {duration_text(gap_ms)} without an owner" if gap_ms else ""
        name = draw.Label(draw.shortened(label, LEFT - 12), y=14, title=label + without)
        shown = {None: (draw.NONE, "", "no owner"), UNKNOWN: (draw.AWAY, "", "not shown")}
        shown |= {owner: (f"t{kind}", owner, owner) for owner, kind in kinds.items()}
        values = [(run, *shown[run.value]) for run in lane.runs]
        spans = [_span(run, style, text, f"{label}: {title}", axis) for run, style, text, title in values]
        yield draw.Lane(height=HEIGHT, texts=(name,), spans=spans)
    clocks = [(ms, short_clock_text(ms)) for ms in marks]
    times = [draw.Label(clock, y=12, at=ms, style="faint middle") for ms, clock in clocks]
    yield draw.Lane(height=16, texts=times)
    if story.left_out:
        rest = f"{story.left_out:,} more partitions, which changed less"
        yield draw.Lane(height=16, texts=(draw.Label(rest, y=12, at=axis.start, style="faint"),))
    yield draw.Lane(height=12)


def _span(run: Run, style: str, label: str, title: str, axis: draw.Axis) -> draw.Box:
    """A box; an owner's box has a colored strip below, so that owners are easy to distinguish."""
    start, end = run.start_ms, run.end_ms
    title = f"{title}, from {clock_text(start)} for {duration_text(max(end - start, 0))}"
    strip = draw.Box(start=start, end=end, style=f"k{style[1:]}", top=HEIGHT - 5, height=3)
    text = draw.shortened(label, axis.x(end) - axis.x(start) - 6)
    texts = (draw.Label(text, y=13, at=start, shift=3, style=""),) if text else ()
    bar = draw.Box(start=start, end=end, style=style, title=title, top=1, height=HEIGHT - 3, texts=texts)
    return replace(bar, bars=(strip,)) if style.startswith("t") else bar


def short_clock_text(ms: int) -> str:
    """The time of day without milliseconds if there are none; the date at midnight."""
    if ms % _DAY_MS == 0:
        return f"{EPOCH + timedelta(milliseconds=ms):%d %b}"
    return clock_text(ms)[: -4 if ms % 1000 == 0 else None]


def shown_owners(watched: WatchedGroup, labels: Mapping[str, str]) -> dict[Place, str]:
    """Owners by partition; `UNKNOWN` in a rebalance for partitions whose previous owners have not left."""
    if watched.shown is None or watched.merged is None:
        return {}
    if not owners_are_shown(watched.shown):
        return dict.fromkeys(owners_of(watched.merged), UNKNOWN)
    owners = owners_of(watched.shown).items()
    return {place: ", ".join(labels.get(member, member) for member in ids) for place, ids in owners}


def _end_ms(recording: Recording) -> int:
    """The end of the picture: a little after the last observation, so that it is visible."""
    first, last = recording.observations[0].at_ms, recording.observations[-1].at_ms
    return max(last + max(recording.header.every_ms, (last - first) // 50), first + 1)


def _kinds(story: OwnershipHistory) -> dict[str, int]:
    """A color for each owner, in order of appearance."""
    values = dict.fromkeys(run.value for lane in story.lanes for run in lane.runs)
    owners = [owner for owner in values if owner is not None and owner != UNKNOWN]
    return {owner: number % KINDS_COUNT for number, owner in enumerate(owners)}
