"""The positions up to which an application has read its partitions. Records are written at a steady rate, and received
in `poll`: from the committed offset (or the first one), up to the end of the log, FETCH_MS after reading has
started."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from coordinator.consumer.member import NEVER
from coordinator.consumer.outputs import Partitions, TopicPartition, in_order
from coordinator.simulation.schedule import Schedule

FETCH_MS = 10  # How long the first fetch of a partition takes

ReadRange: TypeAlias = tuple[TopicPartition, int, int]
"""What an application received of a partition: the offset of the first record, and the one after the last."""


class ReadPositions:
    """`log_ends` returns the offsets that the next records of partitions would have. `report` gets what was read."""

    __slots__ = ("_log_ends", "_offsets", "_read", "_report", "_schedule", "_started_ms")

    def __init__(
        self,
        schedule: Schedule,
        log_ends: Callable[[Sequence[TopicPartition]], list[int]],
        report: Callable[[Sequence[ReadRange]], None],
    ) -> None:
        self._schedule, self._log_ends, self._report = schedule, log_ends, report
        self._offsets: dict[TopicPartition, int] = {}
        self._started_ms: dict[TopicPartition, int] = {}  # When the current reading of each partition started
        self._read: Partitions = frozenset()  # What it reads: all that has been started is among them

    def of(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """The positions now, without partitions that are not read."""
        offsets, started_ms = self._offsets, self._started_ms
        latest_ms = self._schedule.now_ms - FETCH_MS
        positions = {}
        for partition, end in zip(partitions, self._log_ends(partitions), strict=True):
            offset = offsets.get(partition)
            if offset is not None:
                is_read = end > offset and started_ms.get(partition, NEVER) <= latest_ms
                positions[partition] = end if is_read else offset
        return positions

    def read(self, partitions: Partitions) -> None:
        """Read these from now on, as far as their positions are known, and no others."""
        started_ms = self._started_ms
        if partitions is not self._read:
            self._stop([partition for partition in started_ms if partition not in partitions])
            self._read = partitions
        if len(started_ms) != len(partitions):
            for partition in in_order(partitions):
                if partition not in started_ms and partition in self._offsets:
                    started_ms[partition] = self._schedule.now_ms

    def stop(self) -> None:
        """Stop reading, and report what was read."""
        self._stop(tuple(self._started_ms))

    def _stop(self, partitions: Sequence[TopicPartition]) -> None:
        ranges = []
        offsets, started_ms = self._offsets, self._started_ms
        latest_ms = self._schedule.now_ms - FETCH_MS
        for partition, end in zip(partitions, self._log_ends(partitions), strict=True):
            start = offsets[partition]
            if started_ms.pop(partition) <= latest_ms and end > start:
                offsets[partition] = end
                ranges.append((partition, start, end))
        if ranges:
            self._report(ranges)

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Continue at committed offsets, or at the first record where the log does not have one."""
        self._stop([partition for partition in offsets if partition in self._started_ms])
        for (partition, offset), end in zip(offsets.items(), self._log_ends(tuple(offsets)), strict=True):
            self._offsets[partition] = offset if 0 <= offset <= end else 0

    def restart(self, partition: TopicPartition) -> None:
        """The partition is another one of the same name, and read from the start (auto.offset.reset=earliest)."""
        if partition in self._offsets:
            self._offsets[partition] = 0
            if partition in self._started_ms:
                self._started_ms[partition] = self._schedule.now_ms

    def forget(self, partition: TopicPartition) -> None:
        self._offsets.pop(partition, None)
        self._started_ms.pop(partition, None)
