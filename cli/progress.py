"""Progress of work that takes over a second, on a terminal only, and never mixed with data. Only one line is on stderr
at a time: the line of the innermost `Spinner` or `Progress`. Other output removes it first with `cleared()`."""

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self, TextIO, TypeVar

from groups.times import seconds_text

T = TypeVar("T")
PERIOD_S = 0.5  # The interval between two updates of a percentage
AFTER_S = 1.0  # Delay before a spinner is shown; shorter work has none
TURN_S = 0.1
TAIL = 24  # Columns kept at the end of a line that is too long: they contain the times
_TURNS = "|/-\\"
_CLEAR = "\r\x1b[K"
_lock = threading.RLock()
_lines: "list[_Line]" = []  # The lines in use, the innermost last; only the innermost is drawn


class _Line:
    """A line on stderr that replaces itself."""

    def __init__(self, *, is_shown: bool) -> None:
        has_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = is_shown and has_terminal
        self._is_drawn = False

    def clear(self) -> None:
        with _lock:
            if self._is_drawn:
                self._is_drawn = False
                _write(_CLEAR)

    def __enter__(self) -> Self:
        with _lock:
            if _lines:
                _lines[-1].clear()
            _lines.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with _lock:
            self.clear()
            _lines.remove(self)

    def _draw(self, text: str) -> None:
        """Show a text, without its middle if it is wider than the terminal, because only one line can be removed."""
        from cli.render.cells import safe_text
        from cli.render.fit import without_middle
        from cli.render.table import terminal_width

        with _lock:
            if _lines and _lines[-1] is not self:
                return
            self._is_drawn = True
            width = terminal_width(sys.stderr) - 1
            _write(f"{_CLEAR}{without_middle(safe_text(text), width, min(TAIL, width // 2))}")


class Progress(_Line):
    """Shows how much is done; shows nothing if stdout is a terminal too, where it would mix with data, unless nothing
    else is printed until the work is done (`before_data`)."""

    def __init__(self, doing: str, total: int, *, before_data: bool = False) -> None:
        is_free = before_data or sys.stdout is None or not sys.stdout.isatty()
        super().__init__(is_shown=is_free and total > 0)
        self._doing, self._total, self._done = doing, total, 0
        self._next = time.monotonic() + PERIOD_S

    def at(self, done: int) -> None:
        if self._is_shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + PERIOD_S
            self._draw(f"kohort: {self._doing}: {100 * done // self._total} %")

    def advance(self, more: int) -> None:
        self._done += more
        self.at(self._done)


class Spinner(_Line):
    """Shows what is being done and for how long, with a turning sign; a thread draws it once a second has passed."""

    def __init__(self, doing: str, *, is_quiet: bool = False) -> None:
        super().__init__(is_shown=not is_quiet)
        self._doing = doing
        self._started = time.monotonic()
        self._is_done = threading.Event()
        self._thread: threading.Thread | None = None

    def show(self, doing: str, *, restarted: bool = False) -> None:
        """Change the text; the time continues, or starts again if `restarted`."""
        self._doing, self._started = doing, time.monotonic() if restarted else self._started

    def __enter__(self) -> Self:
        if self._is_shown:
            self._thread = threading.Thread(target=self._turn, daemon=True)
            self._thread.start()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        self._is_done.set()
        if self._thread is not None:
            self._thread.join()
        super().__exit__(*error)

    def _turn(self) -> None:
        pause_s, turn = AFTER_S, 0
        while not self._is_done.wait(pause_s):
            seconds = time.monotonic() - self._started
            if seconds >= AFTER_S:
                self._draw(f"{_TURNS[turn % len(_TURNS)]} kohort: {self._doing} ({seconds_text(seconds)})")
            pause_s, turn = TURN_S, turn + 1


def show_step(doing: str, *, restarted: bool = False) -> None:
    """Change the text of the innermost spinner, if there is one; its time continues, or starts again if `restarted`."""
    with _lock:
        if _lines and isinstance(_lines[-1], Spinner):
            _lines[-1].show(doing, restarted=restarted)


def each_shown(items: Sequence[T], doing: str) -> Iterator[T]:
    """The items, each with its number in the text of the innermost spinner: `planning group 3 of 40`."""
    for number, item in enumerate(items, 1):
        show_step(f"{doing} {number} of {len(items)}")
        yield item


@contextmanager
def cleared() -> Iterator[None]:
    """Remove the line, and draw none within the context, where something else is printed or typed."""
    with _lock:
        if _lines:
            _lines[-1].clear()
        yield


def discard(stream: TextIO) -> None:
    """Discard what is written to a stream from now on; its buffered text would fail again when Python exits."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def _write(text: str) -> None:
    try:
        print(text, end="", file=sys.stderr, flush=True)
    except OSError:  # the reader is gone
        discard(sys.stderr)
