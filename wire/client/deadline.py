"""A point in time by which something must be done."""

import time


class Deadline:
    """Counts down from `timeout_ms` milliseconds; the clock is `time.monotonic`."""

    __slots__ = ("_at",)

    def __init__(self, timeout_ms: float) -> None:
        self._at = time.monotonic() + timeout_ms / 1000

    def remaining_ms(self) -> float:
        """Milliseconds left, 0 when the time is up."""
        return max(0.0, (self._at - time.monotonic()) * 1000)

    def sooner(self, timeout_ms: float) -> "Deadline":
        """A deadline `timeout_ms` from now, or this one if that comes first."""
        return Deadline(min(timeout_ms, self.remaining_ms()))
