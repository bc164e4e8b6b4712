"""A live cluster through the wire client: groups of every type, with epochs and subscriptions, and topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from cli.sources.broker_settings import release_of, with_settings
from cli.sources.source import Read
from cli.sources.wire_listing import by_kind, describe_request, group_problem, problem_of
from groups.listing import type_of
from groups.model import Cluster, Group, Node, Offsets, Problem, Topic
from wire.client.answers import Answers, Failure
from wire.client.client import Client
from wire.errors import ErrorCode
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE

if TYPE_CHECKING:
    from wire.client.metadata import Topic as WireTopic

Position: TypeAlias = Callable[[Any], tuple[Offsets, dict[tuple[str, int], Failure]]]
"""What an answer has of a group's offsets, and the partitions that could not be read."""


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
        from wire.client.settings import ResourceType

        answers = self.client.describe_configs(ResourceType.BROKER, brokers, timeout_ms=self.timeout_ms)
        told = {
            broker: {name: entry.value for name, entry in settings.items()}
            for broker, settings in answers.found.items()
        }
        return with_settings(cluster, told, {name: each.message for name, each in answers.failed.items()})

    def group_settings(self, groups: Sequence[str]) -> dict[str, dict[str, str]]:
        """The settings of groups, as far as they may be read."""
        from wire.client.settings import ResourceType

        answers = self.client.describe_configs(ResourceType.GROUP, groups, timeout_ms=self.timeout_ms)
        return {
            group: {name: entry.value for name, entry in settings.items() if entry.value is not None}
            for group, settings in answers.found.items()
        }

    def describe(self, groups: Sequence[str]) -> Read[Group]:
        """The named groups, each through the describe request of its type."""
        from cli.sources.wire_groups import as_group

        listing = self.client.list_groups(timeout_ms=self.timeout_ms)
        kinds = {group.group_id: type_of(group.group_type) for group in listing.groups}
        nodes = self._nodes()
        found: dict[str, Group] = {}
        problems: list[Problem] = []
        for kind, names in by_kind(groups, kinds).items():
            answers = self.client.describe(describe_request(kind), names, timeout_ms=self.timeout_ms)
            places = self.client.known_coordinators(answers.found)
            for name, group in answers.found.items():
                found[name], oddities = as_group(kind, group, nodes.get(str(places.get(name))))
                problems += oddities
            problems += [group_problem(name, failure) for name, failure in answers.failed.items()]
        return Read(tuple(found[name] for name in groups if name in found), tuple(problems))

    def committed(self, groups: Sequence[str]) -> tuple[dict[str, Offsets], tuple[Problem, ...]]:
        """Committed offsets by group, a request per coordinator; not for share groups."""
        from cli.sources.wire_groups import committed_offsets

        return _read(self.client.committed_offsets(groups, timeout_ms=self.timeout_ms), committed_offsets)

    def share_offsets(self, groups: Sequence[str]) -> tuple[dict[str, Offsets], tuple[Problem, ...]]:
        """Where each share group starts to deliver, by group; nothing where it has not started yet."""
        from cli.sources.wire_groups import share_offsets

        return _read(self.client.share_group_offsets(groups, timeout_ms=self.timeout_ms), share_offsets)

    def topics(self, names: Collection[str] | None, *, end_offsets: bool) -> Read[Topic]:
        """The named topics that exist, or all, by name, with ids and racks; ends are None where no leader told them."""
        if names is not None and not names:
            return Read(())
        metadata = self.client.metadata(None if names is None else sorted(names), timeout_ms=self.timeout_ms)
        problems = [
            problem_of(name, failure, topics=(name,))
            for name, failure in sorted(metadata.failed.items())
            if failure.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
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
            problem_of(f"{name}-{number}", failure) for (name, number), failure in answers.failed.items()
        ]
        topics = tuple(replace(topic, end_offsets=ends[topic.name]) for topic in found)
        return Read(topics, tuple(problems))

    def _nodes(self) -> dict[str, Node]:
        """Brokers by `host:port`."""
        brokers = self.client.known_brokers(timeout_ms=self.timeout_ms)
        return {
            str(broker.address): Node(
                id=broker.node_id, host=broker.address.host, port=broker.address.port, rack=broker.rack
            )
            for broker in brokers
        }


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


def _read(answers: Answers[str, Any], position: Position) -> tuple[dict[str, Offsets], tuple[Problem, ...]]:
    """Offsets by group; groups that could not be read, and partitions of those that could."""
    problems = [group_problem(name, failure) for name, failure in answers.failed.items()]
    offsets: dict[str, Offsets] = {}
    for name, group in answers.found.items():
        offsets[name], failed = position(group)
        problems += [
            problem_of(f"{name}, {topic}-{partition}", failure, group=name)
            for (topic, partition), failure in failed.items()
        ]
    return offsets, tuple(problems)
