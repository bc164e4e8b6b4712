"""The tasks of a topology: its partition groups (PartitionGrouper, RepartitionTopics, ChangelogTopics).

Theory of operation. A task of a subtopology reads one partition number of all its source topics, so there are as many
as the largest of these topics has partitions. A repartition topic that does not exist yet gets as many partitions as
the largest source of the subtopologies that write to it. A task is stateful if a store has a changelog, which the
description does not say: the changelog of a store is the topic `<application>-<store>-changelog`, unless the leader
reuses the source topic of a table. Without such a topic, what the members say counts: they report offsets of stateful
tasks only."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from assignors.model import Undetermined
from assignors.streams.model import Task, TopicPartition
from assignors.streams.topology import DescribedSubtopology, TopologyText


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionGroups:
    tasks: Mapping[Task, frozenset[TopicPartition]]
    stateful: frozenset[Task]
    changelogs: Mapping[Task, frozenset[TopicPartition]] = field(default_factory=dict)
    """Of stateful tasks; without those that are not known, or are not created yet."""
    undetermined: tuple[Undetermined, ...] = ()


class MissingSourceTopicsError(LookupError):
    """Source topics do not exist: the real leader shuts all members down (INCOMPLETE_SOURCE_TOPIC_METADATA)."""


def group_partitions(
    topology: TopologyText,
    application: str,
    topics: Mapping[str, int],
    reported: Collection[Task] = (),
    matched: Mapping[str, frozenset[str]] | None = None,
) -> PartitionGroups:
    """The tasks of `topology`. `topics`: the partition count of every topic of the cluster; `reported`: the tasks whose
    offsets members report; `matched`: the topics that match each pattern. Raises MissingSourceTopicsError: a source
    topic that the application does not create itself does not exist, or a pattern matches none."""
    names = _Names(topology, application, topics)
    undetermined: list[Undetermined] = []
    counts = _partition_counts(topology, names, topics, matched or {}, undetermined)
    tasks: dict[Task, frozenset[TopicPartition]] = {}
    stateful: set[Task] = set()
    changelogs: dict[Task, frozenset[TopicPartition]] = {}
    for subtopology in topology.subtopologies:
        sources = _sources(subtopology, names, matched or {})
        numbers = range(max(counts[topic] for topic in sources))
        own = [Task(subtopology.number, number) for number in numbers]
        logs = _changelogs(subtopology, application, topics)
        if not logs and subtopology.stores and not {task for task in own if task in reported}:
            undetermined.append(_without_changelog(subtopology, application))
        for task in own:
            partition = task.partition
            tasks[task] = frozenset((topic, partition) for topic in sources if partition < counts[topic])
            if logs or any(other.subtopology == task.subtopology for other in reported):
                stateful.add(task)
                changelogs[task] = frozenset((log, partition) for log in logs)
    return PartitionGroups(
        tasks=tasks, stateful=frozenset(stateful), changelogs=changelogs, undetermined=tuple(undetermined)
    )


class _Names:
    """The topics' names in the cluster: internal ones are prefixed with the application's id."""

    def __init__(self, topology: TopologyText, application: str, topics: Mapping[str, int]) -> None:
        candidates = topology.internal_candidates
        self.internal = frozenset(
            name for name in candidates if f"{application}-{name}" in topics or name not in topics
        )
        self._application = application

    def __call__(self, name: str) -> str:
        return f"{self._application}-{name}" if name in self.internal else name


def _sources(
    subtopology: DescribedSubtopology, names: _Names, matched: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    of_patterns = [matched.get(pattern, frozenset()) for pattern in subtopology.patterns]
    return frozenset(map(names, subtopology.sources)).union(*of_patterns)


def _partition_counts(
    topology: TopologyText,
    names: _Names,
    topics: Mapping[str, int],
    matched: Mapping[str, frozenset[str]],
    undetermined: list[Undetermined],
) -> dict[str, int]:
    """The partition count of each source topic; repartition topics that do not exist are computed."""
    internal = frozenset(map(names, names.internal))
    sources = {part.number: _sources(part, names, matched) for part in topology.subtopologies}
    missing = frozenset().union(*sources.values()) - topics.keys()
    if external := sorted(missing - internal):
        raise MissingSourceTopicsError(f"source topics do not exist: {', '.join(external)}")
    empty = [part.number for part in topology.subtopologies if not sources[part.number]]
    if empty:
        raise MissingSourceTopicsError(f"no topic matches the pattern of sub-topology {empty[0]}")
    counts = {topic: topics[topic] for used in sources.values() for topic in used if topic in topics}
    while missing:
        computed = {
            topic: max(known)
            for topic in missing
            if (
                known := [
                    counts[source]
                    for part in topology.subtopologies
                    if topic in map(names, part.sinks)
                    for source in sources[part.number]
                    if source in counts
                ]
            )
        }
        if not computed:
            raise MissingSourceTopicsError(
                f"the partitions of {', '.join(sorted(missing))} depend on each other"
            )
        counts |= computed
        missing -= computed.keys()
        undetermined += [
            Undetermined(
                subject=topic,
                why=f"does not exist yet; {count} partitions, as its largest source, unless the application fixes "
                "the number or joins it to another topic",
            )
            for topic, count in sorted(computed.items())
        ]
    return counts


def _changelogs(
    subtopology: DescribedSubtopology, application: str, topics: Mapping[str, int]
) -> frozenset[str]:
    named = (f"{application}-{store}-changelog" for store in subtopology.stores)
    return frozenset(topic for topic in named if topic in topics)


def _without_changelog(subtopology: DescribedSubtopology, application: str) -> Undetermined:
    store = min(subtopology.stores)
    return Undetermined(
        subject=f"sub-topology {subtopology.number}",
        why=f"assumed to be stateless: no topic {application}-{store}-changelog exists, and no member reports its "
        "offsets",
    )
