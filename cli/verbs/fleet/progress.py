"""How far Spark has come, on a terminal only, and never among data."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.history import Progress as HistoryProgress

STARTING = "starting Spark"
_STEPS = {
    "list": "looking for segments",
    "events": "decoding records",
    "rebalances": "finding rebalances",
    "ownership": "following partitions",
    "commits": "counting commits",
    "groups": "summing up groups",
    "publish": "putting tables into place",
}


class FleetProgress:
    """A line on stderr with what is done, a bar and the time; nothing where stderr is no terminal.

    Steps may be told from other threads.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        """`quiet`: something else writes to stderr, as Spark's own log does."""
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._stack = ExitStack()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> FleetProgress:
        if self._shown:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("kohort: {task.description}"),
                BarColumn(),
                TextColumn("{task.fields[counted]}"),
                TimeElapsedColumn(),
            )
            console = Console(file=sys.stderr)
            self._bar = self._stack.enter_context(Progress(*columns, console=console, transient=True))
            self._task = self._bar.add_task(STARTING, total=None, counted="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """While something is printed."""
        if self._bar is not None:
            self._bar.stop()
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.start()

    def say(self, doing: str, done: int = 0, total: int = 0, counted: str = "") -> None:
        """What is done, and how many of the tasks there are; a total of 0 is not known."""
        if self._bar is not None:
            self._bar.update(
                self._task, description=doing, completed=done, total=total or None, counted=counted
            )

    def history(self, progress: HistoryProgress) -> None:
        """A step of the history."""
        counted = "" if progress.records is None else f"{progress.records:,} records"
        self.say(_STEPS.get(progress.step.value, progress.step.value), progress.done, progress.total, counted)

    def audit(self, done: int, total: int) -> None:
        """Tasks of an audit."""
        self.say("judging groups", done, total)
