"""The Spark session of a command, its progress and its errors."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.errors import CommandError, UsageError
from cli.progress import Spinner
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
    """A session; errors of Spark and the file systems in it become CommandErrors."""
    from pipeline.session import session

    with session(settings) as spark, _translated(verbose=settings.verbose):
        yield spark


@contextmanager
def in_this_process(options: SparkOptions) -> Iterator[None]:
    """Without Spark; errors become CommandErrors as in a session. Raises MissingSpark: the extra is not installed."""
    from pipeline.jvm import check_extra

    check_extra()
    with _translated(verbose=options.verbose):
        yield


def needs_session(options: SparkOptions) -> bool:
    """Whether Spark is asked for: by its options, or because `spark-submit` has started it."""
    return bool(options.master or options.conf or options.jars or "PYSPARK_GATEWAY_PORT" in os.environ)


@contextmanager
def _translated(*, verbose: bool) -> Iterator[None]:
    """Translate errors while the JVM, which contains their messages, is still running."""
    try:
        yield
    except OSError as error:
        is_about_file = error.filename is not None and error.strerror
        text = f"{error.filename}: {error.strerror}" if is_about_file else str(error)
        raise CommandError(text) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _SPARK_PACKAGES:
            raise
        hint = "" if verbose else " (--spark-log shows Spark's own log)"
        raise CommandError(f"Spark failed: {cause_of(str(error))}{hint}") from error


def cause_of(text: str) -> str:
    """The innermost cause of an error of Spark, without the stacks of Java and Python."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [match["cause"] for line in lines if (match := _CAUSE.match(line))]
    cause = causes[-1] if causes else next(iter(lines), "it gives no reason")
    return cause if len(cause) <= _LONGEST else f"{cause[:_LONGEST]}…"


_STEPS = {
    "list": "looking for segments",
    "events": "decoding records",
    "groups": "finding rebalances",
    "departures": "judging departures",
    "publish": "moving tables into place",
}


def fleet_spinner(options: SparkOptions) -> Spinner:
    """Shows what is done; nothing if Spark's own log is shown. Steps may be reported from other threads."""
    return Spinner("starting Spark", is_quiet=options.verbose)


def step_text(progress: HistoryProgress) -> str:
    text = tasks_text(_STEPS[progress.step.value], progress.done, progress.total)
    return text if progress.records is None else f"{text}, {progress.records:,} records"


def tasks_shown(spinner: Spinner, doing: str) -> Callable[[int, int], None]:
    return lambda done, total: spinner.show(tasks_text(doing, done, total))


def tasks_text(doing: str, done: int, total: int) -> str:
    """What is done, and how much of it; a total of 0 means that it is not known."""
    return f"{doing}: {100 * done // total} %" if total else doing
