"""The causes of a rebalance: from the group's records, and for departed members from their commits.

- conversion: to the other protocol, with the same members and partitions (and the rebalance after converting back).
- join, leave, expiry: members joined or departed. A departed member that was silent before (`expired`) counts as
  expiry, any other as leave.
- assignor, subscription: members that stay have other assignors or topics.
- metadata: none of these, but other partitions than before.
- unknown: nothing in the records changed, or the row is the first of a group that is older than its log.

`causes` has all causes, `cause` the first. If a cooperative group assigns the partitions that it withheld in the
generation before, the generation has the causes of the one before.

`of_generation` and `of_epoch` use the records; `with_expiry` replaces leave with expiry.

Expiry: a departed member that was silent before has expired instead of leaving.

A broker writes the same records for a member that leaves and for one whose session expires. The commits of the
member's partitions show the difference:

- A member that commits automatically commits once more when it closes. Its last commit is right before its departure.
- In a classic group a commit is a sign of life like a heartbeat: a member that committed within its session timeout of
  its departure did not expire. The session timeout of classic members is in the log.

So a member counts as expired if there are commits of its partitions before its departure, but none within its session
timeout before it. If the session timeout is unknown, three times the time between commits is used, at least a second.
The commits must be from the time of its membership; in a classic group it is enough that its successor made progress
at once: there were records to read, and the member did not read them.

This judgment can be wrong. Members that commit by hand, seldom, and not before they leave seem to expire. Members
that die before their first commit, or whose partitions have no new records or lost their commits to compaction, seem
to leave. For static members that did not return within their session the log itself has the expiry. Members without
any data count as having left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f

from groups.history.causes import RebalanceCause

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def with_expiry(walked: DataFrame, events: DataFrame) -> DataFrame:
    """Rows of `pipeline.tables.rebalances.WALKED` with corrected `cause`, `causes` and `expired`, from all events."""
    departures = walked.select(*_KEY, f.explode("departures").alias("departure")).select(*_KEY, "departure.*")
    silent = expired(departures, events).groupBy(*_KEY).agg(f.collect_set("member").alias("silent"))
    expired_in_log = f.filter("departures", lambda departure: departure["expired"])
    gone = f.array_union(
        f.transform(expired_in_log, lambda departure: departure["member"]),
        f.coalesce("silent", f.array().cast("array<string>")),
    )
    all_gone = f.size("gone") == f.size("departures")
    causes = f.array_union(
        f.when(all_gone, f.array_remove("causes", RebalanceCause.LEAVE.value)).otherwise(f.col("causes")),
        f.array(f.lit(RebalanceCause.EXPIRY.value)),
    )
    in_order = f.array_intersect(f.array(*(f.lit(cause.value) for cause in RebalanceCause)), causes)
    return (
        walked.join(silent, list(_KEY), "left")
        .withColumn("gone", gone)
        .withColumn("causes", f.when(f.size("gone") > 0, in_order).otherwise(f.col("causes")))
        .withColumn("cause", f.element_at("causes", 1))
        .withColumn("expired", f.array_sort(f.array_intersect("left", "gone")))
    )


_KEY: Final = ("group", "offset")
LOOK_BACK_S: Final = 300  # before a departure, or twice the session timeout if that is longer
LOOK_BACK_MOST_S: Final = 3600
LOOK_AHEAD_S: Final = 15  # the time for a successor's progress: automatic commits are 5 s apart
SILENT_LEAST_S: Final = 1.0
SILENT_RHYTHMS: Final = 3.0
_SLOT_S: Final = 300
_MARKS: Final = 1 << 22  # bounds the data sent to every worker; a power of two
_PLACE: Final = ("group", "topic", "topic_partition")


def expired(departures: DataFrame, events: DataFrame) -> DataFrame:
    """The departures of members that were silent before: `group`, `offset`, `member`. `departures`: rows of
    departed members: `group`, `offset` (of the record of the departure), `member` and the columns of
    `Departure`."""
    sought = _with_slots(departures.withColumn("place", f.explode("places")).select("*", "place.*"))
    commits = events.where(f.col("committed").isNotNull()).select(
        *_PLACE,
        "time",
        "committed",
        f.col("offset").alias("place_in_log"),
        _slot(f.col("time")).alias("slot"),
    )
    near = _near(commits, sought).join(sought, [*_PLACE, "slot"])
    matches = near.where(f.col("time").between(f.col("from"), f.col("to")))
    return (
        _by_place(matches)
        .groupBy("group", "offset", "member")
        .agg(
            f.max("last").alias("last"),
            f.max("rhythm_s").alias("rhythm_s"),
            f.max("own").alias("own"),
            f.max(f.col("then") > f.col("before")).alias("progressed"),
            f.first("at").alias("at"),
            f.first("session_timeout_ms").alias("session_timeout_ms"),
        )
        .where(_fell_silent())
        .select("group", "offset", "member")
    )


def _with_slots(places: DataFrame) -> DataFrame:
    session_s = f.coalesce(f.col("session_timeout_ms"), f.lit(0)) / 1000
    back_s = f.least(f.greatest(2 * session_s, f.lit(LOOK_BACK_S)), f.lit(LOOK_BACK_MOST_S))
    begin, end = _moved(f.col("at"), -back_s), _moved(f.col("at"), f.lit(LOOK_AHEAD_S))
    slots = f.explode(f.sequence(_slot(begin), _slot(end))).alias("slot")
    kept = ("offset", "member", "since", "at", "session_timeout_ms")
    return places.select(*kept, begin.alias("from"), end.alias("to"), *_PLACE, slots)


def _near(commits: DataFrame, sought: DataFrame) -> DataFrame:
    """The commits without most of those that are not needed: to shuffle all of them would cost more than to decode
    them. Few columns are compared first: Spark does not read the other columns of rows that these exclude."""
    for columns in (("group", "slot"), (*_PLACE, "slot")):
        mark = f.hash(*columns).bitwiseAND(_MARKS - 1).alias("mark")
        marks = sought.select(mark).distinct()
        commits = commits.select("*", mark).join(f.broadcast(marks), "mark", "left_semi").drop("mark")
    return commits


def _by_place(commits: DataFrame) -> DataFrame:
    time = f.col("time")
    is_before = time <= f.col("at")
    is_own = is_before & (time >= f.col("since"))
    log, own_time, own_count = f.col("place_in_log"), f.when(is_own, time), f.count_if(is_own)
    return commits.groupBy("group", "offset", "member", "at", "session_timeout_ms", *_PLACE[1:]).agg(
        f.max(f.when(is_before, time)).alias("last"),
        f.max(is_own).alias("own"),
        f.when(own_count > 1, _seconds(f.max(own_time), f.min(own_time)) / (own_count - 1)).alias("rhythm_s"),
        f.max_by("committed", f.when(is_before, log)).alias("before"),
        f.min_by("committed", f.when(~is_before, log)).alias("then"),
    )


def _fell_silent() -> Column:
    silent_s = _seconds(f.col("at"), f.col("last"))
    unknown = f.greatest(f.lit(SILENT_LEAST_S), SILENT_RHYTHMS * f.coalesce(f.col("rhythm_s"), f.lit(0.0)))
    session_s = f.col("session_timeout_ms") / 1000
    was_at_work = f.col("own") | (f.col("session_timeout_ms").isNotNull() & f.col("progressed"))
    return was_at_work & (silent_s >= f.coalesce(session_s, unknown))


def _slot(time: Column) -> Column:
    return f.floor(f.unix_micros(time) / (_SLOT_S * 1_000_000)).cast("long")


def _moved(time: Column, seconds: Column) -> Column:
    return f.timestamp_micros((f.unix_micros(time) + (seconds * 1_000_000).cast("long")).cast("long"))


def _seconds(later: Column, earlier: Column) -> Column:
    return (f.unix_micros(later) - f.unix_micros(earlier)) / 1_000_000
