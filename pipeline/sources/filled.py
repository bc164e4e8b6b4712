"""Directories of the cache, each filled once, by whoever is first."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path


def filled(target: Path, fill: Callable[[Path], None]) -> Path:
    """Return the directory `target`, filled first where it is not there.

    `fill` makes the directory that it is given, beside which it may leave what it needs meanwhile. Two processes may
    do this at once: each fills a directory of its own, and the first rename wins.
    """
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=".fill-", dir=target.parent, ignore_cleanup_errors=True
    ) as scratch:
        made = Path(scratch) / "filled"
        fill(made)
        try:
            made.rename(target)
        except OSError:
            # Another process was quicker; anything else is an error.
            if not target.is_dir():
                raise
    return target
