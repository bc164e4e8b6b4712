"""A terminal that is drawn anew in place, and given back as it was found.

What is drawn goes to the alternate screen, as pagers and editors do it: nothing that scrolled by before is lost,
however often the terminal is resized meanwhile. Its lines are pieces of text, some of them marked, cut to its width.
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
"""How soon a new size is noticed."""
LEAST_COLUMNS, LEAST_LINES = 20, 4
"""A smaller terminal is drawn as if it were so large."""


def can_draw(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal on which the cursor can be moved."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")


class Screen:
    """Use it in a `with` block; `draw` as often as need be. Only from the main thread, for the signals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._handle = stream, stream.fileno()
        self._before: dict[int, Any] = {}
        self._lines: Callable[[int, int], Sequence[Line]] = lambda _width, _height: ()
        self._size = self.size
        self._is_entered = False
        self._codes = CODES if has_color(stream) else MONOCHROME

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, now."""
        try:
            size = os.get_terminal_size(self._handle)
        except OSError:
            return 80, 24
        if not (size.columns and size.lines):
            return 80, 24
        return max(size.columns, LEAST_COLUMNS), max(size.lines, LEAST_LINES)

    def draw(self, lines: Callable[[int, int], Sequence[Line]]) -> None:
        """Show the lines that a function makes of the numbers of columns and lines; it is asked again at a new size."""
        self._lines = lines
        self._redraw()

    def wait(self, seconds: float, *, tick_s: float | None = None) -> None:
        """Wait, drawing anew when the terminal was resized, and every `tick_s`."""
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
            # Who told us to ignore a signal (nohup) goes on being obeyed.
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
        """Give the terminal back, then end as if nobody had listened."""
        self._leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        """Ctrl-Z: the shell gets its terminal back; when the command goes on it draws again."""
        self._leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, self._stop)
        self._enter()
        self._size = (0, 0)  # drawn at the next occasion

    def _write(self, text: str) -> None:
        """Past Python's buffers, which a signal handler must not enter twice."""
        data = text.encode(errors="replace")
        try:
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError:
            # The terminal is gone: nobody is left to look.
            raise typer.Exit(int(ExitStatus.DONE)) from None


def escaped(lines: Sequence[Line], width: int, codes: Mapping[Role, str] = CODES) -> Iterator[str]:
    """The lines as a terminal takes them, each cut to the width; what was there before on a line is erased."""
    for line in lines:
        shown = cut(line, width)
        # After a line that fills the width, erasing would take its last character.
        rest = "" if line_width(shown) >= width else "\x1b[K"
        yield painted(shown, codes) + rest
