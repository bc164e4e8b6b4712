"""A real broker starts on segments that Kohort wrote, and loads the same groups."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.engine import Engine
from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.store.cleaner import CompactionSettings
from coordinator.store.data_directory import DataDirectory, StorageSettings
from coordinator.store.loader import load
from coordinator.store.log import SegmentLimits
from tests.cli.command import Kohort
from tests.coordinator.store.client_side_records import ASSIGNORS, with_client_side
from tests.coordinator.store.real_log import OFFSETS_TOPIC, RealLog, copy_directory, in_any_order
from tests.coordinator.store.real_log_story import BUSY, JAVA, METADATA, ORDERS, PAYMENTS, commit
from tests.coordinator.store.restart import broker_on, complaints
from tests.coordinator.store.state_records import state_records
from tests.coordinator.store.what_was_said import Moment, Witness, now_ms
from tests.kafka.broker import Broker
from tests.kafka.columns import Row
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members
from tests.kafka.ports import HOST
from tests.kafka.process import end
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.kafka.wait import wait_until
from tests.support.long import LONG
from wire.log.log_records import records_of
from wire.log.segments import read_log

pytestmark = pytest.mark.kafka

KEPT = "partition.metadata"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
COOPERATIVE = f"{JAVA}CooperativeStickyAssignor"
LISTENING = re.compile(r"Listening on \S+:(\d+)")
QUICK = {"group.consumer.heartbeat.interval.ms": "500", "group.consumer.min.heartbeat.interval.ms": "500"}
ELSEWHERE = {"COORDINATOR (ID)", "LOG-END-OFFSET", "LAG", "OFFSET-LAG"}
OTHER_TYPES = {"share", "streams"}
WITHOUT_A_RECORD = {"pending-only", "aborted-only"}  # groups that are only in offsets of transactions
TAGGED = "consumer"
LIMITS = SegmentLimits(segment_bytes=2048)


@LONG
def test_a_broker_continues_with_groups_that_kohort_wrote(
    real_log: RealLog, kafka_jars: Path, tools: ToolHost, tmp_path: Path
) -> None:
    state = load([real_log.data]).state
    ours = tmp_path / "ours"
    partitions = len({path.parent for path in real_log.segments()})
    data = DataDirectory.open(ours, StorageSettings(partitions=partitions, limits=LIMITS))
    data.recover(Engine())
    for group, records in state_records(state):
        data.append([with_client_side(record) if group == TAGGED else record for record in records], now_ms())
    data.close()
    again = load([ours]).state.groups[TAGGED]
    assert isinstance(again, ConsumerGroup)
    assert {member.metadata.client_assignors for member in again.members.values()} == {ASSIGNORS}
    theirs = tmp_path / "theirs"
    copy_directory(real_log.data, theirs)
    put_in_place(ours, theirs)
    with broker_on(kafka_jars, theirs, tmp_path / "broker") as broker:
        said = Witness(broker, tools, Kohort(tmp_path / "home"), moving={BUSY}).note("ours")
        assert not complaints(broker)
        assert_same(said, real_log.last, but=OTHER_TYPES | WITHOUT_A_RECORD)
        assert_finds_records(broker, ours)
        assert_continues(broker, said)


def assert_finds_records(broker: Broker, ours: Path) -> None:
    """Find records by offset, in mid-segment, and by time: with our index files, which it has not rewritten."""
    reader = _client(broker, "reader", **{"enable.auto.commit": "false", "fetch.wait.max.ms": "10"})
    for directory in ours.glob(f"{OFFSETS_TOPIC}-*"):
        partition = int(directory.name.rpartition("-")[2])
        records = [
            record
            for segment in read_log(directory)
            for batch in segment.batches
            for record in records_of(batch, segment.data)
        ]
        for expected in (records[len(records) // 2], records[-1]):
            reader.assign([TopicPartition(OFFSETS_TOPIC, partition, expected.offset)])
            message = wait_until(lambda: reader.poll(1.0), f"{directory.name} from {expected.offset} on")
            assert (message.error(), message.offset(), message.key()) == (None, expected.offset, expected.key)
            first = min(record.offset for record in records if record.timestamp >= expected.timestamp)
            (answer,) = reader.offsets_for_times(
                [TopicPartition(OFFSETS_TOPIC, partition, expected.timestamp)], timeout=10
            )
            assert answer.offset == first
    reader.close()


def put_in_place(ours: Path, theirs: Path) -> None:
    for directory in theirs.glob(f"{OFFSETS_TOPIC}-*"):
        for path in directory.iterdir():
            if path.name != KEPT:
                path.unlink()
        for path in (ours / directory.name).iterdir():
            if path.name != KEPT:
                shutil.copy(path, directory / path.name)
    # A broker writes it when it stops cleanly. Without it the next broker would rewrite the indexes.
    (theirs / CLEAN_SHUTDOWN).write_text(json.dumps({"version": 0, "brokerEpoch": -1}))


@LONG
def test_a_broker_takes_its_directory_back(
    real_log: RealLog, kafka_jars: Path, tools: ToolHost, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    copy_directory(real_log.data, theirs)
    compaction = CompactionSettings(min_cleanable_dirty_ratio=0.0, delete_retention_ms=0)
    data = DataDirectory.open(theirs, StorageSettings(limits=LIMITS, compaction=compaction))
    recovered = data.recover(Engine())
    assert recovered.other_types == len(OTHER_TYPES)
    value = StoredOffset(offset=40, leader_epoch=0, metadata="from Kohort", commit_ms=now_ms())
    data.append([OffsetRecord(group="simple", topic=PAYMENTS, partition=0, value=value)], now_ms())
    assert any(not data.compact(now_ms()) for _ in range(20))
    data.close()
    with broker_on(kafka_jars, theirs, tmp_path / "broker") as broker:
        said = Witness(broker, tools, Kohort(tmp_path / "home"), moving={BUSY}).note("back")
        assert not complaints(broker)
        # `aborted-only` disappears when its transaction is compacted, with Kafka's cleaner too.
        assert_same(said, real_log.last, but={"simple", "aborted-only"})
        (row,) = [row for row in said.group("simple")["offsets"] if row["partition"] == 0]
        assert (row["committed"], row["metadata"]) == (40, "from Kohort")
        assert_continues(broker, said)


def test_a_broker_continues_where_kohort_serve_stopped(
    real_log: RealLog, kafka_jars: Path, tools: ToolHost, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    copy_directory(real_log.data, theirs)
    forget_groups(theirs)
    host = JavaHost(kafka_jars)
    members = Members(host, kafka_jars, tmp_path)
    kohort = Kohort(tmp_path / "home")
    try:
        with serving(kafka_jars, theirs, tmp_path / "kohort") as server:
            counts = live_on(server, members)
            witness = Witness(server, tools, kohort, asked={"consumer": CONSUMER_GROUPS})
            wait_until(lambda: _sizes(witness) == counts, lambda: f"{counts}: {_sizes(witness)}")
            before = witness.note("Kohort")
    finally:
        members.crash()
    with broker_on(kafka_jars, theirs, tmp_path / "broker") as broker:
        said = Witness(broker, tools, kohort).note("broker")
        assert not complaints(broker)
        assert {group["group"] for group in said.kohort_describe["groups"]} == set(counts)
        assert_same(said, before)
        assert_continues(broker, said)


def forget_groups(data: Path) -> None:
    for directory in data.glob(f"{OFFSETS_TOPIC}-*"):
        for path in directory.iterdir():
            if path.name != KEPT:
                path.unlink()


@contextmanager
def serving(jars: Path, data: Path, scratch: Path) -> Iterator[Broker]:
    scratch.mkdir()
    address = Broker(jars, scratch)
    command = [sys.executable, "-m", "tests.conformance.serve", "--listen", f"{HOST}:0", "--data", str(data)]
    for setting in (
        "group.initial.rebalance.delay.ms=0",
        *(f"{name}={value}" for name, value in QUICK.items()),
    ):
        command += ["--config", setting]
    with address.log.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        listening = wait_until(lambda: LISTENING.search(address.log.read_text()), address.log_tail)
        address.port = int(listening[1])
        yield address
    finally:
        status = end(process)
    assert status == 0, address.log_tail()


def live_on(server: Broker, members: Members) -> dict[str, int]:
    """Create groups of the types that Kohort coordinates. Returns the number of members that stay, by group."""
    # Members that stay commit nothing: a commit after the note would differ from it.
    for _ in range(2):
        members.confluent(
            server, "classic", [ORDERS], partition_assignment_strategy="range", enable_auto_commit="false"
        )
        members.confluent(server, "newer", [ORDERS], group_protocol="consumer", enable_auto_commit="false")
    members.confluent(
        server,
        "seats",
        [ORDERS],
        group_protocol="consumer",
        group_instance_id="seat-0",
        enable_auto_commit="false",
    )
    members.java(server, "pattern", re2="^orders.*$", group_protocol="consumer", enable_auto_commit="false")
    members.java(
        server, "cooperative", [ORDERS], partition_assignment_strategy=COOPERATIVE, enable_auto_commit="false"
    )
    members.java(server, "between", [ORDERS], enable_auto_commit="false")
    members.java(server, "between", [ORDERS], group_protocol="consumer", enable_auto_commit="false")
    for group, protocol in (("emptied-classic", "classic"), ("emptied-consumer", "consumer")):
        member = members.confluent(server, group, [ORDERS], group_protocol=protocol)
        member.wait_event("assigned")
        member.stop()
    commit(server, "simple", PAYMENTS, {0: 3, 2: 4})
    return {
        "classic": 2, "newer": 2, "seats": 1, "pattern": 1, "cooperative": 1, "between": 2,
        "emptied-classic": 0, "emptied-consumer": 0, "simple": 0,
    }  # fmt: skip


def _sizes(witness: Witness) -> dict[str, int]:
    """The number of members of each group; -1 while a group is not settled."""
    return {
        name: len(group["members"]) if group["state"] in ("Stable", "Empty") else -1
        for name, group in witness.groups().items()
    }


def assert_same(said: Moment, before: Moment, *, but: Iterable[str] = ()) -> None:
    """Check that the tools print the same rows as before, and Kohort describes the same groups.

    The address of the coordinator, offsets in open transactions and the ends of the topics are not compared.
    """
    left_out = {BUSY, *but}
    now, then = _groups(said, left_out), _groups(before, left_out)
    assert list(now) == list(then)
    for name, group in then.items():
        assert now[name] == group
    for tool, modes in before.described.items():
        for mode in modes:
            assert _rows(said, tool, mode, left_out) == _rows(before, tool, mode, left_out)


def _groups(moment: Moment, left_out: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    return {
        group["group"]: in_any_order(
            {
                **group,
                "coordinator": None,
                "offsets": [{**row, "end": None, "lag": None, "pending": None} for row in group["offsets"]],
            }
        )
        for group in moment.kohort_describe["groups"]
        if group["group"] not in left_out
    }


def _rows(moment: Moment, tool: str, mode: str, left_out: Iterable[str]) -> list[Row]:
    # The tools iterate over maps of groups and members.
    return sorted(
        (
            {name: cell for name, cell in row.items() if name not in ELSEWHERE}
            for row in moment.rows(tool, mode)
            if row["GROUP"] not in left_out
        ),
        key=str,
    )


def assert_continues(broker: Broker, said: Moment) -> None:
    """Real clients commit, and join groups whose members have left: generation and epoch continue."""
    commit(broker, "simple", ORDERS, {3: 5})
    committed = _client(broker, "simple")
    (answer,) = committed.committed([TopicPartition(ORDERS, 3)], timeout=10)
    committed.close()
    assert (answer.offset, (answer.metadata or "").rstrip("\0")) == (5, METADATA)
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
    loaded = load([broker.data]).state.groups[group]
    assert isinstance(loaded, ConsumerGroup)
    return loaded.epoch
