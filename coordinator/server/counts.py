"""Event counts since the start, derived from the records that calls and timers write; a replay counts nothing.

Source: the sensors of GroupCoordinatorMetrics, and their uses in GroupMetadataManager and OffsetMetadataManager.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coordinator.engine.calls import Request
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.removal import OffsetDelete
from coordinator.engine.records import (
    ClassicGroupRecord,
    ConsumerGroupRecord,
    OffsetRecord,
    Record,
    RegexRecord,
)


@dataclass(slots=True, kw_only=True)
class Counts:
    """Counters. As in Kafka, offsets of a deleted group or topic count as neither deleted nor expired."""

    offset_commits: int = 0
    offset_expirations: int = 0
    offset_deletions: int = 0
    classic_rebalances: int = 0
    """Completed classic rebalances: the leader has sent its assignment."""
    consumer_rebalances: int = 0
    """New group epochs because a subscription or a subscribed topic changed."""

    def call(self, request: Request[Any], records: Sequence[Record]) -> None:
        """Count the records of a call."""
        offsets = [record.value is None for record in records if isinstance(record, OffsetRecord)]
        self.offset_commits += offsets.count(False)
        if isinstance(request, OffsetDelete):
            self.offset_deletions += offsets.count(True)
        elif isinstance(request, SyncGroup):
            self.classic_rebalances += any(isinstance(record, ClassicGroupRecord) for record in records)
        elif isinstance(request, JoinGroup) or (
            isinstance(request, ConsumerGroupHeartbeat) and request.epoch >= 0
        ):
            self.consumer_rebalances += bool(_with_new_epoch(records))

    def timers(self, records: Sequence[Record]) -> None:
        """Count the records of timers. Only the timer that resolves regexes counts a new group epoch."""
        for record in records:
            self.offset_expirations += isinstance(record, OffsetRecord) and record.value is None
        resolved = {record.group for record in records if isinstance(record, RegexRecord)}
        self.consumer_rebalances += len(resolved & _with_new_epoch(records))


def _with_new_epoch(records: Iterable[Record]) -> set[str]:
    return {
        record.group
        for record in records
        if isinstance(record, ConsumerGroupRecord) and record.value is not None
    }


@dataclass(slots=True, kw_only=True)
class LoadTimes:
    """How long the partitions of `__consumer_offsets` took to load, since the start."""

    partitions: int = 0
    total_s: float = 0.0
    longest_s: float = math.nan
    """NaN: none was loaded."""

    def add(self, seconds: float, partitions: int = 1) -> None:
        """Count partitions that each took this long to load."""
        self.partitions += partitions
        self.total_s += seconds * partitions
        self.longest_s = seconds if math.isnan(self.longest_s) else max(self.longest_s, seconds)

    @property
    def average_s(self) -> float:
        return self.total_s / self.partitions if self.partitions else math.nan
