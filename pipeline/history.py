"""The history of a cluster's groups: from logs to the tables, and the run's results."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

from pyspark.sql import SparkSession

from coordinator.store.directory_files import read_meta_properties
from pipeline import writing
from pipeline.decode.records import LogReader
from pipeline.derived import DERIVED, REBALANCES, derive, judge_departures
from pipeline.errors import PipelineError
from pipeline.jobs import with_progress
from pipeline.sources.segments import reading as reading_segments
from pipeline.store import Catalog, Store, Stored, opened_store
from pipeline.tables.rebalances import WALKED_TABLE
from pipeline.tables.schemas import QUARANTINE, TABLES
from pipeline.tasks import Batches, Values, collected, numbers
from wire.log.errors import DamagedLog

QUARANTINE_SHOWN = 1_000  # the number of quarantined rows in a run; the table has all of them


class HistoryStep(StrEnum):
    LIST = "list"
    EVENTS = "events"
    GROUPS = "groups"
    DEPARTURES = "departures"
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
    spark: SparkSession | None,
    sources: Logs | LogReader,
    out: str,
    *,
    progress: Callable[[HistoryProgress], None] = lambda _: None,
) -> HistoryRun:
    """Decode the records that `out` does not have yet, and update all tables; in this process if there is no session.
    `out` is a directory of tables written by Kohort, or empty, or missing; a failure leaves its tables unchanged.
    Records are identified by partition of `__consumer_offsets` and offset: those that the tables have are not read
    again, from any copy or the live topic, and those that compaction has since removed are kept. Raises
    NotATableStore: `out` contains something else. Raises StoreInUse. Raises DifferentClusters. Raises
    FileNotFoundError: a path does not exist."""
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
            after = _Run(spark, store, progress).run(reading)
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
    def __init__(
        self, spark: SparkSession | None, store: Store, progress: Callable[[HistoryProgress], None]
    ) -> None:
        self._spark, self._store, self._progress = spark, store, progress
        self._before = store.catalog
        self._records = _total(self._before)
        self._target = writing.Target(
            out=store.out, run=store.next_run, options=store.options, after=self._before.next_offsets
        )

    def run(self, reading: LogReader) -> Catalog | None:
        """The catalog after the run; None if there is nothing new."""
        store, run, target = self._store, self._store.next_run, self._target
        with self._step(HistoryStep.EVENTS):
            manifest = reading.through(
                lambda batches: writing.write_decoded(batches, target), writing.WRITTEN
            )
        written = _Written(manifest)
        written.keep(store, (writing.EVENTS_TABLE, writing.QUARANTINE_TABLE, writing.RUNS_TABLE))
        self._records += written.records.total()
        tables = dict(self._before.tables)
        for table in (writing.EVENTS_TABLE, writing.RUNS_TABLE):
            tables[table] = _added(self._stored(table), run, written.rows[table])
        quarantine = self._quarantine(written)
        if quarantine is not None:
            tables[writing.QUARANTINE_TABLE] = quarantine
        elif not written.records and run > 1:
            return None
        counts = Counter(self._before.by_key_version) + written.records
        if written.records or run == 1:
            if written.is_disordered:  # runs may overlap: single commits replace the new ones
                single = self._single_runs()
                tables[writing.RUNS_TABLE] = _added(self._stored(writing.RUNS_TABLE), run, single)
            tables |= self._derived(tables, transactions=counts[None] > 0)
        return Catalog(
            run=run,
            next_offsets={**self._before.next_offsets, **written.ends},
            by_key_version=counts,
            tables=tables,
        )

    def _single_runs(self) -> int:
        """Write every new commit as a separate run, instead of the new runs; returns their number."""
        store, target = self._store, self._target
        files = store.files(writing.EVENTS_TABLE, (store.next_run,), writing.OFFSETS)

        def work(batches: Batches) -> Batches:
            numbered = (number for batch in batches for number in batch.column("id").to_pylist())
            return writing.write_single_runs((files[number] for number in numbered), target)

        written = _Written(collected(numbers(self._spark, len(files)), work, writing.WRITTEN))
        written.keep(store, (writing.RUNS_TABLE,))
        return written.rows[writing.RUNS_TABLE]

    def _derived(self, tables: Mapping[str, Stored], *, transactions: bool) -> dict[str, Stored]:
        store, spark, target = self._store, self._spark, self._target
        runs = tables[writing.EVENTS_TABLE].runs
        with self._step(HistoryStep.GROUPS):
            others = store.files(writing.EVENTS_TABLE, runs, writing.OTHERS)
            of_commits = store.files(writing.RUNS_TABLE, tables[writing.RUNS_TABLE].runs)
            written = _Written(derive(spark, others, of_commits, others if transactions else (), target))
        written.keep(store, (*DERIVED, WALKED_TABLE))
        rows = written.rows
        if rows[WALKED_TABLE]:
            with self._step(HistoryStep.DEPARTURES):
                walked = store.files(WALKED_TABLE, (store.next_run,))
                offsets = store.files(writing.EVENTS_TABLE, runs, writing.OFFSETS)
                verdicts = _Written(judge_departures(spark, walked, offsets, target))
            store.keep_only(REBALANCES, written.files | verdicts.files)
            rows += verdicts.rows
        return {name: Stored(runs=(store.next_run,), rows=rows[name]) for name in DERIVED}

    @contextmanager
    def _step(self, step: HistoryStep) -> Iterator[None]:
        self._report(step)
        if self._spark is None:
            yield
            return
        with with_progress(self._spark, lambda done, total: self._report(step, done, total)):
            yield

    def _quarantine(self, written: "_Written") -> Stored | None:
        """The rows of all runs, each once: every run finds unreadable data again. None: there are no new rows."""
        if not written.rows[writing.QUARANTINE_TABLE]:
            return None
        store, before = self._store, self._stored(writing.QUARANTINE_TABLE)
        runs = (*before.runs, store.next_run)
        rows = store.arrow(writing.QUARANTINE_TABLE, runs).group_by(QUARANTINE.names).aggregate([])
        if rows.num_rows == before.rows:
            return None
        files = writing.TaskFiles(self._target)
        for batch in rows.to_batches():
            files.add(writing.QUARANTINE_TABLE, "", batch)
        _Written(row.values() for row in files.manifest().to_pylist()).keep(
            store, (writing.QUARANTINE_TABLE,)
        )
        return Stored(runs=(store.next_run,), rows=rows.num_rows)

    def _stored(self, table: str) -> Stored:
        return self._before.tables.get(table, Stored())

    def _report(self, step: HistoryStep, done: int = 0, total: int = 0) -> None:
        self._progress(HistoryProgress(step=step, done=done, total=total, records=self._records))


class _Written:
    """The manifests of all tasks together."""

    def __init__(self, manifest: Iterable[Values]) -> None:
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

    def keep(self, store: Store, tables: Iterable[str]) -> None:
        """Remove the files of failed tasks from the next run's part of tables."""
        for table in tables:
            store.keep_only(table, self.files)

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
    order = [(name, "ascending") for name in QUARANTINE.names]
    quarantined = store.arrow(writing.QUARANTINE_TABLE).sort_by(order).slice(0, QUARANTINE_SHOWN)
    return HistoryRun(
        out=store.out,
        tables=tables,
        records=_total(now),
        added=_total(now) - _total(before),
        by_key_version=now.by_key_version,
        quarantined=tuple(Quarantined(**row) for row in quarantined.to_pylist()),
        quarantined_total=tables[writing.QUARANTINE_TABLE].rows,
    )
