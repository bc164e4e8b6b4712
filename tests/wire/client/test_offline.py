"""The partition of a group, and the missing brokers."""

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assignors.java.hash_map import string_hashes
from wire.client.address import Address
from wire.client.metadata import (
    OFFSETS_TOPIC,
    AdvertisedBroker,
    ClusterMetadata,
    TopicMetadata,
    brokers_with_failures,
    explained,
    offline_coordinators,
    partition_of,
)
from wire.errors import Failure


@given(st.text(max_size=20), st.integers(min_value=1, max_value=50))
def test_thepartition_of_a_group_follows_javas_hash(group: str, count: int) -> None:
    assert partition_of(group, count) == abs(int(string_hashes([group])[0])) % count


def test_the_smallest_hash_has_no_positive_one() -> None:
    assert partition_of("polygenelubricants", 50) == 0


def metadata(
    *leaders: tuple[int, tuple[int, ...]], offline: Mapping[int, tuple[int, ...]] = MappingProxyType({})
) -> ClusterMetadata:
    """A cluster of brokers 1 and 2, and the leader and replicas of each partition of groups and offsets. `offline` are
    the replicas in failed log directories, by partition."""
    partitions: Any = tuple(
        SimpleNamespace(
            partition_index=index,
            leader_id=leader,
            replica_nodes=replicas,
            offline_replicas=offline.get(index, ()),
        )
        for index, (leader, replicas) in enumerate(leaders)
    )
    topic = TopicMetadata(name=OFFSETS_TOPIC, topic_id=None, partitions=partitions)
    brokers = tuple(
        AdvertisedBroker(node_id=node, address=Address("a", 9092 + node), rack=None) for node in (1, 2)
    )
    return ClusterMetadata(cluster_id=None, brokers=brokers, topics={OFFSETS_TOPIC: topic}, failed={})


def test_partitions_without_a_leader_by_who_had_them() -> None:
    result = offline_coordinators(
        metadata((1, (1,)), (-1, (3,)), (-1, (3, 4)), (-1, (3,)), (4, (1, 4)), (-1, (2, 1)))
    )
    assert {partition: failure.message.partition(". ")[2] for partition, failure in result.items()} == {
        "__consumer_offsets-4": "Start broker 4.",
        "__consumer_offsets-5": "The brokers with its replicas run: wait for the election of a leader; if none "
        "follows, no replica is in sync (kafka-topics.sh --describe --unavailable-partitions).",
        "__consumer_offsets-1, 3": "Start broker 3.",
        "__consumer_offsets-2": "Start one of the brokers 3, 4.",
    }


def test_a_running_broker_is_not_to_be_started_but_its_disk_repaired() -> None:
    cluster = metadata(
        (-1, (1,)), (-1, (1, 3)), (-1, (2,)), (1, (1,)), offline={0: (1,), 1: (1,), 2: (2,), 3: (2,)}
    )
    repair = "the failed log directory of broker {}, and restart the broker: its log shows the error."
    assert brokers_with_failures(cluster) == {1, 2}
    result = offline_coordinators(cluster, {1: ("/a", "/b")})
    assert {partition: failure.message.partition(". ")[2] for partition, failure in result.items()} == {
        "__consumer_offsets-0": f"Repair {repair}".format("1 (/a, /b)"),
        "__consumer_offsets-1": f"Start broker 3. Or repair {repair}".format("1 (/a, /b)"),
        "__consumer_offsets-2": f"Repair {repair}".format("2"),
    }


def test_nothing_is_known_where_the_topic_may_not_be_seen() -> None:
    bare = ClusterMetadata(cluster_id=None, brokers=(), topics={}, failed={})
    failed = {
        "payments": Failure(message="COORDINATOR_NOT_AVAILABLE", code=15, name="COORDINATOR_NOT_AVAILABLE")
    }
    assert offline_coordinators(bare) == {}
    assert explained(failed, bare) == failed


def test_only_a_coordinator_that_is_not_available_is_explained() -> None:
    other = Failure(message="no", code=30, name="GROUP_AUTHORIZATION_FAILED")
    gone = Failure(message="gone", code=15, name="COORDINATOR_NOT_AVAILABLE")
    result = explained({"a": other, "b": gone}, metadata((-1, (3,))))
    assert result["a"] == other
    assert result["b"].message == (
        "no coordinator: __consumer_offsets-0 has no leader. Start broker 3 (COORDINATOR_NOT_AVAILABLE)."
    )
    assert explained({"b": gone}, metadata((1, (1,)))) == {"b": gone}
