"""The rehearsals of a fleet, from its snapshots to the table, in the order in which to go.

The order: safe groups only; those with the fewest warnings of their plans first, of these those that cost the fewest
partition-seconds without an owner, then the fewest records read twice, then the shortest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from pipeline.audit.run import Snapshots
from pipeline.audit.snapshots import list_snapshots, snapshot_work
from pipeline.audit.work import each_row
from pipeline.jobs import watched
from pipeline.rehearsal.play import PLAYED, Terms, play_rows
from pipeline.rehearsal.schemas import REHEARSALS, TABLES
from pipeline.replaced import check_directory, write_tables
from pipeline.sources.filesystem import hadoop_options

KIND = "rehearsal"
TASKS_PER_CORE = 4
ORDER = ("warnings", "without_owner_s", "read_twice", "duration_s", "source", "group")


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalRun:
    """Rows of the tables of `pipeline.rehearsal.schemas`: safe groups in their order, then the others by name."""

    rehearsals: Sequence[Mapping[str, Any]]
    quarantined: Sequence[Mapping[str, Any]]
    paths: Mapping[str, str]
    """Where the tables are, by name; empty without `out`."""


def rehearse_fleet(
    spark: SparkSession,
    snapshots: Snapshots,
    terms: Terms,
    *,
    out: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> RehearsalRun:
    """Plan and rehearse every group; `out` and `progress` are those of an audit.

    :raises FileNotFoundError: a path is not there :raises pipeline.store.NotATableStore: `out` holds something else
    """
    with watched(spark, progress):
        options = hadoop_options(spark)
        if out is not None:
            check_directory(out, KIND, options)
        files = list_snapshots(snapshots.paths, options)
        work = snapshot_work(spark, files, options, all_topics=bool(terms.planned.regexes))
        tasks = TASKS_PER_CORE * spark.sparkContext.defaultParallelism
        chunks = work.where("chunk is not null or reason is not null")
        played = each_row(chunks.repartition(tasks), lambda row: play_rows(row, terms), PLAYED)
        played = played.persist(StorageLevel.DISK_ONLY)
        tables = {
            "rehearsals": _ranked(played.where("rehearsed is not null").select("rehearsed.*")).coalesce(1),
            "quarantine": played.where("quarantined is not null").select("quarantined.*").coalesce(1),
        }
        paths: dict[str, str] = {}
        if out is not None:
            paths = write_tables(tables, out, KIND, options)
            tables = {name: spark.read.schema(TABLES[name]).parquet(path) for name, path in paths.items()}
        rows = tables["rehearsals"].orderBy(f.col("rank").asc_nulls_last(), "source", "group").collect()
        quarantined = tables["quarantine"].orderBy("source", "file", "reason").collect()
        run = RehearsalRun(
            rehearsals=[row.asDict() for row in rows],
            quarantined=[row.asDict() for row in quarantined],
            paths=paths,
        )
    played.unpersist()
    return run


def _ranked(rows: DataFrame) -> DataFrame:
    """REHEARSALS, with the place of each safe group."""
    is_safe = f.col("verdict") == "safe"
    place = f.row_number().over(Window.partitionBy(is_safe).orderBy(*ORDER))
    return rows.withColumn("rank", f.when(is_safe, place)).select(*REHEARSALS.fieldNames())
