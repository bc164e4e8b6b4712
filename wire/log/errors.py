"""What can go wrong with a data directory and its files. Every message names the path, and what to do where known."""

from __future__ import annotations

from os import PathLike, fspath

from wire.errors import WireError


class StorageError(WireError):
    """The base of what a data directory raises, beside DamagedLog."""


class DirectoryInUse(StorageError):
    """Another process works on the directory."""

    def __init__(self, directory: str | PathLike[str]) -> None:
        super().__init__(
            f"{fspath(directory)} is in use by another process, a broker or a kohort: only one at a time may "
            "write to it. Stop the other one, or take another directory."
        )


class Unusable(StorageError):
    """The directory is none that this coordinator can go on from."""


class StorageFailed(StorageError):
    """The operating system refused to read or write; `error` is what it said."""

    def __init__(self, doing: str, path: str | PathLike[str], error: OSError) -> None:
        super().__init__(f"{doing} {fspath(path)} failed: {error.strerror or error}")
        self.error = error


class DamagedLog(WireError):
    """A log file holds bytes that Kafka does not write, or not in this place. Nothing was guessed or skipped.

    Attributes:
        file: the path as it was given.
        position: the byte in the file at which the batch or field begins that is at fault.
        reason: what was found there, in a clause without a full stop.
    """

    def __init__(self, file: str | PathLike[str], position: int, reason: str) -> None:
        super().__init__(f"{fspath(file)}, byte {position}: {reason}")
        self.file = fspath(file)
        self.position = position
        self.reason = reason
