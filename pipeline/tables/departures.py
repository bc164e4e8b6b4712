"""Verdicts on departed members, in columns: the commits of their partitions near each departure are collected, and
judged as everywhere (`groups.history.departures`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType

from groups.history.causes import RebalanceCause
from groups.history.commits import RECENT, Commits
from groups.history.departures import LOOK_AHEAD_US, LOOK_BACK_US, causes_after, judge
from groups.history.events import Departure, MemberRecord, Protocol
from pipeline.tables import schemas

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PLACE: Final = schemas.table(
    ("topic", schemas.STRING, False), ("topic_partition", schemas.INT, False), ("since", schemas.LONG, False)
)
_MEMBER: Final = ("member", "instance", "session_timeout_ms", "rebalance_timeout_ms")
_TIMES: Final = ("seen", "earliest", "at", "away", "revoking")
DEPARTURE: Final = schemas.table(
    ("member", schemas.STRING, False),
    ("instance", schemas.STRING, True),
    ("session_timeout_ms", schemas.INT, True),
    ("rebalance_timeout_ms", schemas.INT, True),
    ("protocol", schemas.STRING, False),
    *((name, schemas.LONG, name in ("away", "revoking")) for name in _TIMES),
    ("waited_for", schemas.BOOLEAN, False),
    ("places", ArrayType(_PLACE, containsNull=False), False),
)
"""A departure; times in µs."""
_JUDGED: Final = schemas.table(
    ("group", schemas.STRING, False),
    ("offset", schemas.LONG, False),
    ("judged", schemas.STRINGS, False),
    ("expired", schemas.STRINGS, False),
)
_KEY: Final = ("group", "offset")
_SLOT_US: Final = 300_000_000
_MARKS: Final = 1 << 22  # bounds the data sent to every worker; a power of two
_OF_PLACE: Final = ("group", "topic", "topic_partition")


def departure_row(departure: Departure) -> schemas.TableRow:
    record = departure.record
    return {
        **{name: getattr(record, name) for name in _MEMBER},
        **{name: getattr(departure, name) for name in (*_TIMES, "waited_for", "protocol")},
        "places": [
            {"topic": topic, "topic_partition": number, "since": since}
            for (topic, number), since in departure.places.items()
        ],
    }


def _departure(row: schemas.TableRow) -> Departure:
    return Departure(
        record=MemberRecord(**{name: row[name] for name in _MEMBER}),
        protocol=Protocol(row["protocol"]),
        places={(place["topic"], place["topic_partition"]): place["since"] for place in row["places"]},
        **{name: row[name] for name in (*_TIMES, "waited_for")},
    )


def with_verdicts(walked: DataFrame, events: DataFrame) -> DataFrame:
    """Rows of `pipeline.tables.rebalances.WALKED` with corrected `cause`, `causes` and `expired`, from all events."""
    cases = walked.where(f.size("departures") > 0).select(*_KEY, "causes", "departures")
    judged = cases.join(_commits(cases, events), list(_KEY), "left").mapInArrow(_judge, _JUDGED)
    causes = f.coalesce("judged", "causes")
    return (
        walked.join(judged, list(_KEY), "left")
        .withColumn("causes", causes)
        .withColumn("cause", f.element_at("causes", 1))
        .withColumn(
            "expired",
            f.coalesce(f.array_sort(f.array_intersect("left", "expired")), f.array().cast("array<string>")),
        )
    )


def _judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    schema = to_arrow_schema(_JUDGED)
    for batch in batches:
        yield pa.RecordBatch.from_pylist([_judged_row(row) for row in batch.to_pylist()], schema=schema)


def _judged_row(row: schemas.TableRow) -> schemas.TableRow:
    commits = sorted(row["commits"] or (), key=lambda commit: commit["log"])
    view = Commits.of(
        ((commit["topic"], commit["topic_partition"]), commit["us"], commit["committed"], commit["log"])
        for commit in commits
    )
    verdicts = [judge(_departure(departure), view) for departure in row["departures"]]
    causes = causes_after(tuple(RebalanceCause(cause) for cause in row["causes"]), verdicts)
    expired = [verdict.member for verdict in verdicts if verdict.cause is RebalanceCause.EXPIRY]
    return {name: row[name] for name in _KEY} | {"judged": list(causes), "expired": expired}


def _commits(cases: DataFrame, events: DataFrame) -> DataFrame:
    """The commits of each case's partitions: the last `RECENT` before its departures, and the first one after."""
    departures = cases.select(*_KEY, f.explode("departures").alias("departure")).select(*_KEY, "departure.*")
    sought = _with_slots(departures.withColumn("place", f.explode("places")))
    commits = events.where(f.col("committed").isNotNull()).select(
        *_OF_PLACE,
        f.unix_micros("time").alias("us"),
        "committed",
        f.col("offset").alias("log"),
    )
    near = _near(commits.withColumn("slot", _slot(f.col("us"))), sought).join(sought, [*_OF_PLACE, "slot"])
    near = near.where(f.col("us").between(f.col("from"), f.col("at") + LOOK_AHEAD_US))
    is_before = f.col("us") <= f.col("at")
    of_place = Window.partitionBy(*_KEY, *_OF_PLACE[1:], is_before)
    nearest = f.dense_rank().over(of_place.orderBy(f.when(is_before, -f.col("log")).otherwise(f.col("log"))))
    kept = near.withColumn("rank", nearest).where(f.col("rank") <= f.when(is_before, RECENT).otherwise(1))
    return kept.groupBy(*_KEY).agg(
        f.collect_set(f.struct(*_OF_PLACE[1:], "us", "committed", "log")).alias("commits")
    )


def _with_slots(places: DataFrame) -> DataFrame:
    least, most = LOOK_BACK_US
    twice = 2000 * f.coalesce(f.col("session_timeout_ms").cast("long"), f.lit(0))
    begin, end = (
        f.col("at") - f.least(f.greatest(twice, f.lit(least)), f.lit(most)),
        f.col("at") + LOOK_AHEAD_US,
    )
    slots = f.explode(f.sequence(_slot(begin), _slot(end))).alias("slot")
    place = [f.col(f"place.{name}").alias(name) for name in _OF_PLACE[1:]]
    return places.select(*_KEY, "at", begin.alias("from"), *place, slots)


def _near(commits: DataFrame, sought: DataFrame) -> DataFrame:
    """The commits without most of those that are not needed: to shuffle all of them would cost more than to decode
    them. Few columns are compared first: Spark does not read the other columns of rows that these exclude."""
    for columns in (("group", "slot"), (*_OF_PLACE, "slot")):
        mark = f.hash(*columns).bitwiseAND(_MARKS - 1).alias("mark")
        marks = sought.select(mark).distinct()
        commits = commits.select("*", mark).join(f.broadcast(marks), "mark", "left_semi").drop("mark")
    return commits


def _slot(us: Column) -> Column:
    return f.floor(us / _SLOT_US).cast("long")
