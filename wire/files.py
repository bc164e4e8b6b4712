"""Files that others name: a pipe in a log never hangs a command, an endless one never fills the memory."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MEBIBYTE = 2**20


def read_bounded(file: Path | BinaryIO, most: int) -> bytes:
    """The content of at most `most` bytes of a file, pipe or stream. Raises OSError: unreadable or longer."""
    if isinstance(file, Path):
        with _openable(file).open("rb") as stream:
            return read_bounded(stream, most)
    data = file.read(most + 1)
    if len(data) > most:
        message = f"it contains more than {most // MEBIBYTE} MiB, and no such file is so large"
        raise OSError(errno.EFBIG, message)
    return data


def open_regular(path: Path) -> BinaryIO:
    """Open a file of a log. Raises OSError: it cannot be read, or is a pipe or a device, which may have no end."""
    descriptor = os.open(_openable(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def read_regular(path: Path) -> bytes:
    """The content of a file of a log. Raises OSError: as `open_regular`."""
    with open_regular(path) as stream:
        return stream.read()


def _openable(path: Path) -> Path:
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "a NUL character is invalid in a path")
    return path
