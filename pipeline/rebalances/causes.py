"""Why a rebalance happened: told from what a group's records say, and for members that are gone from their commits.

- conversion: to the other protocol, members and partitions as they were (and the rebalance that converting back makes).
- join, leave, expiry: members came or went; of those that went, expiry where `expired` finds that they had fallen
  silent, else leave, whatever it was.
- assignor, subscription: other assignors or topics of members that stay.
- metadata: nothing of these, but other partitions than before.
- unknown: nothing at all changed that is written, or the row is the first of a group that is older than its log.

`causes` has all that there are, `cause` the first of them. A generation in which a cooperative group hands out what it
withheld in the one before has the causes of that one.

`of_generation` and `of_epoch` say what the records tell; `with_expiry` puts expiry in the place of a leave.

Which members that are gone had fallen silent before, and so expired rather than left.

A broker writes the same for a member that leaves and for one whose session ends. What tells them apart is in the
commits of the partitions that the member had:

- Whoever commits automatically commits once more when it closes. Its last commit lies right before its end.
- In a classic group a commit is a sign of life as a heartbeat is: whoever committed within its session timeout of
  its end did not expire. The session timeout of classic members is in the log.

So a member is said to have expired if partitions that it had were committed before its end, but not within its
session timeout of it; where that is not known, not within three times the time from commit to commit, at least a
second. The commits have to be its own, of the time in which it was a member; in a classic group it counts, too, that
its successor got further at once: there was something to read, and the member did not read it.

That is a judgment, and it errs: on members that commit by hand, seldom, and not at their end (they seem to expire),
on members that die before their first commit and on partitions that nothing is written to (they seem to leave), and
where compaction took the commits away (they seem to leave). Of static members that went away and did not come back
within their session the log tells the end itself. Members of which nothing is known are said to have left.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class RebalanceCause(StrEnum):
    """Why a generation or group epoch came to be; where there are several, the first in this order is the cause."""

    CONVERSION = "conversion"
    EXPIRY = "expiry"
    LEAVE = "leave"
    JOIN = "join"
    ASSIGNOR = "assignor"
    SUBSCRIPTION = "subscription"
    METADATA = "metadata"
    UNKNOWN = "unknown"


Causes = tuple[RebalanceCause, ...]
"""In the order of `RebalanceCause`, at least one."""


def of_generation(
    changes: Collection[RebalanceCause], *, before: Causes, hands_out_withheld: bool, other_partitions: bool
) -> Causes:
    """Of a classic group's generation, whose predecessor had the causes `before`.

    `changes`: what is different among members, their topics and the assignor. `hands_out_withheld`: whether nothing is
    assigned anew but what the generation before withheld. `other_partitions`: whether others are assigned than before.
    """
    if changes:
        return _in_order(changes)
    if RebalanceCause.CONVERSION in before:
        # A group that is converted back when a member left rebalances next.
        return (RebalanceCause.CONVERSION,)
    if hands_out_withheld:
        return before
    return (RebalanceCause.METADATA if other_partitions else RebalanceCause.UNKNOWN,)


def of_epoch(changes: Collection[RebalanceCause], *, gap: bool) -> Causes:
    """Of a consumer group's epoch. `changes`: what was written since the epoch before, after a `gap` not all of it."""
    if set(changes) - {RebalanceCause.METADATA, RebalanceCause.ASSIGNOR}:
        # Regexes are resolved for those who come with them.
        changes = set(changes) - {RebalanceCause.METADATA}
    # Nothing but another set of topics and partitions makes an epoch by itself.
    return _in_order(changes) or (RebalanceCause.UNKNOWN if gap else RebalanceCause.METADATA,)


def _in_order(causes: Collection[RebalanceCause]) -> Causes:
    return tuple(cause for cause in RebalanceCause if cause in causes)


def with_expiry(walked: DataFrame, events: DataFrame) -> DataFrame:
    """Rows of `pipeline.tables.rebalances.WALKED` with `cause`, `causes` and `expired` put right, from all events."""
    departures = walked.select(*_KEY, f.explode("departures").alias("departure")).select(*_KEY, "departure.*")
    silent = expired(departures, events).groupBy(*_KEY).agg(f.collect_set("member").alias("silent"))
    told = f.filter("departures", lambda each: each["expired"])
    gone = f.array_union(
        f.transform(told, lambda each: each["member"]),
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
LOOK_BACK_S: Final = 300
"""How far commits are looked for before a member's end, at least; else twice its session timeout."""
LOOK_BACK_MOST_S: Final = 3600
LOOK_AHEAD_S: Final = 15
"""How long a successor has to get further: automatic commits come every five seconds."""
SILENT_LEAST_S: Final = 1.0
SILENT_RHYTHMS: Final = 3.0
_SLOT_S: Final = 300
_MARKS: Final = 1 << 22
"""Bounds what is sent to every worker, whatever the number of departures. A power of two."""
_PLACE: Final = ("group", "topic", "topic_partition")


def expired(departures: DataFrame, events: DataFrame) -> DataFrame:
    """The departures of members that had fallen silent: `group`, `offset`, `member`.

    `departures`: a row per member that is gone, with `group`, `offset` (of the record that tells it), `member`,
    `since`, `at` (times), `session_timeout_ms` and `places` (an array of `topic` and `topic_partition`).
    """
    sought = _with_slots(departures.withColumn("place", f.explode("places")).select("*", "place.*"))
    commits = events.where(f.col("committed").isNotNull()).select(
        *_PLACE,
        "time",
        "committed",
        f.col("offset").alias("place_in_log"),
        _slot(f.col("time")).alias("slot"),
    )
    near = _near(commits, sought).join(sought, [*_PLACE, "slot"])
    found = near.where(f.col("time").between(f.col("from"), f.col("to")))
    by_place = _by_place(found)
    return (
        by_place.groupBy("group", "offset", "member")
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
    """With the slots of time in which commits are looked for."""
    session_s = f.coalesce(f.col("session_timeout_ms"), f.lit(0)) / 1000
    back_s = f.least(f.greatest(2 * session_s, f.lit(LOOK_BACK_S)), f.lit(LOOK_BACK_MOST_S))
    bounded = places.withColumn("from", _moved(f.col("at"), -back_s)).withColumn(
        "to", _moved(f.col("at"), f.lit(LOOK_AHEAD_S))
    )
    return bounded.withColumn("slot", f.explode(f.sequence(_slot(f.col("from")), _slot(f.col("to"))))).select(
        "offset", "member", "since", "at", "session_timeout_ms", "from", "to", *_PLACE, "slot"
    )


def _near(commits: DataFrame, sought: DataFrame) -> DataFrame:
    """The commits without most of those that are not sought: to bring all of them together would cost more than to
    decode them. First by few columns: of what these turn away Spark does not read the others."""
    for columns in (("group", "slot"), (*_PLACE, "slot")):
        mark = f.hash(*columns).bitwiseAND(_MARKS - 1).alias("mark")
        marks = sought.select(mark).distinct()
        commits = commits.select("*", mark).join(f.broadcast(marks), "mark", "left_semi").drop("mark")
    return commits


def _by_place(found: DataFrame) -> DataFrame:
    time = f.col("time")
    is_before = time <= f.col("at")
    is_own = is_before & (time >= f.col("since"))
    log = f.col("place_in_log")
    return (
        found.groupBy("group", "offset", "member", "at", "session_timeout_ms", *_PLACE[1:])
        .agg(
            f.max(f.when(is_before, time)).alias("last"),
            f.max(is_own).alias("own"),
            f.min(f.when(is_own, time)).alias("own_first"),
            f.max(f.when(is_own, time)).alias("own_last"),
            f.count(f.when(is_own, True)).alias("own_count"),
            f.max_by("committed", f.when(is_before, log)).alias("before"),
            f.min_by("committed", f.when(~is_before, log)).alias("then"),
        )
        .withColumn(
            "rhythm_s",
            f.when(
                f.col("own_count") > 1,
                _seconds(f.col("own_last"), f.col("own_first")) / (f.col("own_count") - 1),
            ),
        )
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
