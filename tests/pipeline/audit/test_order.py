"""Who migrates first."""

from typing import Any

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pipeline.audit.judge import UNRANKED
from pipeline.audit.run import ranked
from pipeline.audit.schemas import AUDIT
from tests.pipeline.report.tables import rows_as


def rows(spark: SparkSession, *groups: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Give the rank of each group, with its risk and its score."""
    made = [{"source": "s", "destination": "consumer", "verdict": "ready"} | group for group in groups]
    found = ranked(rows_as(spark, UNRANKED, made))
    assertSchemaEqual(found.schema, AUDIT, ignoreNullable=True)
    return [
        (row["group"], row["risk"], row["score"], row["rank"])
        for row in found.orderBy("destination", "rank", "group").collect()
    ]


def test_gain_against_risk(spark: SparkSession) -> None:
    assert rows(
        spark,
        {
            "group": "risky",
            "gain_s": 90.0,
            "without_owner_s": 9.0,
            "verdict": "warnings",
            "warned_by": ["a", "b"],
        },
        {"group": "cheap", "gain_s": 10.0, "without_owner_s": 0.0},
        {"group": "costly", "gain_s": 10.0, "without_owner_s": 99.0},
        {"group": "worse", "gain_s": -5.0, "without_owner_s": 0.0},
        {"group": "untold", "gain_s": None, "without_owner_s": None},
        {"group": "blocked", "gain_s": 1000.0, "verdict": "blocked", "blocked_by": ["a"]},
        {"group": "there", "gain_s": 0.0, "arrived": True},
    ) == [
        ("blocked", None, None, None),
        ("there", None, None, None),
        ("cheap", 1.0, 10.0, 1),
        ("risky", 30.0, 3.0, 2),
        ("costly", 100.0, 0.1, 3),
        ("worse", 1.0, -5.0, 4),
        ("untold", None, None, 5),
    ]


def test_each_destination_has_a_separate_order_and_equals_are_by_name(spark: SparkSession) -> None:
    same = {"gain_s": 1.0, "without_owner_s": 0.0}
    found = rows(
        spark,
        {"group": "b", **same},
        {"group": "a", **same},
        {"group": "a", "source": "r", **same},
        {"group": "a", "destination": "cooperative", **same},
    )
    assert [(group, rank) for group, _, _, rank in found] == [("a", 1), ("a", 2), ("b", 3), ("a", 1)]


def test_no_groups_have_no_order(spark: SparkSession) -> None:
    empty = ranked(spark.createDataFrame([], UNRANKED))
    assertDataFrameEqual(empty, spark.createDataFrame([], AUDIT))
