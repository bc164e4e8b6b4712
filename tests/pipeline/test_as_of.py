"""Time travel through the table of events, compared with `kohort describe --log-dir D --as-of T` of the same group."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from cli.sources.replayed import ReplayedSource
from groups.model import Group, GroupType
from pipeline.as_of import as_of
from tests.coordinator.store.real_log import RealLog
from tests.pipeline.decoded import decoded, events
from tests.pipeline.tables.random_commits import START_MS, RandomCommits

KINDS = ("consumer", "cooperative", "deleted-consumer", "connect")


def _described(data: Path, group: str, as_of_ms: int) -> Group | None:
    """What the command line tells, without the assignor that it takes a broker to have, and without offsets in open
    transactions, which are no events."""
    source = ReplayedSource.read([data], as_of_ms=as_of_ms)
    groups = source.describe([group], offsets=True).items
    if not groups:
        return None
    described = replace(groups[0], pending=None)
    guessed = described.type is GroupType.CONSUMER and described.protocol == "uniform"
    return replace(described, protocol=None) if guessed else described


def _travelled(happened: DataFrame, group: str, as_of_ms: int) -> Group | None:
    described = as_of(happened, group, datetime.fromtimestamp(as_of_ms / 1000, UTC)).group
    if described is not None and described.type is GroupType.CONSUMER and described.protocol == "uniform":
        return replace(described, protocol=None)
    return described


@pytest.fixture(scope="module")
def happened(spark: SparkSession, real_log: RealLog) -> DataFrame:
    return events(decoded(spark, [str(real_log.data)])).localCheckpoint()


@pytest.mark.kafka
@pytest.mark.parametrize("group", KINDS)
def test_a_group_of_a_real_broker_at_the_end(happened: DataFrame, real_log: RealLog, group: str) -> None:
    end_ms = 4_102_444_800_000
    assert _travelled(happened, group, end_ms) == _described(real_log.data, group, end_ms)


@pytest.mark.kafka
def test_a_group_of_a_real_broker_at_some_moments(happened: DataFrame, real_log: RealLog) -> None:
    rows = happened.where("kind != 'offset'").selectExpr("group", "unix_millis(time)").collect()
    result = sorted({(row[0], row[1]) for row in rows if row[0] is not None})
    for group, time_ms in Random(6).sample(result, 5):
        assert _travelled(happened, group, time_ms) == _described(real_log.data, group, time_ms)


def test_offsets_in_transactions(spark: SparkSession, tmp_path: Path) -> None:
    made = RandomCommits(Random(7))
    made.write(80)
    made.log.save(tmp_path / "__consumer_offsets-3")
    happened = events(decoded(spark, [str(tmp_path)])).localCheckpoint()
    times = [START_MS, *(said.time_ms for said in made.said)]
    for time_ms in (times[0], times[len(times) // 3], times[-1] + 1):
        assert _travelled(happened, "a", time_ms) == _described(tmp_path, "a", time_ms)


def test_a_group_that_was_not_there_yet(spark: SparkSession, tmp_path: Path) -> None:
    made = RandomCommits(Random(8))
    made.write(3)
    made.log.save(tmp_path / "__consumer_offsets-3")
    happened = events(decoded(spark, [str(tmp_path)]))
    result = as_of(happened, "a", datetime.fromtimestamp(0, UTC))
    assert (result.group, result.records) == (None, 0)
