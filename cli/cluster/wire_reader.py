"""A live cluster through the wire client: groups of every type, with epochs and subscriptions, and topics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.cluster.broker_settings import release_of, with_settings
from cli.cluster.group_words import state_of, type_of
from cli.cluster.permissions import READING, cause_of, worded
from cli.cluster.port import Read
from coordinator.model import (
    Cause,
    Cluster,
    CommittedOffset,
    Group,
    GroupListing,
    GroupType,
    Node,
    Offsets,
    Problem,
    Topic,
)
from coordinator.wire.answers import Answers, Failure
from coordinator.wire.apis import (
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_GROUPS,
    SHARE_GROUP_DESCRIBE,
    STREAMS_GROUP_DESCRIBE,
)
from coordinator.wire.client import Client

if TYPE_CHECKING:
    from cli.cluster.wire_groups import Described
    from coordinator.wire.calls.describe_share_group_offsets import ShareGroupOffsets, ShareOffset
    from coordinator.wire.calls.fetched_offsets import GroupOffsets
    from coordinator.wire.calls.metadata import Topic as WireTopic

_DESCRIBED_BY = {
    GroupType.CONSUMER: CONSUMER_GROUP_DESCRIBE,
    GroupType.SHARE: SHARE_GROUP_DESCRIBE,
    GroupType.STREAMS: STREAMS_GROUP_DESCRIBE,
}
"""The request of a type; any other is asked for as a classic group."""
UNKNOWN_TOPIC_OR_PARTITION, GROUP_ID_NOT_FOUND = 3, 69


class WireReader:
    """Questions about groups and topics; every one takes at most `timeout_ms`."""

    def __init__(self, client: Client, timeout_ms: int) -> None:
        self.client, self.timeout_ms = client, timeout_ms

    def cluster(self) -> Cluster:
        """Id, finalised features, and the brokers' settings of groups as far as they may be read."""
        features = self.client.features(timeout_ms=self.timeout_ms)
        metadata = self.client.metadata([], timeout_ms=self.timeout_ms)
        bare = Cluster(
            id=metadata.cluster_id,
            kafka=release_of(features.supported.get("metadata.version")),
            features=dict(features.levels),
            consumer_protocol=self.client.supports(CONSUMER_GROUP_DESCRIBE, timeout_ms=self.timeout_ms),
        )
        return self._with_settings(bare, [str(broker.node_id) for broker in metadata.brokers])

    def _with_settings(self, cluster: Cluster, brokers: Sequence[str]) -> Cluster:
        from coordinator.wire.calls.describe_configs import ResourceType

        answers = self.client.describe_configs(ResourceType.BROKER, brokers, timeout_ms=self.timeout_ms)
        told = {
            broker: {name: entry.value for name, entry in settings.items()}
            for broker, settings in answers.found.items()
        }
        return with_settings(cluster, told, {name: each.message for name, each in answers.failed.items()})

    def group_settings(self, groups: Sequence[str]) -> dict[str, dict[str, str]]:
        """The settings of groups, as far as they may be read."""
        from coordinator.wire.calls.describe_configs import ResourceType

        answers = self.client.describe_configs(ResourceType.GROUP, groups, timeout_ms=self.timeout_ms)
        return {
            group: {name: entry.value for name, entry in settings.items() if entry.value is not None}
            for group, settings in answers.found.items()
        }

    def list_groups(self) -> Read[GroupListing]:
        """Groups of every type on every broker that answers."""
        listing = self.client.list_groups(timeout_ms=self.timeout_ms)
        kinds = {group.group_id: type_of(group.group_type) for group in listing.groups}
        sizes, problems = self._sizes(kinds)
        rows = []
        for group in listing.groups:
            protocol, members = sizes.get(group.group_id, (None, None))
            rows.append(
                GroupListing(
                    id=group.group_id,
                    type=kinds[group.group_id],
                    state=state_of(group.state),
                    protocol_type=group.protocol_type,
                    protocol=protocol,
                    members=members,
                )
            )
        return Read(tuple(rows), (*_problems(listing.failed), *problems))

    def describe(self, groups: Sequence[str]) -> Read[Group]:
        """The named groups, each through the describe request of its type."""
        from cli.cluster.wire_groups import as_group

        listing = self.client.list_groups(timeout_ms=self.timeout_ms)
        kinds = {group.group_id: type_of(group.group_type) for group in listing.groups}
        nodes = self._nodes()
        found: dict[str, Group] = {}
        problems: list[Problem] = []
        for kind, names in _by_kind(groups, kinds).items():
            answers = self._ask(kind, names)
            places = self.client.known_coordinators(answers.found)
            for name, group in answers.found.items():
                found[name], oddities = as_group(group, nodes.get(str(places.get(name))))
                problems += oddities
            problems += [_problem(name, failure) for name, failure in answers.failed.items()]
        return Read(tuple(found[name] for name in groups if name in found), tuple(problems))

    def committed(self, groups: Sequence[str]) -> tuple[dict[str, Offsets], tuple[Problem, ...]]:
        """Committed offsets by group, a request per coordinator; not for share groups."""
        answers = self.client.committed_offsets(groups, timeout_ms=self.timeout_ms)
        return {name: told.offsets for name, told in answers.found.items()}, _unread(answers)

    def share_offsets(self, groups: Sequence[str]) -> tuple[dict[str, Offsets], tuple[Problem, ...]]:
        """Where each share group starts to deliver, by group; nothing where it has not started yet."""
        answers = self.client.share_group_offsets(groups, timeout_ms=self.timeout_ms)
        return {name: _started(told.offsets) for name, told in answers.found.items()}, _unread(answers)

    def topics(self, names: Collection[str] | None, *, end_offsets: bool) -> Read[Topic]:
        """The named topics that exist, or all, by name, with ids and racks; ends are None where no leader told them."""
        if names is not None and not names:
            return Read(())
        metadata = self.client.metadata(None if names is None else sorted(names), timeout_ms=self.timeout_ms)
        problems = [
            _problem(name, failure)
            for name, failure in sorted(metadata.failed.items())
            if failure.code != UNKNOWN_TOPIC_OR_PARTITION
        ]
        racks = {broker.node_id: broker.rack for broker in metadata.brokers}
        found = [_topic(metadata.topics[name], racks) for name in sorted(metadata.topics)]
        if not end_offsets:
            return Read(tuple(found), tuple(problems))
        places = [(topic.name, number) for topic in found for number in range(topic.partitions)]
        answers = self.client.end_offsets(places, leaders=metadata, timeout_ms=self.timeout_ms)
        ends: dict[str, dict[int, int | None]] = {topic.name: {} for topic in found}
        for name, number in places:
            told = answers.found.get((name, number))
            ends[name][number] = None if told is None else told.offset
        problems += [
            _problem(f"{name}-{number}", failure) for (name, number), failure in answers.failed.items()
        ]
        topics = tuple(replace(topic, end_offsets=ends[topic.name]) for topic in found)
        return Read(topics, tuple(problems))

    def _ask(self, kind: GroupType, names: Sequence[str]) -> Answers[str, Described]:
        if kind is GroupType.CONSUMER:
            return self.client.consumer_group_describe(names, timeout_ms=self.timeout_ms)
        if kind is GroupType.SHARE:
            return self.client.share_group_describe(names, timeout_ms=self.timeout_ms)
        if kind is GroupType.STREAMS:
            return self.client.streams_group_describe(names, timeout_ms=self.timeout_ms)
        return self.client.describe_groups(names, timeout_ms=self.timeout_ms)

    def _nodes(self) -> dict[str, Node]:
        """Brokers by `host:port`."""
        brokers = self.client.known_brokers(timeout_ms=self.timeout_ms)
        return {
            str(broker.address): Node(
                id=broker.node_id, host=broker.address.host, port=broker.address.port, rack=broker.rack
            )
            for broker in brokers
        }

    def _sizes(
        self, kinds: Mapping[str, GroupType]
    ) -> tuple[dict[str, tuple[str | None, int | None]], list[Problem]]:
        """Assignor and number of members by group."""
        sizes: dict[str, tuple[str | None, int | None]] = {}
        problems: list[Problem] = []
        for kind, names in _by_kind(kinds, kinds).items():
            api = _DESCRIBED_BY.get(kind, DESCRIBE_GROUPS)
            answers = self.client.group_sizes(api, names, timeout_ms=self.timeout_ms)
            for name, group in answers.found.items():
                sizes[name] = (group.protocol or None, group.members)
            # A group that was deleted since it was listed is no problem of the list.
            problems += [
                _problem(name, failure)
                for name, failure in answers.failed.items()
                if failure.code != GROUP_ID_NOT_FOUND
            ]
        return sizes, problems


def _by_kind(groups: Iterable[str], kinds: Mapping[str, GroupType]) -> dict[GroupType, list[str]]:
    """Names by type; a group that no broker listed is asked for as a classic one, to learn why."""
    by_kind: dict[GroupType, list[str]] = {}
    for name in groups:
        by_kind.setdefault(kinds.get(name, GroupType.CLASSIC), []).append(name)
    return by_kind


def _topic(told: WireTopic, racks: Mapping[int, str | None]) -> Topic:
    """Without end offsets. Racks are unknown unless some broker has one."""
    of_replicas = {
        partition.index: tuple(rack for node in partition.replicas if (rack := racks.get(node)))
        for partition in told.partitions
    }
    return Topic(
        name=told.name,
        partitions=len(told.partitions),
        id=told.topic_id,
        racks=of_replicas if any(of_replicas.values()) else None,
    )


def _problems(failed: Mapping[str, Failure]) -> tuple[Problem, ...]:
    return tuple(
        _problem(place, replace(failure, message=failure.message.removeprefix(f"{place}: ")))
        for place, failure in failed.items()
    )


def _problem(subject: str, failure: Failure) -> Problem:
    if failure.code == GROUP_ID_NOT_FOUND:
        return Problem(subject=subject, message="no such group", cause=Cause.ABSENT)
    message = worded(failure.name, failure.message, READING)
    return Problem(subject=subject, message=message, cause=cause_of(failure.name))


def _started(told: Mapping[tuple[str, int], ShareOffset]) -> Offsets:
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    for (topic, partition), start in told.items():
        if start.start_offset >= 0:
            epoch = None if start.leader_epoch < 0 else start.leader_epoch
            offsets.setdefault(topic, {})[partition] = CommittedOffset(
                offset=start.start_offset, leader_epoch=epoch, lag=start.lag
            )
    return offsets


def _unread(answers: Answers[str, GroupOffsets] | Answers[str, ShareGroupOffsets]) -> tuple[Problem, ...]:
    """Groups that could not be read, and partitions of those that could."""
    problems = [_problem(name, failure) for name, failure in answers.failed.items()]
    for name, told in answers.found.items():
        problems += [
            _problem(f"{name}, {topic}-{partition}", failure)
            for (topic, partition), failure in told.failed.items()
        ]
    return tuple(problems)
