"""A broker's checkpoint files of a log directory: one offset per partition.

    0                               version
    2                               number of lines that follow
    __consumer_offsets 7 1234       topic, partition, offset

`cleaner-offset-checkpoint` says how far compaction has come. Source: OffsetCheckpointFile, CheckpointFile.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from coordinator.store.fsync import write_atomically
from wire.log.damage import DamagedLog

CLEANER = "cleaner-offset-checkpoint"
VERSION = 0

Offsets: TypeAlias = Mapping[tuple[str, int], int]
"""By topic and partition."""


def read_offsets(path: Path) -> dict[tuple[str, int], int]:
    """What the file says; nothing where there is none. :raises DamagedLog: :raises OSError:"""
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return {}
    lines = text.splitlines(keepends=True)
    if not lines:  # so a new broker has it
        return {}
    if lines[0].strip() != str(VERSION):
        raise DamagedLog(path, 0, f"a checkpoint file begins with its version, {VERSION}")
    count = _number(lines[1]) if len(lines) > 1 else None
    if count is None or count != len(lines) - 2:
        raise DamagedLog(
            path, len(lines[0].encode()), f"{len(lines) - 2} lines follow, not as many as announced"
        )
    offsets = {}
    position = len("".join(lines[:2]).encode())
    for line in lines[2:]:
        topic, *numbers = line.split() or [""]
        values = [_number(each) for each in numbers]
        if len(values) != 2 or values[0] is None or values[1] is None:
            raise DamagedLog(path, position, "a line is no topic, partition and offset")
        offsets[topic, values[0]] = values[1]
        position += len(line.encode())
    return offsets


def write_offsets(path: Path, offsets: Offsets) -> None:
    """Replace the file. :raises OSError: the old one is still there"""
    lines = [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
    write_atomically(path, "\n".join([str(VERSION), str(len(lines)), *lines]) + "\n")


def _number(text: str) -> int | None:
    stripped = text.strip()
    return int(stripped) if stripped.isascii() and stripped.isdigit() and len(stripped) <= 19 else None
