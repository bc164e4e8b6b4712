"""The tables of rebalances and of ownership, made by Spark of real decoded records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from coordinator.engine.records import in_group
from pipeline.tables.rebalances import courses, ownership, rebalances
from pipeline.tables.schemas import EVENTS, OWNERSHIP, REBALANCES
from tests.coordinator.engine.consumer import Consumer, settled
from tests.groups.history.test_classic import gone_classic, two
from tests.groups.history.written import Clock, Written, clock, commit, course_of
from tests.groups.history.written import decoded as decoded_records

AWAY = -2


def frame(spark: SparkSession, written: Iterable[Written], driver: Clock) -> DataFrame:
    batches = list(decoded_records(written, driver.engine.topics))
    rows = [
        row for batch in batches for row in pa.Table.from_batches([batch]).select(EVENTS.names).to_pylist()
    ]
    for row in rows:
        for column in ("assignment", "revoking"):
            row[column] = dict(row[column]) if row[column] is not None else None
        for member in row["members"] or ():
            member["assignment"] = dict(member["assignment"]) if member["assignment"] is not None else None
    return spark.createDataFrame(rows, EVENTS)


def test_the_table_equals_the_walk(spark: SparkSession) -> None:
    made = two()
    made.members["b"].leave()
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    result = course_of(made.driver).rebalances
    events = frame(spark, made.driver.written(), made.driver)
    rows = rebalances(courses(events), events).orderBy("epoch").collect()
    assert [
        (row.epoch, row.cause, tuple(row.joined), tuple(row.left), row.moved, row.revoked) for row in rows
    ] == [(row.epoch, row.causes[0], row.joined, row.left, row.moved, row.revoked) for row in result]
    assert [row.duration_s for row in rows] == [0, 0, 0]


def gone_consumer(before_s: Sequence[float], *, progress: bool = True) -> list[Written]:
    """A consumer group that b is gone from, and commits of a partition that it had so long before, and one after."""
    driver = clock(("foo", 4))
    a, b = Consumer(driver, "a"), Consumer(driver, "b")
    a.join()
    b.join()
    settled(a, b)
    for _ in range(3):
        driver.advance(20_000)
        settled(a, b)
    number = b.owned["foo"][0]
    b.leave()
    gone_ms = driver.now_ms
    driver.advance(1_000)
    settled(a)
    read = [int(1000 * (before_s[0] - seconds)) for seconds in (*before_s, 0)] if before_s else [0]
    commits = [
        commit(gone_ms - int(seconds * 1000), offset, number)
        for seconds, offset in zip(before_s, read, strict=False)
    ]
    return [*driver.written(), *commits, commit(gone_ms + 3_000, read[-1 if progress else -2], number)]


SILENCES: Mapping[str, list[Written]] = {
    "leave": gone_consumer((30, 25, 20, 15, 10, 5, 0.01)),
    "expiry": gone_consumer((65, 60, 55, 50, 45)),
    "unknown": gone_consumer((65, 60, 55, 50, 45), progress=False),
    "expiry of a classic member": gone_classic(),
}
"""Logs by the cause that the silence before the departure proves."""


def test_members_that_fell_silent_expired(spark: SparkSession) -> None:
    log: list[Written] = []
    for name, written in SILENCES.items():
        for line in written:
            log.append(replace(line, offset=len(log), record=in_group(line.record, name)))
    events = frame(spark, log, clock(("foo", 4))).cache()
    table, owned = rebalances(courses(events), events), ownership(courses(events))
    assertSchemaEqual(table.schema, REBALANCES, ignoreNullable=True)
    assertSchemaEqual(owned.schema, OWNERSHIP, ignoreNullable=True)
    rows = table.where(f.size("left") > 0).collect()
    assert {row.group: (row.cause, row.causes, len(row.expired)) for row in rows} == {
        name: (cause := name.split()[0], [cause], int(cause == "expiry")) for name in SILENCES
    }
    # Neither the order of rows nor a second copy of the log matters.
    other = events.unionByName(events).repartition(3, f.hash("offset", f.lit(7)))
    assertDataFrameEqual(rebalances(courses(other), other), table)
    assertDataFrameEqual(ownership(courses(other)), owned)


def test_hostile_records_do_not_stop_the_others(spark: SparkSession) -> None:
    made = two()
    log = made.driver.written()
    # The log of another group ends in the middle of everything, with times that go back.
    other = [
        replace(entry, offset=entry.offset + 100, time_ms=entry.time_ms - 3_600_000 * index)
        for index, entry in enumerate(reversed(log))
    ]
    events = frame(spark, [*log, *other], made.driver)
    rows = rebalances(courses(events), events).collect()
    assert {row.group for row in rows} == {"g"}
    assert all(row.duration_s is None or row.duration_s >= 0 for row in rows)
