"""Timers as data: a key and a deadline each, without any clock."""

import heapq
from collections.abc import Collection
from enum import IntEnum, auto
from typing import NamedTuple


class TimerKind(IntEnum):
    INITIAL_DELAY = auto()  # A new or Empty classic group waits for more members
    JOIN = auto()  # The rebalance timeout: then members that have not rejoined are removed
    SYNC = auto()  # The rebalance timeout: then members that have not synced are removed
    SESSION = auto()
    PENDING_MEMBER = auto()  # A member id was assigned, and no member has joined with it
    REBALANCE = auto()  # A consumer member has not revoked in time
    REGEX = auto()
    OFFSET_EXPIRY = auto()
    CLIENT_ASSIGNOR = auto()  # A member that was asked to compute an assignment has not answered

    __hash__ = int.__hash__  # Python's enums are hashed by their names, in Python


class TimerKey(NamedTuple):
    """A group has at most one timer of a kind per member."""

    kind: TimerKind
    group: str = ""
    member: str = ""


class Timers:
    """Deadlines by key, in ms. The heap has a key once, at its deadline or earlier: setting a timer is a look-up."""

    def __init__(self) -> None:
        self._deadlines: dict[TimerKey, tuple[int, int]] = {}
        """Deadline, and the number of the call that set it."""
        self._queued: dict[TimerKey, int] = {}  # The time at which the heap has the key
        self._heap: list[tuple[int, int, TimerKey]] = []
        self._number = 0

    def set(self, key: TimerKey, deadline_ms: int) -> None:
        """Start the timer, or change its deadline."""
        self._number += 1
        self._deadlines[key] = (deadline_ms, self._number)
        queued = self._queued.get(key)
        if queued is None or deadline_ms < queued:
            self._push(deadline_ms, self._number, key)

    def cancel(self, key: TimerKey) -> None:
        """Cancel the timer; no effect if it does not exist."""
        self._deadlines.pop(key, None)

    def deadline(self, key: TimerKey) -> int | None:
        entry = self._deadlines.get(key)
        return None if entry is None else entry[0]

    def keys(self) -> tuple[TimerKey, ...]:
        """The running timers, in the order in which they were first set."""
        return tuple(self._deadlines)

    def next_deadline(self) -> int | None:
        """The earliest deadline; None if no timer is running."""
        while self._heap:
            queued, number, key = self._heap[0]
            entry = self._deadlines.get(key)
            is_queued = self._queued.get(key) == queued
            if is_queued and entry == (queued, number):
                return queued
            heapq.heappop(self._heap)
            if is_queued:
                del self._queued[key]
                if entry is not None:
                    self._push(*entry, key)
        return None

    def next_deadline_except(self, passed_over: Collection[TimerKey]) -> int | None:
        """The earliest deadline of the other timers; None if no other timer is running."""
        others = (entry[0] for key, entry in self._deadlines.items() if key not in passed_over)
        return min(others, default=None)

    def no_deadline_before(self) -> int | None:
        """A lower bound of all deadlines in ms, faster than `next_deadline`; None if no timer is running."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_ms: int) -> TimerKey | None:
        """Remove the earliest timer whose deadline has come; of equal deadlines the one that was set first."""
        deadline = self.next_deadline()
        if deadline is None or deadline > now_ms:
            return None
        _, _, key = heapq.heappop(self._heap)
        del self._queued[key]
        del self._deadlines[key]
        return key

    def _push(self, deadline_ms: int, number: int, key: TimerKey) -> None:
        self._queued[key] = deadline_ms
        heapq.heappush(self._heap, (deadline_ms, number, key))
