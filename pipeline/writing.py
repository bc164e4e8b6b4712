"""Decoded rows as files of Parquet, written in the task that decodes them. A task writes files whose names no other
attempt uses, and returns a manifest of them; only files in the manifests of successful tasks are kept
(`pipeline.store`), so that a task that fails, or runs twice, neither loses nor duplicates records. Offsets, which
are most of a log, and other events are in separate files: the statistics let a reader of groups skip the former.
The memory of a task is bounded."""

import itertools
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql.pandas.types import to_arrow_schema

from pipeline.sources.filesystem import opened
from pipeline.tables.commits import READ, runs_of
from pipeline.tables.schemas import EVENTS, INT, LONG, OFFSET, QUARANTINE, STRING, VERSION, table

WRITTEN = table(
    ("what", STRING, False),  # file, records, partition, stretch
    ("name", STRING, True),  # file: path below the run's directory; the first part is the table
    ("number", INT, True),  # records: the type of the key; partition, stretch: the partition of the log
    ("count", LONG, False),  # file: rows; records: their number; partition, stretch: offset after the last
    ("begin", LONG, True),  # stretch: the first offset
)
"""The schema of a manifest."""
FILE, RECORDS, PARTITION, STRETCH = "file", "records", "partition", "stretch"
EVENTS_TABLE, QUARANTINE_TABLE, RUNS_TABLE = "events", "quarantine", "commit_runs"
OFFSETS, OTHERS = "offsets", "others"  # the ends of the names of files of events
METADATA = {"kohort.schema": str(VERSION)}  # the metadata of every file

_ROW_GROUP_BYTES = 32 << 20
_HELD_BYTES = 128 << 20
_MOST_OPEN = 16
_COMMITS_AT_ONCE = 1 << 19
_LOOKED_AT = ("kind", "key_version", "partition", "offset", "time", "producer_id", "group")
_EPOCH = date(1970, 1, 1)
_HERE = itertools.count()  # the tasks in this process, without Spark
_QUARANTINE = QUARANTINE.names


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The directory of a run: `out/<table>/run=<run>/…`. `options` are Hadoop's; `after`: the first offset that the
    tables do not have yet, by partition of the log."""

    out: str
    run: int
    options: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRange:
    """Offsets of one partition of the log, from `begin` to before `end`: one task had their commits in order."""

    begin: int
    end: int


def write_decoded(batches: Iterable[pa.RecordBatch], target: Target) -> Iterator[pa.RecordBatch]:
    """Write batches of `DECODED`; returns the manifest, as `WRITTEN`."""
    files = TaskFiles(target)
    records: Counter[int | None] = Counter()
    ends: dict[int, int] = {}
    commits = _Commits()
    for batch in batches:
        fresh = _fresh(batch, target.after)
        for partition, _, end in _bounds(fresh):
            if end > 0:
                ends[partition] = max(ends.get(partition, 0), end)
        readable = pc.is_null(fresh.column("reason"))
        quarantined = _chosen(fresh, pc.invert(readable))
        if quarantined.num_rows:
            files.add(QUARANTINE_TABLE, "", _of_quarantine(quarantined))
        events = _chosen(fresh, readable)
        if not events.num_rows:
            continue
        counts = pc.value_counts(events.column("key_version")).to_pylist()
        records.update({pair["values"]: pair["counts"] for pair in counts})
        is_offset = pc.equal(events.column("kind"), OFFSET)
        offsets = _chosen(events, is_offset)
        if offsets.num_rows:
            for runs in commits.add(offsets):
                files.add(RUNS_TABLE, "", runs)
        for name, part in ((OFFSETS, offsets), (OTHERS, _chosen(events, pc.invert(is_offset)))):
            files.add_by_day(EVENTS_TABLE, name, part.select(EVENTS.names))
    for runs in commits.rest():
        files.add(RUNS_TABLE, "", runs)
    yield files.manifest()
    rows = [
        *({"what": RECORDS, "number": number, "count": count} for number, count in records.items()),
        *({"what": PARTITION, "number": number, "count": end} for number, end in ends.items()),
        *(
            {"what": STRETCH, "number": number, "begin": range_.begin, "count": range_.end}
            for number, ranges in commits.ranges.items()
            for range_ in ranges
        ),
    ]
    yield pa.RecordBatch.from_pylist(rows, schema=to_arrow_schema(WRITTEN))


def write_single_runs(paths: Iterable[str], target: Target) -> Iterator[pa.RecordBatch]:
    """Write every commit in files of events as a separate run; returns the manifest, as `WRITTEN`."""
    files = TaskFiles(target)
    for path in paths:
        system, inside = opened(path, target.options)
        day = pa.scalar(path.rpartition("/day=")[2].partition("/")[0]).cast(pa.date32())
        commits = pq.read_table(inside, filesystem=system, columns=list(READ[1:]), partitioning=None)
        commits = commits.append_column("day", pa.repeat(day, commits.num_rows))
        files.add(RUNS_TABLE, "", runs_of(commits, single=True))
    yield files.manifest()


class _Commits:
    """The commits of a task, reduced to runs. Many are reduced at once: longer ranges have fewer runs."""

    def __init__(self) -> None:
        self.ranges: dict[int, list[CommitRange]] = {}
        self._held: list[pa.RecordBatch] = []
        self._count = 0

    def add(self, commits: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Add commits; returns runs when there are enough. Commits that continue the last range extend it."""
        for partition, begin, end in _bounds(commits):
            ranges = self.ranges.setdefault(partition, [])
            continues = bool(ranges) and ranges[-1].end <= begin
            ranges.append(CommitRange(begin=ranges.pop().begin if continues else begin, end=end))
        self._held.append(commits.select(READ))
        self._count += commits.num_rows
        if self._count >= _COMMITS_AT_ONCE:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        if self._held:
            yield runs_of(pa.Table.from_batches(_of_one_schema(self._held)))
            self._held, self._count = [], 0


class TaskFiles:
    """The files of a task, some of them open. Rows are buffered until they fill a row group."""

    def __init__(self, target: Target) -> None:
        context = TaskContext.get()
        task = (0, next(_HERE)) if context is None else (context.partitionId(), context.taskAttemptId())
        self._name = f"part-{task[0]:05d}-{task[1]}"
        self._target = target
        self._held: OrderedDict[tuple[str, str], list[pa.RecordBatch]] = OrderedDict()
        self._sizes: Counter[tuple[str, str]] = Counter()
        self._open: OrderedDict[tuple[str, str], _File] = OrderedDict()
        self._written: list[tuple[str, int]] = []
        self._count = 0

    def add(self, table: str, part: str, rows: pa.RecordBatch) -> None:
        key = table, part
        self._held.setdefault(key, []).append(rows)
        self._sizes[key] += rows.nbytes
        if self._sizes[key] >= _ROW_GROUP_BYTES:
            self._flush(key)
        while self._sizes.total() >= _HELD_BYTES:
            self._flush(self._sizes.most_common(1)[0][0])

    def add_by_day(self, table: str, name: str, rows: pa.RecordBatch) -> None:
        """Add rows to the files of their days; `name`: of the files of these rows, if a table has several kinds."""
        columns = [column for column in rows.schema.names if column != "day"]
        for day, of_day in _by_day(rows):
            self.add(table, f"day={day}/{name}", of_day.select(columns))

    def manifest(self) -> pa.RecordBatch:
        """Close the files; their names below the run's directories, and their numbers of rows, as `WRITTEN`."""
        for key in list(self._held):
            self._flush(key)
            self._close(key)
        for key in list(self._open):
            self._close(key)
        rows = [{"what": FILE, "name": path, "count": count} for path, count in self._written]
        return pa.RecordBatch.from_pylist(rows, schema=to_arrow_schema(WRITTEN))

    def _flush(self, key: tuple[str, str]) -> None:
        rows = pa.Table.from_batches(_of_one_schema(self._held.pop(key)))
        del self._sizes[key]
        if key not in self._open:
            if len(self._open) >= _MOST_OPEN:
                self._close(next(iter(self._open)))
            self._open[key] = self._opened(key, rows.schema)
        self._open.move_to_end(key)
        self._open[key].write(rows)

    def _opened(self, key: tuple[str, str], schema: pa.Schema) -> "_File":
        table, part = key
        directory, _, kind = part.rpartition("/")
        name = "-".join(filter(None, (self._name, str(self._count), kind))) + ".parquet"
        below = f"{directory}/{name}" if directory else name
        self._count += 1
        path = f"{self._target.out.rstrip('/')}/{table}/run={self._target.run}/{below}"
        return _File(path, f"{table}/{below}", schema, self._target.options)

    def _close(self, key: tuple[str, str]) -> None:
        file = self._open.pop(key, None)
        if file is not None:
            file.close()
            self._written.append((file.name, file.rows))


class _File:
    def __init__(self, path: str, name: str, schema: pa.Schema, options: Mapping[str, str]) -> None:
        system, inside = opened(path, options)
        system.create_dir(inside.rpartition("/")[0], recursive=True)
        self.name = name
        self.rows = 0
        self._schema = schema.with_metadata(METADATA)
        self._sink = system.open_output_stream(inside)
        # Arrow's own schema is left out: it has dictionary arrays in some files, and plain arrays in others.
        self._writer = pq.ParquetWriter(
            self._sink,
            self._schema,
            store_schema=False,
            # Numbers seldom repeat in a file; only the columns in _LOOKED_AT are used to select rows.
            use_dictionary=[
                one.name
                for one in self._schema
                if pa.types.is_string(one.type) or pa.types.is_dictionary(one.type)
            ],
            write_statistics=[name for name in _LOOKED_AT if name in self._schema.names],
        )
        self._writer.add_key_value_metadata(METADATA)

    def write(self, rows: pa.Table) -> None:
        if rows.schema.types != self._schema.types:
            rows = rows.cast(self._schema)
        self.rows += rows.num_rows
        self._writer.write_table(rows, row_group_size=rows.num_rows)

    def close(self) -> None:
        self._writer.close()
        self._sink.close()


def _of_one_schema(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The batches in the schema of the first batch."""
    schema = batches[0].schema
    return [batch if batch.schema == schema else batch.cast(schema) for batch in batches]


def _chosen(batch: pa.RecordBatch, mask: pa.Array) -> pa.RecordBatch:
    """The rows for which the mask is true; if these are all rows or none, as most often, nothing is copied."""
    count = mask.true_count
    if count == batch.num_rows:
        return batch
    return batch.filter(mask) if count else batch.slice(0, 0)


def _fresh(batch: pa.RecordBatch, after: Mapping[int, int]) -> pa.RecordBatch:
    """The batch without records that the tables already have."""
    if not after:
        return batch
    offsets = batch.column("offset").to_numpy()
    partitions = batch.column("partition").to_numpy()
    # A row that is not a record has no offset, and is always new.
    fresh = offsets < 0
    for partition in np.unique(partitions).tolist():
        fresh |= (partitions == partition) & (offsets >= after.get(partition, 0))
    return _chosen(batch, pa.array(fresh))


def _bounds(batch: pa.RecordBatch) -> Iterator[tuple[int, int, int]]:
    """By partition, the first offset and the offset after the last."""
    offsets = batch.column("offset").to_numpy()
    partitions = batch.column("partition").to_numpy()
    for partition in np.unique(partitions).tolist():
        of_partition = offsets[partitions == partition]
        yield partition, int(of_partition.min()), int(of_partition.max()) + 1


def _by_day(events: pa.RecordBatch) -> Iterator[tuple[date, pa.RecordBatch]]:
    if not events.num_rows:
        return
    days = events.column("day").cast(pa.int32()).to_numpy()
    for day in np.unique(days).tolist():
        of_day = days == day
        rows = events if of_day.all() else events.filter(pa.array(of_day))
        yield _EPOCH + timedelta(days=day), rows


def _of_quarantine(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of `QUARANTINE`; `offset` is null for a row that is not about a single record."""
    offset = rows.column("offset")
    columns: dict[str, object] = {
        "source": rows.column("source"),
        "file": pc.coalesce(rows.column("file"), rows.column("source")),
        "position": rows.column("position"),
        "offset": pc.if_else(pc.greater_equal(offset, 0), offset, None),
        "reason": rows.column("reason"),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in _QUARANTINE], names=_QUARANTINE)
