"""The time of an execution: monotonic time in which the group was looked at, and could be read."""

MOST_GAP_S = 30.0
"""What counts of a longer time without a look: the machine slept, or the process was stopped."""
UNREAD_GAP_S = 2.0
"""What counts of a time in which the group could not be read: no deadline passes meanwhile."""


class RunClock:
    def __init__(self) -> None:
        self._last_s: float | None = None  # The last event, by the caller's clock
        self._read_s = 0.0  # The last look that succeeded, in this time
        self._since_s = 0.0  # Since then
        self._is_unread = self._has_slept = False
        self.had_gap = False  # Whether nothing was seen for a while before the last look that succeeded

    @property
    def now_s(self) -> float:
        return self._read_s + (min(self._since_s, UNREAD_GAP_S) if self._is_unread else self._since_s)

    def at(self, at_s: float) -> float:
        """The time of an event, which is `at_s` by the caller's clock."""
        if self._last_s is None:
            self._last_s = self._read_s = at_s
        gap_s = max(0.0, at_s - self._last_s)
        self._has_slept = self._has_slept or gap_s > MOST_GAP_S
        self._since_s += min(gap_s, MOST_GAP_S)
        self._last_s = at_s
        return self.now_s

    def read(self, at_s: float) -> float:
        """The time of a look at the group."""
        self._read_s = self.at(at_s)
        self.had_gap = self._has_slept or self._is_unread
        self._since_s, self._is_unread, self._has_slept = 0.0, False, False
        return self._read_s

    def unread(self, at_s: float) -> float:
        """How long the group has not been read, at a look that fails."""
        self._is_unread = True
        self.at(at_s)
        return self._since_s

    def as_given(self, time_s: float) -> float:
        """A time of the execution by the caller's clock, if nothing interrupts it until then."""
        return (self._last_s or 0.0) + time_s - self.now_s
