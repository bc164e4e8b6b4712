"""The owners of a group's partitions over time, in lanes of letters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from string import ascii_lowercase, ascii_uppercase
from typing import Self, TypeAlias

from cli.render.cells import Duration, safe_text, text_width
from cli.render.fit import without_middle
from cli.render.lines import Line, Piece, Role
from cli.verbs.top.tables import GridTable, Marked, grid_of
from cli.verbs.watch.event_text import clock_text, places_text
from cli.verbs.watch.events import Place
from cli.verbs.watch.picture import UNKNOWN, Owner, OwnershipHistory, OwnershipLane, Run, shown_owners
from cli.verbs.watch.state import WatchState
from groups.model import by_topic
from groups.times import duration_text

KEPT_MS = 600_000
LETTERS = ascii_uppercase + ascii_lowercase
NO_OWNER, NOT_SHOWN, MORE = "·", "?", "+"
LONGEST = 24  # Of a lane's name
Track: TypeAlias = tuple[tuple[int, Owner], ...]
Tracks: TypeAlias = Mapping[Place, Track]
"""By partition: each owner since when, in order; `UNKNOWN` while brokers do not show it."""


def tracks_after(before: Tracks, state: WatchState, group: str) -> Tracks:
    """With another observation; what ended `KEPT_MS` before it is forgotten."""
    watched = state.groups[group]
    if watched.shown is None:
        return {}
    owners = shown_owners(watched, state.labels)
    tracks = {}
    for place in watched.wanted | before.keys():
        track, owner = before.get(place, ()), owners.get(place)
        if place not in watched.wanted and track[-1][1] is None and track[-1][0] < watched.at_ms - KEPT_MS:
            continue  # of a topic that is not read any more
        if not track or track[-1][1] != owner:
            ended = [position for position, (at_ms, _) in enumerate(track) if at_ms < watched.at_ms - KEPT_MS]
            track = (*track[max(len(ended) - 1, 0) :], (watched.at_ms, owner))
        tracks[place] = track
    return tracks


def has_moved(tracks: Tracks, since_ms: int) -> bool:
    """Whether an owner has changed since then."""
    return any(len(track) > 1 and track[-1][0] > since_ms for track in tracks.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """A lane per set of partitions that had the same owners at the same times, in marks of equal time."""

    history: OwnershipHistory
    start_ms: int
    end_ms: int
    marks: int  # How many letters a lane has
    letters: Mapping[str, str]  # By owner

    @classmethod
    def of(cls, runs: Mapping[Place, Sequence[Run]], start_ms: int, end_ms: int, marks: int) -> Self:
        """`runs`: of each partition between the two times."""
        shown = {
            place: tuple(run for run in listed if run.end_ms >= start_ms) for place, listed in runs.items()
        }
        history = OwnershipHistory.of(shown)
        runs_in_order = sorted(
            (run.start_ms, number, run.value)
            for number, lane in enumerate(history.lanes)
            for run in lane.runs
            if run.value is not None and run.value != UNKNOWN
        )
        owners = [*dict.fromkeys(owner for _, _, owner in runs_in_order)]
        names = zip_longest(owners, LETTERS[: len(owners)], fillvalue=MORE)
        return cls(history=history, start_ms=start_ms, end_ms=end_ms, marks=marks, letters=dict(names))

    def legend(self) -> str:
        """The times, and the meaning of the marks that occur; with `+` for owners beyond the letters."""
        values = {run.value for lane in self.history.lanes for run in lane.runs}
        owners = [f"{letter}={owner}" for owner, letter in self.letters.items()]
        span = duration_text(self.end_ms - self.start_ms)
        each = duration_text(self._mark_ms)
        until = f"the last {span} until {clock_text(self.end_ms)[:8]}Z, {each} a mark"
        gaps = [f"{NO_OWNER}=no owner"] * (None in values) + [f"{NOT_SHOWN}=not shown"] * (UNKNOWN in values)
        return "  ".join([f"{until}:", *owners, *gaps])

    def table(self) -> GridTable:
        return grid_of(
            self.history.lanes,
            _places,
            ("PARTITIONS", lambda lane: without_middle(_places(lane), LONGEST, 6)),
            ("OWNERS", lambda lane: Marked(self.line(lane))),
            ("OWNER", lambda lane: None if lane.runs[-1].value == UNKNOWN else lane.runs[-1].value),
            (
                "#UNOWNED-TIME",
                lambda lane: Duration(lane.without_owner_ms) if lane.without_owner_ms else None,
            ),
        )

    def lines(self, most: int) -> list[Line]:
        """The lanes that changed most, at most `most`."""
        lanes = sorted(self.history.lanes, key=lambda lane: -len(lane.runs))[:most]
        names = {lane: without_middle(_places(lane), LONGEST, 6) for lane in lanes}
        width = max(map(text_width, names.values()), default=0)
        left = len(self.history.lanes) - len(lanes)
        more = f"{left:,} more with v" if left else ""
        rows: list[Line] = [
            (
                Piece(safe_text(name) + " " * (width - text_width(name) + 2), Role.FAINT),
                *self.line(lane),
            )
            for lane, name in sorted(names.items(), key=lambda item: item[0].places)
        ]
        return [*rows, *([(Piece(more, Role.FAINT),)] if more else [])]

    def line(self, lane: OwnershipLane) -> Line:
        """The marks; those without an owner are colored."""
        roles = {NO_OWNER: Role.BAD, NOT_SHOWN: Role.FAINT}
        return tuple(
            Piece("".join(run), roles.get(mark, Role.PLAIN)) for mark, run in groupby(self._marks(lane))
        )

    def _marks(self, lane: OwnershipLane) -> list[str]:
        """A mark shows that there was no owner if there was none at any time in it; else who owned it at its end."""
        marks = [" "] * self.marks
        for run in lane.runs:
            letter = {None: NO_OWNER, UNKNOWN: NOT_SHOWN}.get(run.value) or self.letters[run.value or ""]
            for number in range(max(self._mark(run.start_ms), 0), self._mark(run.end_ms) + 1):
                marks[number] = marks[number] if marks[number] == NO_OWNER else letter
        return marks

    @property
    def _mark_ms(self) -> float:
        return max(self.end_ms - self.start_ms, 1) / self.marks

    def _mark(self, at_ms: int) -> int:
        return min(int((at_ms - self.start_ms) / self._mark_ms), self.marks - 1)


def _places(lane: OwnershipLane) -> str:
    return places_text(by_topic(lane.places))


def lanes_of(tracks: Tracks, end_ms: int, marks: int) -> Lanes | None:
    """Of what polls have shown; None before the first."""
    starts = [track[0][0] for track in tracks.values()]
    if not starts:
        return None
    runs = {}
    for place, track in tracks.items():
        ends = [*(at_ms for at_ms, _ in track[1:]), end_ms]
        runs[place] = [Run(start, end, owner) for (start, owner), end in zip(track, ends, strict=True)]
    return Lanes.of(runs, max(min(starts), end_ms - KEPT_MS), end_ms, marks)
