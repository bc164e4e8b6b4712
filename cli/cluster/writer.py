"""Changing a live cluster: offsets, groups and their settings.

Through the AdminClient, over its own connections and logins; offsets are deleted over the wire client, because
confluent-kafka's AdminClient has no such call. What failed is told partition by partition, or group by group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cli.cluster.live import LiveSource
from cli.cluster.port import Source
from cli.errors import UsageError
from coordinator.offset_changes.model import OffsetChange, Place

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

K = TypeVar("K")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Why a change was not made, or may not have been."""

    message: str
    refused: bool
    """True: a broker said no. False: no answer came, and whether the change was made is not known."""


def writer_of(source: Source) -> ClusterWriter:
    """The writer of a live cluster; UsageError for a source that can only be read."""
    if isinstance(source, LiveSource):
        return ClusterWriter(source)
    raise UsageError(
        f"{source.name} is only read, never changed, so --execute makes no sense there; "
        "name a live cluster (--bootstrap-server)"
    )


class ClusterWriter:
    """Changes of one cluster. Every method takes at most the source's timeout."""

    def __init__(self, source: LiveSource) -> None:
        self._source = source
        self._timeout_s = source.timeout_ms / 1000

    def commit(self, changes: Mapping[str, Sequence[OffsetChange]]) -> dict[str, dict[Place, Failed | None]]:
        """Commit every group's new offsets, one request per group, all groups side by side.

        The requests name neither member nor generation: the coordinator takes them of a group without members only.
        """
        from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

        asked: dict[str, Future[Any]] = {}
        for group, wanted in changes.items():
            offsets = [
                TopicPartition(
                    change.topic,
                    change.partition,
                    change.after,
                    metadata=change.metadata,
                    leader_epoch=-1 if change.leader_epoch is None else change.leader_epoch,
                )
                for change in wanted
            ]
            asked |= self._source.admin.admin.alter_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(group, offsets)], request_timeout=self._timeout_s
            )
        told = _settle(asked)
        return {group: _by_place(wanted, told[group]) for group, wanted in changes.items()}


def _by_place(wanted: Iterable[OffsetChange], told: Any) -> dict[Place, Failed | None]:
    if isinstance(told, Failed):
        return {change.place: told for change in wanted}
    found = {(each.topic, each.partition): each.error for each in told.topic_partitions}
    left_out = Failed(message="the coordinator left it out of its answer", refused=False)
    return {
        change.place: _failed(found[change.place]) if change.place in found else left_out for change in wanted
    }


def _settle(asked: Mapping[K, Future[Any]]) -> dict[K, Any]:
    """The results, and a `Failed` in the place of an error."""
    from confluent_kafka import KafkaException

    told: dict[K, Any] = {}
    for key, future in asked.items():
        try:
            told[key] = future.result()
        except KafkaException as error:
            told[key] = _failed(error.args[0])
    return told


def _failed(error: KafkaError | None) -> Failed | None:
    """What librdkafka says of one partition or group; its own codes are negative, the brokers' positive."""
    if error is None:
        return None
    if error.code() < 0:
        return Failed(
            message=f"no answer in time ({error.name()}); it is not known whether the change was made",
            refused=False,
        )
    hint = _HINTS.get(error.name(), "")
    return Failed(message=f"{error.str().removeprefix('Broker: ')} ({error.name()}){hint}", refused=True)


_JOINED = ": a member has joined since the change was shown; stop it, then try again"
_HINTS = {
    "UNKNOWN_MEMBER_ID": _JOINED,
    "REBALANCE_IN_PROGRESS": _JOINED,
    "ILLEGAL_GENERATION": _JOINED,
    "NON_EMPTY_GROUP": _JOINED,
}
