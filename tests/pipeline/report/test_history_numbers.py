"""The numbers of a history, held against a slow way to the same."""

from datetime import UTC, date, datetime

from pyspark.sql import SparkSession

from groups.history.causes import RebalanceCause
from groups.history.events import Protocol
from pipeline.report.measure import numbers_of
from pipeline.report.numbers import CAUSES, PROTOCOLS, SPANS, SPANS_S, STAGES
from tests.cli.verbs.fleet.test_report_page import history_page
from tests.pipeline.report.tables import FIRST, SCHEMAS, Fleet, rebalance, rows_as

MADE = datetime(2026, 4, 1, tzinfo=UTC)


def test_names_are_those_of_the_tables() -> None:
    assert set(CAUSES) == {cause.value for cause in RebalanceCause}
    assert set(PROTOCOLS) == {protocol.value for protocol in Protocol}
    assert len(SPANS) == len(SPANS_S) + 1


def test_empty_tables(spark: SparkSession) -> None:
    numbers = numbers_of({name: rows_as(spark, schema, []) for name, schema in SCHEMAS.items()}, made=MADE)
    assert numbers.totals is not None
    assert (numbers.totals.records, numbers.totals.groups, numbers.totals.rebalancing_s) == (0, 0, 0.0)
    assert (numbers.periods, numbers.worst, numbers.protocols, numbers.timelines) == ((), (), (), ())
    assert "There are no records." in history_page(numbers)


def test_one_row_of_which_hardly_anything_is_known(spark: SparkSession) -> None:
    row = rebalance("g", 7, None, None, cause="something new", protocol="consumer")
    one = Fleet(
        events=[{"time": FIRST}],
        rebalances=[row],
        groups=[{"group": "g", "type": "consumer", "rebalances": 1, "migration": "consumer"}],
    )
    numbers = numbers_of(one.tables(spark), made=MADE)
    (period,) = numbers.periods
    assert dict(zip(CAUSES, period.causes, strict=True))["unknown"] == period.rebalances == 1
    assert dict(zip(STAGES, period.stages, strict=True)) == {"classic": 0, "mixed": 0, "consumer": 1}
    (cost,) = numbers.protocols
    assert (cost.median_s, cost.p95_s, cost.longest_s, cost.rebalancing_s) == (None,) * 4
    assert numbers.totals is not None
    assert (numbers.totals.rebalancing_s, period.rebalancing_s) == (None, None)
    assert (numbers.worst[0].rebalancing_s, numbers.timelines[0].marks[0].rebalancing_s) == (None, None)
    assert numbers.timelines[0].marks[0].start == datetime(2026, 3, 1, tzinfo=UTC)
    assert "The log contains no durations; g rebalanced most often: 1 rebalance." in history_page(numbers)


def test_times_that_a_broker_never_had(spark: SparkSession) -> None:
    far = [datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)]
    wild = Fleet(
        events=[{"day": moment.date(), "time": moment} for moment in far],
        rebalances=[rebalance("g", epoch, moment, 0.0) for epoch, moment in enumerate(far)],
        groups=[
            {"day": far[0].date(), "group": "g", "type": "classic", "rebalances": 2, "migration": "classic"}
        ],
    )
    numbers = numbers_of(wild.tables(spark), made=MADE)
    assert (numbers.first, numbers.last) == tuple(far)
    assert 300 < len(numbers.periods) <= 400
    assert numbers.step_days % 7 == 0
    assert numbers.periods[0].day == date(1, 1, 2)
    assert (numbers.periods[0].rebalances, numbers.periods[-1].rebalances) == (1, 1)
    assert {period.stages for period in numbers.periods} == {(1, 0, 0)}
    assert history_page(numbers).count("<title>") > 300
