"""What a consumer can read from a committed offset, and what is known of it: exact, bounded, or unknown."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.diagnosis.case import is_held
from groups.lag import (
    LagSums,
    NextRecord,
    PartitionLag,
    lag_columns,
    longest_lag,
    partition_lags,
    records_between,
    total_lag,
)
from groups.model import (
    CommittedOffset,
    Group,
    GroupState,
    GroupType,
    LogOffsets,
    Member,
    Subscription,
    Topic,
)
from groups.offsets_progress import OffsetsAt, readings_of

NOW_MS = 1_767_225_600_000
OLD_MS = NOW_MS - 86_400_000
NO_MORE = NextRecord(None, aborted=5, searched_to=16)
LIMIT = NextRecord(None, aborted=5, searched_to=13, is_unknown=True)


@pytest.mark.parametrize(
    ("offsets", "next_record", "expected"),
    [
        # committed, log start, last stable offset, end; and what was lost, is unread, and whether it is held
        ((10, 0, 16, 16), None, (0, 6, False)),
        ((10, 0, 16, 16), NO_MORE, (0, 0, False)),
        ((10, 0, 16, 16), NextRecord(14, NOW_MS, 4), (0, 2, False)),
        ((10, 0, 16, 16), LIMIT, (0, None, False)),
        ((10, 0, 13, 16), LIMIT, (0, None, True)),
        ((100, 250, 300, 300), None, (150, 50, False)),
        ((100, 250, 300, 300), NextRecord(250), (150, 50, False)),
        ((10, 10, 10, 10), None, (0, 0, False)),  # all is deleted
        ((3, 10, 10, 10), None, (7, 0, False)),
        ((10, 0, 10, 16), NextRecord(10), (0, 6, True)),  # an open transaction
        ((8, 0, 10, 16), None, (0, 8, False)),
        ((8, 12, 10, 16), None, (4, 4, True)),  # its first records were deleted
        ((20, 0, 16, 16), None, (0, -4, False)),  # beyond the end
        ((10, None, None, 16), None, (None, 6, False)),
        ((10, 0, 16, None), None, (0, None, False)),  # no leader
        ((None, 0, 16, 16), None, (None, None, False)),
        ((-1, 0, 16, 16), None, (None, None, False)),
    ],
)
def test_what_can_be_read(
    offsets: tuple[int | None, ...],
    next_record: NextRecord | None,
    expected: tuple[int | None, int | None, bool],
) -> None:
    committed, start, stable, end = offsets
    lag = records_between(committed, end)
    row = PartitionLag(
        "t", 0, committed=committed, log_start=start, end=end, lag=lag, next_record=next_record
    )
    assert (row.lost, row.unread, is_held(LogOffsets(start, stable, end), committed, next_record)) == expected


@pytest.mark.parametrize(
    ("written_ms", "age_ms", "why"),
    [
        (NOW_MS - 7_000, 7_000, None),
        (NOW_MS + 5_000, 0, None),
        (NOW_MS + 60_000, None, "a time in the future, by 1 min"),
        (NOW_MS // 1000, None, "the time 1970-01-21T10:53:45.600Z, before Kafka existed"),
        (0, None, "the time 1970-01-01T00:00:00.000Z"),
        (2**62, None, "in the future"),
        (None, None, "no timestamp"),
    ],
)
def test_age_of_a_record_with_a_wrong_time_is_unknown(
    written_ms: int | None, age_ms: int | None, why: str | None
) -> None:
    record = NextRecord(3, written_ms)
    assert record.age_ms(NOW_MS) == age_ms
    assert (why or "") in (record.wrong_time(NOW_MS) or "")
    assert NextRecord(None, searched_to=9).wrong_time(NOW_MS) is None


def _group(*subscriptions: Subscription, offsets: dict[str, int]) -> Group:
    members = (Member(id=f"m{at}", subscription=one, owned={}) for at, one in enumerate(subscriptions))
    return Group(
        id="g",
        type=GroupType.CONSUMER,
        state=GroupState.STABLE,
        protocol_type="consumer",
        members=tuple(members),
        offsets={topic: {0: CommittedOffset(offset=offset)} for topic, offset in offsets.items()},
    )


@pytest.mark.parametrize(
    ("subscriptions", "judged"),
    [
        ((Subscription(topics=("newt",)),), {"newt"}),
        ((Subscription(regex="new.*"),), {"newt"}),
        ((Subscription(regex=".*t"),), {"newt", "oldt"}),
        ((Subscription(topics=("newt",)), Subscription(topics=("oldt",))), {"newt", "oldt"}),
        ((), {"newt", "oldt"}),  # without members, every topic counts
    ],
)
def test_a_topic_that_no_member_reads_is_not_judged(
    subscriptions: tuple[Subscription, ...], judged: set[str]
) -> None:
    topics = {name: Topic(name=name, partitions=1, end_offsets={0: 40}) for name in ("newt", "oldt")}
    group = _group(*subscriptions, offsets={"newt": 38, "oldt": 10})
    records = {("newt", 0): {38: NextRecord(38, NOW_MS - 10)}, ("oldt", 0): {10: NextRecord(10, OLD_MS)}}
    rows = partition_lags(group, topics, records, NOW_MS)
    assert {row.topic: row.lag for row in rows} == {"newt": 2, "oldt": 30}  # as Kafka's tool
    assert {topic for topic, _ in readings_of(OffsetsAt(NOW_MS, group, topics))} == judged
    assert longest_lag(rows).ms == (10 if judged == {"newt"} else NOW_MS - OLD_MS)


def test_lag_time_is_that_of_the_first_record_that_can_be_read() -> None:
    topics = {
        name: Topic(name=name, partitions=1, start_offsets={0: start}, end_offsets={0: 20})
        for name, start in (("aborted", 0), ("deleted", 20), ("long", 0), ("plain", 0))
    }
    group = _group(offsets=dict.fromkeys(topics, 10))
    records = {
        ("aborted", 0): {10: NO_MORE},
        ("long", 0): {10: LIMIT},
        ("plain", 0): {10: NextRecord(12, NOW_MS - 9)},
    }
    rows = partition_lags(group, topics, records, NOW_MS)
    assert {row.topic: (row.lag, row.unread, row.lag_ms) for row in rows} == {
        "aborted": (10, 0, 0),
        "deleted": (10, 0, 0),
        "long": (10, None, None),
        "plain": (10, 8, 9),
    }


@given(st.data())
def test_sums_of_columns_are_those_of_their_rows(data: st.DataObject) -> None:
    number = st.one_of(st.none(), st.integers(0, 9))
    commit = st.builds(
        CommittedOffset,
        offset=st.one_of(st.none(), st.integers(-1, 9)),
        lag=st.one_of(st.none(), st.none(), st.integers(-1, 9)),
        timestamp=number,
    )
    record = st.one_of(
        st.builds(NextRecord, st.integers(0, 9), st.integers(NOW_MS - 9, NOW_MS)),
        st.builds(NextRecord, st.none(), st.none(), searched_to=st.integers(0, 9), is_unknown=st.booleans()),
    )
    by_partition = st.dictionaries(st.integers(0, 3), number)
    topic = st.builds(Topic, name=st.just("t"), start_offsets=by_partition, end_offsets=by_partition)
    subscriptions = st.builds(Subscription, topics=st.sampled_from([("t",), ("u",)]))
    group = _group(*data.draw(st.lists(subscriptions, max_size=2)), offsets={})
    group = replace(group, offsets={"t": data.draw(st.dictionaries(st.integers(0, 3), commit))})
    records = {("t", at): {at: data.draw(record) for at in range(10)} for at in range(3)}
    topics = {"t": data.draw(topic)}
    rows = partition_lags(group, topics, records, NOW_MS)
    columns = [*lag_columns(group, topics, records, NOW_MS, once=True)]
    sums = LagSums.over(map(LagSums.of, columns))
    lost = [row.lost for row in rows if row.lost is not None]
    times = [row.last_commit_ms for row in rows if row.last_commit_ms is not None]
    assert sums == LagSums(
        len(rows),
        sum(row.lag is None for row in rows),
        total_lag(row.lag for row in rows),
        total_lag(row.unread for row in rows),
        sum(lost) if lost else None,
        max(times, default=None),
        longest_lag(rows),
    )
