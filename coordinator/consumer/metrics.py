"""A consumer's metrics of rebalances, by their Kafka names (KIP-429 "Consumer Metrics"). Latencies are in ms.
Averages and rates cover the member's whole life, not Kafka's window of 30 seconds."""

from __future__ import annotations

from coordinator.consumer.outputs import CallbackKind

_HOUR_MS = 3_600_000


class Latency:
    """How long something took, in ms."""

    __slots__ = ("count", "longest_ms", "total_ms")

    def __init__(self) -> None:
        self.count = self.total_ms = self.longest_ms = 0

    def add(self, ms: int) -> None:
        self.count += 1
        self.total_ms += ms
        self.longest_ms = max(self.longest_ms, ms)

    @property
    def average_ms(self) -> float | None:
        """None before the first time; Kafka shows NaN then."""
        return self.total_ms / self.count if self.count else None


class Metrics:
    """The counts of one member. A rebalance caused by its own revocations counts separately."""

    __slots__ = ("_last_ended_ms", "_started_ms", "callbacks", "failed", "rebalances")

    def __init__(self) -> None:
        self.callbacks = {kind: Latency() for kind in CallbackKind}
        self.rebalances = Latency()
        self.failed = 0
        self._started_ms: int | None = None
        self._last_ended_ms: int | None = None

    def called_back(self, kind: CallbackKind, took_ms: int) -> None:
        self.callbacks[kind].add(took_ms)

    def rebalance_began(self, now_ms: int, *, restarts: bool = False) -> None:
        """A retried rebalance is the same rebalance, unless it `restarts`: then its time is measured again."""
        if self._started_ms is None or restarts:
            self._started_ms = now_ms

    @property
    def is_rebalancing(self) -> bool:
        return self._started_ms is not None

    def rebalance_ended(self, now_ms: int) -> None:
        if self._started_ms is not None:
            self.rebalances.add(now_ms - self._started_ms)
            self._started_ms = None
            self._last_ended_ms = now_ms

    def named(self, now_ms: int, alive_ms: int) -> dict[str, float | None]:
        """All metrics by their names in `consumer-coordinator-metrics`; None if Kafka shows NaN or -1."""
        hours = max(alive_ms, 1) / _HOUR_MS
        values: dict[str, float | None] = {}
        for kind, latency in self.callbacks.items():
            values[f"partitions-{kind.value}-latency-avg"] = latency.average_ms
            values[f"partitions-{kind.value}-latency-max"] = latency.longest_ms if latency.count else None
        rebalances, ended = self.rebalances, self._last_ended_ms
        return values | {
            "rebalance-total": rebalances.count,
            "rebalance-rate-per-hour": rebalances.count / hours,
            "rebalance-latency-avg": rebalances.average_ms,
            "rebalance-latency-max": rebalances.longest_ms if rebalances.count else None,
            "rebalance-latency-total": rebalances.total_ms,
            "failed-rebalance-total": self.failed,
            "failed-rebalance-rate-per-hour": self.failed / hours,
            "last-rebalance-seconds-ago": None if ended is None else (now_ms - ended) // 1000,
        }
