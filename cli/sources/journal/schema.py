"""The layout of a journal, version `FORMAT`. Times end in their unit and count from 1970, UTC; `docs/record.md`
explains every table to readers who use SQL."""

import re
import sqlite3
from pathlib import Path

from cli.errors import CommandError

APPLICATION_ID = 0x4B6F686F  # "Koho"
FORMAT = 1
BUSY_MS = 5_000
REBALANCES, WITHOUT_OWNER_US = "rebalances ", "without_owner_us"
"""Names of totals: rebalances by cause, which follows, and the time that partitions were without an owner."""
TRUNCATED = "the cluster lost them: its log was truncated"
"""The reason of a gap whose offsets come again, with other records."""
NOT_WRITABLE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_BUSY")
"""The beginnings of SQLite's names of errors that may pass: no room, a disk that fails, a reader that blocks."""

TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE positions (
    log_partition INTEGER PRIMARY KEY, next_offset INTEGER NOT NULL, resume_offset INTEGER NOT NULL,
    begun_offset INTEGER, time_ms INTEGER, leader_epoch INTEGER NOT NULL
);
CREATE TABLE groups (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, log_partition INTEGER NOT NULL, open_ms INTEGER
);
CREATE TABLE places (
    id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
    UNIQUE (group_id, topic, partition)
);
CREATE TABLE topics (id TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
    group_id INTEGER NOT NULL, log_offset INTEGER NOT NULL, time_ms INTEGER NOT NULL, key BLOB NOT NULL, value BLOB,
    UNIQUE (group_id, log_offset)
);
CREATE TABLE rebalances (
    group_id INTEGER NOT NULL, log_offset INTEGER NOT NULL, start_ms INTEGER, end_ms INTEGER, protocol TEXT NOT NULL,
    epoch INTEGER NOT NULL, cause TEXT NOT NULL, causes TEXT NOT NULL, assignor TEXT, members_before INTEGER NOT NULL,
    members INTEGER NOT NULL, joined TEXT NOT NULL, "left" TEXT NOT NULL, partitions INTEGER NOT NULL,
    moved INTEGER NOT NULL, revoked INTEGER NOT NULL, skipped INTEGER, verdicts TEXT NOT NULL,
    UNIQUE (group_id, log_offset)
);
CREATE TABLE storms (
    group_id INTEGER NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, rebalances INTEGER NOT NULL,
    PRIMARY KEY (group_id, start_ms)
) WITHOUT ROWID;
CREATE TABLE owners (
    place_id INTEGER NOT NULL, since_us INTEGER NOT NULL, until_us INTEGER, member TEXT, client_id TEXT,
    host TEXT, epoch INTEGER NOT NULL,
    PRIMARY KEY (place_id, since_us)
) WITHOUT ROWID;
CREATE TABLE progress (
    minute INTEGER NOT NULL, group_id INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (minute, group_id)
) WITHOUT ROWID;
CREATE TABLE ends (
    minute INTEGER NOT NULL, group_id INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (minute, group_id)
) WITHOUT ROWID;
CREATE TABLE commits (group_id INTEGER NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX commits_of_group ON commits (group_id, to_ms);
CREATE TABLE findings (
    group_id INTEGER NOT NULL, rule TEXT NOT NULL, member TEXT NOT NULL, level TEXT NOT NULL, from_ms INTEGER NOT NULL,
    until_ms INTEGER, message TEXT NOT NULL, remedy TEXT NOT NULL, PRIMARY KEY (group_id, rule, member, from_ms)
) WITHOUT ROWID;
CREATE TABLE settings (
    group_id INTEGER PRIMARY KEY, session_timeout_ms INTEGER, heartbeat_interval_ms INTEGER
);
CREATE TABLE members (
    group_id INTEGER NOT NULL, member TEXT NOT NULL, present_ms INTEGER NOT NULL, absent_ms INTEGER,
    PRIMARY KEY (group_id, member)
) WITHOUT ROWID;
CREATE TABLE gaps (
    log_partition INTEGER NOT NULL, from_offset INTEGER NOT NULL, to_offset INTEGER NOT NULL, from_ms INTEGER,
    to_ms INTEGER, reason TEXT NOT NULL, PRIMARY KEY (log_partition, from_offset)
) WITHOUT ROWID;
CREATE TABLE totals (
    group_id INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (group_id, name)
) WITHOUT ROWID;
CREATE TABLE posts (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, document TEXT NOT NULL);
"""


class JournalError(CommandError):
    """A journal cannot be used; the message names the file, the reason and the next step."""


def default_journal(directory: Path, cluster: str) -> Path:
    """The journal of a cluster where none is named; `directory`: Kohort's data directory."""
    return directory / "journals" / f"{re.sub('[^A-Za-z0-9_-]', '_', cluster)}.db"


def create(connection: sqlite3.Connection, about: dict[str, str]) -> None:
    """Make an empty database a journal. Raises sqlite3.Error."""
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; {TABLES} COMMIT;"
    )
    with connection:
        connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())


def check(connection: sqlite3.Connection, file: Path) -> None:
    """Refuse what is not a journal of this format. Raises JournalError. Raises sqlite3.Error: it cannot be read."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise JournalError(f"{file} is a SQLite database, but no journal of kohort record")
    if version > FORMAT:
        raise JournalError(
            f"{file} is a journal of format {version}, written by a newer Kohort; this one reads formats up to "
            f"{FORMAT}: update Kohort"
        )


def problem(file: Path, error: sqlite3.Error) -> JournalError:
    """SQLite's error about a journal, as the error of a command."""
    name = getattr(error, "sqlite_errorname", "")
    if name in ("SQLITE_NOTADB",):
        return JournalError(f"{file} is no journal of kohort record: it is not a SQLite database")
    if name.startswith("SQLITE_CORRUPT"):
        return JournalError(f"{file} is damaged ({error}); kohort why answers from what can be read of it")
    return JournalError(f"{file}: {error}")
