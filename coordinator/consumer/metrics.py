"""A consumer's metrics of rebalances (KIP-429 "Consumer Metrics"), with the names and the arithmetic of Kafka's Java
consumer of both protocols: RebalanceCallbackMetricsManager, AbstractCoordinator and ConsumerRebalanceMetricsManager of
4.3.1. The document says `partitions-…-latency`; the names that Kafka registers start with `partition-`."""

from coordinator.consumer.outputs import CallbackKind
from coordinator.samples import HOUR_MS, SAMPLE_WINDOW_MS, SAMPLES, Samples


class Events:
    """How often something took place, in all and an hour, and how long it took recently."""

    __slots__ = ("count", "hourly", "recent", "total_ms")

    def __init__(self, samples: int, window_ms: int) -> None:
        self.count = self.total_ms = 0  # of the whole life
        self.recent = Samples(samples, window_ms)
        self.hourly = Samples(
            samples, HOUR_MS
        )  # the windows of a rate an hour are hours, whatever the settings

    def add(self, took_ms: int, now_ms: int) -> None:
        self.count += 1
        self.total_ms += took_ms
        self.recent.add(took_ms, now_ms)
        self.hourly.add(took_ms, now_ms)


class Metrics:
    """The counts of one member. A rebalance caused by its own revocations counts separately."""

    __slots__ = ("_last_ended_ms", "_started_ms", "callbacks", "failed", "rebalances")

    def __init__(self, samples: int = SAMPLES, window_ms: int = SAMPLE_WINDOW_MS) -> None:
        self.callbacks = {kind: Events(samples, window_ms) for kind in CallbackKind}
        self.rebalances = Events(samples, window_ms)
        self.failed = Events(samples, window_ms)
        self._started_ms: int | None = None
        self._last_ended_ms: int | None = None

    def called_back(self, kind: CallbackKind, took_ms: int, now_ms: int) -> None:
        """A callback has returned. One that throws is not recorded (ConsumerRebalanceListenerInvoker)."""
        self.callbacks[kind].add(took_ms, now_ms)

    def rebalance_began(self, now_ms: int, *, restarts: bool = False) -> None:
        """A retried rebalance is the same rebalance, unless it `restarts`: then its time is measured again."""
        if self._started_ms is None or restarts:
            self._started_ms = now_ms

    @property
    def is_rebalancing(self) -> bool:
        return self._started_ms is not None

    def rebalance_ended(self, now_ms: int) -> None:
        if self._started_ms is not None:
            self.rebalances.add(now_ms - self._started_ms, now_ms)
            self._started_ms = None
            self._last_ended_ms = now_ms

    def rebalance_failed(self, now_ms: int) -> None:
        self.failed.add(0, now_ms)

    def named(self, now_ms: int) -> dict[str, float | None]:
        """All metrics by their names in `consumer-coordinator-metrics`, latencies in ms; None if Kafka shows NaN or
        -1."""
        values: dict[str, float | None] = {}
        for kind, calls in self.callbacks.items():
            values[f"partition-{kind.value}-latency-avg"] = calls.recent.average_ms(now_ms)
            values[f"partition-{kind.value}-latency-max"] = calls.recent.longest_ms(now_ms)
        rebalances, ended = self.rebalances, self._last_ended_ms
        return values | {
            "rebalance-total": rebalances.count,
            "rebalance-rate-per-hour": rebalances.hourly.per_hour(now_ms),
            "rebalance-latency-avg": rebalances.recent.average_ms(now_ms),
            "rebalance-latency-max": rebalances.recent.longest_ms(now_ms),
            "rebalance-latency-total": rebalances.total_ms,
            "failed-rebalance-total": self.failed.count,
            "failed-rebalance-rate-per-hour": self.failed.hourly.per_hour(now_ms),
            "last-rebalance-seconds-ago": None if ended is None else (now_ms - ended) // 1000,
        }
