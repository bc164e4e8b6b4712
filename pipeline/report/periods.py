"""The events day by day, and the rebalances of a group in order: the columns of a plot, few enough to draw each."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from pipeline.report.numbers import CAUSES, STAGES, GroupTimeline, Mark, Period, calendar_day, moment
from pipeline.tables.rebalances import with_busy_s

MOST = 400  # the largest number of columns


@dataclass(slots=True)
class _Sums:
    causes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    timed: int = 0  # rebalances with a known duration
    rebalancing_s: float = 0.0
    stages: dict[str, int] = field(default_factory=lambda: defaultdict(int))  # changes of their numbers


def step_of(first: int, last: int) -> int:
    """The number of days per column: 1, whole weeks, or more if a log's times are far apart."""
    days = last - first + 1
    return 1 if days <= MOST else 7 * -(-days // (7 * MOST))


def periods(rebalances: DataFrame, groups: DataFrame, first: int, last: int) -> tuple[Period, ...]:
    """All columns from the first day to the last, including empty ones. Events outside of these days count for the
    nearest column; a group stays at its stage until `groups` has another. The driver gets a row per column and
    cause or stage."""
    step = step_of(first, last)
    count = (last - first) // step + 1
    sums: Mapping[int, _Sums] = {column: _Sums() for column in range(count)}
    index = f.floor((f.unix_date("day") - first) / step)
    column = f.least(f.greatest(index, f.lit(0)), f.lit(count - 1)).cast("int").alias("column")
    counted = (
        with_busy_s(rebalances)
        .groupBy(column, _known_cause().alias("cause"))
        .agg(f.count("*").alias("n"), f.count("duration_s").alias("timed"), f.sum("busy_s").alias("s"))
    )
    for row in counted.collect():
        sums[row["column"]].causes[row["cause"]] += row["n"]
        sums[row["column"]].timed += row["timed"]
        sums[row["column"]].rebalancing_s += row["s"]
    for row in _stage_changes(groups).groupBy(column, "stage").agg(f.sum("change").alias("n")).collect():
        sums[row["column"]].stages[row["stage"]] += row["n"]
    standing = dict.fromkeys(STAGES, 0)
    columns = []
    for number, counts in sums.items():
        rebalanced = sum(counts.causes.values())
        standing = {stage: count + counts.stages[stage] for stage, count in standing.items()}
        columns.append(
            Period(
                day=calendar_day(first + number * step),
                rebalances=rebalanced,
                causes=tuple(counts.causes[cause] for cause in CAUSES),
                rebalancing_s=counts.rebalancing_s if counts.timed or not rebalanced else None,
                stages=tuple(standing.values()),
            )
        )
    return tuple(columns)


def _stage_changes(groups: DataFrame) -> DataFrame:
    """`day, stage, change`: +1 if a group enters the stage, -1 if it leaves it."""
    known = groups.select("day", "group", f.col("migration").alias("stage"))
    before = f.lag("stage").over(Window.partitionBy("group").orderBy("day"))
    changed = known.withColumn("before", before).where(~f.col("stage").eqNullSafe(f.col("before")))
    entered = f.struct(f.col("stage"), f.lit(1).alias("change"))
    left = f.struct(f.col("before").alias("stage"), f.lit(-1).alias("change"))
    pairs = changed.select("day", f.explode(f.array(entered, left)).alias("pair"))
    return pairs.select("day", "pair.*").where(f.col("stage").isin(*STAGES))


MOST_MARKS = 120  # the largest number of marks in a drawing


def timeline_of(rebalances: DataFrame, group: str) -> GroupTimeline:
    """A group's rebalances by time and epoch, at most MOST_MARKS marks of equally many, except the last."""
    (timeline,) = timelines_of(rebalances, [group])
    return timeline


def timelines_of(rebalances: DataFrame, groups: Sequence[str]) -> tuple[GroupTimeline, ...]:
    """The timelines of some groups, in their order."""
    timed = with_busy_s(rebalances.where(f.col("group").isin(*groups)))
    begun = f.unix_micros(f.coalesce("start", "end", f.col("day").cast("timestamp")))
    in_order = Window.partitionBy("group").orderBy("begun", "ended", "epoch")
    per_mark = f.ceil(f.count("*").over(Window.partitionBy("group")) / MOST_MARKS)
    rows = (
        timed.withColumn("begun", begun)
        .withColumn("ended", f.coalesce(f.unix_micros("end"), "begun"))
        .withColumn("place", f.row_number().over(in_order))
        .withColumn("each", per_mark)
        .withColumn("mark", f.floor((f.col("place") - 1) / f.col("each")))
        .withColumn("cause", _known_cause())
        .withColumn(
            "took_s",
            f.when(f.col("each") == 1, f.col("duration_s")).when(
                f.col("duration_s").isNotNull(), f.col("busy_s")
            ),
        )
    )
    marks = (
        rows.groupBy("group", "mark")
        .agg(
            f.min("begun").alias("begun"),
            f.max("ended").alias("ended"),
            f.count("*").alias("rebalances"),
            f.array(*(f.count_if(f.col("cause") == cause) for cause in CAUSES)).alias("causes"),
            *(f.max_by(name, "place").alias(name) for name in ("protocol", "assignor", "epoch", "members")),
            *(f.sum(f.size(name)).alias(name) for name in ("joined", "left")),
            *(f.sum(name).alias(name) for name in ("moved", "revoked")),
            f.sum("took_s").alias("rebalancing_s"),
        )
        .orderBy("group", "mark")
    )
    by_group: dict[str, list[Mark]] = {group: [] for group in groups}
    for row in marks.drop("mark").collect():
        known = row.asDict() | {"causes": tuple(row["causes"])}
        start, end = moment(known.pop("begun")), moment(known.pop("ended"))
        by_group[known.pop("group")].append(Mark(start=start, end=end, **known))
    return tuple(GroupTimeline(group=group, marks=tuple(by_group[group])) for group in groups)


def _known_cause() -> Column:
    return f.when(f.col("cause").isin(*CAUSES), f.col("cause")).otherwise("unknown")
