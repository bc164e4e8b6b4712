"""Each group day by day: a row for each day with records, rebalances or commits of the group."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from groups.history.storms import STORM_GAP_S, STORM_LEAST
from pipeline.tables.schemas import GROUPS, OFFSET, shaped

ZOMBIE_LEAST_S = 600.0
"""A member that owned a partition for less than this within a day is not a zombie: it may not have committed yet."""

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
MIXED = "mixed"
_GONE = "gone"
_TYPES = {
    "group": CLASSIC,
    "group_epoch": CONSUMER,
    "share_group_epoch": SHARE,
    "streams_group_epoch": STREAMS,
}
"""The type of a group by the kind of record that only groups of this type have."""
_CONSUMERS = "consumer"  # other types of classic groups (of Connect, of a schema registry) do not migrate
_SECOND_US = 1_000_000
_DAY_US = 86_400 * _SECOND_US
_COUNTS = ("rebalances", "joined", "left", "storms", "commits", "zombies")


def groups(events: DataFrame, rebalances: DataFrame, ownership: DataFrame, commits: DataFrame) -> DataFrame:
    """The table `GROUPS`.

    - `type`: the type in the day's last record of a group, or else the type before; a group that has only offsets is
      classic, as for a broker.
    - `members_most`: the most members between two rebalances; 0 for groups without rebalances (share and streams).
    - `storms`: runs of at least `STORM_LEAST` rebalances, on the day on which they start.
    - `rebalancing_s`: the known durations of the rebalances that started on the day; overlaps count once.
    - `zombies`: members that owned partitions for at least `ZOMBIE_LEAST_S`, none of which was committed during that
      time although the group committed other offsets on that day. Only the time until the group's last commit of the
      day counts, and only topics that the group commits: it may store other offsets elsewhere.
    - `migration`: the stage at the end of the day. mixed: a consumer group with members of the classic protocol.
    """
    grouped = events.where(f.col("group").isNotNull() & (f.col("kind") != OFFSET))
    course = _course(rebalances)
    sizes = course.groupBy("group", "run").agg(f.count("*").alias("size"), f.min("day").alias("day"))
    daily = _by_day_and_group(
        grouped.select("day", "group"),
        _types(grouped),
        _classic_members(grouped),
        _moved(rebalances),
        sizes.where(f.col("size") >= STORM_LEAST).groupBy("day", "group").agg(f.count("*").alias("storms")),
        course.groupBy("day", "group").agg((f.sum("adds_us") / _SECOND_US).alias("rebalancing")),
        commits.groupBy("day", "group").agg(f.sum("commits").alias("commits")),
        _zombies(ownership, commits),
    )
    before = Window.partitionBy("group").orderBy("day").rowsBetween(Window.unboundedPreceding, -1)
    earlier = {
        "earlier": "end_type",
        "earlier_protocol": "protocol_type",
        "earlier_classic": "classic_members",
        "earlier_members": "members_last",
    }
    last = {name: f.last(column, ignorenulls=True).over(before) for name, column in earlier.items()}
    carried = daily.withColumns(last)
    alive = f.when(f.col("earlier") != _GONE, f.col("earlier"))
    whole = (
        carried.withColumn("known", f.coalesce("type_seen", alive))
        .withColumn("type", f.coalesce("known", f.lit(CLASSIC)))
        .withColumn("migration", _migration())
    )
    figures = {
        "members_most": f.coalesce(f.greatest("members_most", "earlier_members"), f.lit(0)),
        "rebalancing_s": f.coalesce("rebalancing", f.lit(0.0)),
    }
    return shaped(whole.withColumns(figures).fillna(0, list(_COUNTS)), GROUPS)


def _by_day_and_group(*parts: DataFrame) -> DataFrame:
    """A row for each day and group in any of the parts, with the columns of all parts."""
    first, *others = parts
    for other in others:
        first = first.unionByName(other, allowMissingColumns=True)
    columns = [column for column in first.columns if column not in ("day", "group")]
    return first.groupBy("day", "group").agg(*(f.max(column).alias(column) for column in columns))


def _types(events: DataFrame) -> DataFrame:
    """For each day: the last type of a group, its type at the end of the day, and the data for `migration`."""
    offset = f.col("offset")
    kind = f.create_map(*(f.lit(text) for pair in _TYPES.items() for text in pair))[f.col("kind")]
    stands = ~f.col("tombstone")
    states = events.where(f.col("kind").isin(*_TYPES)).withColumn("kind", kind)
    protocol_type, of_classic = f.coalesce("protocol_type", f.lit("")), stands & (f.col("kind") == CLASSIC)
    return states.groupBy("day", "group").agg(
        f.max_by("kind", f.when(stands, offset)).alias("type_seen"),
        f.max_by(f.when(stands, f.col("kind")).otherwise(_GONE), offset).alias("end_type"),
        f.max_by(protocol_type, f.when(of_classic, offset)).alias("protocol_type"),
    )


def _classic_members(events: DataFrame) -> DataFrame:
    """The number of members of a consumer group with the classic protocol at the end of each day."""
    of_member = Window.partitionBy("group", "member").orderBy("offset")
    classic = (~f.col("tombstone") & (f.col("member_protocol") == CLASSIC)).cast("int")
    changes = (
        events.where(f.col("kind") == "member")
        .withColumn("is_classic", f.coalesce(classic, f.lit(0)))
        .withColumn("change", f.col("is_classic") - f.coalesce(f.lag("is_classic").over(of_member), f.lit(0)))
    )
    by_day = changes.groupBy("day", "group").agg(f.sum("change").alias("change"))
    to_day = Window.partitionBy("group").orderBy("day").rowsBetween(Window.unboundedPreceding, 0)
    return by_day.select("day", "group", f.sum("change").over(to_day).alias("classic_members"))


def _migration() -> Column:
    protocol_type = f.coalesce("protocol_type", "earlier_protocol")
    classic_members = f.coalesce("classic_members", "earlier_classic", f.lit(0))
    return (
        f.when((f.col("known") == CLASSIC) & (protocol_type == _CONSUMERS), f.lit(CLASSIC))
        .when((f.col("known") == CONSUMER) & (classic_members > 0), f.lit(MIXED))
        .when(f.col("known") == CONSUMER, f.lit(CONSUMER))
    )


def _moved(rebalances: DataFrame) -> DataFrame:
    time = f.coalesce("end", "start")
    return rebalances.groupBy("day", "group").agg(
        f.count("*").alias("rebalances"),
        f.sum(f.size("joined")).alias("joined"),
        f.sum(f.size("left")).alias("left"),
        f.max(f.greatest("members", "members_before")).alias("members_most"),
        f.max_by("members", f.struct(time, f.col("epoch"))).alias("members_last"),
    )


def _course(rebalances: DataFrame) -> DataFrame:
    """Every rebalance with a known time. `run` numbers the runs of consecutive rebalances of its group; `adds_us` is
    its part of the time in which the group rebalanced: overlapping time counts once."""
    begin, end = f.coalesce("start", "end"), f.coalesce("end", "start")
    in_order = Window.partitionBy("group").orderBy("begin", "finish", "epoch")
    far = f.max("finish").over(in_order.rowsBetween(Window.unboundedPreceding, -1))
    pause_us = f.unix_micros("begin") - f.unix_micros("far")
    adds_us = f.unix_micros("finish") - f.unix_micros(f.greatest("begin", "far"))
    return (
        rebalances.select("day", "group", "epoch", begin.alias("begin"), end.alias("finish"))
        .where(f.col("begin").isNotNull())
        .withColumn("far", far)
        .withColumn("adds_us", f.greatest(adds_us, f.lit(0)))
        .withColumn("is_first", f.coalesce(pause_us > int(STORM_GAP_S * _SECOND_US), f.lit(True)).cast("int"))
        .withColumn("run", f.sum("is_first").over(in_order))
    )


def _zombies(ownership: DataFrame, commits: DataFrame) -> DataFrame:
    """The number of zombies by day and group, only for days on which the group commits."""
    made = commits.where(f.col("commits") > 0)
    # The time after the last commit of a day does not count: the log may end there, or the group may be stopped.
    days = made.groupBy(f.col("day").alias("on"), "group").agg(f.max("last").alias("heard"))
    topics = made.select("group", "topic").distinct()
    # A cast would use the session's time zone.
    midnight = f.timestamp_micros(f.unix_date("on") * _DAY_US)
    next_midnight = f.timestamp_micros((f.unix_date("on") + 1) * _DAY_US)
    until = f.least(f.coalesce("until", next_midnight), next_midnight, "heard")
    columns = "on", "group", "member", "topic", "topic_partition"
    owned = (
        ownership.where(f.col("member").isNotNull())
        .join(topics, ["group", "topic"], "left_semi")
        .join(days, "group")
        .where((f.col("since") < until) & (until > midnight))
        .select(*columns, f.greatest("since", midnight).alias("from"), until.alias("to"))
    )
    owned = owned.where(f.unix_micros("to") - f.unix_micros("from") >= int(ZOMBIE_LEAST_S * _SECOND_US))
    seen = made.select(f.col("day").alias("on"), "group", "topic", "topic_partition", "first", "last")
    busy = (f.col("first") <= f.col("to")) & (f.col("last") >= f.col("from"))
    by_member = (
        owned.join(seen, ["on", "group", "topic", "topic_partition"], "left")
        .groupBy("on", "group", "member")
        .agg(f.max(f.coalesce(busy, f.lit(False))).alias("commits"))
    )
    silent = by_member.where(~f.col("commits")).groupBy(f.col("on").alias("day"), "group")
    return silent.agg(f.count("*").alias("zombies"))
