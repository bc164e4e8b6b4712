"""What the log does not have: members as the cluster describes them now and then, settings of groups, ends of logs, and
the findings of `kohort diagnose`. A thread reads them with separate connections, so that it delays no recording."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Full, Queue
from threading import Event, Thread
from typing import TypeAlias

from cli.errors import CommandError, fault, is_expected
from cli.options import SourceOptions
from cli.selection import ReusableSource
from cli.sources.source import Source
from cli.verbs.diagnose.observing import observe
from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.findings import Finding, Level
from groups.listing import GroupFilter, GroupType
from groups.model import Group, Topic
from wire.errors import WireError

GroupTimes: TypeAlias = tuple[int | None, int | None]
SETTINGS_S = 3_600.0
SESSION_TIMEOUT, HEARTBEAT_INTERVAL = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
_WAITING, _TURN_S = 16, 0.5
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
            for name, group in now.groups.items():
                self._before[name] = now.at(name)
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
