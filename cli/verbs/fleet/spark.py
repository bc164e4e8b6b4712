"""The Spark session of a command, its progress (on a terminal only) and its errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cli.errors import CommandError, UsageError
from cli.selection import split_list
from cli.verbs.fleet.options import SparkOptions

if TYPE_CHECKING:
    from pipeline.history import HistoryProgress
    from pipeline.session import SessionSettings, SparkSession

_SPARK_PACKAGES = ("py4j", "pyspark", "pyarrow")
_CAUSE = re.compile(r"^(?:Caused by: )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception|Failure): (?P<cause>\S.*)$")
_LONGEST = 500


def settings_of(
    options: SparkOptions, jars: Sequence[str] = (), *, input_bytes: int | None = None
) -> SessionSettings:
    """The settings of the options; `input_bytes` is the size of the input. UsageError for a --conf without a value."""
    from pipeline.session import SessionSettings

    return SessionSettings(
        master=options.master,
        conf=conf_of(options),
        jars=(*split_list(options.jars), *jars),
        verbose=options.verbose,
        input_bytes=input_bytes,
    )


def conf_of(options: SparkOptions) -> dict[str, str]:
    """Settings by name. UsageError for one without a value."""
    conf: dict[str, str] = {}
    for text in options.conf or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--conf {text}: write NAME=VALUE, such as spark.driver.memory=4g")
        conf[name.strip()] = value
    return conf


def is_local(master: str | None) -> bool:
    """Whether workers have access to the files of this machine."""
    return master is None or master.startswith("local")


@contextmanager
def fleet_session(settings: SessionSettings) -> Iterator[SparkSession]:
    """A session; errors of Spark and the file systems in it become CommandErrors.

    :raises MissingSpark: the extra or Java is missing
    """
    from pipeline.session import session

    with session(settings) as spark, _translated(verbose=settings.verbose):
        yield spark


@contextmanager
def _translated(*, verbose: bool) -> Iterator[None]:
    """Translate errors while the JVM, which contains their messages, is still running."""
    try:
        yield
    except OSError as error:
        raise CommandError(_of_file(error)) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _SPARK_PACKAGES:
            raise
        hint = "" if verbose else " (--spark-log shows Spark's own log)"
        raise CommandError(f"Spark failed: {cause_of(str(error))}{hint}") from error


def cause_of(text: str) -> str:
    """The innermost cause of an error of Spark, without the stacks of Java and Python."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [found["cause"] for line in lines if (found := _CAUSE.match(line))]
    cause = causes[-1] if causes else next(iter(lines), "it gives no reason")
    return cause if len(cause) <= _LONGEST else f"{cause[:_LONGEST]}…"


def _of_file(error: OSError) -> str:
    if error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


STARTING = "starting Spark"
_STEPS = {
    "list": "looking for segments",
    "events": "decoding records",
    "rebalances": "finding rebalances",
    "ownership": "following partitions",
    "commits": "counting commits",
    "groups": "summing up groups",
    "publish": "moving tables into place",
}


class FleetProgress:
    """A line on stderr with the current task, a bar and the time; nothing if stderr is not a terminal.

    Steps may be reported from other threads.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        """`quiet`: something else writes to stderr, such as Spark's own log."""
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
        """Hide the line while something is printed."""
        if self._bar is not None:
            self._bar.stop()
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.start()

    def show(self, doing: str, done: int = 0, total: int = 0, counted: str = "") -> None:
        """Show the current task and its progress; a total of 0 means that it is not known."""
        if self._bar is not None:
            self._bar.update(
                self._task, description=doing, completed=done, total=total or None, counted=counted
            )

    def history(self, progress: HistoryProgress) -> None:
        """A step of the history."""
        counted = "" if progress.records is None else f"{progress.records:,} records"
        self.show(
            _STEPS.get(progress.step.value, progress.step.value), progress.done, progress.total, counted
        )

    def audit(self, done: int, total: int) -> None:
        """Tasks of an audit."""
        self.show("checking groups", done, total)

    def simulation(self, done: int, total: int) -> None:
        """Tasks of a simulation."""
        self.show("simulating", done, total)

    def rehearsals(self, done: int, total: int) -> None:
        """Tasks of a fleet's rehearsals."""
        self.show("rehearsing groups", done, total)
