"""Errors of a data directory and its files. Every message has the path, and what to do where known."""

from os import PathLike, fspath

from wire.errors import WireError


class StorageError(WireError):
    """The base of the errors of a data directory, except DamagedLog."""


class DirectoryInUse(StorageError):
    def __init__(self, directory: str | PathLike[str]) -> None:
        super().__init__(
            f"{fspath(directory)} is in use by another process, a broker or kohort: only one may write to it "
            "at a time. Stop the other process, or use another directory."
        )


class Unusable(StorageError):
    """The coordinator cannot continue from this directory."""


class StorageFailed(StorageError):
    """The operating system refused to read or write; `error` is its error."""

    def __init__(self, doing: str, path: str | PathLike[str], error: OSError) -> None:
        super().__init__(f"{doing} {fspath(path)} failed: {error.strerror or error}")
        self.error = error


class DamagedLog(WireError):
    """A log has bytes that Kafka does not write there, first at `position`; `reason` is a clause about them."""

    def __init__(self, file: str | PathLike[str], position: int, reason: str) -> None:
        super().__init__(f"{fspath(file)}, byte {position}: {reason}")
        self.file = fspath(file)
        self.position = position
        self.reason = reason
