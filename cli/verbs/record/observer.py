"""What the log does not have: members as the cluster describes them now and then, settings of groups, ends of logs, and
the findings of `kohort diagnose`. A thread reads them with separate connections, so that it delays no recording; what
it observed is added to the journal."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Full, Queue
from threading import Event, Thread
from typing import TypeAlias

import numpy as np

from cli.errors import CommandError, fault, is_expected
from cli.options import SourceOptions
from cli.selection import ReusableSource
from cli.sources.journal.packed import ENDS, MINUTE_MS
from cli.sources.journal.writer import JournalWriter
from cli.sources.source import Source
from cli.verbs.diagnose.observing import observe
from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.findings import Finding, Level
from groups.history.departures import Knowledge
from groups.history.events import Place
from groups.listing import GroupFilter, GroupType
from groups.model import Group, Topic
from groups.times import format_moment
from wire.errors import WireError

GroupTimes: TypeAlias = tuple[int | None, int | None]
SETTINGS_S = 3_600.0
SESSION_TIMEOUT, HEARTBEAT_INTERVAL = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
_WAITING, _TURN_S = 16, 0.5
_REMEMBERED_MS = 86_400_000  # members that departed; judgments are made within minutes
_AT_ONCE = 200  # groups that are described at a time: their answers take memory


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSeen:
    """A group as one observation shows it. `ends`: of the logs that it reads, if requested."""

    members: frozenset[str]
    findings: Sequence[Finding] = ()
    ends: Mapping[tuple[str, int], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was observed. `settings`: session timeout and heartbeat interval of consumer groups, in ms."""

    at_ms: int
    groups: Mapping[str, GroupSeen] = field(default_factory=dict)
    settings: Mapping[str, GroupTimes] = field(default_factory=dict)


class Observer:
    """`seen` has what was observed, oldest first; what is not taken in time is dropped."""

    def __init__(
        self, options: SourceOptions, every_s: float, *, lag: bool, report: Callable[[str], object]
    ) -> None:
        self.seen: Queue[Seen] = Queue(_WAITING)
        self._options, self._every_s, self._lag, self._report = options, every_s, lag, report
        self._stopping = Event()
        self._before: dict[str, Observation] = {}
        self._settings: dict[str, GroupTimes] = {}
        self._asked: Queue[str] = Queue()
        self._settings_s = 0.0
        self._thread = Thread(target=self._run, name="observer", daemon=True)
        self._thread.start()

    def ask(self, groups: Iterable[str]) -> None:
        """Read the settings of some groups soon: they are needed before the next observation."""
        for group in groups:
            self._asked.put_nowait(group)

    def finish(self, within_s: float) -> None:
        self._stopping.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        problem = ""
        with ReusableSource(self._options) as opened:
            while not self._stopping.is_set():
                started = time.monotonic()
                try:
                    seen = self._observe(opened.get())
                    problem = ""
                    with suppress(Full):
                        self.seen.put_nowait(seen)
                except Exception as error:
                    opened.close()
                    text = str(error).rstrip(".") if is_expected(error) else fault(error, "--debug")
                    if text != problem:
                        problem = text
                        self._report(f"members cannot be observed: {problem}; this is tried again")
                self._wait(opened, started + self._every_s)

    def _wait(self, opened: ReusableSource, until_s: float) -> None:
        """Wait for the next observation, and read settings meanwhile; what fails is read by that observation."""
        while not self._stopping.wait(_TURN_S) and time.monotonic() < until_s:
            asked = {self._asked.get_nowait() for _ in range(self._asked.qsize())}
            if asked:
                with suppress(WireError, CommandError, Full):
                    self._read_settings(opened.get(), sorted(asked))
                    self.seen.put_nowait(
                        Seen(at_ms=time.time_ns() // 1_000_000, settings=dict(self._settings))
                    )

    def _observe(self, source: Source) -> Seen:
        names = [listed.id for listed in source.select_groups(GroupFilter(), described=False).items]
        groups: dict[str, GroupSeen] = {}
        before, self._before = self._before, {}
        at_ms = time.time_ns() // 1_000_000
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            now = observe(source, some, in_full=self._lag, is_live=True)
            kinds = {name: group.type for name, group in now.groups.items()}
            self._read_settings(source, [name for name, kind in kinds.items() if kind is GroupType.CONSUMER])
            for (name, group), shown in zip(now.groups.items(), now.each([*now.groups]), strict=True):
                self._before[name] = shown
                earlier = [before[name]] if name in before else []
                groups[name] = self._seen(group, [*earlier, self._before[name]])
            at_ms = now.at_ms
        return Seen(at_ms=at_ms, groups=groups, settings=dict(self._settings))

    def _seen(self, group: Group, observations: Sequence[Observation]) -> GroupSeen:
        findings = diagnose(group.id, observations, Thresholds()).findings
        return GroupSeen(
            members=frozenset(member.id for member in group.members),
            findings=[finding for finding in findings if finding.level is not Level.NOTE],
            ends=_ends(group, observations[-1].topics or {}) if self._lag else {},
        )

    def _read_settings(self, source: Source, groups: Sequence[str]) -> None:
        now_s = time.monotonic()
        if now_s - self._settings_s > SETTINGS_S:
            self._settings, self._settings_s = {}, now_s
        new = [group for group in groups if group not in self._settings]
        if not new:
            return
        by_group = source.group_settings(new).by_group
        for group in new:
            values = by_group.get(group, {})
            self._settings[group] = (
                _number(values[SESSION_TIMEOUT].value) if SESSION_TIMEOUT in values else None,
                _number(values[HEARTBEAT_INTERVAL].value) if HEARTBEAT_INTERVAL in values else None,
            )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _ends(group: Group, topics: Mapping[str, Topic]) -> dict[tuple[str, int], int]:
    ends = {}
    for topic, partitions in (group.offsets or {}).items():
        known = topics.get(topic)
        for number in partitions:
            end = None if known is None else (known.end_offsets or {}).get(number)
            if end is not None:
                ends[topic, number] = end
    return ends


class SeenState:
    """`log_time` returns the time of a group's log at a time of this machine, in ms, None if that is unknown: clocks
    differ, and a difference would be assumed to be silence. `number_of` returns the number of a place."""

    def __init__(
        self,
        journal: JournalWriter,
        log_time: Callable[[int, int], int | None],
        number_of: Callable[[int, Place], int],
    ) -> None:
        self._journal, self._log_time, self._number_of = journal, log_time, number_of
        self._present: dict[str, dict[str, int]] = {}  # by group, when each member was last seen
        self._absent: dict[str, dict[str, int]] = {}
        names = {number: name for name, number in journal.groups.items()}
        for (group, member), (present_ms, absent_ms) in journal.members.items():
            if absent_ms is None:
                self._present.setdefault(names[group], {})[member] = present_ms
            else:
                self._absent.setdefault(names[group], {})[member] = absent_ms
        self._settings = {names[group]: times for group, times in journal.settings.items()}

    def knowledge(self, group: str) -> Knowledge:
        session_timeout_ms, heartbeat_interval_ms = self._settings.get(group, (None, None))
        return Knowledge(
            session_timeout_ms=session_timeout_ms,
            heartbeat_interval_ms=heartbeat_interval_ms,
            present_at={member: at * 1000 for member, at in self._present.get(group, {}).items()},
            absent_at={member: at * 1000 for member, at in self._absent.get(group, {}).items()},
        )

    def take(self, seen: Seen) -> Iterator[Mapping[str, object]]:
        """Note an observation. Yields a document for each new finding."""
        for name, times in seen.settings.items():
            number = self._journal.groups.get(name)
            if number is not None and times != (None, None) and self._journal.settings.get(number) != times:
                self._journal.settings[number] = self._journal.unwritten.settings[number] = times
        self._settings |= seen.settings
        for name, group in seen.groups.items():
            number = self._journal.groups.get(name)
            if number is None:
                continue  # the log has no record of it yet
            self._note_members(name, number, group, seen.at_ms)
            self._note_ends(number, group, seen.at_ms)
            yield from self._note_findings(name, number, group, seen.at_ms)

    def _note_members(self, name: str, number: int, group: GroupSeen, at_ms: int) -> None:
        present, absent = self._present.setdefault(name, {}), self._absent.setdefault(name, {})
        rows = self._journal.unwritten.members
        gone = [member for member in present if member not in group.members]
        log_ms = self._log_time(number, at_ms) if gone else None
        for member in gone:
            rows[number, member] = present.pop(member), log_ms
            if log_ms is not None:
                absent[member] = log_ms
        for member in [member for member, at in absent.items() if at < at_ms - _REMEMBERED_MS]:
            del absent[member]
        for member in group.members:
            if member not in present:
                rows[number, member] = at_ms, None
            present[member] = at_ms

    def _note_ends(self, number: int, group: GroupSeen, at_ms: int) -> None:
        if not group.ends:
            return
        table = np.array(
            [(self._number_of(number, place), end) for place, end in group.ends.items()], dtype=ENDS
        )
        self._journal.unwritten.ends.append((at_ms // MINUTE_MS, number, np.sort(table, order="place")))

    def _note_findings(
        self, name: str, number: int, group: GroupSeen, at_ms: int
    ) -> Iterator[Mapping[str, object]]:
        rows, known = self._journal.unwritten.findings, self._journal.open_findings
        present = {(number, finding.rule, finding.member or ""): finding for finding in group.findings}
        for key in [key for key in known if key[0] == number and key not in present]:
            row = known.pop(key)
            rows.append((*row[:5], at_ms, *row[6:]))
        for key, finding in present.items():
            if key in known:
                continue
            since_ms = at_ms if finding.since_ms is None else finding.since_ms
            row = (*key, finding.level.value, since_ms, None, finding.message, finding.remedy)
            known[key] = row
            rows.append(row)
            yield {
                "kohort": 1,
                "event": "finding",
                "at": format_moment(at_ms),
                "at_ms": at_ms,
                "cluster": self._journal.about.get("cluster"),
                "group": name,
                "rule": finding.rule,
                "level": finding.level.value,
                "member": finding.member,
                "since": format_moment(since_ms),
                "message": finding.message,
                "remedy": finding.remedy,
            }
