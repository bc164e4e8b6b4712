"""The recent values of a metric, with the arithmetic of Kafka's SampledStat and Rate."""

from collections import deque
from collections.abc import Sequence

SECOND_MS, HOUR_MS = 1_000, 3_600_000
SAMPLES, SAMPLE_WINDOW_MS = 2, 30_000
"""metrics.num.samples and metrics.sample.window.ms: the defaults."""


class _Sample:
    """What was recorded from `started_ms` on, for at most one window."""

    __slots__ = ("count", "largest", "last_ms", "started_ms", "total")

    def __init__(self, started_ms: int) -> None:
        self.started_ms = self.last_ms = started_ms
        self.count = self.total = self.largest = 0


class Samples:
    """The recent values of a metric (SampledStat). A sample counts until its last value is older than all windows
    together. Metrics are assumed to be read once: in Kafka reading them moves the start of samples that are too old."""

    __slots__ = ("_kept", "_number", "_window_ms")

    def __init__(self, number: int, window_ms: int) -> None:
        self._number, self._window_ms = number, window_ms
        self._kept: deque[_Sample] = deque(maxlen=number + 1)  # One may have started long before the windows

    def add(self, value: int, now_ms: int) -> None:
        if not self._kept or now_ms - self._kept[-1].started_ms >= self._window_ms:
            self._kept.append(_Sample(now_ms))
        sample = self._kept[-1]
        sample.last_ms = now_ms
        sample.count += 1
        sample.total += value
        if value > sample.largest:
            sample.largest = value

    def average_ms(self, now_ms: int) -> float | None:
        """None if nothing is recent; Kafka shows NaN then."""
        recent = self._recent(now_ms)
        return (
            sum(sample.total for sample in recent) / sum(sample.count for sample in recent)
            if recent
            else None
        )

    def longest_ms(self, now_ms: int) -> int | None:
        """None if nothing is recent; Kafka shows NaN then."""
        return max((sample.largest for sample in self._recent(now_ms)), default=None)

    def per_hour(self, now_ms: int) -> float:
        """How often values were added."""
        recent = self._recent(now_ms)
        return sum(sample.count for sample in recent) * HOUR_MS / self._elapsed_ms(recent, now_ms)

    def per_second(self, now_ms: int) -> float:
        """The sum of the values."""
        recent = self._recent(now_ms)
        return sum(sample.total for sample in recent) * SECOND_MS / self._elapsed_ms(recent, now_ms)

    def _elapsed_ms(self, recent: Sequence[_Sample], now_ms: int) -> int:
        """As in Rate: the time since the first sample, and windows before it as if they had been empty."""
        elapsed_ms = now_ms - min((sample.started_ms for sample in recent), default=now_ms)
        missing = max(0, self._number - 1 - elapsed_ms // self._window_ms)
        return max(1, elapsed_ms + missing * self._window_ms)

    def _recent(self, now_ms: int) -> list[_Sample]:
        expires_ms = self._number * self._window_ms
        return [sample for sample in self._kept if now_ms - sample.last_ms < expires_ms]
