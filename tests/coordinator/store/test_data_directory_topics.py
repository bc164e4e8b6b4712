"""Topics as directories: after a kill at any step of a change, a topic exists completely or not at all."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from coordinator.engine.topics import TopicInfo
from coordinator.store.topic_directories import TopicDirectories
from tests.coordinator.store.kills import is_killed
from wire.log.errors import DamagedLog, StorageFailed

OLD, NEW = UUID(int=1), UUID(int=2)


def topic(name: str, partitions: int, topic_id: UUID = OLD) -> TopicInfo:
    return TopicInfo(name=name, id=topic_id, partitions=partitions)


def names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()}


def test_a_deleted_topic_is_remembered_until_its_directories_are_purged(tmp_path: Path) -> None:
    topics = TopicDirectories(tmp_path)
    topics.create(topic("orders", 3))
    topics.delete(topic("orders", 3))
    topics.create(topic("orders", 1, NEW))
    again = TopicDirectories(tmp_path)
    assert again.found == (topic("orders", 1, NEW),)
    assert [(info.name, info.id) for info in again.deleted] == [("orders", OLD)]
    again.file_remover()()
    assert again.deleted == []
    assert names(tmp_path) == {"orders-0"}


def test_what_is_deleted_later_is_purged_later(tmp_path: Path) -> None:
    topics = TopicDirectories(tmp_path)
    topics.create(topic("orders", 2))
    topics.create(topic("payments", 1, NEW))
    topics.delete(topic("orders", 2))
    purge_orders = topics.file_remover()
    topics.delete(topic("payments", 1, NEW))
    purge_orders()
    assert [info.name for info in topics.deleted] == ["payments"]
    assert [name.partition("-")[0] for name in names(tmp_path)] == ["payments"]


def test_a_name_may_be_as_long_as_kafka_allows(tmp_path: Path) -> None:
    name = "x" * 249
    topics = TopicDirectories(tmp_path)
    topics.create(topic(name, 2))
    assert TopicDirectories(tmp_path).found == (topic(name, 2),)
    topics.delete(topic(name, 2))
    assert TopicDirectories(tmp_path).found == ()


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ((), lambda topics: topics.create(topic("orders", 3))),
        ((topic("orders", 1),), lambda topics: topics.grow(topic("orders", 3), 1)),
        ((topic("orders", 3),), lambda topics: topics.delete(topic("orders", 3))),
    ],
)
def test_a_kill_leaves_all_or_nothing(
    tmp_path: Path, before: tuple[TopicInfo, ...], change: Callable[[TopicDirectories], None]
) -> None:
    kills, outcomes = 0, set()
    for calls in range(100):
        root = tmp_path / str(calls)
        root.mkdir()
        topics = TopicDirectories(root)
        for info in before:
            topics.create(info)
        was_killed = is_killed(partial(change, topics), calls)
        again = TopicDirectories(root)
        outcomes.add(again.found)
        again.file_remover()()
        last = TopicDirectories(root)
        assert last.found == again.found
        assert last.deleted == []
        assert names(root) == {f"orders-{n}" for left in last.found for n in range(left.partitions)}
        if not was_killed:
            break
        kills += 1
    assert kills > 3
    assert len(outcomes) == 2


def test_nothing_is_left_of_a_topic_that_cannot_be_made(tmp_path: Path) -> None:
    topics = TopicDirectories(tmp_path)
    (tmp_path / "orders-1").touch()
    with pytest.raises(StorageFailed, match="orders"):
        topics.create(topic("orders", 3))
    assert names(tmp_path) == {"orders-1"}


def test_a_brokers_partitions_are_never_cleared_away(tmp_path: Path) -> None:
    for number in (1, 4):
        directory = tmp_path / f"orders-{number}"
        directory.mkdir()
        (directory / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ")
        (directory / f"{0:020d}.log").write_bytes(b"records")
    (tmp_path / "older-0").mkdir()
    (tmp_path / "older-0" / f"{0:020d}.log").write_bytes(b"of a broker without topic ids")
    assert TopicDirectories(tmp_path).found == (topic("orders", 5),)
    assert (tmp_path / "orders-4" / f"{0:020d}.log").read_bytes() == b"records"
    assert (tmp_path / "older-0" / f"{0:020d}.log").exists()


def test_other_directories_are_unchanged(tmp_path: Path) -> None:
    for name in ("__consumer_offsets-0", "__cluster_metadata-0", "orders-0.0a1b-future", "some folder"):
        (tmp_path / name).mkdir()
    (tmp_path / "file-0").touch()
    before = names(tmp_path)
    assert TopicDirectories(tmp_path).found == ()
    assert names(tmp_path) == before


def test_a_directory_with_invalid_metadata_is_refused(tmp_path: Path) -> None:
    (tmp_path / "orders-0").mkdir()
    (tmp_path / "orders-0" / "partition.metadata").write_text("version: 0\ntopic_id: none")
    with pytest.raises(DamagedLog, match=r"orders-0.partition\.metadata"):
        TopicDirectories(tmp_path)
