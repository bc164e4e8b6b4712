"""Commits by day, against the log gone through one commit after the other."""

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pipeline.tables.commits import READ, RUNS, runs_of
from pipeline.tables.schemas import COMMITS
from tests.coordinator.store.logs import Written
from tests.coordinator.store.offset_logs import committed
from tests.pipeline.decoded import commits, decoded, events
from tests.pipeline.tables.random_commits import START_MS, RandomCommits, commits_table

DAY_MS = 24 * 3600 * 1000


def _events(spark: SparkSession, log: Written, tmp_path: Path) -> DataFrame:
    log.save(tmp_path / "__consumer_offsets-3")
    return events(decoded(spark, [str(tmp_path)])).localCheckpoint()


def _runs(happened: DataFrame) -> DataFrame:
    """The runs of the events, of every batch its own."""
    return happened.select(*READ).mapInArrow(
        lambda batches: (runs_of(pa.Table.from_batches([batch])) for batch in batches), RUNS
    )


def _rows(table: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict() for row in table.orderBy("group", "topic_partition", "day").collect()]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_log_in_any_order(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    made = RandomCommits(Random(seed))
    made.write(300)
    made.close()
    happened = _events(spark, made.log, tmp_path)
    expected = spark.createDataFrame(commits_table(made.counted()), COMMITS)
    in_order = commits(happened)
    assertSchemaEqual(in_order.schema, COMMITS)
    assertDataFrameEqual(in_order, expected)
    assertDataFrameEqual(commits(happened.orderBy(f.xxhash64("offset"))), expected)


@pytest.mark.parametrize("transactions", [False, True])
def test_runs_give_the_same_table_as_single_commits(
    spark: SparkSession, tmp_path: Path, *, transactions: bool
) -> None:
    made = RandomCommits(Random(3), transactions=transactions)
    made.write(100)
    made.close()
    happened = _events(spark, made.log, tmp_path)
    assertDataFrameEqual(commits(happened, single=False), commits(happened))


def test_runs_are_fewer_than_commits(spark: SparkSession, tmp_path: Path) -> None:
    log = Written()
    log.batch([committed("a", offset) for offset in range(1000)], timestamp=START_MS)
    runs = _runs(_events(spark, log, tmp_path))
    assertSchemaEqual(runs.schema, RUNS)
    (run,) = runs.collect()
    assert (run["begin"], run["end"], run["commits"], run["first_offset"], run["last_offset"]) == (
        0, 999, 1000, 0, 999,
    )  # fmt: skip


def test_a_day_of_tombstones_alone_has_no_offsets(spark: SparkSession, tmp_path: Path) -> None:
    log = Written()
    log.batch([committed("a", None)], timestamp=START_MS)
    (row,) = _rows(commits(_events(spark, log, tmp_path)))
    assert (row["commits"], row["deleted"], row["first_offset"], row["longest_gap_s"]) == (0, 1, None, None)


def test_no_events_no_commits(spark: SparkSession, tmp_path: Path) -> None:
    assert commits(_events(spark, Written(), tmp_path)).collect() == []
