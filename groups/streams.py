"""A topology and its subtopologies' tasks, as StreamsGroupDescribe and StreamsGroupCommand have them (KIP-1071)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, TypeAlias

from groups.trees import INT32, Between, PartitionNumbers

TasksOfKind: TypeAlias = Mapping[str, PartitionNumbers]  # Partition numbers, ascending, by subtopology id


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    active: TasksOfKind = field(default_factory=dict)
    standby: TasksOfKind = field(default_factory=dict)
    warmup: TasksOfKind = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsMember:
    process: str | None = None  # the id of the process, which all members of that process share
    topology_epoch: Annotated[int, Between(-1, INT32)] | None = None
    endpoint: str | None = None  # `host:port` for interactive queries (`application.server`), or None
    client_tags: Mapping[str, str] = field(default_factory=dict)
    tasks: Tasks | None = None
    target_tasks: Tasks | None = None


class NodeKind(Enum):
    SOURCE = "source"
    PROCESSOR = "processor"
    SINK = "sink"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyNode:
    """A node of the graph of processors (KIP-1331)."""

    name: str
    kind: NodeKind | None
    topics: tuple[str, ...] = ()  # the topics of a source or a sink; empty if they are chosen for each record
    stores: tuple[str, ...] = ()
    successors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtopology:
    """A part of the topology; its tasks are assigned independently of other parts."""

    id: str
    source_topics: tuple[str, ...] = ()  # Input topics, without the repartition topics that it reads
    repartition_sinks: tuple[str, ...] = ()
    repartition_sources: tuple[str, ...] = ()
    changelogs: tuple[str, ...] = ()
    nodes: tuple[TopologyNode, ...] | None = None  # None if not requested, or not stored by the brokers

    @property
    def topics_read(self) -> tuple[str, ...]:
        return (*self.source_topics, *self.repartition_sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """The topology of an application: the newest one of its group."""

    epoch: Annotated[int, Between(-1, INT32)]
    subtopologies: tuple[Subtopology, ...] = ()
    global_nodes: tuple[TopologyNode, ...] = ()  # each global store's source and processor, if known

    @property
    def input_topics(self) -> frozenset[str]:
        """The topics that the application reads and other applications write."""
        return frozenset(topic for subtopology in self.subtopologies for topic in subtopology.source_topics)

    def internal_topics(self, application: str) -> dict[str, str]:
        """The kind of each topic that is named after the application: `changelog` or `repartition`."""
        kinds = {
            topic: kind
            for subtopology in self.subtopologies
            for kind, topics in (
                ("repartition", subtopology.repartition_sources),
                ("changelog", subtopology.changelogs),
            )
            for topic in topics
        }
        return {
            topic: kind
            for topic, kind in sorted(kinds.items())
            if topic not in self.input_topics and is_internal(topic, application)
        }


_INTERNAL = re.compile(
    r"-changelog\Z|-repartition\Z|-subscription-registration-topic\Z|-subscription-response-topic\Z"
    r"|-KTABLE-FK-JOIN-SUBSCRIPTION-(?:REGISTRATION|RESPONSE)-\d+-topic\Z",
    re.ASCII,
)


def is_internal(topic: str, application: str) -> bool:
    """By Kafka Streams' pattern for the application (StreamsGroupCommand.isInferredInternalTopic)."""
    return topic.startswith(f"{application}-") and _INTERNAL.search(topic) is not None
