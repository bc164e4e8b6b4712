"""Timers as data: a key and a deadline each. Nobody sleeps in here."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from enum import Enum


class TimerKind(Enum):
    """What is to be done when a deadline passes."""

    INITIAL_DELAY = "initial delay"
    """A new or Empty classic group has waited for more members."""
    JOIN = "join"
    """The rebalance timeout: members that have not rejoined are removed."""
    SYNC = "sync"
    """The rebalance timeout: members that have not synced are removed."""
    SESSION = "session"
    PENDING_MEMBER = "pending member"
    """A member id was given and nobody came back with it."""
    REBALANCE = "rebalance"
    """A consumer group's member has not revoked in time."""
    REGEX = "regex"
    ASSIGNMENT_INTERVAL = "assignment interval"
    OFFSET_EXPIRY = "offset expiry"
    CLIENT_ASSIGNOR = "client assignor"
    """A member that was to compute an assignment has not answered."""


@dataclass(frozen=True, slots=True)
class TimerKey:
    """A group has at most one timer of a kind per member."""

    kind: TimerKind
    group: str = ""
    member: str = ""


class Timers:
    """Deadlines by key, in ms. A cancelled or moved deadline stays in the heap until it surfaces."""

    def __init__(self) -> None:
        self._deadlines: dict[TimerKey, int] = {}
        self._heap: list[tuple[int, int, TimerKey]] = []
        self._number = 0

    def set(self, key: TimerKey, deadline_ms: int) -> None:
        """Start the timer, or move its deadline."""
        self._deadlines[key] = deadline_ms
        self._number += 1
        heapq.heappush(self._heap, (deadline_ms, self._number, key))
        if len(self._heap) > 64 and len(self._heap) > 4 * len(self._deadlines):
            live = [entry for entry in self._heap if self._deadlines.get(entry[2]) == entry[0]]
            heapq.heapify(live)
            self._heap = live

    def cancel(self, key: TimerKey) -> None:
        """Forget the timer; nothing happens when it is not there."""
        self._deadlines.pop(key, None)

    def deadline(self, key: TimerKey) -> int | None:
        return self._deadlines.get(key)

    def next_deadline(self) -> int | None:
        """The earliest deadline; None when there is none."""
        while self._heap and self._deadlines.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_ms: int) -> TimerKey | None:
        """Take the earliest timer whose deadline has come; equal deadlines in the order in which they were set."""
        deadline = self.next_deadline()
        if deadline is None or deadline > now_ms:
            return None
        _, _, key = heapq.heappop(self._heap)
        del self._deadlines[key]
        return key
