"""What is to be said of files that were read: it travels beside what was in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from wire.log.damage import DamagedLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing to know. `position` is a byte in the file; `is_problem`: something could not be read."""

    file: Path | None
    position: int | None = None
    message: str
    is_problem: bool = False

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}: "
        if self.file is not None and self.position is not None:
            place = f"{self.file}, byte {self.position}: "
        return f"{place}{self.message}"

    def leading_to(self, consequence: str, *, is_problem: bool = False) -> Notice:
        """The same, with what follows from it."""
        return replace(self, message=f"{self.message}; {consequence}", is_problem=is_problem)


def failure(path: Path, error: DamagedLog | OSError) -> Notice:
    """Why a file could not be read; `path` where the error names none."""
    if isinstance(error, DamagedLog):
        return Notice(file=Path(error.file), position=error.position, message=error.reason)
    named = path if error.filename is None else Path(str(error.filename))
    return Notice(file=named, message=f"cannot be read: {error.strerror or error}")
