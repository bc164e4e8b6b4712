"""Durability and locking: synchronized files and directories, and the `.lock` of a directory. A killed process loses
nothing that it wrote; only a machine that stops loses writes that were not synchronized. A broker locks with `fcntl`
record locks (`FileChannel.tryLock`), which are released with any descriptor of the file that the process closes; on
Linux the open file is locked instead (`F_OFD_SETLK`), which also excludes a second opening in this process."""

import errno
import fcntl
import os
import struct
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Self, TypeVar

from wire.log.errors import DirectoryInUse, StorageFailed

UNFINISHED = ".tmp"
SIDE_BY_SIDE = 16
LOCK_FILE = ".lock"

_TAKEN = (errno.EACCES, errno.EAGAIN)
_SET_FOR_OPEN_FILE: int | None = getattr(fcntl, "F_OFD_SETLK", None)
# struct flock of Linux: type, origin, start, length 0 (to the end of all files), process id 0.
_WHOLE_FILE = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)

T = TypeVar("T")
R = TypeVar("R")


class FsyncPolicy(Enum):
    """When a record counts as written, so that its answer can be sent."""

    ALWAYS = "always"  # once it is on the disk: a crash of the machine loses nothing that was answered
    INTERVAL = "interval"
    """Once the operating system has it; it is synchronized a little later. A broker leaves even that to the
    system."""


def sync(path: Path) -> None:
    """Synchronize a file or a directory. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, content: str) -> None:
    """Replace a file, or create it: a reader, also one after a crash, finds the old content or the new one. Raises
    OSError: the old content is unchanged."""
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with open(unfinished, "w", encoding="utf-8") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    sync(path.parent)


def side_by_side(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Do work that waits for the disk for many files in parallel: they share the commits of the file system's journal
    (fifty files take 10 ms and not 170 on ext4). If one fails, its error is raised once all are done."""
    chosen = list(items)
    if len(chosen) == 1:
        return [work(chosen[0])]
    futures = [_pool().submit(work, item) for item in chosen]
    errors = [future.exception() for future in futures]
    for error in errors:
        if error is not None:
            raise error
    return [future.result() for future in futures]


@cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="fsync")


class DirectoryLock:
    """Held until it is released, or until the process exits."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, directory: Path) -> Self:
        """Lock a directory that exists. Raises DirectoryInUse. Raises StorageFailed."""
        path = directory / LOCK_FILE
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StorageFailed("opening", path, error) from error
        try:
            _lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            if error.errno in _TAKEN:
                raise DirectoryInUse(directory) from None
            raise StorageFailed("locking", path, error) from error
        return cls(descriptor)

    def release(self) -> None:
        """Release the lock; the file stays, as a broker leaves it. A second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> None:
    """Raises OSError: EACCES or EAGAIN if it is locked."""
    if _SET_FOR_OPEN_FILE is not None:
        fcntl.fcntl(descriptor, _SET_FOR_OPEN_FILE, _WHOLE_FILE)
    else:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
