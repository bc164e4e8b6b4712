"""Rates, times and verdicts out of readings; each rule of `groups.progress` with its near misses."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.commits import TopicCommits
from groups.lag import NextRecord
from groups.model import Group, GroupState, GroupType, Topic, TopicPartition
from groups.offsets_progress import OffsetsAt, progress_of
from groups.progress import NEVER, BurrowVerdict, PartitionProgress, Reading, Trend, partition_progress
from tests.groups.diagnosis.groups import START_MS


def readings(
    *rows: tuple[float, int | None, int | None], owned: bool = True, start: int | None = 0
) -> list[Reading]:
    """Of seconds, committed offsets and ends."""
    lags = [None if committed is None or end is None else end - committed for _, committed, end in rows]
    return [
        Reading(round(at_s * 1000), committed, end, lag, start, owned)
        for (at_s, committed, end), lag in zip(rows, lags, strict=True)
    ]


def judged(*rows: tuple[float, int | None, int | None], owned: bool = True) -> BurrowVerdict | None:
    return partition_progress(readings(*rows, owned=owned)).verdict


def test_rates_and_time_to_catch_up() -> None:
    trend = partition_progress(readings((0, 100, 1000), (10, 400, 1100)))
    assert (trend.committed_per_s, trend.produced_per_s, trend.lag, trend.lag_change) == (30, 10, 700, -200)
    assert trend.catch_up_s == 35
    assert partition_progress(readings((0, 100, 1000), (10, 200, 1100))).catch_up_s == NEVER
    assert partition_progress(readings((0, 1000, 1000), (10, 1100, 1100))).catch_up_s == 0
    # What is produced within a commit interval is always uncommitted.
    assert partition_progress(readings((0, 950, 1000), (10, 1050, 1100))).catch_up_s == 0


def test_nothing_is_judged_that_is_not_known() -> None:
    assert partition_progress([]) == PartitionProgress()
    assert partition_progress(readings((0, None, 7), (10, None, 9))) == PartitionProgress()
    assert partition_progress(readings((0, 5, None), (10, 5, None))) == PartitionProgress()
    once = partition_progress(readings((0, 5, 9)))
    assert (once.verdict, once.lag, once.lag_change, once.catch_up_s) == (None, 4, None, None)
    # The first reading knows nothing: there is one that counts.
    assert judged((0, None, 7), (30, 5, 9)) is None
    # Two readings of the same moment have no rates.
    assert partition_progress(readings((5, 5, 9), (5, 5, 9))).committed_per_s is None


Rows = list[tuple[float, int | None, int | None]]
OK, WARN, STALLED, REWIND = BurrowVerdict.OK, BurrowVerdict.WARN, BurrowVerdict.STALLED, BurrowVerdict.REWIND
RULES: dict[str, tuple[Rows, BurrowVerdict]] = {
    "caught-up": ([(0, 10, 10), (30, 10, 10)], OK),
    "quiet topic: the first record is not committed at once": ([(0, 10, 10), (30, 10, 10), (33, 10, 11)], OK),
    "quiet topic: nor for three commit intervals": ([(0, 10, 10), (30, 10, 11), (45, 10, 11)], STALLED),
    "stops after it had caught up": ([(0, 10, 10), (10, 10, 60), (30, 10, 160)], STALLED),
    "stands still, and nothing is produced": ([(0, 10, 20), (30, 10, 20)], STALLED),
    "stands still, not long enough": ([(0, 10, 20), (14.9, 10, 20)], OK),
    "reads now and then": ([(0, 10, 50), (10, 10, 60), (20, 30, 70), (30, 30, 80)], OK),
    "steady lag": ([(0, 900, 1000), (10, 1000, 1100), (20, 1100, 1200)], OK),
    "small lag that grows within a commit interval": ([(0, 999, 1000), (30, 1255, 1300)], OK),
    "quiet topic: its newest records": ([(0, 10, 10), (30, 11, 12), (60, 12, 14)], OK),
    "a burst after all was read": ([(0, 10, 10), (6, 20, 9_000)], OK),
    "lag grows": ([(0, 900, 1000), (30, 1200, 2000)], WARN),
    "lag grows in spite of one drop": (
        [(0, 0, 100), (10, 0, 500), (20, 450, 900), (30, 450, 1300), (40, 500, 1700)],
        WARN,
    ),
    "lag is high and shrinks": ([(0, 0, 100_000), (30, 5000, 101_000)], OK),
    "rewound": ([(0, 500, 1000), (30, 100, 1000)], REWIND),
    "rewound without lag": ([(0, 500, 500), (10, 100, 500), (20, 200, 500)], REWIND),
    "rewound, and back where it was": ([(0, 500, 500), (10, 100, 500), (20, 500, 500)], OK),
    "beyond the end": ([(0, 500, 10), (30, 500, 20)], OK),
    "the log was truncated": ([(0, 500, 600), (30, 500, 550)], STALLED),
}


@pytest.mark.parametrize(("rows", "verdict"), RULES.values(), ids=RULES)
def test_each_rule(rows: Rows, verdict: BurrowVerdict) -> None:
    assert judged(*rows) is verdict
    stopped = BurrowVerdict.STOPPED if verdict is BurrowVerdict.STALLED else verdict
    assert judged(*rows, owned=False) is stopped


@pytest.mark.parametrize(("advance_s", "trend"), [(3, Trend.GROWS), (6, Trend.UNKNOWN)])
def test_consumer_as_fast_as_the_clock_is_late_on_purpose(advance_s: int, trend: Trend) -> None:
    first, last = readings((0, 0, 15_000), (6, 120, 15_180))
    first = first._replace(committed_ms=0, written_ms=-600_000)
    last = last._replace(committed_ms=6_000, written_ms=-600_000 + advance_s * 1000)
    assert partition_progress([first, last]).trend is trend


def test_lag_shrinks_within_a_commit_interval_only_by_known_times_of_commits() -> None:
    first, last = readings((0, 0, 1_000), (6, 130, 1_090))
    assert partition_progress([first, last]).trend is Trend.UNKNOWN
    timed = first._replace(committed_ms=0), last._replace(committed_ms=6_000)
    assert partition_progress(timed).trend is Trend.SHRINKS


def test_burst_is_no_trend() -> None:
    first, last = readings((0, 980, 1_000), (12, 1_200, 11_000))
    assert partition_progress([first, last]).trend is Trend.GROWS
    assert partition_progress([first, last._replace(written_ms=2_000)]).trend is Trend.UNKNOWN
    assert partition_progress([first, last._replace(written_ms=-60_000)]).trend is Trend.GROWS
    sustained = [(at_s, 20 * at_s, 100 + 40 * at_s) for at_s in range(0, 31, 5)]
    at_once = [(at_s, 20 * at_s, 100 + 1_200 * (at_s > 10)) for at_s in range(0, 31, 5)]
    assert partition_progress(readings(*sustained)).trend is Trend.GROWS
    assert partition_progress(readings(*at_once)).trend is Trend.STEADY


def test_a_slow_commit_interval_is_given_time() -> None:
    rows = readings((0, 100, 500), (60, 100, 800))
    assert partition_progress(rows).verdict is BurrowVerdict.STALLED
    assert partition_progress(rows, commit_interval_ms=60_000).verdict is BurrowVerdict.OK
    assert partition_progress(rows).still_ms == 60_000


def test_one_reading_is_judged_that_knows_since_when_records_wait() -> None:
    (once,) = readings((600, 5, 9))
    assert partition_progress([once._replace(waiting_since_ms=0)]).verdict is BurrowVerdict.STALLED
    assert partition_progress([once._replace(waiting_since_ms=595_000)]).verdict is BurrowVerdict.OK


def test_when_the_log_start_passes_the_committed_offset() -> None:
    first, last = readings((0, 100, 1000), (10, 110, 1100))
    assert partition_progress([first, last._replace(start=50)]).overtaken_s == 60 / 4
    assert partition_progress([first, last]).overtaken_s == NEVER
    assert partition_progress([first, last._replace(start=None)]).overtaken_s is None
    assert partition_progress([first, last._replace(start=120)]).overtaken_s == 0


ROWS = st.lists(
    st.tuples(
        st.integers(0, 40),  # the committed offset
        st.integers(-3, 25),  # its lag
        st.sampled_from([0, 0, 0, 30]),  # the log start
        st.sampled_from([0, 0, 0, 1, 9]),  # how far it moves, and the end with it
        st.sampled_from([None, None, -2, 0, 1, "none", "limit"]),  # where the next record was found
        st.sampled_from([None, None, -60_000, 500]),  # since when records wait
    ),
    max_size=12,
)


@given(ROWS, ROWS, st.booleans(), st.sampled_from([2, 3]))
def test_columns_show_the_progress_that_the_readings_of_each_partition_do(
    orders: list[tuple[Any, ...]], payments: list[tuple[Any, ...]], still: bool, count: int
) -> None:
    by_topic = {
        "orders": orders,
        "payments": [(*row[:3], 0, *row[4:]) for row in payments] if still else payments,
    }
    moments: dict[bool, list[OffsetsAt]] = {True: [], False: []}
    for at in range(count):
        offsets: dict[str, TopicCommits] = {}
        topics: dict[str, Topic] = {}
        waiting: dict[TopicPartition, int | None] = {}
        records: dict[TopicPartition, NextRecord] = {}
        for topic, rows in by_topic.items():
            positions = [row[0] + at * row[3] for row in rows]
            numbers, blank = range(len(rows)), [""] * len(rows)
            offsets[topic] = TopicCommits(numbers, positions, [-1] * len(rows), blank)
            ends = {n: position + rows[n][1] for n, position in enumerate(positions)}
            starts = {n: row[2] for n, row in enumerate(rows)}
            topics[topic] = Topic(name=topic, partitions=len(rows), start_offsets=starts, end_offsets=ends)
            for n, row in enumerate(rows):
                if at == count - 1 and row[4] is not None:
                    found = positions[n] + row[4] if isinstance(row[4], int) else None
                    records[topic, n] = NextRecord(found, START_MS - 9_000, is_unknown=row[4] == "limit")
                    waiting[topic, n] = None if row[5] is None else START_MS + row[5]
        for columns, known in moments.items():
            commits = offsets if columns else {topic: dict(of) for topic, of in offsets.items()}
            group = Group(id="g", type=GroupType.CLASSIC, state=GroupState.EMPTY, offsets=commits)
            known.append(OffsetsAt(START_MS + 6_000 * at, group, topics, waiting, records))
    assert progress_of(moments[True]) == progress_of(moments[False])
