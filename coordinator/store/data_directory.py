"""The data directory of the server, laid out like one of a broker's `log.dirs`.

    .lock                             held by the process that writes to it
    meta.properties                   cluster id, node id
    __consumer_offsets-0 … -49/       the records of the groups: `offsets_log`, `log`
    orders-0/partition.metadata …     the topics: `topic_directories`
    group-configs.json …              configs of groups, topics, brokers and so on: `directory_files`
    cleaner-offset-checkpoint         the progress of compaction
    .kafka_cleanshutdown              it was closed cleanly

    data = DataDirectory.open(path)
    data.recover(engine)                        once, before the first append
    data.log.append(result.written, now_ms)     then the answers can be sent, once synchronized
    data.close()

Its content is correct at every moment, whenever the process is killed. If a write fails, memory is ahead of the disk:
the caller must not answer anything, and must restart from here.

Source: LogManager, LogCleanerManager.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self
from uuid import uuid4

from coordinator.configs.settings import BrokerSettings, Config
from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.store import directory_files as files
from coordinator.store.cleaner import CompactionSettings
from coordinator.store.disk import DirectoryLock, FsyncPolicy, write_atomically
from coordinator.store.log import SegmentLimits
from coordinator.store.log_compaction import CompactionRun, InLogsThread, LogCompaction
from coordinator.store.offsets_log import OffsetsLog
from coordinator.store.partition_files import OFFSETS_TOPIC
from coordinator.store.records import encode_record
from coordinator.store.topic_directories import TopicDirectories
from wire.log.errors import StorageFailed, Unusable
from wire.log.segments import Torn
from wire.uuids import format_uuid

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
DEFAULT_PARTITIONS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings:
    """How records are stored. `partitions` of `__consumer_offsets` applies when the directory is created."""

    fsync: FsyncPolicy = FsyncPolicy.ALWAYS
    node_id: int = 1
    partitions: int = DEFAULT_PARTITIONS
    limits: SegmentLimits = field(default_factory=SegmentLimits)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)

    @classmethod
    def of(cls, brokers: BrokerSettings, config: Config, fsync: FsyncPolicy) -> Self:
        segment_bytes = config.offsets_topic_segment_bytes
        return cls(
            fsync=fsync,
            node_id=brokers.node_id,
            partitions=config.offsets_topic_num_partitions,
            limits=SegmentLimits(segment_bytes=segment_bytes, segment_ms=brokers.log_roll_ms),
            compaction=CompactionSettings(
                segment_bytes=segment_bytes,
                min_cleanable_dirty_ratio=brokers.log_cleaner_min_cleanable_ratio,
                delete_retention_ms=brokers.log_cleaner_delete_retention_ms,
                producer_expiration_ms=brokers.producer_id_expiration_ms,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredContent:
    """`records` of the log; `other_types`: groups of types not served; `was_clean`: it was closed cleanly."""

    groups: int
    other_types: int
    offsets: int
    records: int
    unknown_records: int
    torn: Sequence[Torn]
    was_clean: bool


class DataDirectory:
    """See the module. One process at a time. Everything belongs to one thread, except `compact`."""

    def __init__(self, path: Path, settings: StorageSettings, lock: DirectoryLock) -> None:
        self.path = path
        self.settings = settings
        self._lock = lock
        self.was_clean = (path / CLEAN_SHUTDOWN).exists()
        self.cluster_id = _cluster_id(path, settings.node_id)
        self.topics = TopicDirectories(path)
        self.configs: dict[files.ConfigKind, files.Configs] = {
            kind: files.read_configs(path, kind) for kind in files.ConfigKind
        }
        self._first_dirty = files.read_checkpoint(path / files.CLEANER)
        (path / CLEAN_SHUTDOWN).unlink(missing_ok=True)
        self.log = OffsetsLog.open(path, settings.partitions, settings.limits, was_clean=self.was_clean)
        self.compacted = {OFFSETS_TOPIC: self.log.topic.compactions}
        """The topics that `compact` manages (`TopicLog.compactions`)."""

    @classmethod
    def open(cls, path: Path, settings: StorageSettings | None = None) -> Self:
        """Open a directory, which is created if missing; a torn tail is cut off and reported by `recover`. Raises
        DirectoryInUse. Raises Unusable. Raises StorageFailed. Raises DamagedLog."""
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageFailed("making", path, error) from error
        lock = DirectoryLock.take(path)
        try:
            return cls(path, settings or StorageSettings(), lock)
        except OSError as error:
            lock.release()
            raise StorageFailed("opening", error.filename or path, error) from error
        except BaseException:
            lock.release()
            raise

    def recover(self, engine: Engine) -> RecoveredContent:
        """Load the log into an engine. Raises DamagedLog: a malformed record. Raises Unusable: partitions are
        missing."""
        records = self.log.records
        replay = self.log.recover(engine)
        state = engine.state
        return RecoveredContent(
            groups=len(state.groups),
            other_types=len(state.other_types),
            offsets=sum(map(len, state.offsets.values())),
            records=records,
            unknown_records=replay.unknown_keys.total(),
            torn=self.log.topic.torn,
            was_clean=self.was_clean,
        )

    def append(self, records: Sequence[Record], now_ms: int) -> None:
        """Write records, all of them or none, as durably as the policy requires. Raises StorageFailed. Raises
        ValueError: a record does not fit Kafka's schemas."""
        self.log.append([(record.group, encode_record(record)) for record in records], now_ms)
        if self.settings.fsync is FsyncPolicy.ALWAYS and (unsynced := self.log.topic.unsynced()) is not None:
            unsynced()

    def set_config(self, kind: files.ConfigKind, name: str, values: Mapping[str, str]) -> None:
        """Replace the configs of one resource; an empty mapping removes them. Raises StorageFailed: unchanged."""
        others = {resource: one for resource, one in self.configs[kind].items() if resource != name}
        self.set_configs(kind, {**others, name: dict(values)} if values else others)

    def set_configs(self, kind: files.ConfigKind, configs: files.Configs) -> None:
        """Replace the configs of all resources of a kind. Raises StorageFailed: unchanged."""
        if configs == self.configs[kind]:
            return
        try:
            files.write_configs(self.path, kind, configs)
        except OSError as error:
            raise StorageFailed(f"writing the settings of {kind.value}s to", self.path, error) from error
        self.configs[kind] = configs

    def compact(
        self,
        now_ms: int,
        stopped: Callable[[], bool] = lambda: False,
        in_logs_thread: InLogsThread = lambda call: call(),
    ) -> bool:
        """Compact the partition that needs it most; False: none needs it. After an error it is skipped until more is to
        compact. Raises Interrupted. Raises StorageFailed. Raises DamagedLog."""
        due: list[tuple[tuple[str, int], CompactionRun]] = []
        in_logs_thread(lambda: due.extend(self._due(now_ms)))
        for name, work in due:
            try:
                try:
                    work.run(in_logs_thread, stopped)
                finally:
                    in_logs_thread(partial(work.compaction.end, work))
                self._first_dirty[name] = work.compaction.first_dirty
                files.write_checkpoint(self.path / files.CLEANER, self._first_dirty)
            except OSError as error:
                raise StorageFailed("compacting", error.filename or self.path, error) from error
        return bool(due)

    def close(self) -> None:
        """Synchronize, mark the directory as clean, and unlock it. Raises StorageFailed. Raises DamagedLog."""
        try:
            self.log.topic.close()
            try:
                write_atomically(self.path / CLEAN_SHUTDOWN, _CLEAN)
            except OSError as error:
                raise StorageFailed("closing", self.path, error) from error
        finally:
            self._lock.release()

    def abandon(self) -> None:
        """Close it as a kill would: after an error, when it is unknown what is on the disk."""
        self.log.topic.abandon()
        self._lock.release()

    def _due(self, now_ms: int) -> Iterator[tuple[tuple[str, int], CompactionRun]]:
        """The work on the partition with the most dirty bytes, if it needs it."""
        settings = self.settings.compaction
        partitions: dict[tuple[str, int], LogCompaction] = {}
        for topic, compactions in self.compacted.items():
            for number, compaction in enumerate(compactions()):
                compaction.continue_from(self._first_dirty.get((topic, number), 0))
                partitions[topic, number] = compaction
        name = max(partitions, key=lambda key: partitions[key].dirty_ratio(settings, now_ms))
        if (work := partitions[name].begin(settings, now_ms)) is not None:
            yield name, work


def _cluster_id(path: Path, node_id: int) -> str:
    """The cluster id of the directory, from its first use. Raises DamagedLog. Raises Unusable."""
    meta = files.read_meta_properties(path)
    if meta is not None and meta.node_id not in (None, node_id):
        raise Unusable(
            f"{path} belongs to node {meta.node_id}, not to node {node_id}: "
            f"use --config node.id={meta.node_id}, or another directory"
        )
    if meta is not None and meta.cluster_id is not None:
        return meta.cluster_id
    cluster_id = format_uuid(uuid4())
    new = files.MetaProperties(cluster_id=cluster_id, node_id=node_id, directory_id=uuid4())
    files.write_meta_properties(path, new)
    return cluster_id


_CLEAN = json.dumps({"version": 0, "brokerEpoch": -1})
