"""Append the two lines of an entry. Each is one `write` to a file that is opened for appending, then on disk: several
processes and hosts can share a directory without locks."""

import errno
import os
import secrets
import stat
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cli.errors import CommandError
from cli.journal.directory import file_name
from cli.journal.entry import ChangedItem, EntryEnd, EntryStatus, ItemResult, JournalEntry, line_of
from groups.times import format_moment


class NotJournaled(CommandError):
    """The journal cannot be written, so nothing is changed."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(
            f"{path}: the journal cannot be written: {error.strerror or error}; nothing was changed. Name a "
            "writable directory with --journal DIR, or change without an entry: --no-journal"
        )


def new_id() -> str:
    return secrets.token_hex(4).upper()


def now_text() -> str:
    """The time as in entries: `2026-11-29T15:04:05.123Z`."""
    return format_moment(time.time_ns() // 1_000_000)


class JournalFile:
    """The file of this host and day; it is open only while a line is written."""

    def __init__(self, directory: Path, host: str) -> None:
        """Create it, unless it exists; what exists keeps its permissions. Raises NotJournaled."""
        self.path = directory / file_name(host, datetime.now(UTC))
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(_opened(self.path))
        except OSError as error:
            raise NotJournaled(self.path, error) from None

    def append(self, line: bytes) -> None:
        """Write a line; it is on disk when this returns. Raises OSError."""
        file = _opened(self.path)
        try:
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, size - 1) != b"\n":
                line = b"\n" + line  # The last line was cut off: this one stays whole
            if os.write(file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file)
        finally:
            os.close(file)


def _opened(path: Path) -> int:
    """Raises OSError; also for a link or a pipe, which another user may have put into a shared directory."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        file = os.open(path, flags)
    else:
        shared = stat.S_IMODE(path.parent.stat().st_mode)
        if shared & (stat.S_IWGRP | stat.S_IWOTH):  # colleagues on this host append to the same file
            os.fchmod(file, shared & 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return file


class OpenEntry:
    """An entry that has begun."""

    def __init__(self, file: JournalFile, entry: JournalEntry) -> None:
        """Write the beginning. Raises NotJournaled."""
        self.id, self._file = entry.id, file
        try:
            file.append(line_of(entry))
        except OSError as error:
            raise NotJournaled(file.path, error) from None

    def end(
        self, status: EntryStatus, results: Sequence[ItemResult], items: Sequence[ChangedItem] = ()
    ) -> str | None:
        """Write the end; a message if that is impossible. The change has been made, whatever happens here."""
        end = EntryEnd(
            id=self.id, ended=now_text(), status=status, results=tuple(results), items=tuple(items)
        )
        try:
            self._file.append(line_of(end))
        except OSError as error:
            why = error.strerror or error
            return f"{self._file.path}: the result of the entry {self.id} cannot be written: {why}"
        return None
