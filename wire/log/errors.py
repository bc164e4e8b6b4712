"""What can go wrong with a data directory. Every message names the path, and says what to do where that is known."""

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
