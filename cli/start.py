"""Where the installed command begins and ends: both cost as little as they can."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Answer a shell that asks what may follow, or run a command."""
    # Imports and commands build large trees without cycles and end: looking for cycles costs a fifth of their time.
    gc.set_threshold(200_000, 50, 50)
    if "_KOHORT_COMPLETE" in os.environ:
        from cli.verbs.completion.answer import main as answer

        answer()
    else:
        from cli.app import main as run

        try:
            run()
        except SystemExit as end:
            _end(end)


def _end(end: SystemExit) -> None:
    """Leave at once: to take a hundred thousand objects apart first, one by one, serves nobody.

    The interpreter ends in its own way, and says why, where something cannot be written out.
    """
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        raise end from None
    if not isinstance(end.code, int):
        raise end
    os._exit(end.code)
