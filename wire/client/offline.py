"""Groups that no broker coordinates now: those of partitions of `__consumer_offsets` without a leader.

A broker that has left the cluster is in no list of brokers, so nobody is there to be asked for its groups, and
their absence would pass unseen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from wire.client.answers import Failure

if TYPE_CHECKING:
    from wire.client.calls.metadata import ClusterMetadata, Partition

OFFSETS_TOPIC = "__consumer_offsets"
COORDINATOR_NOT_AVAILABLE = 15
_LEADER_NOT_AVAILABLE = 5


def offline_coordinators(metadata: ClusterMetadata) -> dict[str, Failure]:
    """By partitions (`__consumer_offsets-1, 4`), why their groups cannot be listed. Empty where this user may not
    see the topic: then nothing is known.
    """
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    lost: dict[tuple[int, ...], list[int]] = {}
    for partition in topic.partitions if topic else ():
        if partition.leader not in alive:
            lost.setdefault(tuple(sorted(partition.replicas)), []).append(partition.index)
    return {
        f"{OFFSETS_TOPIC}-{', '.join(map(str, partitions))}": Failure(
            message="no leader, so groups that live there are neither listed nor described. Bring "
            f"{_named([replica for replica in replicas if replica not in alive] or list(replicas))} back.",
            code=_LEADER_NOT_AVAILABLE,
            name="LEADER_NOT_AVAILABLE",
        )
        for replicas, partitions in sorted(lost.items())
    }


def named_brokers(partition: Partition, alive: Collection[int]) -> str:
    """Who would lead a partition that nobody leads: `broker 3`, `one of the brokers 2, 3`."""
    return _named([each for each in partition.replicas if each not in alive] or list(partition.replicas))


def _named(brokers: Sequence[int]) -> str:
    if len(brokers) == 1:
        return f"broker {brokers[0]}"
    return f"one of the brokers {', '.join(map(str, brokers))}"


def explained(failed: Mapping[str, Failure], metadata: ClusterMetadata) -> dict[str, Failure]:
    """Failures by group; where a group's coordinator is not available, with the partition that has no leader."""
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    told: dict[str, Failure] = {}
    for group, failure in failed.items():
        told[group] = failure
        if failure.code != COORDINATOR_NOT_AVAILABLE or topic is None or not topic.partitions:
            continue
        partition = topic.partitions[_partition_of(group, len(topic.partitions))]
        if partition.leader not in alive:
            told[group] = replace(
                failure,
                message=f"no coordinator: {OFFSETS_TOPIC}-{partition.index} has no leader. Bring "
                f"{named_brokers(partition, alive)} back ({failure.name}).",
            )
    return told


def _partition_of(group: str, count: int) -> int:
    """Where Kafka keeps a group: Java's hash of its id, without the sign (GroupCoordinatorService.partitionFor)."""
    code = 0
    units = group.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return (0 if signed == -(1 << 31) else abs(signed)) % count
