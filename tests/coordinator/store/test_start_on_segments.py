"""A real broker starts on segments that replaced its own, and reads them."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.store.partition_files import LeaderEpoch, partition_for, write_leader_epochs
from coordinator.store.records import encode_record
from tests.coordinator.store.tampering import with_field
from tests.kafka import columns
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.plugin import StartBroker
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.kafka.topics import create_topics
from tests.support.long import LONG
from tests.wire.log.batch_headers import read_batch_headers
from wire.log.batch_writer import encode_batch, rewrite_batch
from wire.log.compression import Codec
from wire.log.control_records import ControlType, end_of_transaction
from wire.log.indexes import aborted_transactions, write_indexes
from wire.log.segments import read_log, segment_name

pytestmark = [pytest.mark.kafka, LONG]

PARTITIONS = 5
TOPIC = "orders"
LAST = 300
PRODUCER = 4000
COMPLAINT = re.compile(r"\b(WARN|ERROR|FATAL)\b")
NOT_OF_THE_LOG = ("NetworkClient", "QuorumController", "ControllerApis")


def test_a_broker_starts_on_our_segments(start_broker: StartBroker, tools: ToolHost) -> None:
    broker = start_broker(
        {"log.cleaner.min.compaction.lag.ms": "3600000"}
    )  # its cleaner must not change them
    create_topics(broker, {TOPIC: 2})
    broker.stop()
    topic = broker.data / "__consumer_offsets"
    groups = {group: Path(f"{topic}-{partition_for(group, PARTITIONS)}") for group in _groups()}
    expected = {}
    for group, directory in groups.items():
        for path in directory.iterdir():
            if path.name != "partition.metadata":
                path.unlink()
        _write_log(directory, group)
        expected[group] = {0: LAST, 1: 7}
    alone, merged, *_ = groups
    _interrupt(groups[alone], alone, merged=False)
    _interrupt(groups[merged], merged, merged=True)
    expected[merged] = {0: 111, 1: 222}
    logs = {group: _segments(directory) for group, directory in groups.items()}
    assert [len(log) for log in logs.values()] == [2, 1, 2, 2, 2]
    broker.start()
    wait_for_coordinator(broker)
    assert _complaints(broker) == []
    assert {group: _described(tools, broker, group) for group in groups} == expected
    broker.stop()
    assert {group: _segments(directory) for group, directory in groups.items()} == logs
    left = {path.suffix for directory in groups.values() for path in directory.iterdir()}
    assert not left & {".swap", ".cleaned", ".deleted"}
    (broker.data / ".kafka_cleanshutdown").unlink()
    broker.start()
    wait_for_coordinator(broker)
    assert _complaints(broker) == []
    assert _described(tools, broker, alone) == expected[alone]


def _groups() -> list[str]:
    by_partition: dict[int, str] = {}
    number = 0
    while len(by_partition) < PARTITIONS:
        by_partition.setdefault(partition_for(f"group-{number}", PARTITIONS), f"group-{number}")
        number += 1
    return list(by_partition.values())


def _write_log(directory: Path, group: str) -> None:
    batches = list(_batches(group))
    middle = len(batches) // 2
    second = next(read_batch_headers(batches[middle], "")).base_offset
    (directory / segment_name(0)).write_bytes(b"".join(batches[:middle]))
    (directory / segment_name(second)).write_bytes(b"".join(batches[middle:]))
    log = list(read_log(directory))
    for segment, aborted in zip(log, aborted_transactions([one.batches for one in log]), strict=True):
        write_indexes(segment, aborted)
    write_leader_epochs(directory, [LeaderEpoch(epoch=0, start_offset=0)])


def _interrupt(directory: Path, group: str, *, merged: bool) -> None:
    """Interrupt a compaction of the first segment, or of both, as by a kill before the old ones were renamed."""
    first, second = read_log(directory)
    last = (second if merged else first).next_offset - 1
    records = [encode_record(_offset(group, 0, 111)), encode_record(_offset(group, 1, 222))]
    compacted = encode_batch(records, base_offset=0, timestamp=_now())
    swap = first.path.with_name(f"{first.path.name}.swap")
    swap.write_bytes(with_field(compacted, "last_offset_delta", last))
    (directory / f"{segment_name(last + 1)}.cleaned").write_bytes(b"unfinished")
    (directory / f"{segment_name(0)}.deleted").write_bytes(second.data)


def _segments(directory: Path) -> list[tuple[int, bytes]]:
    return [(segment.base_offset, segment.data) for segment in read_log(directory)]


def _batches(group: str) -> Iterator[bytes]:
    now = _now()
    offset = 0
    for number in range(LAST + 1):
        codec = list(Codec)[number % len(Codec)]
        records = [encode_record(_offset(group, 0, count)) for count in (number, number, number)]
        batch = encode_batch(records, base_offset=offset, timestamp=now + number, codec=codec)
        yield _emptied(batch) if number % 10 == 3 else batch
        offset += 3 if number % 7 else 10
    for number in range(6):
        committed = number % 2
        records = [encode_record(_offset(group, 1, 7 if committed else 10**6 + number))]
        mark = end_of_transaction(ControlType.COMMIT if committed else ControlType.ABORT, 0)
        of: dict[str, Any] = {"producer_id": PRODUCER + number, "producer_epoch": 0, "transactional": True}
        yield encode_batch(records, base_offset=offset, timestamp=now, base_sequence=0, **of)
        yield encode_batch([mark], base_offset=offset + 1, timestamp=now, control=True, **of)
        offset += 2


def _offset(group: str, partition: int, offset: int) -> OffsetRecord:
    value = StoredOffset(offset=offset, leader_epoch=-1, metadata="", commit_ms=_now())
    return OffsetRecord(group=group, topic=TOPIC, partition=partition, value=value)


def _emptied(encoded: bytes) -> bytes:
    return rewrite_batch(next(read_batch_headers(encoded, "")), [])


def _described(tools: ToolHost, broker: Broker, group: str) -> dict[int, int]:
    said = tools.ask(broker, CONSUMER_GROUPS, "--describe", "--group", group, "--offsets").stdout
    return {int(row["PARTITION"]): int(row["CURRENT-OFFSET"]) for row in columns.parse(said)}


def _complaints(broker: Broker) -> list[str]:
    lines = [line for line in broker.log.read_text().splitlines() if COMPLAINT.search(line)]
    return [line for line in lines if not any(name in line for name in NOT_OF_THE_LOG)]


def _now() -> int:
    return int(time.time() * 1000)
