"""Progress of long work, on a terminal only, and never mixed with data."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from types import TracebackType

PERIOD_S = 0.5
_CLEAR = "\r\x1b[K"


class Progress:
    """A line on stderr that replaces itself; nothing unless stderr is a terminal and stdout is not.

    With `before_data`, where nothing is printed until it is done, stdout may be a terminal too.

    with Progress("reading", total=size) as progress: progress.at(position)
    """

    def __init__(self, doing: str, total: int, *, before_data: bool = False) -> None:
        self._doing, self._total, self._done = doing, total, 0
        has_terminal = sys.stderr is not None and sys.stderr.isatty()
        free = before_data or sys.stdout is None or not sys.stdout.isatty()
        self._is_shown = has_terminal and free and total > 0
        self._next = time.monotonic() + PERIOD_S
        self._line_stands = False

    def at(self, done: int) -> None:
        """Show how much of the total has been done."""
        if self._is_shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + PERIOD_S
            self._line_stands = True
            self._write(f"{_CLEAR}kohort: {self._doing}: {100 * done // self._total} %")

    def advance(self, more: int) -> None:
        """Show how much more has been done."""
        self._done += more
        self.at(self._done)

    def clear(self) -> None:
        """Remove the line, for another one."""
        if self._line_stands:
            self._line_stands = False
            self._write(_CLEAR)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def _write(self, text: str) -> None:
        with suppress(OSError):  # no one reads it any more
            print(text, end="", file=sys.stderr, flush=True)
