"""An audit from its sources to its tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from pipeline.audit.java_regexes import with_java_results
from pipeline.audit.judge import AuditSettings, judge_all
from pipeline.audit.logs import log_work
from pipeline.audit.schemas import AUDIT, TABLES
from pipeline.audit.work import list_snapshots, snapshot_work
from pipeline.history import QUARANTINE_SHOWN, Logs, Quarantined
from pipeline.jobs import with_progress
from pipeline.replaced import ReplacedTables
from pipeline.sources.filesystem import hadoop_options

CAN_MIGRATE = ("ready", "warnings")
FIRST_SHOWN = 1_000  # the number of ranked groups in a run per destination; the table has all of them


CHUNKS_PER_TASK = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    """Snapshot files, and directories to search for them (`*.yaml`, `*.yml`, `*.json`), recursively."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationRank:
    """A group that may migrate, with its rank."""

    rank: int
    source: str
    cluster: str | None
    group: str
    verdict: str
    members: int
    partitions: int
    gain_s: float | None
    risk: float | None
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRun:
    """The results of an audit. Mappings are by destination (`cooperative`, `consumer`)."""

    audit: DataFrame  # AUDIT; read from `out` if given, otherwise cached by Spark until the session ends
    regexes: DataFrame  # in the schema AUDIT_REGEXES
    groups: int
    verdicts: Mapping[str, Mapping[str, int]]
    """Groups by verdict; those at the destination that could migrate count only as `arrived`."""
    blocked_by: Mapping[str, Mapping[str, int]]
    """Groups by the rule that blocks them, the most frequent first; a group counts for each of its rules."""
    first: Mapping[str, tuple[MigrationRank, ...]]  # the first `FIRST_SHOWN` groups to migrate
    regexes_lost: int  # refused or harmful, or with fewer topics in the broker than in the client
    quarantined: tuple[Quarantined, ...]  # the first `pipeline.history.QUARANTINE_SHOWN` rows
    quarantined_total: int
    paths: Mapping[str, str]  # the paths of the tables, by name; empty without `out`


def audit(
    spark: SparkSession,
    sources: Sequence[Snapshots | Logs],
    settings: AuditSettings | None = None,
    *,
    out: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> AuditRun:
    """Judge every group of every source. `out` is a directory for the tables, which a second audit replaces. `progress`
    is called with the number of finished tasks and of all tasks, from another thread. Raises FileNotFoundError: a path
    does not exist. Raises OSError. Raises NotATableStore: `out` contains something else. Raises ValueError: an id is
    invalid."""
    settings = settings or AuditSettings()
    with with_progress(spark, progress):
        replaced = ReplacedTables(spark, out, KIND, TABLES)
        work, kept = _work(spark, sources, hadoop_options(spark), settings)
        # Enough tasks that all end at about the same time, and few enough that starts are cheap.
        chunks = work.where("chunk is not null").count()
        tasks = max(1, min(chunks, max(4 * spark.sparkContext.defaultParallelism, chunks // CHUNKS_PER_TASK)))
        judged = judge_all(work, settings, tasks).persist(StorageLevel.DISK_ONLY)
        tables, paths = replaced.written(tables_of(work, judged))
        if not paths:
            tables = {name: table.persist(StorageLevel.DISK_ONLY) for name, table in tables.items()}
        run = _summed(tables, settings, paths)
    for frame in (*kept, judged) if out is not None else ():
        frame.unpersist()
    return run


def tables_of(work: DataFrame, judged: DataFrame) -> dict[str, DataFrame]:
    """The tables of `pipeline.audit.schemas.TABLES`, from rows of WORK and of JUDGED."""
    names = work.where("names is not null").select("source", f.explode("names").alias("name"))
    regexes = judged.where("regex is not null").select("regex.*")
    return {
        "audit": ranked(judged.where("audit is not null").select("audit.*")),
        "audit_regexes": with_java_results(regexes, names),
        "quarantine": judged.where("quarantined is not null").select("quarantined.*"),
    }


def _work(
    spark: SparkSession,
    sources: Sequence[Snapshots | Logs],
    options: Mapping[str, str],
    settings: AuditSettings,
) -> tuple[DataFrame, list[DataFrame]]:
    """Rows of WORK, and the tables that Spark must keep until these are processed."""
    all_topics = bool(settings.regexes)
    saved = [path for source in sources if isinstance(source, Snapshots) for path in source.paths]
    parts = [snapshot_work(spark, list_snapshots(saved, options), options, all_topics=all_topics)]
    kept = []
    for source in sources:
        if isinstance(source, Logs):
            part, loaded = log_work(spark, source, options, all_topics=all_topics)
            parts.append(part)
            kept.append(loaded)
    work = reduce(DataFrame.unionByName, parts).persist(StorageLevel.DISK_ONLY)
    return work, [*kept, work]


def _summed(tables: Mapping[str, DataFrame], settings: AuditSettings, paths: Mapping[str, str]) -> AuditRun:
    audited, regexes, quarantine = tables["audit"], tables["audit_regexes"], tables["quarantine"]
    destinations = [destination.value for destination in settings.destinations]
    verdicts: dict[str, dict[str, int]] = {destination: {} for destination in destinations}
    has_arrived = f.col("arrived") & f.col("verdict").isin(*CAN_MIGRATE)
    outcome = f.when(has_arrived, "arrived").otherwise(f.col("verdict"))
    for row in audited.groupBy("destination", outcome.alias("outcome")).count().orderBy("outcome").collect():
        verdicts[row["destination"]][row["outcome"]] = row["count"]
    blocked: dict[str, dict[str, int]] = {destination: {} for destination in destinations}
    rules = audited.select("destination", f.explode("blocked_by").alias("rule"))
    counts = rules.groupBy("destination", "rule").count()
    for row in counts.orderBy(f.desc("count"), "rule").collect():
        blocked[row["destination"]][row["rule"]] = row["count"]
    lost = f.col("danger").isNotNull() | ~f.col("valid") | (f.coalesce(f.size("lost"), f.lit(0)) > 0)
    shown = quarantine.orderBy("source", "file", "reason").limit(QUARANTINE_SHOWN).collect()
    return AuditRun(
        audit=audited,
        regexes=regexes,
        groups=max((sum(by_verdict.values()) for by_verdict in verdicts.values()), default=0),
        verdicts=verdicts,
        blocked_by=blocked,
        first=_first(audited, destinations),
        regexes_lost=regexes.where(~f.col("literal") & lost).count(),
        quarantined=tuple(Quarantined(**row.asDict()) for row in shown),
        quarantined_total=quarantine.count(),
        paths=paths,
    )


def _first(audited: DataFrame, destinations: Sequence[str]) -> dict[str, tuple[MigrationRank, ...]]:
    names = [field.name for field in fields(MigrationRank)]
    rows = audited.where(f.col("rank") <= FIRST_SHOWN).select("destination", *names).orderBy("rank").collect()
    first: dict[str, list[MigrationRank]] = {destination: [] for destination in destinations}
    for row in rows:
        fields_of_row = row.asDict()
        first[fields_of_row.pop("destination")].append(MigrationRank(**fields_of_row))
    return {destination: tuple(groups) for destination, groups in first.items()}


KIND = "audit"


def ranked(unranked: DataFrame) -> DataFrame:
    """AUDIT from the judged groups, with the order of migration: by score, the gain divided by the risk, highest
    first. The gain is in partition-seconds that each restart of a member costs less at the destination
    (`migration.expectation`). The risk is `(1 + without_owner_s) × (1 + warnings)`: the cost of the migration
    itself, in the same unit, multiplied for each warning, which may make it fail. Groups whose gain cannot be
    computed are last; groups that cannot migrate, or have arrived, have no rank."""
    can = f.col("verdict").isin(*CAN_MIGRATE) & ~f.col("arrived")
    risk = f.when(can, (1 + f.col("without_owner_s")) * (1 + f.size("warned_by")))
    scored = unranked.withColumn("risk", risk).withColumn("score", f.col("gain_s") / f.col("risk"))
    # Only the columns that determine the rank go through the one task that counts.
    keys = ["destination", "source", "group"]
    narrow = scored.where(can).select(*keys, "score", "gain_s")
    best_first = [f.col(name).desc_nulls_last() for name in ("score", "gain_s")]
    order = Window.partitionBy("destination").orderBy(*best_first, "source", "group")
    ranks = narrow.select(*keys, f.row_number().over(order).alias("rank"))
    return scored.join(ranks, keys, "left").select(*AUDIT.fieldNames())
