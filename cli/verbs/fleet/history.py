"""Carry out `kohort fleet history`: write tables from logs, and make a document of the requested facts."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.output import write_file
from cli.progress import Spinner
from cli.render.document import Block, Document, Table, columns, fields, table_of
from cli.verbs.describe.view import DescribeMode, describe_document
from cli.verbs.fleet.options import SparkOptions
from cli.verbs.fleet.report_page import Row, check_reports, check_writable, history_page, write_reports
from cli.verbs.fleet.sources import LiveTopic, LogPaths, bytes_below
from cli.verbs.fleet.spark import (
    fleet_session,
    fleet_spinner,
    in_this_process,
    is_local,
    needs_session,
    settings_of,
    step_text,
)
from groups.counts import counted
from groups.listing import Cause
from groups.model import Group, Problem
from groups.times import format_moment
from wire.messages.record_codec import RECORD_TYPES

if TYPE_CHECKING:
    from pipeline.as_of import AsOf
    from pipeline.history import HistoryProgress, HistoryRun
    from pipeline.session import DataFrame, SparkSession

_SMALL_BYTES = 64 << 20
"""The size of logs that are processed in less time than Spark needs to start."""
_LOG_TO_TABLE = 10  # Ratio of a log's size to its table of events, approximately


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRequest:
    source: LogPaths | LiveTopic
    out: str | None = None
    groups: tuple[str, ...] = ()
    as_of_ms: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    reports: tuple[Path, ...] = ()
    svg: Path | None = None
    for_programs: bool = False  # Whether the rebalances of all groups are shown, or of the named ones

    @property
    def needs_spark(self) -> bool:
        """Whether the answer is computed from the tables by Spark, however few their rows are."""
        return bool(self.reports or self.svg or self.as_of_ms is not None)

    def check(self, spark: SparkOptions) -> None:
        """Refuse an invalid request before the run, which may take hours. Raises UsageError."""
        if self.as_of_ms is not None and not self.groups:
            raise UsageError("--as-of needs --group: it shows named groups as they were then")
        if self.svg is not None and len(self.groups) != 1:
            raise UsageError("--svg draws the rebalances of one group; name it with --group")
        if None not in (self.since_ms, self.until_ms) and (self.since_ms or 0) > (self.until_ms or 0):
            raise UsageError("--since is after --until")
        check_reports(self.reports)
        if self.svg is not None:
            check_writable("--svg", self.svg)
        if self.out is None and not is_local(spark.master):
            workers = f"the workers of {spark.master}"
            raise UsageError(f"{workers} write the tables: give --out with a directory that they reach")


def carry_out(request: HistoryRequest, options: SparkOptions) -> History:
    request.check(options)
    size, source = _input_bytes(request), request.source
    with fleet_spinner(options) as spinner, _tables(request) as out:
        from pipeline.history import run_history

        def progress(step: HistoryProgress) -> None:
            spinner.show(step_text(step))

        run = None
        if (
            isinstance(source, LogPaths)
            and size is not None
            and size < _SMALL_BYTES
            and not needs_session(options)
        ):
            with in_this_process(options):
                run = run_history(None, source.logs(), out, progress=progress)
                if not request.needs_spark:
                    return _Answer(None, request, run, spinner).history(0)
        spinner.show("starting Spark")
        with fleet_session(settings_of(options, source.jars(options), input_bytes=size)) as spark:
            held_back = 0
            if run is None:
                from pipeline.decode.records import LogReader

                logs = source.open(spark)
                run = run_history(spark, logs, out, progress=progress)
                held_back = logs.held_back if isinstance(logs, LogReader) else 0
            return _Answer(spark, request, run, spinner).history(held_back)


def _input_bytes(request: HistoryRequest) -> int | None:
    """The size of the logs, including those of earlier runs: tables are built from all of them. None: not known."""
    size, out = request.source.size, request.out
    if size is None or out is None:
        return size
    if "://" in out:
        return None
    return size + _LOG_TO_TABLE * bytes_below(Path(out), "*.parquet")


@contextmanager
def _tables(request: HistoryRequest) -> Iterator[str]:
    """The directory of the tables: a temporary one if they are not kept."""
    if request.out is not None:
        yield request.out
        return
    with tempfile.TemporaryDirectory(prefix="kohort-history-", ignore_cleanup_errors=True) as scratch:
        yield str(Path(scratch) / "tables")


class _Answer:
    def __init__(
        self, spark: SparkSession | None, request: HistoryRequest, run: HistoryRun, spinner: Spinner
    ) -> None:
        from pipeline.overview import Span
        from pipeline.store import Store, read_catalog

        self._spark, self._request, self._run, self._spinner = spark, request, run, spinner
        self._store = Store(spark, run.out, read_catalog(spark, run.out))
        self._span = Span(groups=request.groups, since=request.since_ms, until=request.until_ms)

    def history(self, held_back: int) -> History:
        request = self._request
        self._spinner.show("reading tables")
        groups, described = self._groups(), self._described()
        self._write_reports()
        self._draw({row["group"] for row in groups})
        return History(
            request=request,
            run=self._run,
            groups=groups,
            rebalances=self._rebalances() if request.groups or request.for_programs else [],
            described=[state.group for state in described if state.group is not None],
            held_back=held_back,
            problems=tuple(self._missing(groups, described)),
        )

    def _table(self, name: str) -> DataFrame:
        if self._spark is None:
            raise ValueError(f"{name} is read by Spark")
        return self._store.frame(self._spark, name, self._store.runs(name))

    def _chosen(self, name: str) -> DataFrame:
        from pipeline.overview import of_groups

        return of_groups(self._table(name), self._request.groups)

    def _groups(self) -> Sequence[Row]:
        from pipeline.overview import overview

        rows = overview(self._store, self._span)
        rows.sort(key=lambda row: (-(row["rebalancing_s"] or 0.0), -row["rebalances"], row["group"]))
        return rows

    def _missing(self, groups: Sequence[Row], described: Sequence[AsOf]) -> Iterator[Problem]:
        there = {row["group"] for row in groups}
        for position, group in enumerate(self._request.groups):
            if described:
                yield from described[position].problems
            if group not in there and not (described and described[position].records):
                message = "the sources contain nothing about this group"
            elif described and described[position].group is None:
                message = f"there was no such group at {format_moment(self._request.as_of_ms or 0)}"
            else:
                continue
            yield Problem(subject=group, message=message, cause=Cause.ABSENT)

    def _rebalances(self) -> Sequence[Row]:
        from pipeline.overview import rebalances_between

        rows = rebalances_between(self._store, self._span)
        rows.sort(key=lambda row: (row["group"], row["end"] or row["start"] or 0, row["epoch"]))
        return [{name: value for name, value in row.items() if name != "busy_s"} for row in rows]

    def _described(self) -> Sequence[AsOf]:
        if self._request.as_of_ms is None:
            return ()
        from pipeline.as_of import as_of

        moment = datetime.fromtimestamp(self._request.as_of_ms / 1_000, UTC)
        events, names = self._table("events"), self._request.source.names
        return [as_of(events, group, moment, names=names) for group in self._request.groups]

    def _write_reports(self) -> None:
        if not self._request.reports:
            return
        from pipeline.report.measure import numbers_of

        self._spinner.show("measuring for the report")
        tables = {name: self._chosen(name) for name in self._run.tables if name != "quarantine"}
        tables["quarantine"] = self._table("quarantine")
        numbers = numbers_of(tables, made=datetime.now(UTC), sources=self._request.source.places)
        write_reports(self._request.reports, partial(history_page, numbers))

    def _draw(self, there: Collection[str]) -> None:
        request = self._request
        if request.svg is None or request.groups[0] not in there:
            return
        from cli.render.lanes import draw_file
        from cli.verbs.fleet.rebalances_svg import rebalances_drawing
        from pipeline.overview import between_times
        from pipeline.report.measure import timeline_of

        between = between_times(self._chosen("rebalances"), request.since_ms, request.until_ms)
        timeline = timeline_of(between, request.groups[0])
        write_file(request.svg, draw_file(rebalances_drawing(timeline)))


_MOMENTS = ("start", "end", "last_rebalance")
QUARANTINE_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    request: HistoryRequest
    run: HistoryRun
    groups: Sequence[Row]  # Rows in the schema OVERVIEW; groups that rebalanced longest are first
    rebalances: Sequence[Row]  # Rows in the schema REBALANCES, by group and epoch, if requested
    described: Sequence[Group] = ()  # The groups at the requested time
    held_back: int = 0  # Offsets of the live topic after the start of open transactions
    problems: tuple[Problem, ...] = ()


def fleet_history_document(history: History) -> Document:
    return Document(
        command="fleet history",
        data=_data(history),
        blocks=list(_blocks(history)),
        errors=history.problems,
        remarks=tuple(_remarks(history)),
    )


def _data(history: History) -> dict[str, object]:
    request, run = history.request, history.run
    counts = sorted((number, n) for number, n in run.by_key_version.items() if number is not None)
    data: dict[str, object] = {
        "records": run.records,
        "by_key_version": {str(number): n for number, n in counts},
        "transaction_ends": run.by_key_version.get(None, 0),
        "since": _moment(request.since_ms),
        "until": _moment(request.until_ms),
        "groups": [_row(row) for row in history.groups],
        "rebalances": [_row(row) for row in history.rebalances],
        "quarantined": [asdict(row) for row in run.quarantined],
        "quarantined_total": run.quarantined_total,
        "tables": {
            table.name: {"path": table.path if request.out else None, **fields(table, "rows", "added")}
            for table in run.tables.values()
        },
    }
    if request.as_of_ms is None:
        return {**data, "as_of": None}
    described = _described(history, DescribeMode.OFFSETS).data["groups"]
    return {**data, "as_of": {"time": _moment(request.as_of_ms), "groups": described}}


def _described(history: History, mode: DescribeMode) -> Document:
    return describe_document(history.described, {}, mode, verbose=mode is DescribeMode.MEMBERS, problems=())


def _row(row: Row) -> dict[str, object]:
    data = {name: _moment(value) if name in _MOMENTS else value for name, value in row.items()}
    data.pop("day", None)
    return data


def _moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else format_moment(at_ms)


def _blocks(history: History) -> Iterator[Block]:
    request, run = history.request, history.run
    if request.as_of_ms is not None:
        for mode in (DescribeMode.STATE, DescribeMode.MEMBERS, DescribeMode.OFFSETS):
            yield from _described(history, mode).blocks
        return
    if request.groups:
        yield _rebalances(history.rebalances)
        return
    yield table_of(
        history.groups,
        "GROUP",
        ("TYPE", lambda row: row["migration"] if row["migration"] == "mixed" else row["type"]),
        *("#REBALANCES", "##JOINED", "##LEFT", "#MOVED", "#REBALANCING", "##STORMS", "##ZOMBIES", "##RESETS"),
        ("LAST-REBALANCE", lambda row: _moment(row["last_rebalance"])),
    )
    types: dict[int | None, str] = {number: kind.name for number, kind in RECORD_TYPES.items()}
    types[None] = "ends of transactions"
    counts = sorted(run.by_key_version.items(), key=lambda item: -1 if item[0] is None else item[0])
    rows = [(number, types.get(number, "unknown"), count) for number, count in counts]
    yield Table(columns=columns("#TYPE", "NAME", "#RECORDS"), rows=rows)
    if request.out is not None:
        yield table_of(run.tables.values(), ("TABLE", "name"), "#ROWS", "#ADDED", ("DIRECTORY", "path"))
    if run.quarantined:
        shown = run.quarantined[:QUARANTINE_SHOWN]
        yield table_of(shown, "FILE", "#POSITION", "#OFFSET", ("NOT-READ", "reason"))


def _rebalances(rebalances: Sequence[Row]) -> Table:
    return table_of(
        rebalances,
        *("GROUP", ("#GROUP-EPOCH", "epoch")),
        ("START", lambda row: _moment(row["end"] if row["start"] is None else row["start"])),
        *("#DURATION", "CAUSE", "PROTOCOL", "ASSIGNOR"),
        ("##MEMBERS-BEFORE", "members_before"),
        *("##MEMBERS", "#MOVED", "#REVOKED"),
        ("JOINED", lambda row: ", ".join(row["joined"])),
        ("LEFT", lambda row: ", ".join(row["left"])),
    )


def _remarks(history: History) -> Iterator[str]:
    total = history.run.quarantined_total
    if total:
        things = "1 record, part or file" if total == 1 else f"{total} records, parts or files"
        yield f"{things} could not be read; --output json and the table quarantine show which, and why"
    if history.held_back:
        offsets = counted(history.held_back, "offset")
        yield f"{offsets} not read yet, because a transaction before them is open; a later run reads them"
