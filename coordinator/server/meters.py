"""What the group coordinator counts (GroupCoordinatorMetrics), in total and a second."""

from collections.abc import Iterable, Sequence
from typing import Any

from coordinator.configs.settings import BrokerSettings
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
from coordinator.samples import Samples


class Meter:
    """A count since the start, and its rate a second over the windows of the broker's settings (Meter)."""

    __slots__ = ("_recent", "total")

    def __init__(self, settings: BrokerSettings) -> None:
        self.total = 0
        self._recent = Samples(settings.metrics_num_samples, settings.metrics_sample_window_ms)

    def add(self, number: int, now_ms: int) -> None:
        if number:
            self.total += number
            self._recent.add(number, now_ms)

    def rate(self, now_ms: int) -> float:
        return self._recent.per_second(now_ms)


class CoordinatorMeters:
    """As in Kafka, offsets of a deleted group or topic count as neither deleted nor expired."""

    def __init__(self, settings: BrokerSettings) -> None:
        self.offset_commits = Meter(settings)
        self.offset_expirations = Meter(settings)
        self.offset_deletions = Meter(settings)
        self.classic_rebalances = Meter(settings)
        """Completed classic rebalances: the leader has sent its assignment."""
        self.consumer_rebalances = Meter(settings)
        """New group epochs because a subscription or a subscribed topic changed."""

    def call(self, request: Request[Any], records: Sequence[Record], now_ms: int) -> None:
        offsets = [record.value is None for record in records if isinstance(record, OffsetRecord)]
        self.offset_commits.add(offsets.count(False), now_ms)
        if isinstance(request, OffsetDelete):
            self.offset_deletions.add(offsets.count(True), now_ms)
        elif isinstance(request, SyncGroup):
            completed = any(isinstance(record, ClassicGroupRecord) for record in records)
            self.classic_rebalances.add(completed, now_ms)
        elif isinstance(request, JoinGroup | ConsumerGroupHeartbeat) and getattr(request, "epoch", 0) >= 0:
            self.consumer_rebalances.add(bool(_with_new_epoch(records)), now_ms)

    def timers(self, records: Sequence[Record], now_ms: int) -> None:
        """Count the records of timers. Only the timer that resolves regexes counts a new group epoch."""
        expired = [record for record in records if isinstance(record, OffsetRecord) and record.value is None]
        self.offset_expirations.add(len(expired), now_ms)
        resolved = {record.group for record in records if isinstance(record, RegexRecord)}
        self.consumer_rebalances.add(len(resolved & _with_new_epoch(records)), now_ms)


def _with_new_epoch(records: Iterable[Record]) -> set[str]:
    return {one.group for one in records if isinstance(one, ConsumerGroupRecord) and one.value is not None}
