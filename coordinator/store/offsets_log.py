"""All partitions of `__consumer_offsets`: what was written to them, and where the next records go.

Theory of operation. Records of one group stand in one partition, told by the hash of its id, so the number of
partitions must never change: it is given when they are made, and is from then on the number of directories. The last
one is made first, so that a kill meanwhile leaves the highest number true.

What is appended together becomes one batch per partition. Where one of them cannot be written, the others are taken
back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Self
from uuid import uuid4

import numpy as np

from coordinator.engine.engine import Engine
from coordinator.engine.records import Written
from coordinator.store.digest import Digest
from coordinator.store.disk import side_by_side, sync
from coordinator.store.log import KeyAndValue, PartitionLog, SegmentLimits, prepare
from coordinator.store.partition_files import (
    OFFSETS_TOPIC,
    Fate,
    partition_directories,
    partition_for,
    partitions_for,
    read_topic_id,
)
from coordinator.store.replay import Malformed, Replay
from wire.log.batches import columns_of
from wire.log.errors import DamagedLog, StorageFailed, Unusable
from wire.log.segments import Segment, Torn, base_offset_of, list_segments, read_segment

MOST_PARTITIONS = 10_000


def _sync(directory_and_descriptor: tuple[Path, int]) -> None:
    directory, descriptor = directory_and_descriptor
    try:
        os.fsync(descriptor)
    except OSError as error:
        raise StorageFailed("synchronising", directory, error) from error
    finally:
        os.close(descriptor)


class OffsetsLog:
    """See the module."""

    def __init__(self, logs: Sequence[PartitionLog], digests: Sequence[Digest], torn: Sequence[Torn]) -> None:
        self._logs = logs
        self._digests: Sequence[Digest] = digests
        self._unsynced: set[int] = set()
        self._partition_for = lru_cache(maxsize=100_000)(lambda group: partition_for(group, len(logs)))
        self.torn = tuple(torn)
        """The tails that were cut off when the logs were opened."""

    @classmethod
    def open(cls, root: Path, partitions: int, limits: SegmentLimits, *, was_clean: bool = False) -> Self:
        """Read the partitions in a log directory, which was closed in good order or not; make them if there are none.

        :raises DamagedLog: :raises StorageFailed: :raises Unusable:
        """
        logs: list[PartitionLog] = []
        digests: list[Digest] = []
        torn: list[Torn] = []
        try:
            existing = _existing(root)
            if max(existing, default=0) >= MOST_PARTITIONS:
                raise Unusable(
                    f"{existing[max(existing)]}: {MOST_PARTITIONS} partitions of {OFFSETS_TOPIC} are the most "
                    "that are taken for true"
                )
            topic_id = next(filter(None, map(read_topic_id, existing.values())), None) or uuid4()
            *others, last = (
                root / f"{OFFSETS_TOPIC}-{number}"
                for number in range(max(existing, default=partitions - 1) + 1)
            )
            prepare(last, topic_id)
            side_by_side(partial(prepare, topic_id=topic_id), others)
            sync(root)
            for directory in (*others, last):
                digests.append(Digest())
                log, cut = PartitionLog.open(directory, limits, _into(digests[-1]), was_clean=was_clean)
                logs.append(log)
                torn += [] if cut is None else [cut]
        except BaseException as error:
            for log in logs:
                log.abandon()
            if isinstance(error, OSError):
                raise StorageFailed("opening", error.filename or root, error) from error
            raise
        return cls(logs, digests, torn)

    def recover(self, engine: Engine) -> Replay:
        """Bring what the partitions hold into an engine. :raises DamagedLog: a record is none :raises Unusable:"""
        replay = Replay(engine)
        seen: set[str] = set()
        for number, digest in enumerate(self._digests):
            malformed = replay.partition(digest)
            if malformed:
                raise self._damage(number, malformed[0])
            if digest.records:
                groups = [each for each in engine.state.groups if each not in seen]
                self._check_place(number, groups)
                seen.update(groups)
        self._digests = ()
        return replay

    @property
    def records(self) -> int:
        """How many the partitions held when they were opened, until `recover`."""
        return sum(digest.records for digest in self._digests)

    def append(self, written: Sequence[Written], now_ms: int) -> None:
        """Write records, one batch per partition; all of them, or none. The system has them then, not yet the disk.

        :raises StorageFailed:
        """
        by_partition: dict[int, list[KeyAndValue]] = {}
        for group, key_and_value in written:
            by_partition.setdefault(self._partition_for(group), []).append(key_and_value)
        done: list[PartitionLog] = []
        for number, encoded in by_partition.items():
            log = self._logs[number]
            try:
                log.append(encoded, now_ms)
            except OSError as error:
                for each in done:
                    each.take_back()
                raise StorageFailed("writing to", log.directory, error) from error
            done.append(log)
        self._unsynced.update(by_partition)

    def unsynced(self) -> Callable[[], object] | None:
        """What synchronises all that was appended since the last time, if anything was.

        To be called once, in whatever thread. :raises StorageFailed: nobody knows any more what is on the disk
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
                raise StorageFailed("synchronising", log.directory, error) from error
        self._unsynced.clear()
        return partial(side_by_side, _sync, descriptors)

    def active(self) -> Iterator[tuple[int, Path, int]]:
        """Of every partition the number, the directory, and the base offset of the active segment."""
        return ((number, log.directory, log.active) for number, log in enumerate(self._logs))

    def close(self) -> None:
        """Synchronise everything and let go of it. :raises StorageFailed: :raises DamagedLog:"""
        logs, self._logs = self._logs, ()
        side_by_side(_close, logs)

    def abandon(self) -> None:
        """Let go of everything as a kill would."""
        for log in self._logs:
            with suppress(OSError):
                log.abandon()
        self._logs = ()

    def _damage(self, number: int, malformed: Malformed) -> DamagedLog:
        """Where the record stands that is none."""
        offset, reason = malformed
        directory = self._logs[number].directory
        path = [each for each in list_segments(directory) if base_offset_of(each) <= offset][-1]
        batches = read_segment(path).batches
        batch = batches[int(np.searchsorted(batches.last_offsets, offset))]
        return DamagedLog(path, batch.position, f"the record at offset {offset} is none: {reason}")

    def _check_place(self, number: int, groups: Sequence[str]) -> None:
        """A group in another partition than the one its hash says would be written to the wrong one."""
        count = len(self._logs)
        for group, place in zip(groups, partitions_for(groups, count), strict=True):
            if place != number:
                raise Unusable(
                    f"{self._logs[number].directory} holds group {group}, which belongs in partition {place} of "
                    f"{count}: some partitions of {OFFSETS_TOPIC} are missing beside it. "
                    "Put the directories of all partitions there."
                )


def _close(log: PartitionLog) -> None:
    try:
        log.close()
    except OSError as error:
        raise StorageFailed("closing", log.directory, error) from error


def _existing(root: Path) -> dict[int, Path]:
    """The directories of the partitions, by number."""
    return {
        name.partition: path
        for path, name in partition_directories(root)
        if name.topic == OFFSETS_TOPIC and name.fate is Fate.NONE
    }


def _into(digest: Digest) -> Callable[[Segment], None]:
    def see(segment: Segment) -> None:
        for columns in columns_of(segment.batches):
            digest.add(columns)

    return see
