"""A segment's file, and what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from groups.model import Problem
from wire.log.damage import DamagedLog
from wire.log.salvage import Part, parts_of
from wire.log.segments import MOST_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A segment's file, with its path as it is shown."""

    file: str
    data: bytes

    @classmethod
    def read(cls, path: Path) -> Segment:
        """:raises OSError: the file cannot be read; :raises DamagedLog: it is too long for a segment"""
        if path.stat().st_size > MOST_BYTES:
            raise DamagedLog(path, MOST_BYTES, "a segment has at most 2^31 - 1 bytes, this file has more")
        return cls(file=shown_path(path), data=path.read_bytes())

    def parts(self) -> Iterator[Part]:
        """Its whole batches, and what stands between them."""
        return parts_of(self.data, self.file)

    def damage(self, part: Part) -> Problem | None:
        """What is wrong behind a part."""
        if part.fault is None:
            return None
        position, reason = part.fault.position, part.fault.reason
        left = len(self.data) - position
        if part.torn:
            zeros = self.data.count(0, position) == left
            reason = f"torn tail: {f'{left} bytes of zeros' if zeros else reason}"
        elif part.last:
            reason = f"{reason}; nothing behind it is read"
        return Problem(subject=f"{self.file}, byte {position}", message=reason)


def shown_path(path: Path) -> str:
    """The path as text, whatever its bytes."""
    return os.fsencode(path).decode(errors="replace")


def damage_of(damage: DamagedLog) -> Problem:
    """What is wrong with a file, and where."""
    return Problem(subject=f"{shown_path(Path(damage.file))}, byte {damage.position}", message=damage.reason)
