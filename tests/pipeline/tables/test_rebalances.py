"""The tables of rebalances and of ownership, made by Spark of real decoded records."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from coordinator.engine.records import OffsetRecord, StoredOffset
from pipeline.tables.rebalances import COURSES, courses, ownership, rebalances
from pipeline.tables.schemas import EVENTS, OWNERSHIP, REBALANCES
from tests.coordinator.engine.consumer import Consumer, settled
from tests.coordinator.store.real_log import RealLog
from tests.pipeline.decoded import decoded
from tests.pipeline.decoded import events as events_of
from tests.pipeline.rebalances.courses import Clock, Written, clock, course_of
from tests.pipeline.rebalances.courses import decoded as decoded_records
from tests.pipeline.rebalances.test_classic import two

AWAY = -2


def frame(spark: SparkSession, written: Iterable[Written], driver: Clock) -> DataFrame:
    """Records as the table of events."""
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


@pytest.fixture(scope="module")
def real_events(spark: SparkSession, real_log: RealLog) -> DataFrame:
    return events_of(decoded(spark, [str(real_log.data)])).cache()


@pytest.fixture(scope="module")
def real_courses(real_events: DataFrame) -> DataFrame:
    return courses(real_events).cache()


@pytest.fixture(scope="module")
def real_rebalances(real_courses: DataFrame, real_events: DataFrame) -> DataFrame:
    return rebalances(real_courses, real_events).cache()


@pytest.fixture(scope="module")
def real_ownership(real_courses: DataFrame) -> DataFrame:
    return ownership(real_courses).cache()


def described(log: RealLog) -> dict[str, Mapping[str, Any]]:
    """The groups of a real broker that have members, as it was asked last."""
    return {
        group["group"]: group
        for group in log.last.kohort_describe["groups"]
        if group["type"] in ("classic", "consumer") and group["members"]
    }


def test_the_tables_have_their_schemas(
    real_courses: DataFrame, real_rebalances: DataFrame, real_ownership: DataFrame
) -> None:
    assertSchemaEqual(real_courses.schema, COURSES)
    assertSchemaEqual(real_rebalances.schema, REBALANCES, ignoreNullable=True)
    assertSchemaEqual(real_ownership.schema, OWNERSHIP, ignoreNullable=True)
    for table, schema in ((real_rebalances, REBALANCES), (real_ownership, OWNERSHIP)):
        for column in schema:
            if not column.nullable:
                assert table.where(f.col(column.name).isNull()).count() == 0, column.name


def test_the_last_rebalance_equals_the_brokers_description(
    real_rebalances: DataFrame, real_log: RealLog
) -> None:
    last = real_rebalances.groupBy("group").agg(
        f.max_by("protocol", f.struct("end", "epoch")).alias("protocol"),
        f.max_by("epoch", f.struct("end", "epoch")).alias("epoch"),
        f.max_by("members", f.struct("end", "epoch")).alias("members"),
    )
    # A client does not know the generation of a classic group.
    found = {
        row.group: (row.protocol, row.epoch if row.protocol == "consumer" else None, row.members)
        for row in last.collect()
    }
    said = {
        name: (
            group["type"],
            group.get("group_epoch"),
            len(group["members"]),
        )
        for name, group in described(real_log).items()
    }
    assert said
    assert {name: found[name] for name in said} == said


def test_the_open_spans_equal_the_members_partitions(real_ownership: DataFrame, real_log: RealLog) -> None:
    rows = real_ownership.where(f.col("until").isNull() & f.col("member").isNotNull()).collect()
    found = Counter((row.group, row.member, row.topic, row.topic_partition) for row in rows)
    said = Counter(
        (name, member["id"], topic, number)
        for name, group in described(real_log).items()
        for member in group["members"]
        if member["epoch"] != AWAY
        for topic, numbers in (member["owned"] or {}).items()
        for number in numbers
    )
    assert said
    assert found == said


def test_the_causes_equal_the_clients_actions(real_rebalances: DataFrame) -> None:
    """See `tests.coordinator.store.real_log_story`."""
    rows = real_rebalances.orderBy("group", "end", "epoch").collect()
    causes: dict[str, list[str]] = {}
    for row in rows:
        causes.setdefault(row.group, []).append(row.cause)
    # Whether it had committed before it died, so that its silence shows, is a matter of luck.
    assert causes["crash-consumer"][:-1] == ["join", "join"]
    assert causes["crash-consumer"][-1] in ("expiry", "leave")
    assert causes["consumer"] == ["join", "join", "leave"]
    assert (
        causes["deleted-consumer"]
        == causes["emptied-consumer"]
        == causes["emptied-classic"]
        == [
            "join",
            "leave",
        ]
    )
    assert causes["topics-changed"] == ["join", "subscription"]
    assert causes["regex"] == causes["java-regex"] == ["join", "metadata"]
    assert causes["downgraded"] == ["join", "conversion", "join", "conversion", "conversion"]
    assert set(causes["static"]) == {"join"}
    assert causes["roundrobin"][-1] == "leave"
    assert causes["upgraded"][-4:] == ["conversion", "join", "leave", "join"]
    assert causes["range"][-1] == causes["cooperative"][-1] == "join"


def test_row_order_and_a_second_copy_of_the_log_do_not_matter(
    real_events: DataFrame, real_rebalances: DataFrame, real_ownership: DataFrame
) -> None:
    other = real_events.unionByName(real_events).repartition(3, f.hash("offset", f.lit(7)))
    assertDataFrameEqual(rebalances(courses(other), other), real_rebalances)
    assertDataFrameEqual(ownership(courses(other)), real_ownership)


def test_the_table_equals_the_walk(spark: SparkSession) -> None:
    made = two()
    made.members["b"].leave()
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    result = course_of(made.driver).rebalances
    events = frame(spark, made.driver.written(), made.driver)
    rows = rebalances(courses(events), events).orderBy("epoch").collect()
    assert [
        (row.epoch, row.cause, tuple(row.joined), tuple(row.left), row.moved, row.revoked) for row in rows
    ] == [(each.epoch, each.causes[0], each.joined, each.left, each.moved, each.revoked) for each in result]
    assert [row.duration_s for row in rows] == [0, 0, 0]


def commit(time_ms: int, committed: int, number: int) -> Written:
    value = StoredOffset(
        offset=committed, leader_epoch=-1, metadata="", commit_ms=time_ms, topic_id=UUID(int=1)
    )
    return Written(0, time_ms, OffsetRecord(group="g", topic="foo", partition=number, value=value))


def gone_consumer(before_s: Sequence[float]) -> list[Written]:
    """A consumer group that b is gone from, and commits of a partition that it had so long before."""
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
    commits = [commit(gone_ms - int(seconds * 1000), place, number) for place, seconds in enumerate(before_s)]
    return [*driver.written(), *commits]


def gone_classic(before_s: Sequence[float], *, progress: bool) -> list[Written]:
    """A classic group in which the session of b, of 10 s, ended, commits so long before, and one of a's after."""
    made = two(session_timeout_ms=10_000)
    for _ in range(3):
        made.driver.advance(5_000)
        made.members["a"].heartbeat()
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    (gone,) = course_of(made.driver).rebalances[-1].departures
    at_ms = gone.at // 1000
    commits = [commit(at_ms - int(seconds * 1000), 5, 3) for seconds in before_s]
    return [*made.driver.written(), *commits, commit(at_ms + 2_000, 9 if progress else 5, 3)]


SILENCES: Mapping[str, tuple[list[Written], str]] = {
    "consumer: every five seconds, and once more at the end": (
        gone_consumer((30, 25, 20, 15, 10, 5, 0.01)),
        "leave",
    ),
    "consumer: every five seconds, until 45 s before its session ended": (
        gone_consumer((59, 55, 50, 45)),
        "expiry",
    ),
    "consumer: by hand every twenty seconds, it went between two": (gone_consumer((55, 35, 15)), "leave"),
    "consumer: not at all": (gone_consumer(()), "leave"),
    "consumer: once, and then no more": (gone_consumer((50,)), "expiry"),
    "classic: within its session, and a commit is a sign of life": (
        gone_classic((8,), progress=True),
        "leave",
    ),
    "classic: silent for longer than its session": (gone_classic((12,), progress=False), "expiry"),
    "classic: not itself, but there was something to read": (gone_classic((19.5,), progress=True), "expiry"),
    "classic: not itself, and there was nothing to read": (gone_classic((19.5,), progress=False), "leave"),
}


def test_members_that_fell_silent_expired(spark: SparkSession) -> None:
    log: list[Written] = []
    for name, (written, _) in SILENCES.items():
        for each in written:
            log.append(replace(each, offset=len(log), record=replace(each.record, group=name)))
    events = frame(spark, log, clock(("foo", 4)))
    rows = rebalances(courses(events), events).where(f.size("left") > 0).collect()
    assert {row.group: (row.cause, row.causes, len(row.expired)) for row in rows} == {
        name: (cause, [cause], int(cause == "expiry")) for name, (_, cause) in SILENCES.items()
    }


def test_hostile_records_do_not_stop_the_others(spark: SparkSession) -> None:
    made = two()
    log = made.driver.written()
    # The log of another group ends in the middle of everything, with times that go back.
    other = [
        replace(each, offset=each.offset + 100, time_ms=each.time_ms - 3_600_000 * index)
        for index, each in enumerate(reversed(log))
    ]
    events = frame(spark, [*log, *other], made.driver)
    rows = rebalances(courses(events), events).collect()
    assert {row.group for row in rows} == {"g"}
    assert all(row.duration_s is None or row.duration_s >= 0 for row in rows)
