"""The numbers of a history, held against a slow way to the same."""

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from pipeline.rebalances.causes import RebalanceCause
from pipeline.rebalances.events import Protocol
from pipeline.report.measure import DRAWN, numbers_of
from pipeline.report.measure import MOST as MOST_GROUPS
from pipeline.report.numbers import CAUSES, PROTOCOLS, SPANS, SPANS_S, STAGES, ReportNumbers
from tests.cli.verbs.fleet.test_report_page import history_page
from tests.pipeline.report import slow
from tests.pipeline.report.tables import FIRST, SCHEMAS, Fleet, fleet, rebalance, rows_as

MADE = datetime(2026, 4, 1, tzinfo=UTC)
DAYS = 20
END = FIRST + timedelta(DAYS, hours=1)


@pytest.fixture(scope="module")
def rows() -> Fleet:
    """Give the rows of a fleet."""
    return fleet(days=DAYS)


@pytest.fixture(scope="module")
def numbers(spark: SparkSession, rows: Fleet) -> ReportNumbers:
    """Give its numbers."""
    return numbers_of(rows.tables(spark), made=MADE, sources=["logs"])


def test_names_are_those_of_the_tables() -> None:
    assert set(CAUSES) == {cause.value for cause in RebalanceCause}
    assert set(PROTOCOLS) == {protocol.value for protocol in Protocol}
    assert len(SPANS) == len(SPANS_S) + 1


def test_totals(numbers: ReportNumbers, rows: Fleet) -> None:
    totals = numbers.totals
    assert totals is not None
    assert (totals.records, numbers.quarantined) == (len(rows.events), 3)
    assert totals.groups == len({row["group"] for row in rows.groups})
    assert totals.rebalances == len(rows.rebalances)
    assert totals.rebalancing_s == pytest.approx(slow.busy_s(rows.rebalances))
    assert totals.commits == sum(row["commits"] for row in rows.commits)
    assert totals.resets == sum(row["resets"] for row in rows.commits)
    assert totals.storms == sum(row["storms"] for row in rows.groups)
    zombies: dict[str, int] = {}
    for row in rows.groups:
        zombies[row["group"]] = max(row["zombies"], zombies.get(row["group"], 0))
    assert totals.zombies == sum(zombies.values())
    assert (numbers.first, numbers.last) == (min(row["time"] for row in rows.events), END)


def test_periods_are_all_days_of_the_log(numbers: ReportNumbers, rows: Fleet) -> None:
    assert numbers.step_days == 1
    assert [period.day for period in numbers.periods] == [
        FIRST.date() + timedelta(day) for day in range(DAYS + 1)
    ]
    causes = slow.causes_by_day(rows.rebalances)
    for period in numbers.periods:
        assert period.causes == causes.get(period.day, (0,) * len(CAUSES))
        assert period.rebalances == sum(period.causes)
        assert period.stages == slow.stages_on(rows.groups, period.day)
        own = [row for row in rows.rebalances if row["day"] == period.day]
        assert (period.rebalancing_s is None) == (own != [] and not slow.timed(own))
    assert sum(sum(period.stages) for period in numbers.periods) > 0
    assert sum(period.rebalancing_s or 0.0 for period in numbers.periods) == pytest.approx(
        slow.busy_s(rows.rebalances)
    )


def test_the_worst_groups(numbers: ReportNumbers, rows: Fleet) -> None:
    cost: dict[str, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for row in rows.groups:
        seconds, count = cost[row["group"]]
        cost[row["group"]] = (seconds + row["rebalancing_s"], count + row["rebalances"])
    wanted = sorted(cost, key=lambda group: (-cost[group][0], -cost[group][1], group))[:MOST_GROUPS]
    assert [group.group for group in numbers.worst] == wanted
    without: dict[str, float] = defaultdict(float)
    for name, _, length in slow.gaps(rows, END):
        without[name] += length
    for group in numbers.worst:
        days = sorted((row for row in rows.groups if row["group"] == group.group), key=lambda row: row["day"])
        seconds, count = cost[group.group]
        own = [row for row in rows.rebalances if row["group"] == group.group]
        assert group.rebalancing_s == (pytest.approx(seconds) if slow.timed(own) else None)
        assert group.rebalances == count
        assert group.without_owner_s == pytest.approx(without[group.group])
        assert (group.type, group.stage) == (days[-1]["type"], days[-1]["migration"])
        assert group.joined == sum(row["joined"] for row in days)
        assert group.left == sum(row["left"] for row in days)
        assert group.members_most == max(row["members_most"] for row in days)


def test_what_each_protocol_costs(numbers: ReportNumbers, rows: Fleet) -> None:
    gaps = slow.gaps(rows, END)
    assert [cost.protocol for cost in numbers.protocols] == list(PROTOCOLS)
    for cost in numbers.protocols:
        own = [row for row in rows.rebalances if row["protocol"] == cost.protocol]
        known = sorted(row["duration_s"] for row in own if row["duration_s"] is not None)
        lengths = [length for _, protocol, length in gaps if protocol == cost.protocol]
        assert (cost.rebalances, cost.groups) == (len(own), len({row["group"] for row in own}))
        assert cost.median_s == known[(len(known) - 1) // 2]
        assert cost.longest_s == known[-1]
        assert cost.p95_s in known
        assert sum(length <= (cost.p95_s or 0.0) for length in known) >= 0.95 * len(known)
        assert cost.moved == sum(row["moved"] for row in own)
        assert cost.revoked == sum(row["revoked"] for row in own)
        assert cost.without_owner_s == pytest.approx(sum(lengths))
        assert cost.interruptions == slow.interruptions(lengths)
        assert sum(cost.interruptions) > 0


def test_the_very_worst_are_drawn(numbers: ReportNumbers, rows: Fleet) -> None:
    assert [timeline.group for timeline in numbers.timelines] == [
        group.group for group in numbers.worst[:DRAWN]
    ]
    for timeline in numbers.timelines:
        own = [row for row in rows.rebalances if row["group"] == timeline.group]
        assert [(mark.epoch, mark.start) for mark in timeline.marks] == [
            (row["epoch"], row["start"]) for row in own
        ]
        assert [mark.rebalancing_s for mark in timeline.marks] == [row["duration_s"] for row in own]


def test_numbers_of_tables_make_a_page(numbers: ReportNumbers) -> None:
    page = history_page(numbers)
    assert "Rebalances per day" in page
    assert "from logs" in page


def test_empty_tables(spark: SparkSession) -> None:
    found = numbers_of({name: rows_as(spark, schema, []) for name, schema in SCHEMAS.items()}, made=MADE)
    assert found.totals is not None
    assert (found.totals.records, found.totals.groups, found.totals.rebalancing_s) == (0, 0, 0.0)
    assert (found.periods, found.worst, found.protocols, found.timelines) == ((), (), (), ())
    assert "There are no records." in history_page(found)


def test_one_row_of_which_hardly_anything_is_known(spark: SparkSession) -> None:
    row = rebalance("g", 7, None, None, cause="something new", protocol="consumer")
    one = Fleet(
        events=[{"time": FIRST}],
        rebalances=[row],
        groups=[{"group": "g", "type": "consumer", "rebalances": 1, "migration": "consumer"}],
    )
    found = numbers_of(one.tables(spark), made=MADE)
    (period,) = found.periods
    assert dict(zip(CAUSES, period.causes, strict=True))["unknown"] == period.rebalances == 1
    assert dict(zip(STAGES, period.stages, strict=True)) == {"classic": 0, "mixed": 0, "consumer": 1}
    (cost,) = found.protocols
    assert (cost.median_s, cost.p95_s, cost.longest_s, cost.rebalancing_s) == (None,) * 4
    assert found.totals is not None
    assert (found.totals.rebalancing_s, period.rebalancing_s) == (None, None)
    assert (found.worst[0].rebalancing_s, found.timelines[0].marks[0].rebalancing_s) == (None, None)
    assert found.timelines[0].marks[0].start == datetime(2026, 3, 1, tzinfo=UTC)
    assert "The log contains no durations; g rebalanced most often: 1 rebalance." in history_page(found)


def test_times_that_a_broker_never_had(spark: SparkSession) -> None:
    """A log may hold any time: columns stay few, and none is outside of Python's calendar."""
    far = [datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)]
    wild = Fleet(
        events=[{"day": moment.date(), "time": moment} for moment in far],
        rebalances=[rebalance("g", epoch, moment, 0.0) for epoch, moment in enumerate(far)],
        groups=[
            {"day": far[0].date(), "group": "g", "type": "classic", "rebalances": 2, "migration": "classic"}
        ],
    )
    found = numbers_of(wild.tables(spark), made=MADE)
    assert (found.first, found.last) == tuple(far)
    assert 300 < len(found.periods) <= 400
    assert found.step_days % 7 == 0
    assert found.periods[0].day == date(1, 1, 2)
    assert (found.periods[0].rebalances, found.periods[-1].rebalances) == (1, 1)
    assert {period.stages for period in found.periods} == {(1, 0, 0)}
    assert history_page(found).count("<title>") > 300
