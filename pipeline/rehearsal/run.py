"""The rehearsals of a fleet, from its snapshots to the tables, with the order of migration: safe groups only; first
those with the fewest warnings, then by partition-seconds without an owner, records read twice, and duration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from pipeline.audit.run import Snapshots
from pipeline.audit.work import each_row, list_snapshots, snapshot_work
from pipeline.jobs import with_progress
from pipeline.rehearsal import play
from pipeline.replaced import ReplacedTables
from pipeline.sources.filesystem import hadoop_options
from pipeline.tables.schemas import TableRow

KIND = "rehearsal"
TASKS_PER_CORE = 4
MOST_SEEDS = 8  # of one plan in one task: a group with a thousand partitions takes seconds per seed
FAILURES_SHOWN = 20
ORDER = ("warnings", "without_owner_s", "read_twice", "duration_s", "source", "group")
_WORST_FIRST = ("threw", "unsafe", "unplayable", "safe")
_MEDIAN = "percentile_disc(0.5) within group (order by {} desc)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalRun:
    """Rows of the tables of `pipeline.rehearsal.play`, by settings in the given order."""

    rehearsals: Sequence[TableRow]  # safe groups in their order, then the others by name
    failures: Sequence[TableRow]
    """The first failure of each group and settings, at most FAILURES_SHOWN, exceptions first; without snapshots."""
    quarantined: Sequence[TableRow]
    ends: Sequence[TableRow]  # as migrate: `end`, `rule` and `runs`, the most frequent first
    paths: Mapping[str, str]  # the paths of the tables, by name; empty without `out`


def rehearse_fleet(
    spark: SparkSession,
    snapshots: Snapshots,
    terms: play.RehearsalSettings,
    *,
    out: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> RehearsalRun:
    """Plan and rehearse every group under every variation; `out`, `progress` and errors as for an audit."""
    with with_progress(spark, progress):
        kept = ReplacedTables(spark, out, KIND, play.TABLES)
        options = hadoop_options(spark)
        files = list_snapshots(snapshots.paths, options)
        work = snapshot_work(spark, files, options, all_topics=bool(terms.planned.regexes))
        chunks = work.where("chunk is not null or reason is not null")
        cores = spark.sparkContext.defaultParallelism
        tasks = TASKS_PER_CORE * cores
        per_part = min(MOST_SEEDS, -(-len(terms.seeds) // cores))
        planned = each_row(
            chunks.repartition(tasks), lambda row: play.plan_rows(row, terms, per_part), play.PLANNED
        )
        planned = planned.persist(StorageLevel.DISK_ONLY)
        parts = planned.where("part is not null").select("part", "first_seed", "seeds").repartition(tasks)
        played = each_row(parts, play.play_part, play.PLAYED).persist(StorageLevel.DISK_ONLY)
        runs = played.select("run.*")
        tables = {
            "rehearsals": _ranked(_summed(planned, runs)).coalesce(1),
            "runs": runs.repartition(1),
            "failures": played.where("failure is not null").select("failure.*").repartition(1),
            "quarantine": planned.where("quarantined is not null").select("quarantined.*").coalesce(1),
        }
        tables, paths = kept.written(tables)
        run = _collected(tables, [variation.text for variation in terms.variations], paths)
    played.unpersist()
    planned.unpersist()
    return run


def _summed(planned: DataFrame, runs: DataFrame) -> DataFrame:
    """SUMMED: the seeds of each group and settings, and groups that were not played."""
    case = [name for name, _, _ in (*play.CASE, *play.OF_PLAN)]
    is_unsafe = f.col("verdict") == "unsafe"
    sums = runs.groupBy(*case).agg(
        f.min(f.struct(_severity().alias("severity"), "seed", "verdict", "why")).alias("worst"),
        f.count_if(f.col("verdict").isin("safe", "unsafe")).alias("seeds"),
        f.count_if(is_unsafe).alias("unsafe"),
        f.min(f.when(is_unsafe, f.col("seed"))).alias("unsafe_seed"),
        *(f.max(name).alias(name) for name, _ in play.FIGURES),
        # The upper median, which is the value of some seed.
        *(f.expr(_MEDIAN.format(name)).cast(kind).alias(f"{name}_median") for name, kind in play.FIGURES),
    )
    nothing = f.lit(0).cast("long")
    unplayed = planned.where("unplayed is not null").select(
        "unplayed.*", nothing.alias("seeds"), nothing.alias("unsafe")
    )
    return (
        sums.select("*", "worst.verdict", "worst.why")
        .drop("worst")
        .unionByName(unplayed, allowMissingColumns=True)
        .select(*play.SUMMED.fieldNames())
    )


def _severity() -> Column:
    return f.array_position(f.array(*map(f.lit, _WORST_FIRST)), f.col("verdict"))


def _ranked(rows: DataFrame) -> DataFrame:
    """REHEARSALS, with the rank of each safe group among the safe groups with the same settings."""
    is_safe = f.col("verdict") == "safe"
    rank = f.row_number().over(Window.partitionBy("settings", is_safe).orderBy(*ORDER))
    return rows.withColumn("rank", f.when(is_safe, rank)).select(*play.REHEARSALS.fieldNames())


def _collected(
    tables: Mapping[str, DataFrame], settings: Sequence[str], paths: Mapping[str, str]
) -> RehearsalRun:
    def order(row: TableRow) -> tuple[Any, ...]:
        rank = row["rank"]
        return settings.index(row["settings"]), rank is None, rank, row["source"], row["group"]

    first = Window.partitionBy(*(name for name, _, _ in play.CASE)).orderBy("severity", "seed")
    failures = (
        tables["failures"]
        .withColumn("severity", _severity())
        .withColumn("place", f.row_number().over(first))
        .where("place = 1")
        .orderBy("severity", "source", "group", "settings")
        .drop("severity", "place", "snapshot")
        .limit(FAILURES_SHOWN)
        .collect()
    )
    by_end = tables["runs"].where("end is not null").groupBy("end", "rule").agg(f.count("*").alias("runs"))
    ends = by_end.orderBy(f.desc("runs"), "end", "rule").collect()
    quarantined = tables["quarantine"].orderBy("source", "file", "reason").collect()
    return RehearsalRun(
        rehearsals=sorted((row.asDict() for row in tables["rehearsals"].collect()), key=order),
        failures=[row.asDict() for row in failures],
        quarantined=[row.asDict() for row in quarantined],
        ends=[row.asDict() for row in ends],
        paths=paths,
    )
