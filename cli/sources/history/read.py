"""What a source knows of the past of groups: a course of each, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from coordinator.store.history_events import event_in
from groups.counts import counted
from groups.history.commits import Commits
from groups.history.course import Course, course_of
from groups.history.departures import NOTHING, Knowledge
from groups.history.events import KEY_VERSIONS
from groups.listing import Cause, Problem
from groups.times import duration_text, format_moment
from wire.log.timestamps import US_PER_MS
from wire.messages.reader import DecodeError

if TYPE_CHECKING:
    from uuid import UUID

    from coordinator.store.history_events import Names
    from coordinator.store.history_log import GroupLog, PartitionLog
    from groups.history.events import GroupEvent
    from wire.log.varints import Ints

_MOST_MALFORMED = 10  # the number of malformed records that are reported for each partition
_OTHER_TYPES = {**dict.fromkeys(range(9, 16), "share"), **dict.fromkeys(range(17, 24), "streams")}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupHistoryRead:
    """Courses by group. Each is as long as its source; it is complete from its `complete_since` on, which is no earlier
    than `since`. Times are µs since 1970, UTC. `problems`: what could not be read, which makes the exit status 3."""

    source: str  # for messages
    since: int
    until: int | None  # the time of the last record; None: no record was read
    courses: Mapping[str, Course]
    problems: Sequence[Problem] = ()
    notices: Sequence[str] = ()


@dataclass(slots=True, kw_only=True)
class HistoryReading:
    """Builds a `GroupHistoryRead`, partition by partition. `stated`: knowledge of every group; `settings_of` returns
    the settings of a consumer group, which complete it."""

    source: str
    since: int
    stated: Knowledge = NOTHING
    settings_of: Callable[[str], Mapping[str, str]] = lambda _: {}
    courses: dict[str, Course] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    until: int | None = None

    def add(
        self, log: PartitionLog, groups: Mapping[str, GroupLog], partition: int, names: Names, where: str
    ) -> None:
        """Add the groups of a partition of `__consumer_offsets`. `where`: its name for messages."""
        malformed = list(log.malformed)
        whole_from = max(log.whole_from[1] * US_PER_MS, self.since)
        for group, group_log in sorted(groups.items()):
            knowledge = self._knowledge(group, group_log)
            malformed += self.add_group(
                group, group_log, partition, names, knowledge, whole_from, log.gap_times
            )
        for offset, reason in malformed[:_MOST_MALFORMED]:
            message = f"the record at offset {offset} was skipped: {reason}"
            self.problems.append(Problem(subject=where, message=message))
        if len(malformed) > _MOST_MALFORMED:
            message = f"{len(malformed) - _MOST_MALFORMED} more records were skipped"
            self.problems.append(Problem(subject=where, message=message))
        for key_type, count in sorted(log.unknown.items()):
            message = f"{counted(count, 'record')} of the unknown type {key_type} skipped: of a later Kafka"
            self.problems.append(Problem(subject=where, message=message))
        self._note_clock(log, where)
        if log.end_ms is not None:
            self.until = max(self.until or 0, log.end_ms * US_PER_MS)

    def add_group(
        self,
        group: str,
        log: GroupLog,
        partition: int,
        names: Names,
        knowledge: Knowledge,
        whole_from: int,
        gaps: Sequence[int] | Ints = (),
        begins: Ints | None = None,
    ) -> list[tuple[int, str]]:
        """Add a group; before each of the times `gaps` commits may be missing, not before `begins`. Returns the offsets
        of records that cannot be read, and why."""
        unread: list[tuple[int, str]] = []
        self.courses[group] = course_of(
            group,
            list(_events(log, partition, names, unread)),
            Commits(log.commits, gaps, begins),
            knowledge,
            complete_since=whole_from,
        )
        self._note_other_types(group, log)
        return unread

    def _knowledge(self, group: str, log: GroupLog) -> Knowledge:
        if not log.is_consumer:
            return self.stated

        settings = self.settings_of(group)

        def number(name: str, known: int | None) -> int | None:
            text = settings.get(f"consumer.{name}.ms", "")
            return int(text) if known is None and text.isdecimal() else known

        return replace(
            self.stated,
            session_timeout_ms=number("session.timeout", self.stated.session_timeout_ms),
            heartbeat_interval_ms=number("heartbeat.interval", self.stated.heartbeat_interval_ms),
        )

    def result(self, names: Sequence[str] = ()) -> GroupHistoryRead:
        """What was read, with a problem for each of the `names` without a record."""
        cause = Cause.UNREAD if self.problems else Cause.ABSENT
        place = f"the readable part of {self.source}" if self.problems else self.source
        for name in names:
            if name not in self.courses:
                message = f"no record of it in {place}"
                self.problems.append(Problem(subject=name, message=message, cause=cause, group=name))
        return GroupHistoryRead(
            source=self.source,
            since=self.since,
            until=self.until,
            courses=self.courses,
            problems=tuple(self.problems),
            notices=tuple(self.notices),
        )

    def _note_other_types(self, group: str, log: GroupLog) -> None:
        kinds = sorted({_OTHER_TYPES[r.key_type] for r in log.records if r.key_type in _OTHER_TYPES})
        for kind in kinds:
            self.notices.append(f"{group}: its records as a {kind} group are not part of its history")

    def _note_clock(self, log: PartitionLog, where: str) -> None:
        if not log.backward:
            return
        offset, before_ms, after_ms = max(log.backward, key=lambda jump: jump[1] - jump[2])
        more = f", and {counted(len(log.backward) - 1, 'more time')}" if len(log.backward) > 1 else ""
        self.notices.append(
            f"{where}: the clock of the log was set back by {duration_text(before_ms - after_ms)} at offset {offset}, "
            f"from {format_moment(before_ms)} to {format_moment(after_ms)}{more}; durations across it are wrong"
        )


class LookedUpNames(Mapping["UUID", str]):
    """Names of topics by id; more are read when one is missing."""

    def __init__(self, known: Mapping[UUID, str], read: Callable[[], Mapping[UUID, str]]) -> None:
        self._known, self._read = known, read

    def __getitem__(self, topic_id: UUID) -> str:
        return self._known[topic_id] if topic_id in self._known else self._read()[topic_id]

    def __iter__(self) -> Iterator[UUID]:
        return iter({**self._read(), **self._known})

    def __len__(self) -> int:
        return len({**self._read(), **self._known})


def _events(
    log: GroupLog, partition: int, names: Names, unread: list[tuple[int, str]]
) -> Iterator[GroupEvent]:
    for record in log.records:
        if record.key_type in KEY_VERSIONS:
            try:
                event = event_in(record, partition, names)
            except DecodeError as error:
                unread.append((record.offset, str(error)))
            else:
                if event is not None:
                    yield event
