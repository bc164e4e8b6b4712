"""Verdicts on departed members, in columns: the commits of their partitions near each departure are collected, and
judged as everywhere (`groups.history.departures`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema

from groups.history.causes import RebalanceCause
from groups.history.commits import RECENT, Commits
from groups.history.departures import LOOK_AHEAD_US, causes_after, judge, look_back_us
from groups.history.events import Departure, MemberRecord, Protocol
from pipeline.tables import schemas

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SOUGHT: Final = schemas.table(
    ("topic", schemas.STRING, False),
    ("topic_partition", schemas.INT, False),
    ("from", schemas.LONG, False),
    ("at", schemas.LONG, False),
)
"""A partition of a departed member, and the times in µs between which its commits count."""
_JUDGED: Final = schemas.table(
    ("group", schemas.STRING, False),
    ("offset", schemas.LONG, False),
    ("judged", schemas.STRINGS, False),
    ("expired", schemas.STRINGS, False),
)
_OF_MEMBER: Final = ("member", "instance", "session_timeout_ms", "rebalance_timeout_ms")
_OF_DEPARTURE: Final = ("protocol", "seen", "earliest", "at", "waited_for", "away", "revoking")
_KEY: Final = ("group", "offset")
_SLOT_US: Final = 300_000_000
_MARKS: Final = 1 << 22  # bounds the data sent to every worker; a power of two
_OF_PLACE: Final = ("group", "topic", "topic_partition")


def departures_row(departures: Sequence[Departure]) -> schemas.TableRow:
    """The columns of `pipeline.tables.rebalances.WALKED` with the departures of a rebalance."""
    sought = [
        {
            "topic": topic,
            "topic_partition": number,
            "from": departure.at - look_back_us(departure.record.session_timeout_ms),
            "at": departure.at,
        }
        for departure in departures
        for topic, number in dict.fromkeys((*departure.places, *filter(None, departure.others)))
    ]
    return {
        "departures": json.dumps([_tree(one) for one in departures]) if departures else None,
        "sought": sought,
    }


def _tree(departure: Departure) -> schemas.TableRow:
    """What `judge` asks of a departure, as plain values: workers read it from files."""
    return {
        "record": {name: getattr(departure.record, name) for name in _OF_MEMBER},
        "places": [(*place, since) for place, since in departure.places.items()],
        "others": departure.others,
        **{name: getattr(departure, name) for name in _OF_DEPARTURE},
    }


def _departure(tree: schemas.TableRow) -> Departure:
    return Departure(
        record=MemberRecord(**tree["record"]),
        protocol=Protocol(tree["protocol"]),
        places={(topic, number): since for topic, number, since in tree["places"]},
        others=tuple(other and tuple(other) for other in tree["others"]),
        **{name: tree[name] for name in _OF_DEPARTURE if name != "protocol"},
    )


def with_verdicts(walked: DataFrame, events: DataFrame) -> DataFrame:
    """Rows of `pipeline.tables.rebalances.WALKED` with corrected `cause`, `causes` and `expired`, from all events."""
    cases = walked.where(f.col("departures").isNotNull()).select(*_KEY, "causes", "departures", "sought")
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
    verdicts = [judge(_departure(tree), view) for tree in json.loads(row["departures"])]
    causes = causes_after(tuple(RebalanceCause(cause) for cause in row["causes"]), verdicts)
    expired = [verdict.member for verdict in verdicts if verdict.cause is RebalanceCause.EXPIRY]
    return {name: row[name] for name in _KEY} | {"judged": list(causes), "expired": expired}


def _commits(cases: DataFrame, events: DataFrame) -> DataFrame:
    """The commits of each case's partitions: the last `RECENT` before its departures, and the first one after."""
    places = cases.select(*_KEY, f.explode("sought").alias("place")).select(*_KEY, "place.*")
    slots = f.sequence(_slot(f.col("from")), _slot(f.col("at") + LOOK_AHEAD_US))
    sought = places.withColumn("slot", f.explode(slots))
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
