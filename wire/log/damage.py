"""What is said of a log file that is not what it should be."""

from os import PathLike, fspath

from wire.errors import WireError


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
