"""What a consumer can read from a committed offset, and what is known of it: exact, bounded, or unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.lag import (
    NextRecord,
    PartitionLag,
    Readable,
    longest_lag_ms,
    partition_lags,
    readable,
    records_between,
    with_next_records,
)
from groups.model import CommittedOffset, Group, GroupState, GroupType, Member, Subscription, Topic
from groups.offsets_progress import OffsetsAt, readings_of

NOW_MS = 1_767_225_600_000
OLD_MS = NOW_MS - 86_400_000
NO_MORE = NextRecord(None, aborted=5, searched_to=16)
LIMIT = NextRecord(None, aborted=5, searched_to=13, is_unknown=True)


@pytest.mark.parametrize(
    ("offsets", "next_record", "expected"),
    [
        # committed, log start, last stable offset, end
        ((10, 0, 16, 16), None, Readable(lost=0, most=6, held=0)),
        ((10, 0, 16, 16), NO_MORE, Readable(lost=0, most=0, held=0, aborted=5)),
        ((10, 0, 16, 16), NextRecord(14, NOW_MS, 4), Readable(lost=0, most=2, least=1, held=0, aborted=4)),
        ((10, 0, 16, 16), LIMIT, Readable(lost=0, most=3, held=0, aborted=5)),
        ((100, 250, 300, 300), None, Readable(lost=150, most=50, held=0)),
        ((100, 250, 300, 300), NextRecord(250), Readable(lost=150, most=50, least=1, held=0)),
        ((10, 10, 10, 10), None, Readable(lost=0, most=0, held=0)),  # all is deleted
        ((3, 10, 10, 10), None, Readable(lost=7, most=0, held=0)),
        ((10, 0, 10, 16), NextRecord(10), Readable(lost=0, most=6, least=1, held=6)),  # an open transaction
        ((8, 0, 10, 16), None, Readable(lost=0, most=8, held=6)),
        ((8, 12, 10, 16), None, Readable(lost=4, most=4, held=4)),  # its first records were deleted
        ((20, 0, 16, 16), None, Readable(lost=0, most=0, held=0)),  # beyond the end
        ((10, None, None, 16), None, Readable(most=6)),
        ((10, 0, 16, None), None, Readable(lost=0)),  # no leader
        ((10, None, None, None), None, Readable()),
        ((None, 0, 16, 16), None, Readable()),
        ((-1, 0, 16, 16), None, Readable()),
    ],
)
def test_what_can_be_read(
    offsets: tuple[int | None, ...], next_record: NextRecord | None, expected: Readable
) -> None:
    committed, start, stable, end = offsets
    result = readable(committed, start=start, stable=stable, end=end, next_record=next_record)
    assert result == expected
    assert result.is_held is (bool(result.most) and result.held == result.most)


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
    rows = with_next_records(partition_lags(group, topics), records, NOW_MS)
    assert {row.topic: row.lag for row in rows} == {"newt": 2, "oldt": 30}  # as Kafka's tool
    assert {topic for topic, _ in readings_of(OffsetsAt(NOW_MS, group, topics))} == judged
    assert longest_lag_ms(rows) == (10 if judged == {"newt"} else NOW_MS - OLD_MS)


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
    rows = with_next_records(partition_lags(group, topics), records, NOW_MS)
    assert {row.topic: (row.lag, row.unread, row.lag_ms) for row in rows} == {
        "aborted": (10, 0, 0),
        "deleted": (10, 0, 0),
        "long": (10, None, None),
        "plain": (10, 8, 9),
    }


@given(
    st.one_of(st.none(), st.integers(-1, 9)),
    st.one_of(st.none(), st.integers(0, 9)),
    st.one_of(st.none(), st.integers(0, 9)),
    st.one_of(
        st.none(),
        st.builds(NextRecord, st.integers(0, 9), st.just(5)),
        st.builds(NextRecord, st.none(), st.none(), searched_to=st.integers(0, 9), is_unknown=st.booleans()),
    ),
    st.booleans(),
)
def test_what_is_unread_of_a_row_is_what_can_be_read(
    committed: int | None, end: int | None, start: int | None, record: NextRecord | None, is_counted: bool
) -> None:
    lag = 4 if is_counted else records_between(committed, end)
    row = PartitionLag(
        "t", 0, committed, end, lag, None, None, log_start=start, next_record=record, is_counted=is_counted
    )
    readable = row.readable
    assert row.lost == readable.lost
    if lag is None or lag <= 0:
        assert row.unread == lag
    elif record is not None and record.is_unknown:
        assert row.unread is None
    else:
        assert row.unread == (lag if readable.most is None else readable.most)
