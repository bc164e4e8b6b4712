"""Carry out `kohort fleet follow`: stream the live topic into tables, and print a line or a document per update."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.output import notice
from cli.progress import Spinner
from cli.render.document import FORMAT_VERSION, fields
from cli.verbs.fleet.options import SparkOptions
from cli.verbs.fleet.sources import LiveTopic
from cli.verbs.fleet.spark import fleet_session, fleet_spinner, settings_of, step_text
from groups.counts import counted
from groups.times import format_moment

if TYPE_CHECKING:
    from pipeline.history import HistoryRun
    from pipeline.live import Following

_LOOK_S = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowRequest:
    """A request. `every_s` None: stop after the existing records; `seconds` None: run until Ctrl-C."""

    source: LiveTopic
    out: str
    checkpoint: str | None = None
    every_s: float | None = None
    seconds: float | None = None

    @property
    def kept(self) -> str:
        """The directory of the stream's checkpoint. UsageError if it is inside the table directory."""
        tables = self.out.rstrip("/")
        checkpoint = (self.checkpoint or f"{tables}-checkpoint").rstrip("/")
        if f"{checkpoint}/".startswith(f"{tables}/"):
            outside = f"name a directory outside {tables}"
            raise UsageError(f"--checkpoint {checkpoint} is inside the table directory; {outside}")
        return checkpoint


def carry_out(request: FollowRequest, options: SparkOptions, report: Callable[[FollowedRun], None]) -> None:
    """Follow the topic until its end, the time is up, or Ctrl-C; `report` is called in this thread for each run."""
    if request.every_s is None and request.seconds is not None:
        raise UsageError("--once stops when everything is read; --for cannot be used with it")
    checkpoint = request.kept
    with fleet_spinner(options) as spinner:
        reporter = _RunReporter(report, spinner)
        runs: queue.SimpleQueue[HistoryRun] = queue.SimpleQueue()
        try:
            settings = settings_of(options, request.source.jars(options))
            with fleet_session(settings) as spark:
                from pipeline.live import follow_history

                following = follow_history(
                    spark,
                    request.source.bootstrap,
                    request.out,
                    request.source.client,
                    checkpoint=checkpoint,
                    every=None
                    if request.every_s is None
                    else f"{round(request.every_s * 1000)} milliseconds",
                    progress=lambda step: spinner.show(step_text(step)),
                    done=runs.put,
                )
                for _ in _wakeups(following, request.seconds):
                    while not runs.empty():
                        reporter.add(runs.get())
        except KeyboardInterrupt:
            if not reporter.is_anything:  # after output, Ctrl-C is the normal end
                raise
        if not reporter.is_anything:
            notice(f"no new records for the tables in {request.out}")


def _wakeups(following: Following, seconds: float | None) -> Iterator[None]:
    deadline = None if seconds is None else time.monotonic() + seconds
    while not following.wait(_LOOK_S):
        yield
        if deadline is not None and time.monotonic() >= deadline:
            following.stop()
            break
    yield


class _RunReporter:
    def __init__(self, report: Callable[[FollowedRun], None], spinner: Spinner) -> None:
        self._report, self._spinner = report, spinner
        self._rebalances: int | None = None
        self.is_anything = False

    def add(self, run: HistoryRun) -> None:
        rebalances = run.tables["rebalances"].rows
        before, self._rebalances = self._rebalances, rebalances
        seen = FollowedRun(
            at_ms=time.time_ns() // 1_000_000,
            **fields(run, "out", "records", "added"),
            rebalances=rebalances,
            rebalances_added=None if before is None else rebalances - before,
            quarantined=run.quarantined_total,
        )
        self._report(seen)
        self.is_anything = True
        self._spinner.show("waiting for records")


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedRun:
    """The contents of the tables after a run; `rebalances_added` is None for this process's first run."""

    at_ms: int
    out: str
    records: int
    added: int
    rebalances: int
    rebalances_added: int | None
    quarantined: int


def followed_line(seen: FollowedRun) -> str:
    parts = [f"{counted(seen.added, 'new record')}, {seen.records:,} in all"]
    new = "" if not seen.rebalances_added else f" ({seen.rebalances_added:,} new)"
    parts.append(counted(seen.rebalances, "rebalance") + new)
    if seen.quarantined:
        parts.append(f"{seen.quarantined:,} in quarantine")
    return f"{format_moment(seen.at_ms)}  {'; '.join(parts)}"


def followed_document(seen: FollowedRun) -> str:
    data = asdict(seen)
    head = {"kohort": FORMAT_VERSION, "command": "fleet follow", "time": format_moment(data.pop("at_ms"))}
    return json.dumps(head | data, ensure_ascii=False)
