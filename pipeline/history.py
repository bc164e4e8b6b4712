"""The history of a cluster's groups: from logs to the tables, and the run's results."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from coordinator.store.directory_files import read_meta_properties
from pipeline import writing
from pipeline.decode.records import LogReader
from pipeline.errors import PipelineError
from pipeline.jobs import in_parallel, with_progress
from pipeline.sources.segments import reading as reading_segments
from pipeline.store import Catalog, Store, Stored, opened_store
from pipeline.tables.commits import chained, commits_by_day, single_runs
from pipeline.tables.courses import in_small_batches
from pipeline.tables.groups import groups
from pipeline.tables.rebalances import COURSES_TABLE, courses, ownership, rebalances
from pipeline.tables.schemas import TABLES
from wire.log.errors import DamagedLog

QUARANTINE_SHOWN = 1_000  # the number of quarantined rows in a run; the table has all of them


class HistoryStep(StrEnum):
    LIST = "list"
    EVENTS = "events"
    REBALANCES = "rebalances"
    OWNERSHIP = "ownership"
    COMMITS = "commits"
    GROUPS = "groups"
    PUBLISH = "publish"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryProgress:
    """The progress of a run: `done` of `total` tasks of the step (0 of 0: unknown), `records` written so far."""

    step: HistoryStep
    done: int = 0
    total: int = 0
    records: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """Segments: directories of log.dirs, of a partition, or files, on a file system that Spark's workers read."""

    paths: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)  # topic id → name, in addition to the logs'


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """One row of the table `quarantine`."""

    source: str
    file: str
    position: int | None
    offset: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryTable:
    name: str
    path: str
    rows: int
    added: int  # the rows that this run added; if it computed the table again, all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRun:
    """The results of a run. The counts are of the whole tables, including earlier runs into `out`."""

    out: str
    tables: Mapping[str, HistoryTable]
    records: int
    added: int  # records that no earlier run had
    by_key_version: Mapping[int | None, int]  # records by type; None: transaction markers
    quarantined: tuple[Quarantined, ...]  # the first `QUARANTINE_SHOWN` rows, by source, file and position
    quarantined_total: int


class DifferentClusters(PipelineError):
    """The sources, or `out` and the sources, are of more than one cluster."""


def run_history(
    spark: SparkSession,
    sources: Logs | LogReader,
    out: str,
    *,
    progress: Callable[[HistoryProgress], None] = lambda _: None,
) -> HistoryRun:
    """Decode the records that `out` does not have yet, and update all tables. `out` is a directory of tables written by
    Kohort, or empty, or missing; a failure leaves its tables unchanged. Records are identified by partition of
    `__consumer_offsets` and offset: those that the tables have are not read again, from any copy or the live topic, and
    those that compaction has since removed are kept. Raises NotATableStore: `out` contains something else. Raises
    StoreInUse. Raises DifferentClusters. Raises FileNotFoundError: a path does not exist."""
    progress(HistoryProgress(step=HistoryStep.LIST))
    cluster = cluster_of(sources.paths) if isinstance(sources, Logs) else sources.cluster
    with opened_store(spark, out) as store:
        before, reading = store.catalog, sources
        if isinstance(reading, Logs):
            reading = reading_segments(spark, reading.paths, names=reading.names, after=before.next_offsets)
        if cluster is not None and before.cluster not in (None, cluster):
            raise DifferentClusters(
                f"{out} is of the cluster {before.cluster}, the logs are of {cluster}: use another directory"
            )
        try:
            store.begin()
            after = _Run(store, progress).run(reading)
        except BaseException:
            store.sweep()
            raise
        if after is None:
            store.sweep()
        else:
            progress(HistoryProgress(step=HistoryStep.PUBLISH, records=_total(after)))
            store.publish(replace(after, cluster=cluster or before.cluster))
        return _run_result(store, before)


def cluster_of(paths: Iterable[str]) -> str | None:
    """The cluster of local log directories, if they contain its id. Raises DifferentClusters: they have several."""
    clusters = clusters_of(paths)
    if len(clusters) > 1:
        places = " and ".join(f"{path} is of {cluster}" for cluster, path in clusters.items())
        raise DifferentClusters(f"the directories are of different clusters: {places}")
    return next(iter(clusters), None)


def clusters_of(paths: Iterable[str]) -> dict[str, str]:
    """The clusters of local log directories at or around these paths; for each the first path."""
    clusters: dict[str, str] = {}
    for path in paths:
        inner = Path(path.removeprefix("file://"))
        for directory in (inner, inner.parent, inner.parent.parent):
            try:
                meta = read_meta_properties(directory)
            except (DamagedLog, OSError):
                continue
            if meta is not None and meta.cluster_id is not None:
                clusters.setdefault(meta.cluster_id, path)
                break
    return clusters


class _Run:
    def __init__(self, store: Store, progress: Callable[[HistoryProgress], None]) -> None:
        self._store = store
        self._spark = store.spark
        self._progress = progress
        self._before = store.catalog
        self._records = _total(self._before)

    def run(self, reading: LogReader) -> Catalog | None:
        """The catalog after the run; None if there is nothing new."""
        store, run = self._store, self._store.next_run
        target = writing.Target(
            out=store.out, run=run, options=store.options, after=self._before.next_offsets
        )
        step = HistoryStep.EVENTS
        with with_progress(self._spark, lambda done, total: self._report(step, done, total)):
            self._report(step)
            manifest = reading.through(
                lambda batches: writing.write_decoded(batches, target), writing.WRITTEN
            ).collect()
        written = _Written(manifest)
        for table in (writing.EVENTS_TABLE, writing.QUARANTINE_TABLE, writing.RUNS_TABLE):
            store.keep_only(table, written.files)
        self._records += written.records.total()
        tables = dict(self._before.tables)
        for table in (writing.EVENTS_TABLE, writing.RUNS_TABLE):
            tables[table] = _added(self._stored(table), run, written.rows[table])
        quarantine = self._quarantine(written)
        if quarantine is not None:
            tables[writing.QUARANTINE_TABLE] = quarantine
        elif not written.records and run > 1:
            return None
        if written.records or run == 1:
            if written.is_disordered:  # runs may overlap: single commits replace the new ones
                store.rewrite(writing.RUNS_TABLE, single_runs(store.frame(writing.EVENTS_TABLE, (run,))))
                count = store.frame(writing.RUNS_TABLE, (run,)).count()
                tables[writing.RUNS_TABLE] = _added(self._stored(writing.RUNS_TABLE), run, count)
            tables |= self._derived(tables)
        return Catalog(
            run=run,
            next_offsets={**self._before.next_offsets, **written.ends},
            by_key_version=Counter(self._before.by_key_version) + written.records,
            tables=tables,
        )

    def _derived(self, tables: Mapping[str, Stored]) -> dict[str, Stored]:
        store = self._store
        events = store.frame(writing.EVENTS_TABLE, tables[writing.EVENTS_TABLE].runs)
        runs = store.frame(writing.RUNS_TABLE, tables[writing.RUNS_TABLE].runs)

        def commits() -> DataFrame:
            return store.write(HistoryStep.COMMITS.value, commits_by_day(chained(runs, events)))

        # Two jobs run in parallel: while one is planned, started or cleaned up, the other uses the processors.
        with in_parallel(self._spark, commits) as committing:
            with in_small_batches(self._spark):
                walked = self._write(HistoryStep.REBALANCES, lambda: courses(events), COURSES_TABLE)
            moved = self._write(HistoryStep.REBALANCES, lambda: rebalances(walked, events))
            owned = self._write(HistoryStep.OWNERSHIP, lambda: ownership(walked))
            self._report(HistoryStep.COMMITS)
            committed = committing.result()
        self._write(HistoryStep.GROUPS, lambda: groups(events, moved, owned, committed))
        run, derived = (store.next_run,), ("rebalances", "ownership", "commits", "groups")
        names = [store.frame(name, run).select(f.lit(name).alias("table")) for name in derived]
        rows = reduce(DataFrame.unionAll, names).groupBy("table").count().collect()
        counts = {row["table"]: row["count"] for row in rows}
        return {name: Stored(runs=run, rows=counts.get(name, 0)) for name in derived}

    def _write(self, step: HistoryStep, rows: Callable[[], DataFrame], table: str | None = None) -> DataFrame:
        """Write a table, by default that of the step's name; returns it as it was written."""
        with with_progress(self._spark, lambda done, total: self._report(step, done, total)):
            self._report(step)
            return self._store.write(table or step.value, rows())

    def _quarantine(self, written: "_Written") -> Stored | None:
        """The rows of all runs, each once: every run finds unreadable data again. None: there are no new rows."""
        if not written.rows[writing.QUARANTINE_TABLE]:
            return None
        store, before = self._store, self._stored(writing.QUARANTINE_TABLE)
        table = store.frame(writing.QUARANTINE_TABLE, (*before.runs, store.next_run)).distinct()
        rows = table.count()
        if rows == before.rows:
            return None
        store.rewrite(writing.QUARANTINE_TABLE, table.coalesce(1))
        return Stored(runs=(store.next_run,), rows=rows)

    def _stored(self, table: str) -> Stored:
        return self._before.tables.get(table, Stored())

    def _report(self, step: HistoryStep, done: int = 0, total: int = 0) -> None:
        self._progress(HistoryProgress(step=step, done=done, total=total, records=self._records))


class _Written:
    """The manifests of all tasks together."""

    def __init__(self, manifest: Iterable[Row]) -> None:
        self.files: set[str] = set()
        self.rows: Counter[str] = Counter()
        self.records: Counter[int | None] = Counter()
        self.ends: dict[int, int] = {}  # the offset after the last record, by partition of the log
        self._stretches: dict[int, list[writing.CommitRange]] = {}
        for what, name, number, count, begin in manifest:
            if what == writing.FILE:
                self.files.add(name)
                self.rows[name.partition("/")[0]] += count
            elif what == writing.RECORDS:
                self.records[number] += count
            elif what == writing.PARTITION:
                self.ends[number] = max(self.ends.get(number, 0), count)
            elif what == writing.STRETCH:
                self._stretches.setdefault(number, []).append(writing.CommitRange(begin=begin, end=count))

    @property
    def is_disordered(self) -> bool:
        """Whether the commits of a partition from different tasks overlap, or are not in order."""
        in_order = (sorted(ranges, key=attrgetter("begin")) for ranges in self._stretches.values())
        return any(later.begin < earlier.end for ranges in in_order for earlier, later in pairwise(ranges))


def _added(table: Stored, run: int, rows: int) -> Stored:
    return Stored(runs=(*table.runs, run), rows=table.rows + rows) if rows else table


def _total(catalog: Catalog) -> int:
    return sum(catalog.by_key_version.values())


def _run_result(store: Store, before: Catalog) -> HistoryRun:
    now = store.catalog
    tables = {}
    for name in TABLES:
        stored, earlier = now.tables.get(name, Stored()), before.tables.get(name, Stored())
        kept = set(earlier.runs) & set(stored.runs)
        tables[name] = HistoryTable(
            name=name,
            path=store.path(name),
            rows=stored.rows,
            added=stored.rows - earlier.rows if kept else stored.rows,
        )
    quarantined = store.frame(
        writing.QUARANTINE_TABLE, now.tables.get(writing.QUARANTINE_TABLE, Stored()).runs
    )
    shown = quarantined.orderBy("source", "file", "position", "offset", "reason").limit(QUARANTINE_SHOWN)
    return HistoryRun(
        out=store.out,
        tables=tables,
        records=_total(now),
        added=_total(now) - _total(before),
        by_key_version=now.by_key_version,
        quarantined=tuple(Quarantined(**row.asDict()) for row in shown.collect()),
        quarantined_total=tables[writing.QUARANTINE_TABLE].rows,
    )
