"""A small blocking Kafka client: what Kohort asks of a live cluster.

It starts quickly (what a method needs is imported when it is called), asks brokers side by side without threads, and
returns what worked beside what did not. Where a method returns Any, that is a part of the broker's answer, with Kafka's
names in snake case.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from wire.client.answers import Answers, Failure
from wire.client.cluster import Cluster
from wire.client.errors import WireError
from wire.client.steps import Deadline

if TYPE_CHECKING:
    from wire.client.address import Address
    from wire.client.connection import Features
    from wire.client.first_records import FirstRecords
    from wire.client.metadata import Broker, ClusterMetadata
    from wire.client.offsets import NewOffset, Outcomes, TopicPartition
    from wire.client.security import ConnectionSettings
    from wire.client.settings import AclEntry, AclResource, ConfigEntry, ResourceType
    from wire.messages.definition import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroups:
    """The groups of all brokers, by id in ascending order, and whose are missing.

    `failed`: brokers (``host:port``) that did not answer, and partitions of `__consumer_offsets` without a leader.
    """

    groups: tuple[Any, ...]
    failed: dict[str, Failure]


class Client:
    """A connection to a cluster. Use it in a ``with`` block.

    Every method takes `timeout_ms`, the time for the whole call (None: the settings' `api_timeout_ms`), and
    raises `WireError` only when nothing at all could be asked.
    """

    def __init__(self, settings: ConnectionSettings) -> None:
        """Prepare; nothing is connected before the first question. :raises InvalidAddress:"""
        self._settings = settings
        self._cluster = Cluster(settings)

    @classmethod
    def connect(cls, settings: ConnectionSettings, *, timeout_ms: int | None = None) -> Self:
        """Connect to the first bootstrap server that answers, and authenticate.

        :raises WireError: when none answers, with the reason and the next step
        """
        client = cls(settings)
        try:
            client._cluster.home(client._deadline(timeout_ms))
        except WireError:
            client.close()
            raise
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._cluster.close()

    def features(self, *, timeout_ms: int | None = None) -> Features:
        """The cluster's finalized features; empty below Kafka 2.7."""
        return self._cluster.home(self._deadline(timeout_ms)).features

    def supports(self, api: Api, *, timeout_ms: int | None = None) -> bool:
        """Whether the brokers answer this kind of request, by the word of one of them."""
        return self._cluster.home(self._deadline(timeout_ms)).supports(api)

    def metadata(
        self, topics: Sequence[str] | None = None, *, timeout_ms: int | None = None
    ) -> ClusterMetadata:
        """Brokers, controller and `topics` (None: all, empty: none)."""
        from wire.client.metadata import fetch_metadata

        deadline = self._deadline(timeout_ms)
        return self._cluster.ask_any(lambda home, limit: fetch_metadata(home, topics, limit), deadline)

    def list_groups(
        self, *, states: Sequence[str] = (), types: Sequence[str] = (), timeout_ms: int | None = None
    ) -> ListedGroups:
        """The groups of every broker; empty filters let all pass, letter case does not matter."""
        from wire.client.groups import list_groups
        from wire.client.metadata import offline_coordinators

        deadline = self._deadline(timeout_ms)
        answers = self._cluster.ask_every_broker(
            lambda broker, limit: list_groups(broker, states, types, limit), deadline
        )
        groups = {group.group_id: group for listed in answers.found.values() for group in listed}
        # A broker lists the groups that it coordinates.
        self._cluster.remember_coordinators(
            {group.group_id: place for place, listed in answers.found.items() for group in listed}
        )
        silent = {str(place): failure for place, failure in answers.failed.items()}
        return ListedGroups(
            groups=tuple(groups[name] for name in sorted(groups)),
            failed=silent | offline_coordinators(self._cluster.brokers(deadline)),
        )

    def find_coordinators(
        self, groups: Iterable[str], *, timeout_ms: int | None = None
    ) -> Answers[str, Address]:
        """Where the coordinator of every group is (of a group of any type, even one that does not exist)."""
        return self._cluster.find_coordinators(groups, self._deadline(timeout_ms))

    def known_brokers(self, *, timeout_ms: int | None = None) -> tuple[Broker, ...]:
        """The brokers as they were told last; asked for only where nobody has told them yet."""
        return self._cluster.brokers(self._deadline(timeout_ms)).brokers

    def known_coordinators(self, groups: Iterable[str]) -> dict[str, Address]:
        """The coordinators that answered for these groups last; nobody is asked."""
        return self._cluster.known_coordinators(groups)

    def describe(
        self, api: Api, groups: Iterable[str], *, timeout_ms: int | None = None
    ) -> Answers[str, Any]:
        """Groups through the describe request of their type. One of another type or that does not exist: failure 69.

        Of a classic group that does not exist, brokers before 4.0 say that it is Dead.
        """
        from wire.client.groups import describe

        return self._cluster.ask_coordinators(
            groups,
            lambda broker, names, limit: describe(broker, api, names, limit),
            self._deadline(timeout_ms),
        )

    def committed_offsets(self, groups: Iterable[str], *, timeout_ms: int | None = None) -> Answers[str, Any]:
        """Every committed offset of groups of type classic, consumer or streams; an unknown group has none.

        By group, its `topics` with partitions.
        """
        from wire.client.offsets import offset_fetch

        return self._cluster.ask_coordinators(groups, offset_fetch, self._deadline(timeout_ms))

    def commit_offsets(
        self,
        offsets: Mapping[str, Mapping[TopicPartition, NewOffset]],
        *,
        timeout_ms: int | None = None,
    ) -> Answers[str, Outcomes]:
        """Commit offsets, by group; of each partition None or why it was refused. Groups with members refuse all."""
        from wire.client.offsets import offset_commit

        return self._cluster.ask_coordinators(
            offsets,
            lambda broker, groups, limit: offset_commit(broker, groups, offsets, limit),
            self._deadline(timeout_ms),
        )

    def delete_offsets(
        self, partitions: Mapping[str, Sequence[TopicPartition]], *, timeout_ms: int | None = None
    ) -> Answers[str, Outcomes]:
        """Delete committed offsets, by group; of each partition None or why its offset is still there."""
        from wire.client.offsets import offset_delete

        return self._cluster.ask_coordinators(
            partitions,
            lambda broker, groups, limit: offset_delete(broker, groups, partitions, limit),
            self._deadline(timeout_ms),
        )

    def delete_groups(self, groups: Iterable[str], *, timeout_ms: int | None = None) -> Answers[str, bool]:
        """Delete groups of any type that have no members; True for each that is gone."""
        from wire.client.groups import delete_groups

        return self._cluster.ask_coordinators(groups, delete_groups, self._deadline(timeout_ms))

    def share_group_offsets(
        self, groups: Iterable[str], *, timeout_ms: int | None = None
    ) -> Answers[str, Any]:
        """Start offsets and lag of share groups."""
        from wire.client.offsets import share_group_offsets

        deadline = self._deadline(timeout_ms)
        return self._cluster.ask_coordinators(groups, share_group_offsets, deadline)

    def end_offsets(
        self,
        partitions: Iterable[TopicPartition],
        *,
        leaders: ClusterMetadata | None = None,
        timeout_ms: int | None = None,
    ) -> Answers[TopicPartition, Any]:
        """The offset behind the last record of each (topic, partition): its high watermark.

        Metadata of their topics that were just asked for save the first look-up of the `leaders`.
        """
        return self.offsets_at(partitions, -1, leaders=leaders, timeout_ms=timeout_ms)

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], *, timeout_ms: int | None = None
    ) -> Answers[TopicPartition, Any]:
        """The offset of the oldest record that is kept of each (topic, partition)."""
        return self.offsets_at(partitions, -2, timeout_ms=timeout_ms)

    def offsets_at(
        self,
        partitions: Iterable[TopicPartition],
        timestamp: int,
        *,
        leaders: ClusterMetadata | None = None,
        timeout_ms: int | None = None,
    ) -> Answers[TopicPartition, Any]:
        """The first offset at or after `timestamp` (ms since 1970) of each (topic, partition), -1 without one."""
        from wire.client.offsets import list_offsets

        return self._cluster.ask_leaders(
            partitions,
            lambda leader, places, limit: list_offsets(leader, places, timestamp, limit),
            self._deadline(timeout_ms),
            known=leaders,
        )

    def first_records(
        self, wanted: Mapping[TopicPartition, Collection[int]], *, timeout_ms: int | None = None
    ) -> Answers[TopicPartition, FirstRecords]:
        """When the first record at or behind each of some offsets of each (topic, partition) was written."""
        from wire.client.first_records import first_records

        return self._cluster.ask_leaders(
            wanted,
            lambda leader, places, limit: first_records(
                leader, {place: wanted[place] for place in places}, limit
            ),
            self._deadline(timeout_ms),
        )

    def describe_configs(
        self, kind: ResourceType, names: Iterable[str], *, timeout_ms: int | None = None
    ) -> Answers[str, dict[str, ConfigEntry]]:
        """The settings of groups, topics or brokers (a broker's name is its node id)."""
        from wire.client.settings import ResourceType, describe_configs

        deadline = self._deadline(timeout_ms)
        ask = partial(describe_configs, kind)
        if kind is ResourceType.BROKER:
            return self._cluster.ask_nodes(names, ask, deadline)
        return self._cluster.ask_home(names, ask, deadline)

    def describe_acls(self, kind: AclResource, *, timeout_ms: int | None = None) -> tuple[AclEntry, ...]:
        """All access control entries of topics or of groups.

        :raises KafkaError: without an authorizer (SECURITY_DISABLED), and for who may not ask
        """
        from wire.client.settings import describe_acls

        return self._cluster.ask_any(
            lambda home, limit: describe_acls(home, kind, limit), self._deadline(timeout_ms)
        )

    def _deadline(self, timeout_ms: int | None) -> Deadline:
        return Deadline(self._settings.api_timeout_ms if timeout_ms is None else timeout_ms)
