"""Timers as data: a key and a deadline each. Nobody sleeps in here."""

from __future__ import annotations

import heapq
from enum import IntEnum, auto
from typing import NamedTuple


class TimerKind(IntEnum):
    """What is to be done when a deadline passes."""

    INITIAL_DELAY = auto()
    """A new or Empty classic group has waited for more members."""
    JOIN = auto()
    """The rebalance timeout: members that have not rejoined are removed."""
    SYNC = auto()
    """The rebalance timeout: members that have not synced are removed."""
    SESSION = auto()
    PENDING_MEMBER = auto()
    """A member id was given and nobody came back with it."""
    REBALANCE = auto()
    """A consumer group's member has not revoked in time."""
    REGEX = auto()
    ASSIGNMENT_INTERVAL = auto()
    OFFSET_EXPIRY = auto()
    CLIENT_ASSIGNOR = auto()
    """A member that was to compute an assignment has not answered."""


class TimerKey(NamedTuple):
    """A group has at most one timer of a kind per member."""

    kind: TimerKind
    group: str = ""
    member: str = ""


class Timers:
    """Deadlines by key, in ms.

    A timer that is moved or cancelled leaves its old entry in the heap until that surfaces or the heap is mostly
    made of such; the number of an entry tells whether it still counts.
    """

    def __init__(self) -> None:
        self._running: dict[TimerKey, tuple[int, int]] = {}
        """Deadline and number of the entry."""
        self._heap: list[tuple[int, int, TimerKey]] = []
        self._number = 0

    def set(self, key: TimerKey, deadline_ms: int) -> None:
        """Start the timer, or move its deadline."""
        self._number += 1
        self._running[key] = (deadline_ms, self._number)
        heapq.heappush(self._heap, (deadline_ms, self._number, key))
        if len(self._heap) > 64 and len(self._heap) > 4 * len(self._running):
            self._heap = [(*entry, key) for key, entry in self._running.items()]
            heapq.heapify(self._heap)

    def cancel(self, key: TimerKey) -> None:
        """Forget the timer; nothing happens when it is not there."""
        self._running.pop(key, None)

    def deadline(self, key: TimerKey) -> int | None:
        running = self._running.get(key)
        return None if running is None else running[0]

    def next_deadline(self) -> int | None:
        """The earliest deadline; None when there is none."""
        while self._heap:
            deadline, number, key = self._heap[0]
            if self._running.get(key) == (deadline, number):
                return deadline
            heapq.heappop(self._heap)
        return None

    def pop_due(self, now_ms: int) -> TimerKey | None:
        """Take the earliest timer whose deadline has come; equal deadlines in the order in which they were set."""
        deadline = self.next_deadline()
        if deadline is None or deadline > now_ms:
            return None
        _, _, key = heapq.heappop(self._heap)
        del self._running[key]
        return key
