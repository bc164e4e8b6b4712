"""A real broker starts on segments that Kohort wrote, and knows the same groups."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from coordinator.broker.consumer_group import ConsumerGroup
from coordinator.broker.engine import Engine
from coordinator.broker.records import CommittedOffset, OffsetRecord
from coordinator.storage.compaction import CompactionSettings
from coordinator.storage.data_directory import DataDirectory, StorageSettings
from coordinator.storage.loader import load
from coordinator.storage.log import SegmentLimits
from tests.cli.command import Kohort
from tests.coordinator.storage.real_log import OFFSETS_TOPIC, SEGMENT_BYTES, RealLog, copy_directory
from tests.coordinator.storage.real_log_story import BUSY, METADATA, ORDERS, PAYMENTS, commit
from tests.coordinator.storage.restart import Restarted, broker_on, complaints
from tests.coordinator.storage.state_records import state_records
from tests.coordinator.storage.what_was_said import MODES, TOOLS, Moment, Witness, now_ms
from tests.kafka.broker import Broker
from tests.kafka.columns import Row
from tests.kafka.tool_host import ToolHost
from tests.kafka.wait import wait_until

pytestmark = pytest.mark.kafka

KEPT = "partition.metadata"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
FOREIGN = {"share", "streams"}
WITHOUT_A_RECORD = {"pending-only", "aborted-only"}
"""Groups that nothing but offsets of transactions speak of."""
LIMITS = SegmentLimits(segment_bytes=SEGMENT_BYTES // 8)


def test_a_broker_goes_on_with_what_kohort_wrote_of_its_groups(
    real_log: RealLog, restarted: Restarted, kafka_jars: Path, tools: ToolHost, tmp_path: Path
) -> None:
    """Every group of the real log, replayed by the engine and written anew."""
    state = load([real_log.data]).state
    ours = tmp_path / "ours"
    partitions = len({path.parent for path in real_log.segments()})
    data = DataDirectory.open(ours, StorageSettings(partitions=partitions, limits=LIMITS))
    data.recover(Engine())
    for _, records in state_records(state):
        data.append(records, now_ms())
    data.close()
    theirs = tmp_path / "theirs"
    copy_directory(real_log.data, theirs)
    put_in_place(ours, theirs)
    with broker_on(kafka_jars, theirs, tmp_path / "broker") as broker:
        said = Witness(broker, tools, Kohort(tmp_path / "home"), moving={BUSY}).note("ours")
        assert complaints(broker) <= restarted.complaints
        assert_same(said, real_log.last, but=FOREIGN | WITHOUT_A_RECORD)
        assert_goes_on(broker, said)


def put_in_place(ours: Path, theirs: Path) -> None:
    """Put our segments, indexes and leader epochs in the place of a broker's, and have it check them as they are."""
    for directory in theirs.glob(f"{OFFSETS_TOPIC}-*"):
        for path in directory.iterdir():
            if path.name != KEPT:
                path.unlink()
        for path in (ours / directory.name).iterdir():
            if path.name != KEPT:
                shutil.copy(path, directory / path.name)
    # What a broker writes when it stops in good order. Without it the next one would write the indexes anew.
    (theirs / CLEAN_SHUTDOWN).write_text(json.dumps({"version": 0, "brokerEpoch": -1}))


def test_a_broker_takes_its_directory_back(
    real_log: RealLog, restarted: Restarted, kafka_jars: Path, tools: ToolHost, tmp_path: Path
) -> None:
    """Kohort recovers from a broker's directory, goes on in it and compacts it, share and streams groups included."""
    theirs = tmp_path / "theirs"
    copy_directory(real_log.data, theirs)
    compaction = CompactionSettings(min_cleanable_dirty_ratio=0.0, delete_retention_ms=0)
    data = DataDirectory.open(theirs, StorageSettings(limits=LIMITS, compaction=compaction))
    recovered = data.recover(Engine())
    assert recovered.foreign == len(FOREIGN)
    value = CommittedOffset(offset=40, leader_epoch=0, metadata="from Kohort", commit_ms=now_ms())
    data.append([OffsetRecord(group="simple", topic=PAYMENTS, partition=0, value=value)], now_ms())
    assert any(data.compact(now_ms()) is None for _ in range(20))
    data.close()
    with broker_on(kafka_jars, theirs, tmp_path / "broker") as broker:
        said = Witness(broker, tools, Kohort(tmp_path / "home"), moving={BUSY}).note("back")
        assert complaints(broker) <= restarted.complaints
        assert_same(said, real_log.last, but={"simple"})
        (row,) = [row for row in said.group("simple")["offsets"] if row["partition"] == 0]
        assert (row["committed"], row["metadata"]) == (40, "from Kohort")
        assert_goes_on(broker, said)


def assert_same(said: Moment, before: Moment, *, but: Iterable[str]) -> None:
    """The tools print the same rows as before, and Kohort describes the same groups; the port is another."""
    left_out = {BUSY, *but}
    assert _groups(said, left_out) == _groups(before, left_out)
    for tool in TOOLS:
        for mode in MODES:
            assert _rows(said, tool, mode, left_out) == _rows(before, tool, mode, left_out)


def _groups(moment: Moment, left_out: Iterable[str]) -> list[Mapping[str, Any]]:
    groups = moment.kohort_describe["groups"]
    return [{**group, "coordinator": None} for group in groups if group["group"] not in left_out]


def _rows(moment: Moment, tool: str, mode: str, left_out: Iterable[str]) -> list[Row]:
    # A newer broker's members come in the order of a HashMap of ids: the same ids, another size.
    rows = [row for row in moment.rows(tool, mode) if row["GROUP"] not in left_out]
    return sorted(({**row, "COORDINATOR (ID)": ""} for row in rows), key=str)


def assert_goes_on(broker: Broker, said: Moment) -> None:
    """Real clients commit, and join groups whose members have gone: generation and epoch go on."""
    commit(broker, "simple", ORDERS, {3: 5})
    committed = _client(broker, "simple")
    (place,) = committed.committed([TopicPartition(ORDERS, 3)], timeout=10)
    committed.close()
    assert (place.offset, (place.metadata or "").rstrip("\0")) == (5, METADATA)
    epoch = said.group("emptied-consumer")["group_epoch"]
    for group, protocol in (("emptied-classic", "classic"), ("emptied-consumer", "consumer")):
        _join_and_leave(_client(broker, group, **{"group.protocol": protocol}), f"a member joins {group}")
    assert epoch < _epoch_in_the_log(broker, "emptied-consumer")


def _join_and_leave(member: Consumer, what: str) -> None:
    member.subscribe([ORDERS])
    wait_until(lambda: member.poll(0.1) is None and member.assignment(), what)
    member.close()


def _client(broker: Broker, group: str, **settings: str) -> Consumer:
    return Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, **settings})


def _epoch_in_the_log(broker: Broker, group: str) -> int:
    found = load([broker.data]).state.groups[group]
    assert isinstance(found, ConsumerGroup)
    return found.epoch
