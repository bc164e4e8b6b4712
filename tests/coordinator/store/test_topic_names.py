"""Names, ids and sizes of topics from log directories."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from coordinator.store.cluster_metadata import read_cluster_metadata
from coordinator.store.loader import load
from coordinator.store.partition_files import PARTITION_METADATA, write_topic_id
from coordinator.store.topic_names import KnownTopic, known_topics
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from wire.log.batch_writer import encode_batch
from wire.log.control_records import ControlType
from wire.messages.schemas import cluster_metadata as kinds
from wire.messages.writer import message_writer, write_varint

A, B, C = UUID(int=0xA), UUID(int=0xB), UUID(int=0xC)
HEX = "0" * 32
T = 1_700_000_000_000


def place(root: Path, name: str, topic_id: UUID | None) -> None:
    (root / name).mkdir(parents=True)
    if topic_id is not None:
        write_topic_id(root / name, topic_id)


# The directories of partitions.


@pytest.mark.parametrize(
    ("directories", "names", "partitions"),
    [
        (
            {"one/orders-0": A, "one/orders-4": A, "one/a-b-1-0": B, "one/old-2": None},
            {A: "orders", B: "a-b-1"},
            {"orders": (A, 5), "a-b-1": (B, 1), "old": (None, 3)},
        ),
        ({"one/orders-0": A, "two/orders-7": A}, {A: "orders"}, {"orders": (A, 8)}),
        (  # Moved partitions count, deleted ones give their names.
            {f"one/orders-1.{HEX}-future": A, f"one/gone-0.{HEX}-delete": B, f"one/stray-0.{HEX}-stray": C},
            {A: "orders", B: "gone", C: "stray"},
            {"orders": (A, 2)},
        ),
        (  # A name that may be cut is ignored.
            {f"one/{'x' * 213}-0.{HEX}-delete": A, f"one/{'y' * 212}-0.{HEX}-delete": B},
            {B: "y" * 212},
            {},
        ),
        # A directory that was just made has no id yet.
        ({"one/orders-0": A, "one/orders-1": None}, {A: "orders"}, {"orders": (A, 2)}),
    ],
)
def test_directories_tell_names_ids_and_how_many_are_seen(
    tmp_path: Path,
    directories: Mapping[str, UUID | None],
    names: Mapping[UUID, str],
    partitions: Mapping[str, tuple[UUID | None, int]],
) -> None:
    for name, topic_id in directories.items():
        place(tmp_path, name, topic_id)
    (tmp_path / "one/meta.properties").write_text("version=1\n")
    known = known_topics(sorted(tmp_path.iterdir()), {})
    assert (known.names, known.notices) == (names, ())
    assert known.topics == {
        name: KnownTopic(name=name, id=topic_id, partitions=count)
        for name, (topic_id, count) in partitions.items()
    }


def test_of_two_ids_under_one_name_that_of_most_directories_counts(tmp_path: Path) -> None:
    for name, topic_id in (("orders-0", B), ("orders-1", A), ("orders-2", A)):
        place(tmp_path, name, topic_id)
    known = known_topics([tmp_path], {})
    assert (known.topics["orders"].id, known.names) == (A, {A: "orders", B: "orders"})
    (notice,) = known.notices
    assert "AAAAAAAAAAAAAAAAAAAACw, AAAAAAAAAAAAAAAAAAAACg" in notice.message


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    place(tmp_path, "orders-0", A)
    (tmp_path / "orders-0" / PARTITION_METADATA).write_text("what is this")
    gone = tmp_path / "gone"
    notice = known_topics([tmp_path, gone], {}).notices
    assert [entry.file for entry in notice] == [tmp_path / "orders-0" / PARTITION_METADATA, gone]


def test_names_in_records_are_used_if_nothing_else_is_known(tmp_path: Path) -> None:
    place(tmp_path, "orders-0", A)
    place(tmp_path, f"gone-0.{HEX}-delete", C)
    named_topics = {
        A: KnownTopic(name="orders", id=A, partitions=9),
        B: KnownTopic(name="other", id=B, partitions=3),
        C: KnownTopic(name="gone", id=C),
    }
    known = known_topics([tmp_path], named_topics)
    assert known.names == {A: "orders", B: "other", C: "gone"}
    assert {name: topic.partitions for name, topic in known.topics.items()} == {"orders": 1, "other": 3}


# The metadata log.

DEFAULTS: Mapping[int, Mapping[str, Any]] = {
    kinds.REGISTER_BROKER: {
        "isMigratingZkBroker": 0,
        "incarnationId": A,
        "brokerEpoch": 1,
        "endPoints": [{"name": "CLIENT", "host": "h", "port": 65535, "securityProtocol": 0}],
        "features": [{"name": "f", "minSupportedVersion": 0, "maxSupportedVersion": 1}],
        "fenced": 1,
        "inControlledShutdown": 0,
    },
    kinds.UNREGISTER_BROKER: {"brokerEpoch": 1},
    kinds.PARTITION: {
        "isr": [],
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": 1,
        "leaderEpoch": 1,
        "partitionEpoch": 1,
        "directories": [A],
    },
}


def record(number: int, version: int = 0, /, **fields: Any) -> tuple[None, bytes]:
    out = bytearray()
    for value in (1, number, version):
        write_varint(out, value)
    message_writer(kinds.METADATA_RECORDS[number], version, named=str)(
        out, {**DEFAULTS.get(number, {}), **fields}
    )
    return None, bytes(out)


def topic(name: str, topic_id: UUID, partitions: int, replicas: tuple[int, ...] = (1,)) -> list[Any]:
    return [
        record(kinds.TOPIC, name=name, topicId=topic_id),
        *(
            record(kinds.PARTITION, 2, partitionId=number, topicId=topic_id, replicas=list(replicas))
            for number in range(partitions)
        ),
    ]


def log(root: Path, *batches: list[Any], start: int = 0) -> Path:
    """The metadata log with batches a second apart, from T on."""
    directory = root / "__cluster_metadata-0"
    directory.mkdir(parents=True, exist_ok=True)
    out, offset = b"", start
    for number, records in enumerate(batches):
        out += encode_batch(records, base_offset=offset, timestamp=T + 1000 * number)
        offset += len(records)
    (directory / f"{start:020d}.log").write_bytes(out)
    return directory


def snapshot(directory: Path, offset: int, records: list[Any], *, covers_ms: int = T) -> Path:
    mark = (ControlType.SNAPSHOT_HEADER.to_bytes(4), b"\0\0" + covers_ms.to_bytes(8) + b"\0")
    end = (ControlType.SNAPSHOT_FOOTER.to_bytes(4), b"\0\0\0")
    file = directory / f"{offset:020d}-{3:010d}.checkpoint"
    file.write_bytes(
        encode_batch([mark], base_offset=0, timestamp=T, control=True)
        + encode_batch(records, base_offset=1, timestamp=T)
        + encode_batch([end], base_offset=1 + len(records), timestamp=T, control=True)
    )
    return file


def sizes(root: Path, as_of_ms: int | None = None) -> dict[str, int | None]:
    topics = known_topics([root], {}, as_of_ms=as_of_ms).topics
    return {name: info.partitions for name, info in topics.items()}


def test_the_metadata_log_tells_the_finalized_features(tmp_path: Path) -> None:
    log(
        tmp_path,
        [record(kinds.FEATURE_LEVEL, name="group.version", featureLevel=1)],
        [record(kinds.FEATURE_LEVEL, name="share.version", featureLevel=1)],
        [record(kinds.FEATURE_LEVEL, name="share.version", featureLevel=0)],
    )
    assert known_topics([tmp_path], {}).features == {"group.version": 1}
    earlier = known_topics([tmp_path], {}, as_of_ms=T + 1000)
    assert earlier.features == {"group.version": 1, "share.version": 1}
    assert known_topics([tmp_path / "elsewhere"], {}).features == {}


def test_the_metadata_log_decides_which_topics_there_are(tmp_path: Path) -> None:
    log(tmp_path, topic("orders", A, 3), topic("gone", B, 1), [record(kinds.REMOVE_TOPIC, topicId=B)])
    place(tmp_path, "orders-7", A)
    place(tmp_path, "gone-0", B)
    place(tmp_path, "older-0", C)
    known = known_topics([tmp_path], {})
    assert known.topics == {"orders": KnownTopic(name="orders", id=A, partitions=3, is_whole=True)}
    assert known.names == {A: "orders", B: "gone", C: "older"}
    assert known.notices == ()


def test_the_metadata_of_a_moment(tmp_path: Path) -> None:
    log(
        tmp_path,
        topic("orders", A, 1),
        [record(kinds.PARTITION, partitionId=1, topicId=A, replicas=[1])],
        [record(kinds.REMOVE_TOPIC, topicId=A)],
        topic("orders", B, 4),
    )
    counts = [sizes(tmp_path, T + second * 1000) for second in range(-1, 4)]
    assert counts == [{}, {"orders": 1}, {"orders": 2}, {}, {"orders": 4}]
    assert known_topics([tmp_path], {}).names == {A: "orders", B: "orders"}


def test_racks_are_those_of_the_replicas_brokers(tmp_path: Path) -> None:
    brokers = [
        record(kinds.REGISTER_BROKER, 4, brokerId=number, rack=rack) for number, rack in ((1, "a"), (2, "b"))
    ]
    no_rack = record(kinds.REGISTER_BROKER, brokerId=3, rack=None)
    moved = record(kinds.PARTITION_CHANGE, 2, partitionId=1, topicId=A, replicas=[3, 1])
    led = record(kinds.PARTITION_CHANGE, partitionId=0, topicId=A, leader=2, isr=[2])
    log(tmp_path, [*brokers, no_rack], topic("orders", A, 2, (1, 2)), topic("bare", B, 1, (3,)), [moved, led])
    topics = known_topics([tmp_path], {}).topics
    assert topics["orders"].racks == {0: ("a", "b"), 1: ("a",)}
    assert topics["bare"].racks is None
    log(tmp_path, brokers, topic("orders", A, 1, (1, 2)), [record(kinds.UNREGISTER_BROKER, brokerId=1)])
    assert known_topics([tmp_path], {}).topics["orders"].racks == {0: ("b",)}


@pytest.mark.parametrize(
    ("ends", "expected"),
    [([kinds.END_TRANSACTION], ["kept", "orders"]), ([kinds.ABORT_TRANSACTION], ["kept"]), ([], ["kept"])],
)
def test_a_metadata_transaction_counts_when_it_ends(
    tmp_path: Path, ends: list[int], expected: list[str]
) -> None:
    begin = record(kinds.BEGIN_TRANSACTION, name="Bootstrap records")
    log(
        tmp_path,
        topic("kept", B, 1),
        [begin, *topic("orders", A, 1)],
        [record(number) for number in ends] or [begin],
    )
    assert sorted(sizes(tmp_path)) == expected


def test_the_log_continues_from_the_newest_snapshot(tmp_path: Path) -> None:
    directory = log(tmp_path, topic("a", A, 1), topic("b", B, 2))
    snapshot(directory, 2, topic("older", C, 1))
    snapshot(directory, 5, topic("newest", C, 7))
    assert sizes(tmp_path) == {"newest": 7}
    log(tmp_path, topic("a", A, 1), topic("b", B, 2), topic("d", A, 3))
    assert sizes(tmp_path) == {"newest": 7, "d": 3}


def test_of_a_moment_a_later_snapshot_does_not_count(tmp_path: Path) -> None:
    directory = log(tmp_path, topic("a", A, 1), topic("b", B, 1))
    snapshot(directory, 2, topic("older", C, 1), covers_ms=T)
    snapshot(directory, 4, topic("newest", C, 7), covers_ms=T + 1000)
    assert sizes(tmp_path, T + 999) == {"older": 1}
    assert sizes(tmp_path, T + 1000) == {"newest": 7}
    assert sizes(tmp_path, T - 1) == {}


def test_segments_that_a_snapshot_covers_may_be_gone(tmp_path: Path) -> None:
    directory = log(tmp_path, topic("b", B, 1), start=50)
    snapshot(directory, 50, topic("a", A, 1))
    known = known_topics([tmp_path], {})
    assert (sorted(known.topics), known.notices) == (["a", "b"], ())
    assert all(info.is_whole for info in known.topics.values())


def test_where_the_beginning_is_missing_directories_help_out(tmp_path: Path) -> None:
    directory = log(tmp_path, topic("b", B, 1), start=50)
    place(tmp_path, "a-2", A)
    known = known_topics([tmp_path], {})
    assert known.topics == {
        "a": KnownTopic(name="a", id=A, partitions=3),
        "b": KnownTopic(name="b", id=B, partitions=1),
    }
    (notice,) = known.notices
    assert (notice.file, notice.message.split(",")[0]) == (directory, "starts at offset 50")


def test_an_empty_metadata_log_says_nothing(tmp_path: Path) -> None:
    log(tmp_path)
    place(tmp_path, "a-2", A)
    assert sizes(tmp_path) == {"a": 3}


@pytest.mark.parametrize("cut", [1, 80, 10_000])
def test_a_broken_snapshot_gives_way_to_an_older_one(tmp_path: Path, cut: int) -> None:
    directory = log(tmp_path, topic("a", A, 1))
    snapshot(directory, 1, topic("older", C, 1))
    newest = snapshot(directory, 2, topic("newest", C, 7))
    newest.write_bytes(newest.read_bytes()[:-cut])
    known = known_topics([tmp_path], {}, as_of_ms=T + 5)
    assert sorted(known.topics) == ["older"]
    assert known.notices[0].file == newest


def test_other_records_are_skipped_and_unknown_forms_reported(tmp_path: Path) -> None:
    odd = [
        (None, value) for value in (b"\1\x12\0junk", b"\2\2\0", b"\1\2\1", b"\1\2\0\5ab", b"\1\2", b"", None)
    ]
    directory = log(tmp_path, topic("a", A, 1), odd, topic("b", B, 1))
    place(tmp_path, "c-0", C)
    known = known_topics([tmp_path], {})
    assert sorted(known.topics) == ["a", "b", "c"]
    (notice,) = known.notices
    assert notice.file == directory
    assert notice.message.startswith("4 records cannot be decoded; the first: offset 3, frame version 2")


def test_a_damaged_metadata_log_is_reported_and_another_copy_read(tmp_path: Path) -> None:
    directory = log(tmp_path / "one", topic("a", A, 1), topic("b", B, 1))
    file = directory / f"{0:020d}.log"
    data = bytearray(file.read_bytes())
    data[70] ^= 1
    file.write_bytes(data)
    assert known_topics([tmp_path / "one"], {}).notices[0].file == file
    log(tmp_path / "two", topic("a", A, 1))
    known = known_topics([tmp_path / "one", tmp_path / "two"], {})
    assert sorted(known.topics) == ["a"]


def test_the_metadata_log_withstands_any_bytes(tmp_path: Path) -> None:
    rng = random.Random(5)
    values = [
        value for _, value in [*topic("a", A, 3), record(kinds.REGISTER_BROKER, 4, brokerId=1, rack="r")]
    ]
    for _ in range(300):
        odd = []
        for value in values:
            out = bytearray(value)
            for _ in range(rng.randrange(3)):
                out[rng.randrange(3, len(out))] = rng.randrange(256)
            odd.append((None, bytes(out[: rng.randrange(2, len(out) + 1)])))
        directory = log(tmp_path, odd)
        metadata = read_cluster_metadata(directory)
        assert len(metadata.topics) <= 1


# A real broker.


@pytest.mark.kafka
def test_a_brokers_own_metadata(start_broker: Callable[[Mapping[str, str]], Broker], tmp_path: Path) -> None:
    broker = start_broker({"metadata.log.max.record.bytes.between.snapshots": "1"})
    name, gone = fresh_name("orders"), fresh_name("gone")
    create_topics(broker, {name: 2, gone: 1})
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    (grown,) = admin.create_partitions([NewPartitions(name, 5)]).values()
    grown.result()
    (deleted,) = admin.delete_topics([gone]).values()
    deleted.result()
    metadata = broker.data / "__cluster_metadata-0"

    def is_reported() -> bool:
        known = load([broker.data]).topics
        assert known.notices == ()
        topic = known.topics.get(name)
        return gone not in known.topics and topic is not None and topic.partitions == 5

    wait_until(is_reported, "the topics are in the metadata log")
    wait_until(lambda: len(list(metadata.glob("*.checkpoint"))) > 1, "there is a snapshot")
    assert is_reported()
    known = load([broker.data]).topics
    assert known.topics[name].racks == dict.fromkeys(range(5), ("a",))
    assert known.topics[name].is_whole
    assert known.names[known.topics[name].id or A] == name
