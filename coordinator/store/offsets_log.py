"""Loading and appending to all partitions of `__consumer_offsets`: a group's hash determines its partition."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np

from coordinator.engine.engine import Engine
from coordinator.engine.records import Written
from coordinator.store.digest import Digest
from coordinator.store.log import SegmentLimits
from coordinator.store.partition_files import OFFSETS_TOPIC, partition_for, partitions_for
from coordinator.store.replay import Malformed, Replay
from coordinator.store.topic_log import KeyAndValue, TopicLog
from wire.log.batch_header import ProducerIdentity
from wire.log.columns import columns_of
from wire.log.errors import DamagedLog, Unusable
from wire.log.segments import Segment, base_offset_of, list_segments, read_segment


class OffsetsLog:
    def __init__(self, log: TopicLog, digests: Sequence[Digest]) -> None:
        self.partitions = len(log)
        self.topic = log  # its partitions
        self._digests: Sequence[Digest] = digests
        self._partition_for = lru_cache(maxsize=100_000)(lambda group: partition_for(group, self.partitions))

    @classmethod
    def open(cls, root: Path, partitions: int, limits: SegmentLimits, *, was_clean: bool = False) -> Self:
        """Read or create the partitions. Raises DamagedLog. Raises StorageFailed. Raises Unusable."""
        digests: dict[int, Digest] = {}

        def see(number: int, segment: Segment) -> None:
            digest = digests.setdefault(number, Digest())
            for columns in columns_of(segment.batches):
                digest.add(columns)

        log = TopicLog.open(root, OFFSETS_TOPIC, partitions, limits, see, was_clean=was_clean)
        return cls(log, [digests[number] for number in range(len(log))])

    def recover(self, engine: Engine) -> Replay:
        """Load the partitions into an engine. Raises DamagedLog: a record is malformed. Raises Unusable."""
        replay = Replay(engine)
        seen: set[str] = set()
        for number, digest in enumerate(self._digests):
            malformed = replay.partition(digest)
            if malformed:
                raise self._damage(number, malformed[0])
            if digest.records:
                groups = [group for group in engine.state.groups if group not in seen]
                self._check_place(number, groups)
                seen.update(groups)
        self._digests = ()
        return replay

    @property
    def records(self) -> int:
        """The number of records when the partitions were opened, until `recover`."""
        return sum(digest.records for digest in self._digests)

    def append(
        self, written: Sequence[Written], now_ms: int, producer: ProducerIdentity | None = None
    ) -> None:
        """Write records, one batch per partition, all of them or none, to the operating system, not yet the disk.
        Records of a `producer` belong to its transaction. Raises StorageFailed."""
        by_partition: dict[int, list[KeyAndValue]] = {}
        for group, key_and_value in written:
            by_partition.setdefault(self._partition_for(group), []).append(key_and_value)
        self.topic.append(by_partition, now_ms, producer)

    def _damage(self, number: int, malformed: Malformed) -> DamagedLog:
        """The error with the position of the malformed record."""
        offset, reason = malformed
        directory = self.topic.directory(number)
        path = [segment for segment in list_segments(directory) if base_offset_of(segment) <= offset][-1]
        batches = read_segment(path).batches
        batch = batches[int(np.searchsorted(batches.last_offsets, offset))]
        return DamagedLog(path, batch.position, f"the record at offset {offset} cannot be decoded: {reason}")

    def _check_place(self, number: int, groups: Sequence[str]) -> None:
        """Check that groups are in the partition of their hash: later records would be written to another one."""
        count = self.partitions
        for group, partition in zip(groups, partitions_for(groups, count), strict=True):
            if partition != number:
                raise Unusable(
                    f"{self.topic.directory(number)} holds group {group}, which belongs in partition {partition} of "
                    f"{count}: some partitions of {OFFSETS_TOPIC} are missing next to it. "
                    "Put the directories of all partitions there."
                )
