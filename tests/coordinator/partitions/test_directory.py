"""Records in files that are closed, killed, torn or out of room: the written records are read again."""

import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.partitions.directory import LOG_STARTS, RecordDirectory
from coordinator.partitions.partition import EARLIEST, Partition
from coordinator.partitions.partitions import Partitions
from coordinator.partitions.validation import single_batch
from coordinator.store.log_files import OpenFiles
from coordinator.store.partition_files import read_leader_epochs
from coordinator.store.topic_directories import TopicDirectories
from wire.log.batch_header import batch_at
from wire.log.batch_writer import encode_batch
from wire.log.segments import list_segments, read_segment

TOPIC = TopicInfo(name="orders", id=uuid4(), partitions=2)
IMAGE = TopicImage.of([TOPIC], 1)
SETTINGS = {
    "cleanup.policy": ("delete",),
    "compression.type": "producer",
    "delete.retention.ms": 86_400_000,
    "max.message.bytes": 100_000,
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": 2**63 - 1,
    "message.timestamp.after.max.ms": 2**63 - 1,
    "min.cleanable.dirty.ratio": 0.5,
    "min.compaction.lag.ms": 0,
    "retention.bytes": -1,
    "retention.ms": -1,
    "segment.bytes": 20_000,
    "segment.ms": 2**63 - 1,
}


class Store:
    def __init__(self, root: Path) -> None:
        self.root = root
        TopicDirectories(root).create(TOPIC)
        self.open(was_clean=True)

    def open(self, *, was_clean: bool) -> None:
        self.directory = RecordDirectory(self.root, was_clean=was_clean)
        self.partitions = Partitions(IMAGE, lambda _: SETTINGS, self.directory)

    def partition(self, number: int = 0) -> Partition:
        partition = self.partitions.find(TOPIC.id, number)
        assert partition is not None
        return partition

    def close(self) -> None:
        self.directory.close()
        self.open(was_clean=True)

    def kill(self) -> None:
        self.directory.abandon()
        self.open(was_clean=False)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def append(partition: Partition, batch: bytes, now_ms: int = 0) -> int:
    return partition.append(partition.accept(single_batch(batch, 9), now_ms), now_ms).base_offset


def fill(partition: Partition, seed: int, batches: int = 60) -> None:
    chance = random.Random(seed)
    time_ms = 1_000
    for number in range(batches):
        time_ms += chance.choice((-50, 0, 10, 500))
        values = [(b"k", bytes(chance.choice((1, 300, 3_000)))) for _ in range(chance.randint(1, 3))]
        batch = encode_batch(values, base_offset=0, timestamp=time_ms)
        append(partition, batch, number)


def content(partition: Partition) -> bytes:
    offset, whole = partition.log_start_offset, b""
    while data := partition.read(offset, 50_000, committed=False, at_least_one=True).records:
        whole += data
        position = 0
        while position < len(data):
            batch = batch_at(data, position)
            position, offset = position + batch.size, batch.next_offset
    return whole


@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.parametrize("torn", [b"half", bytes(30), b"a batch with another byte in it"])
def test_what_a_kill_left_is_cut_off_and_completed(store: Store, torn: bytes, *, is_read: bool) -> None:
    fill(store.partition(), 1, batches=5)
    written, end = content(store.partition()), store.partition().high_watermark
    (path,) = list_segments(store.root / "orders-0")
    store.kill()
    changed = encode_batch([(b"k", torn)], base_offset=end, timestamp=1_000).replace(torn, torn[::-1])
    with path.open("ab") as out:
        out.write(changed if len(torn) > 30 else torn)
    if is_read:
        assert content(store.partition()) == written
    store.close()
    assert content(store.partition()) == written
    assert read_segment(path).torn is None
    assert path.with_suffix(".index").exists()
    assert [(one.epoch, one.start_offset) for one in read_leader_epochs(store.root / "orders-0")] == [(0, 0)]


def test_where_a_log_begins_lasts(store: Store) -> None:
    fill(store.partition(), 1)
    before = list_segments(store.root / "orders-0")
    assert store.partition().delete_records(50) == 50
    assert list_segments(store.root / "orders-0")[0] != before[0]
    store.directory.files.file_remover()()
    assert not list((store.root / "orders-0").glob("*.deleted"))
    for leave in (store.kill, store.close):
        leave()
        assert store.partition().find_offset(EARLIEST, committed=False).offset == 50
    store.partitions.set_topics(TopicImage.of([], 2))
    assert "orders" not in (store.root / LOG_STARTS).read_text()


def test_leader_epochs_last(store: Store) -> None:
    fill(store.partition(), 1, batches=3)
    end = store.partition().high_watermark
    store.partition().begin_epoch(4)
    fill(store.partition(), 2, batches=3)
    store.kill()
    assert store.partitions.leader_epoch(TOPIC.id, 0) == 4
    assert store.partition().leader_epoch == 4
    assert store.partition().end_of_epoch(0) == (0, end)


def test_producers_are_known_again(store: Store) -> None:
    def batch(sequence: int) -> bytes:
        producer: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}
        return encode_batch([(b"k", b"v")], base_offset=0, timestamp=1_000, **producer)

    for sequence in range(3):
        append(store.partition(), batch(sequence))
    store.kill()
    assert append(store.partition(), batch(2)) == 2
    assert append(store.partition(), batch(3)) == 3


def test_a_segment_that_somebody_cut_is_an_error_of_the_disk(store: Store) -> None:
    fill(store.partition(), 1, batches=5)
    (path,) = list_segments(store.root / "orders-0")
    with path.open("r+b") as segment:
        segment.truncate(10)
    with pytest.raises(OSError, match="shorter than it was"):
        content(store.partition())


def test_a_limited_number_of_files_is_open(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(5)]
    for path in paths:
        path.touch()
    opened = OpenFiles(most=2)
    first = opened.get(paths[0])
    assert opened.get(paths[0]) == first
    for path in paths:
        opened.get(path)
    assert len(opened._by_path) == 2
    opened.close()
    assert not opened._by_path
