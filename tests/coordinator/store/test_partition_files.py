"""The small files of a log directory, as a broker writes and reads them."""

from pathlib import Path
from uuid import UUID

import pytest

from coordinator.store import partition_files as files
from coordinator.store.directory_files import MetaProperties, read_meta_properties, write_meta_properties
from tests.kafka.broker import CLUSTER_ID, Broker
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from wire.log.errors import DamagedLog
from wire.log.segments import read_log

TOPIC_ID = UUID("acba82da-601a-4b04-93a7-f2bc604bdaa6")

HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "topic", "partition", "suffix"),
    [
        ("orders-7", "orders", 7, files.DirectorySuffix.NONE),
        ("__consumer_offsets-49", "__consumer_offsets", 49, files.DirectorySuffix.NONE),
        ("a-b.c_d-0", "a-b.c_d", 0, files.DirectorySuffix.NONE),
        ("my-delete-3", "my-delete", 3, files.DirectorySuffix.NONE),
        ("orders-1-7", "orders-1", 7, files.DirectorySuffix.NONE),
        (f"orders-7.{HEX}-delete", "orders", 7, files.DirectorySuffix.DELETE),
        (f"orders-7.{HEX}-stray", "orders", 7, files.DirectorySuffix.STRAY),
        (f"orders-7.{HEX}-future", "orders", 7, files.DirectorySuffix.FUTURE),
        (f"or.ders-7.x-1-7.{HEX}-delete", "or.ders-7.x-1", 7, files.DirectorySuffix.DELETE),
        ("topic-2147483647", "topic", 2147483647, files.DirectorySuffix.NONE),
    ],
)
def test_names_of_directories(name: str, topic: str, partition: int, suffix: files.DirectorySuffix) -> None:
    assert files.parse_partition_name(name) == files.PartitionName(
        topic=topic, partition=partition, suffix=suffix
    )


def test_a_directory_is_named_for_its_partition() -> None:
    assert str(files.PartitionName(topic="a-b", partition=3)) == "a-b-3"


INVALID = (
    "",
    "orders",
    "-7",
    "orders-",
    "orders-x",
    "orders-7 ",
    "or ders-7",
    "orders-2147483648",
    "orders--",
    "7",
)


@pytest.mark.parametrize("name", INVALID)
def test_invalid_names(name: str) -> None:
    assert files.parse_partition_name(name) is None


@pytest.mark.parametrize(
    ("group", "partition"),
    [
        ("", 0),
        ("payments", 13),
        ("a", 97 % 50),
        # hashCode -2^31, which has no positive counterpart.
        ("polygenelubricants", 0),
        # Hash codes below 0.
        ("orders", 1008770331 % 50),
        ("my-group", 1906497762 % 50),
        ("\U0001f600", 1772899 % 50),
    ],
)
def test_the_partition_of_a_group(group: str, partition: int) -> None:
    assert files.partition_for(group) == partition


def test_the_partition_among_others() -> None:
    assert [files.partition_for("payments", count) for count in (1, 5, 50)] == [0, 3, 13]


def test_a_topic_id(tmp_path: Path) -> None:
    assert files.read_topic_id(tmp_path) is None
    files.write_topic_id(tmp_path, TOPIC_ID)
    assert (tmp_path / "partition.metadata").read_bytes() == b"version: 0\ntopic_id: rLqC2mAaSwSTp_K8YEvapg"
    assert files.read_topic_id(tmp_path) == TOPIC_ID


@pytest.mark.parametrize(
    "content",
    [
        "version: 0\ntopic_id: rLqC2mAaSwSTp_K8YEvapg\n",
        "version: 7\ntopic_id:  rLqC2mAaSwSTp_K8YEvapg\nmore: 1",
        "version: 0\r\ntopic_id: rLqC2mAaSwSTp_K8YEvapg",
    ],
)
def test_a_topic_id_written_otherwise(tmp_path: Path, content: str) -> None:
    (tmp_path / "partition.metadata").write_bytes(content.encode())
    assert files.read_topic_id(tmp_path) == TOPIC_ID


@pytest.mark.parametrize(
    ("content", "position"),
    [
        (b"", 0),
        (b"version: 0", 0),
        (b"version: 0\n\n", 0),
        (b"version: x\ntopic_id: rLqC2mAaSwSTp_K8YEvapg", 0),
        (b"version: -1\ntopic_id: rLqC2mAaSwSTp_K8YEvapg", 0),
        (b"version: 0\ntopic_id: rLqC2mAaSwSTp_K8YEv", 11),
        (b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", 11),
        (b"version: 0\ntopic_id: \xff\xfe", 11),
        (b"version: 0\nid: rLqC2mAaSwSTp_K8YEvapg", 0),
        (b"\xff" * 1000, 0),
    ],
)
def test_an_invalid_topic_id(tmp_path: Path, content: bytes, position: int) -> None:
    path = tmp_path / "partition.metadata"
    path.write_bytes(content)
    with pytest.raises(DamagedLog) as error:
        files.read_topic_id(tmp_path)
    assert (error.value.file, error.value.position) == (str(path), position)


def test_leader_epochs(tmp_path: Path) -> None:
    assert files.read_leader_epochs(tmp_path) == ()
    epochs = (files.LeaderEpoch(epoch=0, start_offset=0), files.LeaderEpoch(epoch=3, start_offset=1500))
    files.write_leader_epochs(tmp_path, epochs)
    assert (tmp_path / "leader-epoch-checkpoint").read_bytes() == b"0\n2\n0 0\n3 1500\n"
    assert files.read_leader_epochs(tmp_path) == epochs
    files.write_leader_epochs(tmp_path, ())
    assert files.read_leader_epochs(tmp_path) == ()


def test_meta_properties(tmp_path: Path) -> None:
    assert read_meta_properties(tmp_path) is None
    meta = MetaProperties(cluster_id="my cluster: #1\\", node_id=3, directory_id=TOPIC_ID)
    write_meta_properties(tmp_path, meta)
    assert (tmp_path / "meta.properties").read_text() == (
        "node.id=3\ndirectory.id=rLqC2mAaSwSTp_K8YEvapg\nversion=1\ncluster.id=my cluster: #1\\\\\n"
    )
    assert read_meta_properties(tmp_path) == meta


@pytest.mark.parametrize("content", ["", "version=0\n", "version=0\nbroker.id=5\ncluster.id=x\n"])
def test_meta_properties_of_zookeeper_times(tmp_path: Path, content: str) -> None:
    (tmp_path / "meta.properties").write_text(content)
    known = "broker" in content
    assert read_meta_properties(tmp_path) == MetaProperties(
        cluster_id="x" if known else None, node_id=5 if known else None, directory_id=None, version=0
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version=2\n", "version 2"),
        (b"version=x\n", "'x'"),
        (b"version=1\nnode.id=1\n", "cluster.id is missing"),
        (b"version=1\ncluster.id=x\n", "node.id is missing"),
        (b"version=1\ncluster.id=x\nnode.id=one\n", "'one'"),
        (b"version=1\ncluster.id=x\nnode.id=1\ndirectory.id=short\n", "'short'"),
        (b"version=1\ncluster.id=\\uXX\n", "hexadecimal"),
        (b"version=" + b"9" * 5000, "digits"),
    ],
)
def test_invalid_meta_properties(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "meta.properties").write_bytes(content)
    with pytest.raises(DamagedLog, match=said):
        read_meta_properties(tmp_path)


@pytest.mark.kafka
def test_a_real_broker_s_directory(broker: Broker) -> None:
    topic = fresh_name("stored")
    create_topics(broker, {topic: 2})
    names = wait_until(lambda: _directories(broker, topic), "the partitions have their directories")
    for partition in (0, 1):
        directory = names[topic, partition]
        assert files.read_topic_id(directory) == files.read_topic_id(names[topic, 0])
        assert files.read_leader_epochs(directory) == (files.LeaderEpoch(epoch=0, start_offset=0),)
        assert [segment.base_offset for segment in read_log(directory)] == [0]
    meta = read_meta_properties(broker.data)
    assert meta is not None
    assert (meta.cluster_id, meta.node_id, meta.version) == (CLUSTER_ID, 1, 1)
    (metadata,) = read_log(names["__cluster_metadata", 0])
    assert len(metadata.batches) > 5


def _directories(broker: Broker, topic: str) -> dict[tuple[str, int], Path] | None:
    paths = {}
    for path in broker.data.iterdir():
        name = files.parse_partition_name(path.name) if path.is_dir() else None
        if name is not None:
            paths[name.topic, name.partition] = path
    ours = [path for (of, _), path in paths.items() if of == topic]
    return (
        paths
        if sum(bool(files.read_topic_id(path) and files.read_leader_epochs(path)) for path in ours) == 2
        else None
    )
