"""Names, ids and sizes of topics, and settings of groups, out of all that a broker's log directories hold.

The records of consumer groups name topics by id alone. What tells more, the most reliable first:

1. `__cluster_metadata-0`, which KRaft brokers and controllers have: all topics with their partitions, at any moment;
2. the partitions' own directories (`orders-3/partition.metadata`), as they are now and of these brokers alone;
3. other records: commits carry the name and, of Kafka 4 and later, the id of the topic; the records of share groups
   and, before Kafka 4.1, of consumer groups have both.

An id that is in none of them stays unknown. The settings of groups are in `__cluster_metadata-0`, and in
`group-configs.json` where `kohort serve` keeps its groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from coordinator.store.cluster_metadata import MetadataImage, read_cluster_metadata
from coordinator.store.copies import Notice, failure, find_copies, rank
from coordinator.store.directory_files import Configured, read_configs
from coordinator.store.partition_files import (
    CLUSTER_METADATA,
    LONGEST_NAME,
    Fate,
    PartitionName,
    partition_directories,
    read_topic_id,
)
from wire.log.errors import DamagedLog
from wire.uuids import format_uuid


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopic:
    """A topic. `partitions` None: unknown; `racks`: of each partition's replicas, None where none is known.

    `is_whole`: the cluster itself says how many partitions there are; else it is the highest that was seen.
    """

    name: str
    id: UUID | None
    partitions: int | None = None
    racks: Mapping[int, tuple[str, ...]] | None = None
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopics:
    """What is known of topics."""

    names: Mapping[UUID, str]
    """By id, of topics that are gone too."""
    topics: Mapping[str, KnownTopic]
    """By name, those that exist as far as is known."""
    features: Mapping[str, int]
    """The cluster's finalized features, which only its metadata log tells."""
    notices: tuple[Notice, ...]
    group_configs: Mapping[str, Mapping[str, str]] | None = None
    """What is set for single groups; a group that is not here has no settings. None: not known."""


def known_topics(
    directories: Sequence[Path], heard: Mapping[UUID, KnownTopic], *, as_of_ms: int | None = None
) -> KnownTopics:
    """Gather what log directories tell of topics, beside what records told already (`heard`)."""
    places = _Places()
    for directory in directories:
        places.look_at(directory)
    notices = places.notices
    metadata = _cluster_metadata(directories, as_of_ms, notices)
    names = {topic_id: topic.name for topic_id, topic in heard.items()} | places.names
    topics = {topic.name: topic for topic_id, topic in heard.items() if topic_id not in places.names}
    topics |= places.topics()
    if metadata is not None:
        names |= metadata.removed | {topic_id: topic.name for topic_id, topic in metadata.topics.items()}
        of_cluster = {topic.name: topic for topic in _of_cluster(metadata)}
        topics = of_cluster if metadata.is_whole else topics | of_cluster
    features = {} if metadata is None else metadata.features
    configs = _group_configs(directories, metadata, as_of_ms, notices)
    return KnownTopics(
        names=names, topics=topics, features=features, notices=tuple(notices), group_configs=configs
    )


class _Places:
    """What the directories of partitions say."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}
        """By id, those of partitions that are to be deleted too."""
        self.notices: list[Notice] = []
        self._partitions: dict[str, dict[UUID | None, list[int]]] = {}
        """Partitions that are there, by the topic's name and id."""

    def look_at(self, directory: Path) -> None:
        """Look at the partitions in a log directory."""
        try:
            for entry, name in partition_directories(directory):
                if name.topic != CLUSTER_METADATA:
                    self._add(entry, name)
        except OSError as error:
            self.notices.append(failure(directory, error))

    def _add(self, directory: Path, name: PartitionName) -> None:
        try:
            topic_id = read_topic_id(directory)
        except (DamagedLog, OSError) as error:
            self.notices.append(failure(directory, error))
            return
        # A deleted one of this length may have lost a part of the topic's name.
        is_cut = name.fate is Fate.DELETE and len(directory.name) >= LONGEST_NAME
        if topic_id is not None and not is_cut:
            self.names.setdefault(topic_id, name.topic)
        if name.fate in (Fate.NONE, Fate.FUTURE):
            self._partitions.setdefault(name.topic, {}).setdefault(topic_id, []).append(name.partition)

    def topics(self) -> dict[str, KnownTopic]:
        """The topics that are there. Of two ids under one name, that of most directories counts.

        A directory without an id was just made, or by a broker before 2.8: it belongs to the topic of its name.
        """
        topics = {}
        for name, found in self._partitions.items():
            without = found.get(None, [])
            by_id = {each: numbers for each, numbers in found.items() if each is not None} or found
            topic_id, partitions = max(by_id.items(), key=lambda each: len(each[1]))
            partitions = [*partitions, *without]
            topics[name] = KnownTopic(name=name, id=topic_id, partitions=max(partitions) + 1)
            if len(by_id) > 1:
                ids = ", ".join(format_uuid(each) for each in by_id if each is not None)
                message = (
                    f"partitions of {name} have different topic ids ({ids}): some are of a deleted topic"
                )
                self.notices.append(Notice(file=None, message=message))
        return topics


def _cluster_metadata(
    directories: Sequence[Path], as_of_ms: int | None, notices: list[Notice]
) -> MetadataImage | None:
    """What the copy of the metadata log says that has come furthest; None where there is none, or none is readable."""
    copies, _ = find_copies(directories, CLUSTER_METADATA)
    for copy in rank(copies.get(0, ())).copies:
        try:
            metadata = read_cluster_metadata(copy, as_of_ms=as_of_ms)
        except (DamagedLog, OSError) as error:
            notices.append(failure(copy, error))
        else:
            notices += metadata.notices
            return metadata
    return None


def _group_configs(
    directories: Sequence[Path],
    metadata: MetadataImage | None,
    as_of_ms: int | None,
    notices: list[Notice],
) -> Mapping[str, Mapping[str, str]] | None:
    """The settings of groups; None where nothing tells of them. Kohort's own file has those of now alone."""
    found: dict[str, Mapping[str, str]] = {}
    known = metadata is not None and metadata.is_whole
    if metadata is not None and known:
        found |= metadata.group_configs
    for directory in directories if as_of_ms is None else ():
        try:
            written = read_configs(directory, Configured.GROUP)
        except (DamagedLog, OSError) as error:
            notices.append(failure(directory, error))
            known = False
        else:
            known = known or bool(written)
            found |= written
    return found if known else None


def _of_cluster(metadata: MetadataImage) -> Iterator[KnownTopic]:
    for topic_id, topic in metadata.topics.items():
        racks = {
            partition: tuple(rack for rack in map(metadata.racks.get, replicas) if rack)
            for partition, replicas in sorted(topic.replicas.items())
        }
        yield KnownTopic(
            name=topic.name,
            id=topic_id,
            partitions=len(topic.replicas),
            racks=racks if any(racks.values()) else None,
            is_whole=metadata.is_whole,
        )
