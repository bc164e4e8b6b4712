"""All partitions of an internal topic, open for appending: `__consumer_offsets`, `__transaction_state`.

Theory of operation. A hash modulo the partition count determines a record's partition, so the count must never change:
it is fixed when the partitions are created, and equals the number of directories from then on. The directory of the
highest number is created first, so that the count is right even if a kill interrupts this.

Records that are appended together become one batch per partition. If one batch cannot be written, the others are
removed again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Self, TypeAlias
from uuid import UUID, uuid4

from coordinator.store.disk import side_by_side, sync
from coordinator.store.log import KeyAndValue, PartitionLog, SegmentLimits, prepare
from coordinator.store.partition_files import DirectorySuffix, partition_directories, read_topic_id
from wire.log.batch_header import ProducerIdentity
from wire.log.errors import StorageFailed, Unusable
from wire.log.segments import Segment, Torn

MOST_PARTITIONS = 10_000

ActivePartition: TypeAlias = tuple[int, Path, int]
"""A partition's number, its directory, and the base offset of its active segment."""


class TopicLog:
    """See the module."""

    def __init__(self, topic_id: UUID, logs: Sequence[PartitionLog], torn: Sequence[Torn]) -> None:
        self.topic_id = topic_id
        self._logs = logs
        self._unsynced: set[int] = set()
        self.torn = tuple(torn)
        """The tails that were cut off when the logs were opened."""
        self.appended: Callable[[Collection[int]], object] = _ignore
        """Called with the partitions that were written to."""

    @classmethod
    def open(
        cls,
        root: Path,
        topic: str,
        partitions: int,
        limits: SegmentLimits,
        see: Callable[[int, Segment], None],
        *,
        was_clean: bool = False,
        new_id: UUID | None = None,
    ) -> Self:
        """Read the partitions in a log directory, which was closed cleanly or not; create them if there are none.

        `see` is called with the segments of each partition, by its number. `new_id`: the id of a new topic.

        :raises DamagedLog: :raises StorageFailed: :raises Unusable:
        """
        logs: list[PartitionLog] = []
        torn: list[Torn] = []
        try:
            existing = partitions_of(root, topic)
            if max(existing, default=0) >= MOST_PARTITIONS:
                raise Unusable(
                    f"{existing[max(existing)]}: a partition number of {topic} must be below {MOST_PARTITIONS}"
                )
            topic_id = next(filter(None, map(read_topic_id, existing.values())), None) or new_id or uuid4()
            *others, last = (
                root / f"{topic}-{number}" for number in range(max(existing, default=partitions - 1) + 1)
            )
            prepare(last, topic_id)
            side_by_side(partial(prepare, topic_id=topic_id), others)
            sync(root)
            for number, directory in enumerate((*others, last)):
                log, cut = PartitionLog.open(directory, limits, partial(see, number), was_clean=was_clean)
                logs.append(log)
                torn += [] if cut is None else [cut]
        except BaseException as error:
            for log in logs:
                log.abandon()
            if isinstance(error, OSError):
                raise StorageFailed("opening", error.filename or root, error) from error
            raise
        return cls(topic_id, logs, torn)

    def __len__(self) -> int:
        return len(self._logs)

    def directory(self, number: int) -> Path:
        """The directory of a partition."""
        return self._logs[number].directory

    def begin_epoch(self, number: int, epoch: int) -> None:
        """Set the leader epoch of later batches."""
        self._logs[number].leader_epoch = epoch

    def append(
        self,
        records: Mapping[int, Sequence[KeyAndValue]],
        now_ms: int,
        producer: ProducerIdentity | None = None,
        *,
        control: bool = False,
    ) -> None:
        """Write records by partition; all of them, or none. The operating system has them then, not yet the disk.

        Records of a `producer` belong to its transaction, or are the `control` record that ends it.
        :raises StorageFailed:
        """
        done: list[PartitionLog] = []
        for number, encoded in records.items():
            log = self._logs[number]
            try:
                log.append(encoded, now_ms, producer, control=control)
            except OSError as error:
                for each in done:
                    each.take_back()
                raise StorageFailed("writing to", log.directory, error) from error
            done.append(log)
        self._unsynced.update(records)
        self.appended(records)

    def unsynced(self) -> Callable[[], object] | None:
        """A function that synchronizes all appends since the last call; None if there were none.

        Call it once, in any thread. :raises StorageFailed: it is unknown what is on the disk
        """
        if not self._unsynced:
            return None
        descriptors: list[tuple[Path, int]] = []
        for number in sorted(self._unsynced):
            log = self._logs[number]
            try:
                descriptors.append((log.directory, log.duplicate()))
            except OSError as error:
                for _, descriptor in descriptors:
                    os.close(descriptor)
                raise StorageFailed("synchronizing", log.directory, error) from error
        self._unsynced.clear()
        return partial(side_by_side, _sync, descriptors)

    def active(self) -> Iterator[ActivePartition]:
        """All partitions."""
        return ((number, log.directory, log.active) for number, log in enumerate(self._logs))

    def close(self) -> None:
        """Synchronize and close everything. :raises StorageFailed: :raises DamagedLog:"""
        logs, self._logs = self._logs, ()
        side_by_side(_close, logs)

    def abandon(self) -> None:
        """Close everything as a kill would."""
        for log in self._logs:
            with suppress(OSError):
                log.abandon()
        self._logs = ()


def partitions_of(root: Path, topic: str) -> dict[int, Path]:
    """The directories of a topic's partitions, by number. :raises OSError:"""
    return {
        name.partition: path
        for path, name in partition_directories(root)
        if name.topic == topic and name.suffix is DirectorySuffix.NONE
    }


def _ignore(_: Collection[int]) -> None:
    pass


def _sync(directory_and_descriptor: tuple[Path, int]) -> None:
    directory, descriptor = directory_and_descriptor
    try:
        os.fsync(descriptor)
    except OSError as error:
        raise StorageFailed("synchronizing", directory, error) from error
    finally:
        os.close(descriptor)


def _close(log: PartitionLog) -> None:
    try:
        log.close()
    except OSError as error:
        raise StorageFailed("closing", log.directory, error) from error
