"""The tables that are derived from events, computed group by group from the files of a store: in tasks that read the
files, and tasks that each have whole groups and write files of the tables, as `pipeline.writing` does."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema

from groups.history.commits import PlaceCommits
from groups.history.events import KEY_VERSIONS, Holding, PastRebalance, Place
from groups.history.replay import GroupReplay
from pipeline.sources.filesystem import opened
from pipeline.tables import schemas
from pipeline.tables.commits import MARKS, RUNS, commits_of, settled
from pipeline.tables.departures import SoughtCommits, judged
from pipeline.tables.groups import STATE, group_days
from pipeline.tables.rebalances import COLUMNS, WALKED, WALKED_TABLE, event_of, holding_row, walked_row
from pipeline.tables.schemas import TableRow
from pipeline.tasks import PASSED, Batches, Values, collected_by_group
from pipeline.writing import WRITTEN, Target, TaskFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMITS, GROUPS, OWNERSHIP, REBALANCES = DERIVED = ("commits", "groups", "ownership", "rebalances")
_SCHEMAS = {
    name: to_arrow_schema(schema, timezone="UTC")
    for name, schema in {**schemas.TABLES, WALKED_TABLE: WALKED}.items()
    if name in (*DERIVED, WALKED_TABLE)
}
_EVENTS_AT_ONCE = 64
"""The number of events that are Python objects at a time: a row of a large classic group has thousands of members, and
takes a megabyte."""
_ROWS_AT_ONCE = 4096
_COMMITS_AT_ONCE = 1 << 16
_READ = list(dict.fromkeys((*COLUMNS, *STATE)))
_NOTHING = dict.fromkeys(_READ)
_NO_CASE = dict.fromkeys(WALKED.names)
_NEAR = ("group", "partition", "topic", "topic_partition", "offset", "committed", "time")
_PASSED = to_arrow_schema(PASSED, timezone="UTC")


def derive(
    spark: SparkSession | None,
    events: Sequence[str],
    runs: Sequence[str],
    ends: Sequence[str],
    target: Target,
) -> Iterable[Values]:
    """Write the derived tables. `events` are the files of events other than offsets, `runs` those of runs, `ends` those
    of events that end transactions, if any. Returns the manifests, of `WRITTEN`. Rebalances with departures are in
    `WALKED_TABLE` instead, for `judge_departures`."""

    def read(part: int) -> Batches:
        if part < len(events):
            return _packed(events[part], target.options, _READ)
        return _settled_runs(runs[part - len(events)], ends, target.options)

    count = len(events) + len(runs)
    return collected_by_group(spark, count, read, lambda rows: _tables(rows, target), WRITTEN)


def judge_departures(
    spark: SparkSession | None, walked: Sequence[str], offsets: Sequence[str], target: Target
) -> Iterable[Values]:
    """Write the rebalances of `WALKED_TABLE`, given by files, with the verdicts on their departures, from the files of
    commits. Returns the manifests."""

    def read(part: int) -> Batches:
        if part < len(walked):
            return _packed(walked[part], target.options)
        return _commits_near(offsets[part - len(walked)], walked, target.options)

    count = len(walked) + len(offsets)
    return collected_by_group(spark, count, read, lambda rows: _judged(rows, target), WRITTEN)


def _file(path: str, options: Mapping[str, str]) -> pq.ParquetFile:
    system, inside = opened(path, options)
    # Spark wrote some files of earlier versions.
    return pq.ParquetFile(inside, filesystem=system, coerce_int96_timestamp_unit="us")


def _packed(path: str, options: Mapping[str, str], columns: list[str] | None = None) -> Batches:
    """The rows of a file, packed: of events only those of groups."""
    with _file(path, options) as file:
        for batch in file.iter_batches(_EVENTS_AT_ONCE, columns=columns):
            rows = [row for row in plain_rows(batch) if row["group"] is not None]
            known = [{name: value for name, value in row.items() if value is not None} for row in rows]
            passed: dict[str, object] = {
                name: [row.get(name) for row in rows] for name in ("group", "partition")
            }
            passed["begin"] = [row["offset"] for row in rows]
            yield _passed({**passed, "row": list(map(marshal.dumps, known))}, len(rows))


def _settled_runs(path: str, ends: Sequence[str], options: Mapping[str, str]) -> Batches:
    with _file(path, options) as file:
        runs = file.read()
    partitions = pc.unique(runs["partition"].filter(runs["producer_id"].is_valid())).to_pylist()
    marks = [runs.slice(0, 0).append_column("offset", [[]]).append_column("kind", [[]]).select(MARKS)]
    for other in ends if partitions else ():
        system, inside = opened(other, options)
        chosen = [("kind", "in", [schemas.COMMIT, schemas.ABORT]), ("partition", "in", partitions)]
        marks.append(
            pq.read_table(inside, filesystem=system, columns=list(MARKS), filters=chosen, partitioning=None)
        )
    counted = settled(runs, pa.concat_tables(marks, promote_options="permissive"))
    for batch in counted.to_batches(_COMMITS_AT_ONCE):
        yield _passed({name: batch[name] for name in RUNS.names}, batch.num_rows)


def _commits_near(path: str, walked: Sequence[str], options: Mapping[str, str]) -> Batches:
    cases = []
    for of_task in walked:
        with _file(of_task, options) as file:
            cases.append(file.read(["group", "sought"]))
    system, inside = opened(path, options)
    with pq.ParquetFile(inside, filesystem=system, read_dictionary=["group", "topic"]) as file:
        commits = file.read(["group", "time"]).unify_dictionaries().combine_chunks()
        us = commits.column("time").cast(pa.int64()).to_numpy()
        if not len(us):
            return
        sought = SoughtCommits(pa.concat_tables(cases), int(us.min()), int(us.max()))
        near = pa.array(sought.near(commits.column("group").combine_chunks(), us))
        if not pc.any(near).as_py():
            return
        commits = file.read(list(_NEAR)).filter(near).unify_dictionaries()
    commits = commits.filter(commits.column("committed").is_valid()).combine_chunks()
    commits = commits.filter(pa.array(sought.of_places(commits)))
    for batch in commits.combine_chunks().to_batches():
        columns = {name: batch.column(name) for name in ("group", "partition", "topic", "topic_partition")}
        columns |= {"begin": batch.column("offset"), "first_offset": batch.column("committed")}
        yield _passed({**columns, "first": batch.column("time")}, batch.num_rows)


def plain_rows(batch: pa.RecordBatch) -> list[TableRow]:
    """Rows with times in µs and days in days."""
    arrays = []
    for column in batch.columns:
        is_date = pa.types.is_date(column.type)
        is_time = is_date or pa.types.is_timestamp(column.type)
        arrays.append(column.cast(pa.int32() if is_date else pa.int64()) if is_time else column)
    rows: list[TableRow] = pa.RecordBatch.from_arrays(arrays, names=batch.schema.names).to_pylist()
    return rows


def _passed(columns: Mapping[str, object], count: int) -> pa.RecordBatch:
    arrays = []
    for field in _PASSED:
        values = columns.get(field.name)
        array = values if isinstance(values, pa.Array) else pa.array(values or [None] * count, field.type)
        arrays.append(array.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=_PASSED)


class _Rows:
    """Rows of tables, which become files. Many become Arrow's at once."""

    def __init__(self, target: Target) -> None:
        self._files = TaskFiles(target)
        self._rows: dict[str, list[TableRow]] = {name: [] for name in _SCHEMAS}
        self._commits: list[pa.RecordBatch] = []
        self._count = 0

    def add(self, table: str, rows: Iterable[TableRow]) -> None:
        held = self._rows[table]
        held += rows
        if len(held) >= _ROWS_AT_ONCE:
            self._flush(table)

    def add_commits(self, commits: pa.RecordBatch) -> None:
        self._commits.append(commits)
        self._count += commits.num_rows
        if self._count >= _COMMITS_AT_ONCE:
            self._flush_commits()

    def manifest(self) -> pa.RecordBatch:
        for table in filter(self._rows.get, self._rows):
            self._flush(table)
        self._flush_commits()
        return self._files.manifest()

    def _flush(self, table: str) -> None:
        batch = pa.RecordBatch.from_pylist(self._rows[table], schema=_SCHEMAS[table])
        add = self._files.add if table == WALKED_TABLE else self._files.add_by_day
        add(table, "", batch)
        self._rows[table] = []

    def _flush_commits(self) -> None:
        for batch in pa.Table.from_batches(self._commits, _SCHEMAS[COMMITS]).combine_chunks().to_batches():
            self._files.add_by_day(COMMITS, "", batch)
        self._commits, self._count = [], 0


class _Group:
    """What was passed of one group: its packed rows and, after these are read, the others."""

    def __init__(self, name: str, parts: Iterator[tuple[str, pa.RecordBatch]]) -> None:
        self.name, self._parts = name, parts
        self._others: list[pa.RecordBatch] = []

    def rows(self) -> Iterator[TableRow]:
        for _, part in self._parts:
            packed = part.num_rows - part.column("row").null_count
            yield from map(marshal.loads, part.column("row").slice(0, packed).to_pylist())
            if packed < part.num_rows:
                self._others.append(part.slice(packed))

    def others(self) -> pa.Table:
        return pa.Table.from_batches(self._others, _PASSED)


def _of_groups(batches: Batches) -> Iterator[_Group]:
    def pieces() -> Iterator[tuple[str, pa.RecordBatch]]:
        for batch in batches:
            start = 0
            for group, same in groupby(batch.column("group").to_pylist()):
                count = sum(1 for _ in same)
                yield group, batch.slice(start, count)
                start += count

    return (_Group(group, parts) for group, parts in groupby(pieces(), key=itemgetter(0)))


class _Course:
    """The course of one group."""

    def __init__(self, group: _Group) -> None:
        self.rebalances: list[TableRow] = []  # of WALKED
        self.ownership: list[TableRow] = []
        self.states: list[TableRow] = []
        replay = GroupReplay(group.name, on_rebalance=self._rebalance, emit=self._holding)
        for known in group.rows():
            row: TableRow = {**_NOTHING, **known}
            self.states.append({"day": schemas.day_of(row["time"]), **{name: row[name] for name in STATE}})
            if row["key_version"] in KEY_VERSIONS:
                replay.add(event_of(row))
        replay.finish()

    def _rebalance(self, rebalance: PastRebalance) -> None:
        self.rebalances.append(walked_row(rebalance))

    def _holding(self, holding: Holding) -> None:
        self.ownership.append(holding_row(holding))


def _tables(batches: Batches, target: Target) -> Batches:
    out = _Rows(target)
    for group in _of_groups(batches):
        course, runs, commits = _Course(group), group.others(), []
        if runs.num_rows:
            batch = commits_of(runs)
            out.add_commits(batch)
            commits = plain_rows(batch)
        rebalances = course.rebalances
        days = group_days(group.name, course.states, rebalances, course.ownership, commits)
        out.add(GROUPS, days)
        out.add(OWNERSHIP, course.ownership)
        out.add(REBALANCES, (judged(row, {}) for row in rebalances if row["departures"] is None))
        out.add(WALKED_TABLE, (row for row in rebalances if row["departures"] is not None))
    yield out.manifest()


def _judged(batches: Batches, target: Target) -> Batches:
    out = _Rows(target)
    for group in _of_groups(batches):
        cases = list(group.rows())
        commits = by_place(group.others(), "first", "first_offset", "begin")
        out.add(REBALANCES, (judged(_NO_CASE | case, commits) for case in cases))
    yield out.manifest()


def by_place(commits: pa.Table, time: str, committed: str, place: str) -> dict[Place, PlaceCommits]:
    """Commits by partition, each once, in the order of the log, from the columns of their times, of the committed
    offsets, and of their places in the log."""
    names = list(zip(commits["topic"].to_pylist(), commits["topic_partition"].to_pylist(), strict=True))
    columns = [
        np.asarray(commits[name].cast(pa.int64()).to_numpy(), np.int64) for name in (time, committed, place)
    ]
    lanes: dict[Place, list[int]] = {}
    for number, name in enumerate(names):
        lanes.setdefault(name, []).append(number)
    chosen = {
        name: np.array(rows)[np.unique(columns[2][rows], return_index=True)[1]]
        for name, rows in lanes.items()
    }
    return {name: PlaceCommits(*(column[rows] for column in columns)) for name, rows in chosen.items()}
