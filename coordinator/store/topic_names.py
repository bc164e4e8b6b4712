"""Names, ids and sizes of topics, and group configs, from everything in a broker's log directories. The most reliable
first: `__cluster_metadata-0` of KRaft servers has all topics, at any time; the partitions' directories have current
topics, of these brokers only; other records name the topic of an id: commits since Kafka 4, records of share groups
and, before Kafka 4.1, of consumer groups. Group configs are also in `group-configs.json` of `kohort serve`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from coordinator.store import partition_files
from coordinator.store.cluster_metadata import MetadataImage, read_cluster_metadata
from coordinator.store.copies import Notice, failure, find_copies, rank
from coordinator.store.directory_files import ConfigKind, read_configs
from wire.log.errors import DamagedLog
from wire.uuids import format_uuid


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopic:
    """A topic. `partitions` None: unknown; `racks`: of each partition's replicas, None if none is known.
    `is_whole`: the partition count is the cluster's; otherwise it is the highest partition found."""

    name: str
    id: UUID | None
    partitions: int | None = None
    racks: Mapping[int, tuple[str, ...]] | None = None
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopics:
    names: Mapping[UUID, str]  # topic names by id, including deleted topics
    topics: Mapping[str, KnownTopic]  # the topics that exist, as far as known, by name
    features: Mapping[str, int]  # the cluster's finalized features, which are only in its metadata log
    notices: tuple[Notice, ...]
    group_configs: Mapping[str, Mapping[str, str]] | None = None
    """Group configs by group; a group that is missing has no configs. None: unknown."""


def known_topics(
    directories: Sequence[Path], named_topics: Mapping[UUID, KnownTopic], *, as_of_ms: int | None = None
) -> KnownTopics:
    """Collect the topics of log directories, in addition to those in records (`named_topics`)."""
    places = _PartitionDirectories()
    for directory in directories:
        places.inspect(directory)
    notices = places.notices
    metadata = _cluster_metadata(directories, as_of_ms, notices)
    names = {topic_id: topic.name for topic_id, topic in named_topics.items()} | places.names
    topics = {topic.name: topic for topic_id, topic in named_topics.items() if topic_id not in places.names}
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


class _PartitionDirectories:
    """The topics found in partition directories."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}  # topic names by id, including partitions that will be deleted
        self.notices: list[Notice] = []
        self._partitions: dict[str, dict[UUID | None, list[int]]] = {}  # by the topic's name and id

    def inspect(self, directory: Path) -> None:
        try:
            for entry, name in partition_files.partition_directories(directory):
                if name.topic != partition_files.CLUSTER_METADATA:
                    self._add(entry, name)
        except OSError as error:
            self.notices.append(failure(directory, error))

    def _add(self, directory: Path, name: partition_files.PartitionName) -> None:
        try:
            topic_id = partition_files.read_topic_id(directory)
        except (DamagedLog, OSError) as error:
            self.notices.append(failure(directory, error))
            return
        # A deleted topic's name of this length may have been cut.
        is_cut = (
            name.suffix is partition_files.DirectorySuffix.DELETE
            and len(directory.name) >= partition_files.LONGEST_NAME
        )
        if topic_id is not None and not is_cut:
            self.names.setdefault(topic_id, name.topic)
        if name.suffix in (partition_files.DirectorySuffix.NONE, partition_files.DirectorySuffix.FUTURE):
            self._partitions.setdefault(name.topic, {}).setdefault(topic_id, []).append(name.partition)

    def topics(self) -> dict[str, KnownTopic]:
        """The existing topics. Of several ids of a name, the one with the most directories is used; a directory
        without an id (new, or before Kafka 2.8) belongs to the topic of its name."""
        topics = {}
        for name, by_topic_id in self._partitions.items():
            without = by_topic_id.get(None, [])
            by_id = {id_: numbers for id_, numbers in by_topic_id.items() if id_ is not None} or by_topic_id
            topic_id, partitions = max(by_id.items(), key=lambda id_: len(id_[1]))
            partitions = [*partitions, *without]
            topics[name] = KnownTopic(name=name, id=topic_id, partitions=max(partitions) + 1)
            if len(by_id) > 1:
                ids = ", ".join(format_uuid(id_) for id_ in by_id if id_ is not None)
                message = (
                    f"partitions of {name} have different topic ids ({ids}): some are of a deleted topic"
                )
                self.notices.append(Notice(None, message))
        return topics


def _cluster_metadata(
    directories: Sequence[Path], as_of_ms: int | None, notices: list[Notice]
) -> MetadataImage | None:
    """The most complete copy of the metadata log, or None if none is readable."""
    copies, _ = find_copies(directories, partition_files.CLUSTER_METADATA)
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
    directories: Sequence[Path], metadata: MetadataImage | None, as_of_ms: int | None, notices: list[Notice]
) -> Mapping[str, Mapping[str, str]] | None:
    """The group configs; None if unknown. Kohort's own file has only the current ones."""
    configs: dict[str, Mapping[str, str]] = {}
    known = metadata is not None and metadata.is_whole
    if metadata is not None and known:
        configs |= metadata.group_configs
    for directory in directories if as_of_ms is None else ():
        try:
            written = read_configs(directory, ConfigKind.GROUP)
        except (DamagedLog, OSError) as error:
            notices.append(failure(directory, error))
            known = False
        else:
            known = known or bool(written)
            configs |= written
    return configs if known else None


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
