"""Reading the directories of a broker while it writes and compacts them, and the directories of a killed broker."""

import threading
import time
from collections.abc import Callable, Mapping

import pytest
from confluent_kafka.admin._resource import ResourceType

from coordinator.store.loader import LoadedLog, load
from tests.coordinator.store.logs import read_log
from tests.coordinator.store.real_log import RealLog
from tests.coordinator.store.replayed import Sequential, groups, other_groups
from tests.kafka.broker import Broker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.topics import create_topics, set_config
from tests.support.long import IS_LONG

TOPIC = "orders"
GROUPS = [f"g{number}" for number in range(20)]
PARTITIONS = 50
SEGMENT_BYTES = 32 * 1024
READ_S = 8.0 if IS_LONG else 2.0  # in 8 s the broker compacts some hundred times
MOST_S = 90.0
NEVER_STOPS_CLEANING = {"log.cleaner.backoff.ms": "1", "log.cleaner.min.cleanable.ratio": "0.0"}


@pytest.mark.kafka
def test_a_broker_may_write_and_compact_meanwhile(
    start_broker: Callable[[Mapping[str, str]], Broker],
) -> None:
    broker = start_broker({"offsets.topic.num.partitions": "1", **NEVER_STOPS_CLEANING})
    settings = {"internal.segment.bytes": str(SEGMENT_BYTES), "file.delete.delay.ms": "0"}
    set_config(broker, ResourceType.TOPIC, "__consumer_offsets", settings)
    create_topics(broker, {TOPIC: PARTITIONS})
    stop = threading.Event()
    committed = 0

    def commit() -> None:
        nonlocal committed
        while not stop.is_set():
            offsets = [committed + 1] * PARTITIONS
            send_commits(broker, [commit_request(group, TOPIC, offsets) for group in GROUPS])
            committed += 1

    writer = threading.Thread(target=commit)
    writer.start()
    reads, compacted = 0, False
    begun = time.monotonic()
    try:
        # On a busy machine the broker compacts less often.
        while time.monotonic() < begun + (READ_S if reads > 5 and compacted else MOST_S):
            acknowledged = committed
            loaded = load([broker.data])
            assert loaded.problems == ()
            _check(loaded, at_least=acknowledged, at_most=committed + 1)
            reads += 1
            compacted = loaded.records < acknowledged * len(GROUPS) * PARTITIONS / 2
    finally:
        stop.set()
        writer.join()
    assert reads > 5
    assert compacted, "nothing was compacted meanwhile"


def _check(loaded: LoadedLog, *, at_least: int, at_most: int) -> None:
    if not at_least:
        return
    assert set(loaded.state.offsets) == set(GROUPS)
    for offsets in loaded.state.offsets.values():
        assert len(offsets) == PARTITIONS
        assert at_least <= min(offset.offset for offset in offsets.values())
        assert max(offset.offset for offset in offsets.values()) <= at_most


@pytest.mark.kafka
def test_a_real_log_loads_to_the_same_state_as_all_its_records(real_log: RealLog) -> None:
    slow = Sequential()
    for directory in sorted(real_log.data.glob("__consumer_offsets-*")):
        slow.replay(read_log(directory))
    loaded = load([real_log.data])
    assert loaded.problems == ()
    assert loaded.state.offsets == slow.engine.state.offsets
    assert groups(loaded.state) == groups(slow.engine.state)
    assert other_groups(loaded.others) == other_groups(slow.others.by_id)
    assert loaded.unknown_keys == slow.unknown_keys
