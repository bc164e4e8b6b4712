"""The one writer of a journal: what was read from the log is collected, and written with the positions after it in one
transaction. A transaction that fails changes nothing; what it was to write is kept for the next attempt."""

import fcntl
import json
import os
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cli.sources.journal import schema
from cli.sources.journal.packed import COMMITS, MINUTE_MS, PROGRESS, Table, merged, pack, unpack
from cli.sources.journal.storms import note_storms
from wire.client.log_searches import NO_EPOCH

_PRUNED_PART = 10  # a full journal loses this part of its time span at once
_LEAST_SPAN_MS = 3_600_000
_MOST_ROWS = 1 << 18  # of progress that is not merged
_REBALANCE = "INSERT OR IGNORE INTO rebalances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_OF_PARTITION = "log_offset >= ?2 AND group_id IN (SELECT id FROM groups WHERE log_partition = ?1)"
_OWNER = "INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?, ?, ?, ?)"


class Position(NamedTuple):
    """What was read of a partition of the log."""

    next_offset: int
    resume_offset: int  # of the oldest commit of an open transaction, or the next offset
    begun_offset: int | None = None  # the end of the log when it was first read
    time_ms: int | None = None  # of the last record
    leader_epoch: int = NO_EPOCH  # of the record before the next offset


GapRow: TypeAlias = tuple[int, int, int, int | None, int | None, str]
"""What is missing: partition of the log, offsets from and to, times in ms of the records around them, the reason."""


class StoredRecord(NamedTuple):
    log_offset: int
    time_ms: int
    key: bytes
    value: bytes | None


class CannotWrite(schema.JournalError):
    """The file cannot be written now: nothing of the transaction is in it."""


@dataclass(slots=True)
class Unwritten:
    """What the next transaction writes, as rows of the tables."""

    groups: list[tuple[int, str, int]] = field(default_factory=list)
    places: list[tuple[int, int, str, int]] = field(default_factory=list)
    topics: dict[str, str] = field(default_factory=dict)
    records: list[tuple[int, int, int, bytes, bytes | None]] = field(default_factory=list)
    progress: list[tuple[NDArray[np.int64], Table]] = field(default_factory=list)  # minutes and rows
    commits: list[tuple[int, Table]] = field(default_factory=list)
    open_ms: dict[int, int | None] = field(default_factory=dict)
    rebalances: list[tuple[object, ...]] = field(default_factory=list)
    owners: list[tuple[object, ...]] = field(default_factory=list)
    ends: list[tuple[int, int, Table]] = field(default_factory=list)
    findings: list[tuple[object, ...]] = field(default_factory=list)
    settings: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    members: dict[tuple[int, str], tuple[int, int | None]] = field(default_factory=dict)
    gaps: list[GapRow] = field(default_factory=list)
    lost: list[tuple[int, int]] = field(default_factory=list)  # partitions of the log, and their ends now
    posts: list[Mapping[str, object]] = field(default_factory=list)
    posted: list[int] = field(default_factory=list)
    _progress_rows: int = 0

    def add_progress(self, minutes: NDArray[np.int64], table: Table) -> None:
        self.progress.append((minutes, table))
        self._progress_rows += len(table)
        if self._progress_rows > _MOST_ROWS:
            self.progress = [self.merged_progress()]
            # A log that is read from its start has many minutes, which remain.
            self._progress_rows = len(self.progress[0][1]) // 2

    def merged_progress(self) -> tuple[NDArray[np.int64], Table]:
        minutes, tables = zip(*self.progress, strict=True)
        return merged(np.concatenate(minutes), np.concatenate(tables))


class JournalWriter:
    """See the module. Raises JournalError: another process writes the file, or it is no journal, or is damaged."""

    def __init__(self, file: Path, about: Mapping[str, str]) -> None:
        self.file = file
        self.unwritten = Unwritten()
        self._lock = _locked(file)
        try:
            self._connection = _writable(file, about)
            self._load()
        except sqlite3.Error as error:
            self._lock.close()
            raise schema.problem(file, error) from None
        except BaseException:
            self._lock.close()
            raise

    def _load(self) -> None:
        query = self._connection.execute
        self.about: dict[str, str] = dict(query("SELECT name, value FROM about"))
        self.positions = {row[0]: Position(*row[1:]) for row in query("SELECT * FROM positions")}
        self.groups: dict[str, int] = {}
        self.log_partitions: dict[int, int] = {}  # by the number of the group
        self.open_groups: dict[str, tuple[int, int]] = {}  # partition of the log, watched since
        for number, name, log_partition, open_ms in query("SELECT * FROM groups"):
            self.groups[name], self.log_partitions[number] = number, log_partition
            if open_ms is not None:
                self.open_groups[name] = log_partition, open_ms
        self.unclosed_gaps: list[GapRow] = query("SELECT * FROM gaps WHERE to_ms IS NULL").fetchall()
        self.topics: dict[str, str] = dict(query("SELECT id, name FROM topics"))
        self.open_findings: dict[tuple[int, str, str], tuple[object, ...]] = {
            row[:3]: row for row in query("SELECT * FROM findings WHERE until_ms IS NULL")
        }
        self.members: dict[tuple[int, str], tuple[int, int | None]] = {
            row[:2]: row[2:] for row in query("SELECT * FROM members")
        }
        self.settings: dict[int, tuple[int | None, int | None]] = {
            row[0]: row[1:] for row in query("SELECT * FROM settings")
        }
        self.posts: list[tuple[int, str]] = query("SELECT id, document FROM posts ORDER BY id").fetchall()
        self._next_group = max(self.groups.values(), default=0) + 1
        self._next_place: int = query("SELECT coalesce(max(id), 0) + 1 FROM places").fetchone()[0]
        (self._next_post,) = query("SELECT coalesce(max(id), 0) + 1 FROM posts").fetchone()

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()
        self._lock.close()

    # Collecting.

    def group(self, name: str, log_partition: int) -> int:
        number = self.groups.get(name)
        if number is None:
            number = self.groups[name] = self._next_group
            self._next_group += 1
            self.log_partitions[number] = log_partition
            self.unwritten.groups.append((number, name, log_partition))
        return number

    def places(self) -> Iterator[tuple[int, int, str, int]]:
        """Number, group, topic and partition of each place that is written."""
        yield from self._connection.execute("SELECT * FROM places")

    def new_place(self, group: int, topic: str, partition: int) -> int:
        number = self._next_place
        self._next_place += 1
        self.unwritten.places.append((number, group, topic, partition))
        return number

    def name_topic(self, topic_id: str, name: str) -> None:
        if self.topics.get(topic_id) != name:
            self.topics[topic_id] = self.unwritten.topics[topic_id] = name

    # Writing.

    def flush(
        self, positions: Mapping[int, Position], group_of: NDArray[np.int64], current_ms: int | None
    ) -> tuple[list[int], list[tuple[int, str]]]:
        """Write everything in one transaction. Returns the indexes of the rebalances that are new, and new posts by
        id. `group_of`: the group of each place; `current_ms`: the present, if everything up to it was read. Raises
        CannotWrite."""
        pending = self.unwritten
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            new = self._write(pending, positions, group_of)
            if current_ms is not None:
                self._connection.execute(
                    "INSERT OR REPLACE INTO about VALUES ('current_ms', ?)", (str(current_ms),)
                )
            storms = note_storms(
                self._connection,
                sorted({int(str(pending.rebalances[index][0])) for index in new}),
                self.about.get("cluster"),
            )
            posts = [
                (self._next_post + index, json.dumps(document))
                for index, document in enumerate([*pending.posts, *storms])
            ]
            self._connection.executemany(
                "INSERT INTO posts VALUES (?, json_extract(?2, '$.at_ms'), ?2)", posts
            )
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            if str(getattr(error, "sqlite_errorname", "")).startswith(schema.NOT_WRITABLE):
                raise CannotWrite(f"{self.file} cannot be written: {error}") from None
            raise schema.problem(self.file, error) from None
        self.unwritten = Unwritten()
        self._next_post += len(posts)
        self.positions |= positions
        return new, posts

    def _write(
        self, pending: Unwritten, positions: Mapping[int, Position], group_of: NDArray[np.int64]
    ) -> list[int]:
        many = self._connection.executemany
        for table in ("records", "rebalances"):
            many(f"DELETE FROM {table} WHERE {_OF_PARTITION}", pending.lost)  # noqa: S608  (two constants)
        many("INSERT INTO groups (id, name, log_partition) VALUES (?, ?, ?)", pending.groups)
        many("INSERT INTO places VALUES (?, ?, ?, ?)", pending.places)
        many("INSERT OR REPLACE INTO topics VALUES (?, ?)", pending.topics.items())
        many(
            "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?)",
            ((*row, None if value is None else zlib.compress(value, 6)) for *row, value in pending.records),
        )
        many(
            "INSERT INTO commits VALUES (?, ?, ?, ?)",
            (
                (group, int(table["time_ms"].min()), int(table["time_ms"].max()), pack(table))
                for group, table in pending.commits
                if len(table)
            ),
        )
        many(
            "UPDATE groups SET open_ms = ?2 WHERE id = ?1 AND open_ms IS NOT ?2",
            pending.open_ms.items(),
        )
        many("INSERT OR REPLACE INTO gaps VALUES (?, ?, ?, ?, ?, ?)", pending.gaps)
        many("INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", pending.findings)
        many(
            "INSERT OR REPLACE INTO ends VALUES (?, ?, ?)",
            ((minute, group, pack(table)) for minute, group, table in pending.ends),
        )
        many(
            "INSERT OR REPLACE INTO settings VALUES (?, ?, ?)", ((k, *v) for k, v in pending.settings.items())
        )
        many(
            "INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?)",
            ((*k, *v) for k, v in pending.members.items()),
        )
        many("DELETE FROM posts WHERE id = ?", ((number,) for number in pending.posted))
        totals = Counter[tuple[int, str]]()
        new = []
        for index, row in enumerate(pending.rebalances):
            if self._is_new(_REBALANCE, row):
                new.append(index)
                totals[int(str(row[0])), f"{schema.REBALANCES}{row[6]}"] += 1
        for owner in pending.owners:
            if self._is_new(_OWNER, owner) and owner[3] is None and owner[2] is not None:
                place, since, until = (int(str(value)) for value in owner[:3])
                totals[int(group_of[place]), schema.WITHOUT_OWNER_US] += until - since
        many(
            "INSERT INTO totals VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
            ((*key, value) for key, value in totals.items()),
        )
        self._progress(pending, group_of)
        many(
            "INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?)",
            ((partition, *position) for partition, position in positions.items()),
        )
        return new

    def _is_new(self, insert: str, row: tuple[object, ...]) -> bool:
        """Insert a row; False: it was there, from before a restart."""
        return self._connection.execute(insert, row).rowcount == 1

    def _progress(self, pending: Unwritten, group_of: NDArray[np.int64]) -> None:
        """Add to the minutes that the file has: a minute is written several times until it is over."""
        if not pending.progress:
            return
        minutes, table = pending.merged_progress()
        groups = group_of[table["place"]]
        order = np.lexsort((groups, minutes))
        minutes, groups, table = minutes[order], groups[order], table[order]
        starts = np.flatnonzero(np.concatenate(([True], (np.diff(minutes) != 0) | (np.diff(groups) != 0))))
        bounds = [*starts.tolist(), len(table)]
        rows = []
        select = "SELECT data FROM progress WHERE minute = ? AND group_id = ?"
        for start, stop in pairwise(bounds):
            key = int(minutes[start]), int(groups[start])
            part = table[start:stop]
            before = self._connection.execute(select, key).fetchone()
            if before is not None:
                whole = np.concatenate([unpack(before[0], PROGRESS), part])
                _, part = merged(np.zeros(len(whole), dtype=np.int64), whole)
            rows.append((*key, pack(part)))
        self._connection.executemany("INSERT OR REPLACE INTO progress VALUES (?, ?, ?)", rows)

    # Reading back, to continue.

    def records_of(self, group: int) -> list[StoredRecord]:
        """The records of a group in the order of the log, also those that are not written yet."""
        rows = self._connection.execute(
            "SELECT log_offset, time_ms, key, value FROM records WHERE group_id = ? ORDER BY log_offset",
            (group,),
        )
        stored = [
            StoredRecord(offset, time_ms, key, None if value is None else zlib.decompress(value))
            for offset, time_ms, key, value in rows
        ]
        return stored + [StoredRecord(*row[1:]) for row in self.unwritten.records if row[0] == group]

    def commits_of(self, group: int, since_ms: int) -> Table:
        rows = self._connection.execute(
            "SELECT data FROM commits WHERE group_id = ? AND to_ms >= ? ORDER BY rowid", (group, since_ms)
        )
        tables = [unpack(data, COMMITS) for (data,) in rows]
        return np.concatenate(tables) if tables else np.empty(0, dtype=COMMITS)

    # Room.

    @property
    def size(self) -> int:
        """The bytes that are in use."""
        pages, free, size = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def prune(self, now_ms: int, keep_ms: int, most_bytes: int | None) -> int | None:
        """Delete what is older than `keep_ms`, and the oldest part of a file that is too large. Returns the time
        before which rows were deleted, None if there were none. Raises CannotWrite."""
        before_ms = now_ms - keep_ms
        if most_bytes is not None and self.size > most_bytes:
            (oldest,) = self._connection.execute(
                "SELECT min(minute) * ? FROM progress", (MINUTE_MS,)
            ).fetchone()
            oldest = before_ms if oldest is None else max(oldest, before_ms)
            before_ms = min(oldest + max((now_ms - oldest) // _PRUNED_PART, _LEAST_SPAN_MS), now_ms)
        try:
            return before_ms if self._delete(before_ms) else None
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise CannotWrite(f"{self.file}: old rows cannot be deleted: {error}") from None

    def _delete(self, before_ms: int) -> bool:
        query = self._connection.execute
        query("BEGIN IMMEDIATE")
        changes = self._connection.total_changes
        query("DELETE FROM progress WHERE minute < ?", (before_ms // MINUTE_MS,))
        query("DELETE FROM ends WHERE minute < ?", (before_ms // MINUTE_MS,))
        query("DELETE FROM members WHERE absent_ms < ?", (before_ms,))
        query("DELETE FROM commits WHERE to_ms < ?", (before_ms,))
        query("DELETE FROM rebalances WHERE coalesce(end_ms, start_ms) < ?", (before_ms,))
        query("DELETE FROM storms WHERE end_ms < ?", (before_ms,))
        query("DELETE FROM owners WHERE until_us < ?", (before_ms * 1000,))
        query("DELETE FROM findings WHERE until_ms < ?", (before_ms,))
        query("DELETE FROM gaps WHERE to_ms < ?", (before_ms,))
        # As compaction does: the newest record of each key stays, since the state of its group begins with it.
        query(
            "DELETE FROM records WHERE time_ms < ?1 AND rowid NOT IN "
            "(SELECT max(rowid) FROM records WHERE time_ms < ?1 GROUP BY group_id, key)",
            (before_ms,),
        )
        deleted = self._connection.total_changes > changes
        if deleted:
            query("INSERT OR REPLACE INTO about VALUES ('kept_since_ms', ?)", (str(before_ms),))
        query("COMMIT")
        if deleted:
            query("PRAGMA incremental_vacuum").fetchall()  # a page per row
        return deleted


def _writable(file: Path, about: Mapping[str, str]) -> sqlite3.Connection:
    """A connection to a journal, a new one if the file does not exist. Raises sqlite3.Error. Raises JournalError."""
    try:
        is_new = not file.exists() or not file.stat().st_size
        if is_new:
            file.touch(mode=0o600)
    except OSError as error:
        raise schema.JournalError(f"{file}: {error.strerror or error}") from None
    connection = sqlite3.connect(file, timeout=schema.BUSY_MS / 1000, isolation_level=None)
    try:
        if is_new:
            schema.create(connection, dict(about))
        schema.check(connection, file)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {64 << 20}")
    except BaseException:
        connection.close()
        raise
    return connection


def _locked(file: Path) -> IO[bytes]:
    """The lock of a journal, which the process holds until it ends. Another file has it: to close any descriptor of
    the database would drop SQLite's own locks. Raises JournalError."""
    path = file.with_name(f"{file.name}-lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
    except OSError as error:
        raise schema.JournalError(f"{path}: {error.strerror or error}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = lock.read().decode(errors="replace").strip()
        lock.close()
        raise schema.JournalError(
            f"{file} is written by another kohort record{f' (process {holder})' if holder else ''}; stop it, or "
            "name another --journal"
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()).encode())
    lock.flush()
    return lock
