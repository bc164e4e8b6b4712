"""What observations of the cluster add to the journal: findings with their beginning and end, members as they were
seen, settings, and ends of logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from cli.sources.journal.packed import ENDS, MINUTE_MS
from cli.sources.journal.writer import JournalWriter
from cli.verbs.record.observer import GroupSeen, Seen
from groups.history.departures import Knowledge
from groups.history.events import Place
from groups.times import format_moment

_REMEMBERED_MS = 86_400_000  # members that departed; judgments are made within minutes


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
