"""One process at a time: the `.lock` of a broker's log directory, taken the way Java takes it.

A broker locks by `fcntl` record locks (`FileChannel.tryLock`), so `flock` would not keep it out. Ordinary record locks
belong to the process and go with any descriptor of the file that it closes; on Linux they are taken for the open
file instead (`F_OFD_SETLK`), which excludes a broker as well as a second opening in this process.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from pathlib import Path
from typing import Self

from wire.log.errors import DirectoryInUse, StorageFailed

LOCK_FILE = ".lock"
_TAKEN = (errno.EACCES, errno.EAGAIN)
_SET_FOR_OPEN_FILE: int | None = getattr(fcntl, "F_OFD_SETLK", None)
# struct flock of Linux: type, whence, start, length 0 (to the end of all files), process id 0.
_WHOLE_FILE = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


class DirectoryLock:
    """Held until it is released, or until the process ends in whatever way."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, directory: Path) -> Self:
        """Lock a directory that exists. :raises DirectoryInUse: :raises StorageFailed:"""
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
        """Let others in; the file stays, as a broker leaves it. Nothing happens the second time."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> None:
    """:raises OSError: EACCES or EAGAIN where somebody else holds it"""
    if _SET_FOR_OPEN_FILE is not None:
        fcntl.fcntl(descriptor, _SET_FOR_OPEN_FILE, _WHOLE_FILE)
    else:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
