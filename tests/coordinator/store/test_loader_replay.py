"""A digest omits most records: the remaining ones must replay to the same state as all of them."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.engine.engine import Engine
from coordinator.store.digest import Digest, RecordStatus
from coordinator.store.replay import Replay
from tests.coordinator.store.logs import Written
from tests.coordinator.store.replayed import Sequential, groups, other_groups
from tests.support.long import cases
from tests.wire.log.random_records import record_of_few
from wire.log.batch_scan import scan
from wire.log.columns import columns_of
from wire.log.compression import Codec
from wire.log.control_records import ControlType
from wire.log.log_records import records_of
from wire.messages.record_codec import encode_key, encode_value

GROUPS = ("a", "b")
PRODUCERS = (3, 4)
TYPES = (2, 3, 5, 6, 7, 8, 11, 16, 17)
"""Classic, consumer, share and streams groups, so few that later records often concern the same group."""

Bytes = tuple[bytes | None, bytes | None]


def offset(group: str, partition: int, value: int | None, number: int = 1) -> Bytes:
    """An offset under a key of type `number`, 0 or 1; None is a tombstone."""
    key = encode_key(number, {"group": group, "topic": "t", "partition": partition})
    if value is None:
        return key, None
    fields = {"offset": value, "leaderEpoch": 1, "metadata": "", "commitTimestamp": 9}
    return key, encode_value(number, 4 if number else 0, fields)


numbers = st.integers(0, 3)
odd = st.sampled_from(
    [
        (None, b"v"),
        (b"", b"v"),
        (b"\0", b"v"),
        (b"\x7f\xff", b"v"),
        (b"\xff\xff", None),
        (b"\0\2\0", b""),
        # In separate groups: a broken value hides earlier values, and is reported.
        (b"\0\1\0\1x", b"v"),
        (offset("y", 0, 1)[0], b"\0\x63"),
        # Bytes after the key are ignored, and broken text is repaired: two encodings of one key.
        ((offset("a", 0, 1)[0] or b"") + b"x", offset("a", 0, 7)[1]),
        ((offset("a", 0, 1)[0] or b"") + b"x", None),
    ]
)
groups_of = st.sampled_from(GROUPS)
data = st.one_of(
    st.builds(offset, groups_of, numbers, st.none() | numbers, st.sampled_from([0, 1, 1])),
    st.builds(lambda seed: record_of_few(random.Random(seed), TYPES, 0.4), st.integers(0, 1 << 32)),
    odd,
)
offsets_only = st.builds(offset, groups_of, numbers, st.none() | numbers)
producers = st.sampled_from(PRODUCERS)
steps = st.lists(
    st.tuples(
        st.one_of(
            st.tuples(st.just("plain"), st.lists(data, max_size=4)),
            st.tuples(st.just("plain"), st.lists(offsets_only, max_size=4)),
            st.tuples(producers, st.lists(data, max_size=3)),
            st.tuples(producers, st.sampled_from([ControlType.COMMIT, ControlType.ABORT])),
        ),
        st.integers(0, 9),
        st.sampled_from([Codec.NONE, Codec.NONE, Codec.LZ4]),
    ),
    max_size=25,
)


def _written(script: list[tuple[tuple[object, object], int, Codec]]) -> bytes:
    log = Written()
    for (who, what), timestamp, codec in script:
        producer = who if isinstance(who, int) else -1
        if isinstance(what, ControlType):
            log.end(producer, what, timestamp=timestamp)
        elif isinstance(what, list):
            log.batch(what, timestamp=timestamp, codec=codec, transaction_of=producer)
    ((_, batches),) = log.segments
    return b"".join(batches)


@settings(max_examples=cases("KOHORT_EXAMPLES", 100, many=2_000))
@given(steps, st.none() | st.integers(0, 9))
def test_remaining_records_replay_to_the_same_state(
    script: list[tuple[tuple[object, object], int, Codec]], as_of_ms: int | None
) -> None:
    file = _written(script)
    batches = scan(file, "log").batches
    slow = Sequential()
    slow.replay(((batch, records_of(batch, file)) for batch in batches), as_of_ms)
    digest, replay = Digest(as_of_ms), Replay(Engine())
    for columns in columns_of(batches):
        digest.add(columns)
    malformed = replay.partition(digest)
    assert groups(replay.engine.state) == groups(slow.engine.state)
    assert replay.engine.state.offsets == slow.engine.state.offsets
    assert replay.engine.state.other_types == slow.engine.state.other_types
    assert other_groups(replay.others.by_id) == other_groups(slow.others.by_id)
    assert replay.unknown_keys == slow.unknown_keys
    assert {position for position, _ in malformed} <= set(slow.malformed)
    for group in GROUPS:
        assert replay.engine.state.pending.partitions(group) == slow.engine.state.pending.partitions(group)
    for producer in PRODUCERS:
        for engine in (replay.engine, slow.engine):
            engine.end_transaction(producer, committed=True)
        assert replay.engine.state.offsets == slow.engine.state.offsets


@pytest.mark.parametrize(
    ("as_of_ms", "count", "left"),
    [
        (None, 4, [(2, RecordStatus.VALID)]),
        (6, 3, [(1, RecordStatus.VALID), (2, RecordStatus.PENDING)]),
        (5, 2, [(1, RecordStatus.VALID)]),
    ],
)
def test_records_after_the_time_are_as_if_not_written(
    as_of_ms: int | None, count: int, left: list[tuple[int, RecordStatus]]
) -> None:
    log = Written()
    log.batch([offset("a", 0, 1), offset("a", 0, 2)], timestamp=5)
    log.batch([offset("a", 0, 3)], timestamp=6, transaction_of=3)
    log.end(3, ControlType.COMMIT, timestamp=7)
    ((_, batches),) = log.segments
    digest = Digest(as_of_ms)
    for columns in columns_of(scan(b"".join(batches), "log").batches):
        digest.add(columns)
    assert digest.records == count
    assert [(event.position, event.kind) for event in digest.events()] == left
