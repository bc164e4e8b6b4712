"""The rebalances of a group in order, and how long it rebalanced."""

from datetime import timedelta

import pytest
from pyspark.sql import Row, SparkSession

from pipeline.report.numbers import CAUSES
from pipeline.report.periods import MOST_MARKS as MOST
from pipeline.report.periods import timeline_of
from pipeline.tables.rebalances import with_busy_s
from pipeline.tables.schemas import REBALANCES
from tests.pipeline.report.tables import FIRST, rebalance, rows_as


def test_overlapping_rebalances_take_the_time_once(spark: SparkSession) -> None:
    from pyspark.testing import assertDataFrameEqual

    at = [FIRST + timedelta(seconds=second) for second in range(40)]
    rows = [
        rebalance("a", 1, at[0], 10.0),
        rebalance("a", 2, at[2], 3.0),  # within the first
        rebalance("a", 3, at[8], 7.0),  # 2 s of it with the first
        rebalance("a", 4, at[20], None),  # not settled at the end: hides nothing
        rebalance("a", 5, at[30], 1.5),
        rebalance("b", 1, at[4], 2.0),  # another group's time
        rebalance("c", 1, None, None),
    ]
    frame = with_busy_s(rows_as(spark, REBALANCES, rows)).select("group", "epoch", "busy_s")
    values = [
        ("a", 1, 10.0),
        ("a", 2, 0.0),
        ("a", 3, 5.0),
        ("a", 4, 0.0),
        ("a", 5, 1.5),
        ("b", 1, 2.0),
        ("c", 1, 0.0),
    ]
    assertDataFrameEqual(frame, [Row(group=group, epoch=epoch, busy_s=busy) for group, epoch, busy in values])


@pytest.mark.parametrize("count", [MOST, MOST + 1, 5 * MOST + 7])
def test_many_rebalances_become_spans_that_leave_out_none(spark: SparkSession, count: int) -> None:
    rows = [
        rebalance(
            "g",
            epoch,
            FIRST + timedelta(seconds=20 * epoch),
            10.0,
            cause=CAUSES[epoch % len(CAUSES)],
            members=epoch % 7,
            joined=["x"] * (epoch % 3),
            left=["y"] * (epoch % 2),
            moved=epoch % 5,
            revoked=epoch % 4,
        )
        for epoch in range(1, count + 1)
    ]
    marks = timeline_of(
        rows_as(spark, REBALANCES, [*reversed(rows), rebalance("h", 1, FIRST, 1.0)]), "g"
    ).marks
    assert len(marks) <= MOST
    assert sum(mark.rebalances for mark in marks) == count
    assert len({mark.rebalances for mark in marks[:-1]}) == 1
    done = 0
    for mark in marks:
        part = rows[done : done + mark.rebalances]
        done += mark.rebalances
        assert (mark.start, mark.end) == (part[0]["start"], part[-1]["end"])
        assert (mark.epoch, mark.members) == (part[-1]["epoch"], part[-1]["members"])
        assert mark.causes == tuple(sum(row["cause"] == cause for row in part) for cause in CAUSES)
        assert mark.joined == sum(len(row["joined"]) for row in part)
        assert mark.left == sum(len(row["left"]) for row in part)
        assert (mark.moved, mark.revoked) == (
            sum(row["moved"] for row in part),
            sum(row["revoked"] for row in part),
        )
        assert mark.rebalancing_s == pytest.approx(10.0 * len(part))


def test_a_group_that_never_rebalanced(spark: SparkSession) -> None:
    assert timeline_of(rows_as(spark, REBALANCES, [rebalance("h", 1, FIRST, 1.0)]), "g").marks == ()
