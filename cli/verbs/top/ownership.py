"""The owners of a group's partitions over time, in lanes of letters."""

from collections.abc import Mapping
from string import ascii_letters
from typing import TypeAlias

from cli.render.cells import Duration
from cli.verbs.top.tables import GridTable, grid_of
from cli.verbs.watch.event_text import places_text
from cli.verbs.watch.events import Place
from cli.verbs.watch.picture import UNKNOWN, Owner, OwnershipHistory, OwnershipLane, Run, shown_owners
from cli.verbs.watch.state import WatchState
from groups.model import by_topic

KEPT_MS = 600_000
NO_OWNER, NOT_SHOWN, MORE = "·", "?", "+"
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
        if not track or track[-1][1] != owner:
            ended = [position for position, (at_ms, _) in enumerate(track) if at_ms < watched.at_ms - KEPT_MS]
            track = (*track[max(len(ended) - 1, 0) :], (watched.at_ms, owner))
        tracks[place] = track
    return tracks


def history_of(tracks: Tracks, end_ms: int) -> OwnershipHistory:
    runs = {}
    for place, track in tracks.items():
        ends = [*(at_ms for at_ms, _ in track[1:]), end_ms]
        runs[place] = tuple(Run(start, end, owner) for (start, owner), end in zip(track, ends, strict=True))
    return OwnershipHistory.of(runs)


class Lanes:
    """A lane per set of partitions that had the same owners at the same times, in marks of equal time."""

    def __init__(self, history: OwnershipHistory, start_ms: int, end_ms: int, marks: int) -> None:
        self._history, self._start_ms, self._end_ms, self._marks = history, start_ms, end_ms, marks
        values = (run.value for lane in history.lanes for run in lane.runs if run.end_ms >= start_ms)
        owners = [owner for owner in dict.fromkeys(values) if owner is not None and owner != UNKNOWN]
        letters = [*ascii_letters[26:], *ascii_letters[:26]]
        self.letters = {owner: (letters[n] if n < len(letters) else MORE) for n, owner in enumerate(owners)}

    @property
    def mark_ms(self) -> float:
        return (self._end_ms - self._start_ms) / self._marks

    def table(self) -> GridTable:
        return grid_of(
            self._history.lanes,
            lambda lane: places_text(by_topic(lane.places)),
            ("PARTITIONS", lambda lane: places_text(by_topic(lane.places))),
            ("OWNERS", self._text),
            ("OWNER", lambda lane: None if lane.runs[-1].value == UNKNOWN else lane.runs[-1].value),
            ("#UNOWNED-TIME", lambda lane: Duration(lane.without_owner_ms)),
        )

    def _text(self, lane: OwnershipLane) -> str:
        """A mark shows that there was no owner if there was none at any time in it; else who owned it at its end."""
        text = [" "] * self._marks
        for run in lane.runs:
            first, last = self._mark(run.start_ms), self._mark(run.end_ms)
            letter = {None: NO_OWNER, UNKNOWN: NOT_SHOWN}.get(run.value) or self.letters.get(
                run.value or "", " "
            )
            for mark in range(max(first, 0), last + 1):
                if text[mark] != NO_OWNER:
                    text[mark] = letter
        return "".join(text)

    def _mark(self, at_ms: int) -> int:
        return min(int((at_ms - self._start_ms) / self.mark_ms), self._marks - 1)
