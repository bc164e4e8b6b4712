"""Reads a journal, also while it is written. Of a damaged one, all that can be read; `problems` has the rest."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cli.sources.journal import schema
from cli.sources.journal.packed import COMMITS, MINUTE_MS, PROGRESS, Table, ends_of_minutes, once, unpack
from cli.sources.journal.writer import GapRow, StoredRecord
from groups.history.departures import Knowledge
from wire.log.timestamps import US_PER_MS

T = TypeVar("T")
LATEST_MS = 1 << 50
_INT_OR_NULL = int | None
_MOST_MINUTES = 5 * 366 * 1440  # a damaged row may have any time


class StoredGroup(NamedTuple):
    number: int
    name: str
    log_partition: int


class JournalReader:
    """Use it in a `with` block. Raises JournalError: the file cannot be opened, or is not a
    journal."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.problems: list[str] = []
        if not file.is_file():
            raise schema.JournalError(f"{file}: there is no such file; kohort record writes journals")
        try:
            self._connection = _opened(file)
            schema.check(self._connection, file)
            self._connection.execute("BEGIN")
        except sqlite3.Error as error:
            raise schema.problem(file, error) from None
        self.about = dict(self._rows((str, str), "SELECT name, value FROM about"))

    def __enter__(self) -> JournalReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def groups(self, wants: Callable[[str], bool]) -> list[StoredGroup]:
        rows = self._rows((int, str, int), "SELECT id, name, log_partition FROM groups")
        return sorted((StoredGroup(*row) for row in rows if wants(row[1])), key=lambda group: group.name)

    def topics(self) -> dict[str, str]:
        """The names of topics by id."""
        return dict(self._rows((str, str), "SELECT id, name FROM topics"))

    def until_ms(self) -> int | None:
        """The time of the last record."""
        return max(
            (at for (at,) in self._rows((_INT_OR_NULL,), "SELECT time_ms FROM positions") if at is not None),
            default=None,
        )

    def gaps(self) -> dict[int, list[GapRow]]:
        """What is missing, by partition of the log, in its order."""
        query = "SELECT * FROM gaps ORDER BY log_partition, from_offset"
        gaps: dict[int, list[GapRow]] = {}
        for row in self._rows((int, int, int, _INT_OR_NULL, _INT_OR_NULL, str), query):
            gaps.setdefault(row[0], []).append(row)
        return gaps

    def noted_ms(self, name: str) -> int:
        """A time of the table `about`; 0: none."""
        text = self.about.get(name, "")
        return int(text) if text.isdecimal() and len(text) < len(str(LATEST_MS)) else 0

    def places(self, group: int) -> dict[int, tuple[str, int]]:
        rows = self._rows(
            (int, str, int), "SELECT id, topic, partition FROM places WHERE group_id = ?", group
        )
        return {number: (topic, partition) for number, topic, partition in rows}

    def records(self, group: int) -> Iterator[StoredRecord]:
        """In the order of the log."""
        rows = self._rows(
            (int, int, bytes, bytes | None),
            "SELECT log_offset, time_ms, key, value FROM records WHERE group_id = ? ORDER BY log_offset",
            group,
        )
        for offset, time_ms, key, value in rows:
            octets = None if value is None else self._read(zlib.decompress, value)
            if value is None or octets is not None:
                yield StoredRecord(offset, time_ms, key, octets)

    def commits(self, group: int, since_ms: int, until_ms: int) -> Table:
        """The commits of a span in the order of the log: all around rebalances, else two a minute."""
        exact = [
            self._read(lambda data: unpack(data, COMMITS), data)
            for (data,) in self._rows(
                (bytes,),
                "SELECT data FROM commits WHERE group_id = ? AND to_ms >= ? AND from_ms <= ?",
                group,
                since_ms,
                until_ms,
            )
        ]
        last = min(until_ms, (self.until_ms() or 0) + MINUTE_MS) // MINUTE_MS
        # Only the group's own rows are visited: there may be thousands of other groups in each minute.
        minutes = self._rows(
            (bytes,),
            "WITH RECURSIVE span(minute) AS (SELECT ?2 UNION ALL SELECT minute + 1 FROM span WHERE minute < ?3) "
            "SELECT data FROM span CROSS JOIN progress USING (minute) WHERE group_id = ?1",
            group,
            max(since_ms // MINUTE_MS, self._first_minute(), last - _MOST_MINUTES),
            last,
        )
        coarse = [self._read(lambda data: unpack(data, PROGRESS), data) for (data,) in minutes]
        tables = [table for table in exact if table is not None]
        tables += [ends_of_minutes(table) for table in coarse if table is not None]
        return once(np.concatenate([np.empty(0, dtype=COMMITS), *tables]))

    def knowledge(self, group: int) -> Knowledge:
        """What was observed of a group."""
        settings = self._rows(
            (_INT_OR_NULL, _INT_OR_NULL),
            "SELECT session_timeout_ms, heartbeat_interval_ms FROM settings WHERE group_id = ?",
            group,
        )
        session_timeout_ms, heartbeat_interval_ms = next(settings, (None, None))
        members = list(
            self._rows(
                (str, int, _INT_OR_NULL),
                "SELECT member, present_ms, absent_ms FROM members WHERE group_id = ?",
                group,
            )
        )
        return Knowledge(
            session_timeout_ms=session_timeout_ms,
            heartbeat_interval_ms=heartbeat_interval_ms,
            present_at={member: present * US_PER_MS for member, present, _ in members},
            absent_at={member: absent * US_PER_MS for member, _, absent in members if absent is not None},
        )

    def totals(self) -> dict[str, dict[str, int]]:
        """Counters by group and name, since the journal was begun."""
        totals: dict[str, dict[str, int]] = {}
        query = "SELECT g.name, t.name, value FROM totals t JOIN groups g ON g.id = t.group_id"
        for group, name, value in self._rows((str, str, int), query):
            totals.setdefault(group, {})[name] = value
        return totals

    def _first_minute(self) -> int:
        return next(self._rows((int,), "SELECT coalesce(min(minute), 0) FROM progress"), (0,))[0]

    def _rows(self, kinds: tuple[type | UnionType, ...], query: str, *values: object) -> Iterator[Any]:
        """The rows before the first that cannot be read, without those that have values of other kinds."""
        try:
            for row in self._connection.execute(query, values):
                if all(map(isinstance, row, kinds)):
                    yield row
                else:
                    self._note("a row has values of the wrong kind")
        except (sqlite3.Error, OverflowError) as error:
            self._note(str(error))

    def _read(self, read: Callable[[bytes], T], data: bytes) -> T | None:
        try:
            return read(data)
        except (ValueError, zlib.error) as error:
            self._note(str(error))
            return None

    def _note(self, problem: str) -> None:
        text = f"a part of it cannot be read: {problem}"
        if text not in self.problems:
            self.problems.append(text)


def _opened(file: Path) -> sqlite3.Connection:
    """A connection that only reads; it sees every transaction that is complete."""
    uri = file.absolute().as_uri()
    for mode in (
        "mode=ro",
        "immutable=1",
    ):  # a directory that cannot be written has no room for SQLite's own files
        connection = sqlite3.connect(
            f"{uri}?{mode}", uri=True, timeout=schema.BUSY_MS / 1000, isolation_level=None
        )
        try:
            # Else a file that is too short could not be read at all.
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            if mode == "immutable=1":
                raise
        else:
            return connection
    raise AssertionError("the loop returns or raises")
