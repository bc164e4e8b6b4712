"""What a command shows of the tables: choices of rows, sums per group, plain values."""

from datetime import UTC, date, datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pipeline.overview import OVERVIEW, between, days_between, of_groups, overview, plain
from pipeline.tables.rebalances import with_busy_s
from pipeline.tables.schemas import COMMITS, GROUPS, REBALANCES
from tests.pipeline.report.tables import rebalance, rows_as

DAY = date(2026, 3, 1)


def at(hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 3, 1, hour, minute, second, tzinfo=UTC)


def ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000)


def rebalances(spark: SparkSession) -> DataFrame:
    rows = [
        rebalance("a", 1, at(1), 10.0, joined=["m"], moved=3),
        # Ends together with the one before: the time counts once.
        rebalance("a", 2, at(1, 0, 4), 8.0, left=["m", "n"]),
        rebalance("b", 1, None, None, end=at(5)),
    ]
    return rows_as(spark, REBALANCES, rows)


def test_rebalances_by_when_they_began(spark: SparkSession) -> None:
    all_of_them = rebalances(spark)
    assert between(all_of_them, None, None).count() == 3
    assert between(all_of_them, ms(at(1, 0, 4)), None).count() == 2
    assert between(all_of_them, ms(at(1, 0, 5)), ms(at(5))).count() == 1
    assert between(all_of_them, None, ms(at(1))).count() == 1
    assert of_groups(all_of_them, ["b", "c"]).count() == 1
    assert of_groups(all_of_them, []).count() == 3


def test_days_by_the_times_they_have(spark: SparkSession) -> None:
    days = [date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 2)]
    groups = rows_as(spark, GROUPS, [{"day": day, "group": "a"} for day in days])
    kept = days_between(groups, ms(at(23, 59)), ms(at(23, 59)))
    assert [row["day"] for row in plain(kept)] == [DAY]
    assert days_between(groups, None, None).count() == 3


def test_sums_of_groups(spark: SparkSession) -> None:
    groups = [
        {"day": DAY, "group": "a", "type": "classic", "migration": "classic", "storms": 1, "zombies": 4},
        {"day": date(2026, 3, 2), "group": "a", "type": "consumer", "migration": "mixed", "storms": 2},
        {"day": DAY, "group": "c", "type": "share"},
    ]
    commits = [
        {"day": DAY, "group": "a", "commits": 5, "resets": 1, "first": at(1), "last": at(2)},
        {"day": DAY, "group": "d", "commits": 7, "first": at(1), "last": at(2)},
    ]
    counted = with_busy_s(rebalances(spark))
    found = overview(rows_as(spark, GROUPS, groups), counted, rows_as(spark, COMMITS, commits))
    assertSchemaEqual(found.schema, OVERVIEW, ignoreNullable=True)
    expected = [
        ("a", "consumer", "mixed", 2, 1, 2, 3, 12.0, at(1, 0, 4), 3, 4, 5, 1),
        ("b", None, None, 1, 0, 0, 0, None, at(5), 0, 0, 0, 0),  # it took time, for an unknown duration
        ("c", "share", None, 0, 0, 0, 0, 0.0, None, 0, 0, 0, 0),
        ("d", None, None, 0, 0, 0, 0, 0.0, None, 0, 0, 7, 0),
    ]
    # A failed comparison says more where the schemas agree to the letter.
    assertDataFrameEqual(
        spark.createDataFrame(found.rdd, OVERVIEW), spark.createDataFrame(expected, OVERVIEW)
    )


def test_rows_as_plain_values(spark: SparkSession) -> None:
    found = list(plain(rebalances(spark).where("group = 'b'")))
    assert [(row["start"], row["end"], row["day"]) for row in found] == [(None, ms(at(5)), DAY)]
