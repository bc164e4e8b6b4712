"""Making files and names last: what a crash of the machine must not take back.

A process that is killed loses nothing that it wrote; only a machine that stops loses what was not synchronised.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path

UNFINISHED = ".tmp"


class FsyncPolicy(Enum):
    """When a record counts as written, and its answer may leave."""

    ALWAYS = "always"
    """Once it is on the disk: a crash of the machine loses nothing that was answered."""
    INTERVAL = "interval"
    """Once the operating system has it; the disk gets it a little later. A broker leaves even that to the system."""


def sync(path: Path) -> None:
    """Make last what a file holds, or which names a directory holds. :raises OSError:"""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, content: str) -> None:
    """Replace a file, or make it: a reader, also one after a crash, finds the old content or the new one.

    :raises OSError: the old content is still there
    """
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
