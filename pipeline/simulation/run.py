"""A simulation from its cases to its tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pipeline.audit.work import each_row
from pipeline.jobs import with_progress
from pipeline.replaced import ReplacedTables
from pipeline.simulation import play
from pipeline.tables.schemas import TableRow

KIND = "simulation"
SEEDS_PER_TASK = 64
MOST_TASKS = 4_000
ROWS_PER_FILE = 250_000
FAILURES_SHOWN = 20
_INFINITE = float("inf")
_WORST_FIRST = ("threw", "fallen", "stopped", "known")
_OF = {
    # The upper median, as in `kohort simulate`, which is the value of some run.
    "median": "percentile_disc(0.5) within group (order by {0} desc)",
    "p95": "percentile_disc(0.95) within group (order by {0})",
    "worst": "max({0})",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRun:
    """The results of all seeds, as rows of the tables of `pipeline.simulation.play`."""

    verdicts: Mapping[str, int]  # the number of seeds with each of VERDICTS
    costs: Sequence[TableRow]  # in the order of the cases
    spans: Sequence[TableRow]
    failures: Sequence[TableRow]
    """The first FAILURES_SHOWN: exceptions, failures that no known weakness explains, stopped runs, then others."""
    paths: Mapping[str, str]  # the paths of the tables, by name; empty without `out`


def simulate(
    spark: SparkSession,
    cases: Sequence[play.SimulationCase],
    seeds: range,
    run_options: play.RunOptions | None = None,
    *,
    out: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> SimulationRun:
    """Play every seed of every case. `out` is a directory for the tables, which a second simulation replaces.
    `progress` gets the numbers of finished and of all tasks, from another thread. Raises NotATableStore."""
    with with_progress(spark, progress):
        kept = ReplacedTables(spark, out, KIND, play.TABLES)
        played = _played(spark, tuple(cases), seeds, run_options or play.RunOptions())
        played = played.persist(StorageLevel.DISK_ONLY)
        tables, paths = kept.written(tables_of(played, len(cases) * len(seeds)))
        run = _summed(tables, cases, paths)
    played.unpersist()
    return run


def _played(
    spark: SparkSession, cases: Sequence[play.SimulationCase], seeds: range, run_options: play.RunOptions
) -> DataFrame:
    """Rows of PLAYED. Neighbors in a task are seeds of one case."""
    total = len(cases) * len(seeds)
    cores = spark.sparkContext.defaultParallelism
    tasks = max(1, min(total, MOST_TASKS, max(4 * cores, total // SEEDS_PER_TASK)))

    def played(row: TableRow) -> Iterator[TableRow]:
        case, index = divmod(row["id"], len(seeds))
        yield play.play_row(cases[case], seeds[index], run_options)

    return each_row(spark.range(0, total, 1, tasks), played, play.PLAYED)


def tables_of(played: DataFrame, total: int) -> dict[str, DataFrame]:
    """The tables of TABLES from `total` rows of PLAYED."""
    files = 1 + total // ROWS_PER_FILE
    runs = played.select("run.*")
    return {
        "runs": runs.repartition(files),
        "failures": played.where("failure is not null").select("failure.*").repartition(files),
        "costs": _costs(runs).coalesce(1),
        "spans": _spans(runs).coalesce(1),
    }


def _costs(runs: DataFrame) -> DataFrame:
    """COSTS. A figure that is unknown because a run never settled counts as the worst."""
    ended = runs
    for name, _ in play.FIGURES:
        value = f.col(name).cast("double")
        known = f.when(f.col("verdict") != "threw", f.coalesce(value, f.lit(_INFINITE)))
        ended = ended.withColumn(name, known)
    sums = [f.count(f.lit(1)).alias("seeds")]
    sums += [f.count_if(f.col("verdict") == verdict).alias(verdict) for verdict in play.VERDICTS]
    sums.append(f.coalesce(f.sum("requests"), f.lit(0)).cast("long").alias("requests"))
    for name, kind in play.FIGURES:
        for which, of in _OF.items():
            value = f.expr(of.format(name))
            finite = f.when(value != f.lit(_INFINITE), value)
            sums.append(finite.cast(kind).alias(f"{name}_{which}"))
    return ended.groupBy(*play.KEY).agg(*sums).select(*play.COSTS.fieldNames())


def _spans(runs: DataFrame) -> DataFrame:
    """SPANS, without spans that contain no seed."""
    figures = (
        f.struct(f.lit(name).alias("figure"), f.col(name).cast("double").alias("value"))
        for name in play.SPREAD
    )
    one = f.explode(f.array(*figures)).alias("one")
    flat = runs.where("verdict != 'threw'").select(*play.KEY, one).select(*play.KEY, "one.*")
    up_to = f.lit(None).cast("long")
    for limit in reversed(play.LIMITS):
        up_to = f.when(f.col("value") <= limit, f.lit(limit).cast("long")).otherwise(up_to)
    counted = flat.groupBy(*play.KEY, "figure", up_to.alias("up_to")).agg(f.count(f.lit(1)).alias("seeds"))
    return counted.select(*play.SPANS.fieldNames())


def _summed(
    tables: Mapping[str, DataFrame], cases: Sequence[play.SimulationCase], paths: Mapping[str, str]
) -> SimulationRun:
    keys = [(case.name, case.variant.value, case.setting) for case in cases]
    places = {key: index for index, key in reversed([*enumerate(keys)])}

    def order(row: TableRow) -> tuple[Any, ...]:
        return places[row["scenario"], row["protocol"], row["settings"]], row["libraries"]

    def span_order(row: TableRow) -> tuple[Any, ...]:
        up_to = _INFINITE if row["up_to"] is None else row["up_to"]
        return order(row), play.SPREAD.index(row["figure"]), up_to

    costs = sorted((row.asDict() for row in tables["costs"].collect()), key=order)
    spans = sorted((row.asDict() for row in tables["spans"].collect()), key=span_order)
    worst = f.array_position(f.array(*map(f.lit, _WORST_FIRST)), f.col("verdict"))
    failures = tables["failures"].orderBy(worst, "seed", *play.KEY).limit(FAILURES_SHOWN).collect()
    return SimulationRun(
        verdicts={verdict: sum(row[verdict] for row in costs) for verdict in play.VERDICTS},
        costs=costs,
        spans=spans,
        failures=[row.asDict() for row in failures],
        paths=paths,
    )
