"""The past of what the screens show: read by a thread, and then shown moment by moment."""

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cli.options import SourceOptions
from cli.selection import data_directory, is_live
from cli.sources.history.journal import read_journal_history, running_journal
from cli.sources.history.read import GroupHistoryRead
from cli.sources.past import PastSource, moments_of
from cli.sources.source import ReadResult, Source
from cli.verbs.top.past_group import from_course, from_recording, last_story
from cli.verbs.top.sight import HOUR_MS, Recent, Sight
from cli.verbs.watch.event_text import event_lines
from cli.verbs.watch.recording import Recording, read_recording
from cli.verbs.watch.state import WatchObservation, WatchState
from cli.verbs.why.options import HistoryOptions, HistorySelection
from cli.verbs.why.reading import end_of_journal, is_file, read_history
from groups.history.storms import begin_of
from groups.listing import Cause, GroupListing, Problem
from groups.model import Cluster, Group, Topic, listing_of
from groups.times import read_moment
from wire.log.timestamps import US_PER_MS

SPAN_MS = 24 * HOUR_MS  # How much of the past is read, unless an earlier time is asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class PastMoment:
    """A moment of the past. `source` has the groups as they were then."""

    at_ms: int
    source: Source
    read: GroupHistoryRead
    recording: Recording | None = None

    @property
    def recent(self) -> Recent:
        return recent_of(self.read)

    def story(self, group: str) -> str | None:
        course = self.read.courses.get(group)
        return None if course is None else last_story(course, self.at_ms)

    def with_events(self, sight: Sight, group: str) -> Sight:
        """With what happened to a group before, as far as it was recorded."""
        if self.recording is not None:
            return from_recording(sight, group, _until(self.recording, self.at_ms))
        course = self.read.courses.get(group)
        if course is None:
            return replace(sight, log_of=group, log=(), owners={}, said=())
        return from_course(sight, group, course, self.read.since, self.at_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPast:
    """What was read of it. `begin_ms`: from when on."""

    begin_ms: int
    read: GroupHistoryRead
    recording: Recording | None = None
    events: Sequence[tuple[int, str]] = ()  # Of a recording, with their groups

    @property
    def end_ms(self) -> int | None:
        return None if self.read.until is None else self.read.until // US_PER_MS

    def moment(self, at_ms: int) -> PastMoment:
        source: Source = PastSource(self.read, at_ms)
        if self.recording is not None:
            source = RecordedSource(self.recording, self.read.source, at_ms)
        return PastMoment(at_ms=at_ms, source=source, read=self.read, recording=self.recording)

    def step(self, includes: Callable[[str], bool], now_ms: int | None, by: int) -> int | None:
        """The begin or end of a rebalance of some groups, of a recording any event, before (-1) or after a moment;
        None if there is no such moment. `now_ms`: None is the present."""
        moments = moments_of(self.read, includes)
        if self.recording is not None:
            moments = sorted({at_ms for at_ms, group in self.events if includes(group)})
        if by < 0:
            position = (len(moments) if now_ms is None else bisect_left(moments, now_ms)) - 1
        else:
            position = len(moments) if now_ms is None else bisect_right(moments, now_ms)
        return moments[position] if 0 <= position < len(moments) else None


def read_past(options: HistoryOptions, source: SourceOptions, now_ms: int, since_ms: int | None) -> ReadPast:
    """The past of all groups since a time, or of the last 24 hours; of a file, of the 24 hours before its end.
    UsageError: the source has no past. CommandError, WireError: it cannot be read."""
    if options.replay is not None:
        read = read_history(HistorySelection(all_groups=True), options, source, 0)
        recording = read_recording(options.replay)
        return ReadPast(begin_ms=0, read=read, recording=recording, events=list(_events_of(recording)))
    if is_file(options) or is_live(source):
        end_ms = now_ms if options.journal is None else end_of_journal(options.journal) or now_ms
        begin_ms = end_ms - SPAN_MS if since_ms is None else since_ms
    else:
        begin_ms = 0  # A log is read whole
    read = read_history(HistorySelection(all_groups=True), options, replace(source, as_of=None), begin_ms)
    return ReadPast(begin_ms=begin_ms, read=read)


def _events_of(recording: Recording) -> Iterator[tuple[int, str]]:
    state = WatchState()
    for observation in recording.observations:
        state, happened = state.step(observation)
        for at_ms, group, _ in event_lines(happened, state.labels):
            yield at_ms, group


def read_recent(source: SourceOptions, cluster: str | None, now_ms: int) -> Recent:
    """The rebalances of the last hours that records show: of a cluster, if its recorder runs. JournalError, and what
    `read_past` raises."""
    if not is_live(source):
        return recent_of(read_past(HistoryOptions(), source, now_ms, None).read)
    running = running_journal(data_directory(), cluster or "", now_ms)
    if running is None:
        return Recent()
    since_ms = now_ms - 2 * HOUR_MS  # Groups were read a while ago, and the hour before that counts
    return recent_of(read_journal_history(running[0], (), since_ms=since_ms, has_name=lambda _: True))


def recent_of(read: GroupHistoryRead) -> Recent:
    courses = read.courses.items()
    return Recent(
        until_ms=(read.until or 0) // US_PER_MS,
        since_ms={
            name: course.complete_since // US_PER_MS
            for name, course in courses
            if course.complete_since is not None
        },
        began_ms={
            name: [begin_of(rebalance) // US_PER_MS for rebalance in course.rebalances]
            for name, course in courses
        },
    )


class RecordedSource(Source):
    """The groups of the last observation before a moment, with all that was observed of them."""

    why_no_records = "a recording contains no records of topics"

    def __init__(self, recording: Recording, name: str, at_ms: int) -> None:
        super().__init__()
        self.name = name
        groups: dict[str, Group | None] = {}
        self._found: Mapping[str, Topic] = {}
        for observation in _until(recording, at_ms):
            groups |= observation.groups
            self._found = {**self._found, **observation.topics}
        self._groups = {name: group for name, group in sorted(groups.items()) if group is not None}

    def cluster(self) -> Cluster:
        return Cluster()

    def list_groups(self) -> ReadResult[GroupListing]:
        return ReadResult(tuple(map(listing_of, self._groups.values())))

    def describe(self, groups: Sequence[str], *, offsets: bool) -> ReadResult[Group]:  # noqa: ARG002  (always known)
        missing = tuple(
            Problem(subject=name, message="it did not exist then", cause=Cause.ABSENT, group=name)
            for name in groups
            if name not in self._groups
        )
        return ReadResult(tuple(self._groups[name] for name in groups if name in self._groups), missing)

    def _topics(self, names: Collection[str] | None, requested: Sequence[str]) -> ReadResult[Topic]:  # noqa: ARG002
        chosen = sorted(self._found if names is None else self._found.keys() & set(names))
        return ReadResult(tuple(self._found[name] for name in chosen))


def _until(recording: Recording, at_ms: int) -> Sequence[WatchObservation]:
    return recording.observations[: bisect_right(recording.observations, at_ms, key=lambda one: one.at_ms)]


CLOCK = re.compile(r"(\d{1,2}):?([0-5]\d)(?::([0-5]\d))?", re.ASCII)


def moment_text(text: str, now_ms: int) -> int:
    """A time, as in options; `03:07` or `307` is the last time that a clock in UTC showed it. Raises ValueError."""
    clock = CLOCK.fullmatch(text)
    if clock is None or int(clock[1]) > 23:
        return read_moment(text, now_ms)
    day = time.strftime("%Y-%m-%d", time.gmtime(now_ms / 1000))
    at_ms = read_moment(f"{day}T{int(clock[1]):02}:{clock[2]}:{clock[3] or '00'}Z", now_ms)
    return at_ms if at_ms <= now_ms else at_ms - 24 * 3_600_000
