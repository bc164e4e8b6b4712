"""A terminal that is redrawn in place on the alternate screen, and restored afterwards.
The screen does not scroll: lines are cut to its width, those that do not fit are counted."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Self, TextIO

import typer

from cli.errors import ExitStatus
from cli.render.color import CODES, MONOCHROME, has_color, painted
from cli.render.document import Document, Table
from cli.render.layout import document_lines, table_pieces
from cli.render.lines import Line, Piece, Role, cut, line_width

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H"
_LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
_STOP_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_STOP = getattr(signal, "SIGTSTP", None)
_SLICE_S = 0.1  # How often the size is checked
LEAST_COLUMNS, LEAST_LINES = 20, 4  # The minimum size; a smaller terminal is drawn as if it had this size


def can_draw(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal on which the cursor can be moved."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")


class Screen:
    """The screen. Use it in a `with` block, and only in the main thread, because of signals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._handle = stream, stream.fileno()
        self._handled: list[int] = []
        self._lines: Callable[[int, int], Sequence[Line]] = lambda _width, _height: ()
        self._size = self.size
        self._is_entered = False
        self._codes = CODES if has_color(stream) else MONOCHROME

    @property
    def size(self) -> tuple[int, int]:
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

    def wait(self, seconds: float) -> None:
        """Wait, redrawing when the terminal was resized."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(_SLICE_S, left))
            if self.size != self._size:
                self._redraw()

    def __enter__(self) -> Self:
        self._stream.flush()
        handlers: Mapping[int, Callable[[int, FrameType | None], None]] = {
            **dict.fromkeys(_STOP_SIGNALS, self._end),
            **({_STOP: self._stop} if _STOP is not None else {}),
        }
        for number, handler in handlers.items():
            # A signal that is ignored (nohup) stays ignored.
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, handler)
                self._handled.append(number)
        self._enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        for number in self._handled:
            signal.signal(number, signal.SIG_DFL)

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


def changed_document_lines(document: Document, before: Document | None, width: int) -> Iterator[Line]:
    """The lines of a document; cells that are new since `before` are marked."""
    blocks = [] if before is None else before.text_blocks
    earlier = iter([block for block in blocks if isinstance(block, Table)])
    return document_lines(document, width, lambda table: marked(table, next(earlier, None)))


def shortened(lines: Sequence[Line], height: int) -> list[Line]:
    """The lines that fit; the last one contains the number of lines that do not."""
    if len(lines) <= height:
        return list(lines)
    kept = max(height - 1, 0)
    return [*lines[:kept], (Piece(f"… {len(lines) - kept:,} more lines", Role.FAINT),)]


def marked(table: Table, before: Table | None) -> list[list[Piece]]:
    """The cells of a table; changed cells are marked."""
    changed = changed_cells(before, table)
    pieces = table_pieces(table)
    for row, position in changed:
        pieces[row][position] = pieces[row][position]._replace(role=Role.CHANGED)
    return pieces


def changed_cells(before: Table | None, after: Table) -> frozenset[tuple[int, int]]:
    """The changed cells as (row, column) in `after`, from 0; empty if there was no table before.
    Rows correspond if they agree in the first columns that distinguish all rows; new rows and columns are changed."""
    if before is None:
        return frozenset()
    names = [column.name for column in after.columns]
    positions = {column.name: position for position, column in enumerate(before.columns)}
    keys = _key_columns(before, after, names, positions)
    known = {tuple(row[positions[names[key]]] for key in range(keys)): row for row in before.rows}
    changed: set[tuple[int, int]] = set()
    for number, row in enumerate(after.rows):
        old = known.get(tuple(row[:keys]))
        for position, name in enumerate(names):
            if old is None or name not in positions or old[positions[name]] != row[position]:
                changed.add((number, position))
    return frozenset(changed)


def _key_columns(before: Table, after: Table, names: Sequence[str], positions: dict[str, int]) -> int:
    """The number of first columns that distinguish all rows in both tables; if none do, of all shared ones."""
    shared = next((count for count, name in enumerate(names) if name not in positions), len(names))
    for count in range(1, shared + 1):
        old = {tuple(row[positions[name]] for name in names[:count]) for row in before.rows}
        new = {tuple(row[:count]) for row in after.rows}
        if len(old) == len(before.rows) and len(new) == len(after.rows):
            return count
    return shared
