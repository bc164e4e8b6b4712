"""A terminal that is redrawn in place, and restored afterwards.

The view is on the alternate screen, as in pagers and editors: nothing in the scrollback is lost, even if the terminal
is resized. Lines consist of pieces of text, some of them marked, and are cut to the terminal's width.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any, Self, TextIO

import typer

from cli.errors import ExitStatus
from cli.render.color import CODES, MONOCHROME, has_color, painted
from cli.render.lines import Line, Role, cut, line_width

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H"
_LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
_STOP_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_STOP = getattr(signal, "SIGTSTP", None)
_SLICE_S = 0.1
"""How often the size is checked."""
LEAST_COLUMNS, LEAST_LINES = 20, 4
"""The minimum size; a smaller terminal is drawn as if it had this size."""


def can_draw(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal on which the cursor can be moved."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")


class Screen:
    """The screen. Use it in a `with` block, and only in the main thread, because of signals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._handle = stream, stream.fileno()
        self._before: dict[int, Any] = {}
        self._lines: Callable[[int, int], Sequence[Line]] = lambda _width, _height: ()
        self._size = self.size
        self._is_entered = False
        self._codes = CODES if has_color(stream) else MONOCHROME

    @property
    def size(self) -> tuple[int, int]:
        """The current numbers of columns and lines."""
        try:
            size = os.get_terminal_size(self._handle)
        except OSError:
            return 80, 24
        if not (size.columns and size.lines):
            return 80, 24
        return max(size.columns, LEAST_COLUMNS), max(size.lines, LEAST_LINES)

    def draw(self, lines: Callable[[int, int], Sequence[Line]]) -> None:
        """Show the result of `lines`, called with the numbers of columns and lines, and again after a resize."""
        self._lines = lines
        self._redraw()

    def wait(self, seconds: float, *, tick_s: float | None = None) -> None:
        """Wait, redrawing when the terminal was resized, and every `tick_s`."""
        end = time.monotonic() + seconds
        tick = time.monotonic() + tick_s if tick_s is not None else end
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(_SLICE_S, left))
            if self.size != self._size or (tick_s is not None and time.monotonic() >= tick):
                self._redraw()
                tick = time.monotonic() + (tick_s or seconds)

    def __enter__(self) -> Self:
        self._stream.flush()
        handlers: Mapping[int, Any] = {
            **dict.fromkeys(_STOP_SIGNALS, self._end),
            **({_STOP: self._stop} if _STOP is not None else {}),
        }
        for number, handler in handlers.items():
            # A signal that is ignored (nohup) stays ignored.
            if signal.getsignal(number) is signal.SIG_DFL:
                self._before[number] = signal.signal(number, handler)
        self._enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _enter(self) -> None:
        self._is_entered = True
        self._write(_ENTER)

    def _leave(self) -> None:
        if self._is_entered:
            self._is_entered = False
            self._write(_LEAVE)

    def _redraw(self) -> None:
        columns, height = self._size = self.size
        lines = list(self._lines(columns, height))[:height]
        self._write("\x1b[H" + "\r\n".join(escaped(lines, columns, self._codes)) + "\x1b[J")

    def _end(self, number: int, _frame: FrameType | None) -> None:
        """Restore the terminal, then exit by the signal's default action."""
        self._leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        """Ctrl-Z: restore the terminal for the shell; redraw when the command continues."""
        self._leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, self._stop)
        self._enter()
        self._size = (0, 0)  # drawn at the next redraw

    def _write(self, text: str) -> None:
        """Write without Python's buffers, which are not reentrant in a signal handler."""
        data = text.encode(errors="replace")
        try:
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError:
            # The terminal is closed.
            raise typer.Exit(int(ExitStatus.DONE)) from None


def escaped(lines: Sequence[Line], width: int, codes: Mapping[Role, str] = CODES) -> Iterator[str]:
    """The lines for a terminal, each cut to the width; the previous contents of each line are erased."""
    for line in lines:
        shown = cut(line, width)
        # After a line that fills the width, erasing would remove its last character.
        rest = "" if line_width(shown) >= width else "\x1b[K"
        yield painted(shown, codes) + rest
