"""Where the reading of each partition of the log is, and the numbers of what groups read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groups.history.events import Place

CLOCKS_MS = 5_000  # by which the clocks of brokers may be behind
_DELAYS = 64
_LEAST_ROOM = 1024
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(slots=True, kw_only=True)
class LogReading:
    """Where the reading of a partition of the log is."""

    position: int  # the next offset to read
    counted: int = 0  # what is below this offset was counted before a restart
    begun: int | None = None  # the end of the log when it was first read: gaps before it are no loss
    time_ms: int | None = None  # of the last record
    since_ms: int | None = None  # the time since which no record is missing
    end: int | None = None  # of the log, when it was last read
    delays_ms: deque[int] = field(default_factory=lambda: deque(maxlen=_DELAYS))
    """How much later than they were written the last records were read, by two clocks."""

    @property
    def is_caught_up(self) -> bool:
        return self.end is not None and self.position >= self.end

    def now_ms(self, now_ms: int) -> int:
        """The time of the log: that of the last record, or about the present if there is none after it."""
        return max(self.time_ms or 0, now_ms - CLOCKS_MS if self.is_caught_up else 0)


class PlaceTable:
    """The places by number: their groups, and whether these are watched."""

    def __init__(self) -> None:
        self.group_of = np.zeros(_LEAST_ROOM, dtype=np.int64)
        self.by_number: list[Place | None] = [None]
        self.of_group: dict[int, dict[Place, int]] = {}
        self._watched = np.zeros(_LEAST_ROOM, dtype=np.bool_)

    def add(self, number: int, group: int, place: Place) -> None:
        self.by_number += [None] * (number + 1 - len(self.by_number))
        self.by_number[number] = place
        self.of_group.setdefault(group, {})[place] = number
        self.group_of = _grown(self.group_of, number)
        self.group_of[number] = group

    def numbers(self, group: int) -> NDArray[np.int64]:
        return np.fromiter(self.of_group.get(group, {}).values(), dtype=np.int64)

    def watch(self, group: int, *, is_watched: bool) -> None:
        self._watched = _grown(self._watched, group)
        self._watched[group] = is_watched

    def watched(self, groups: NDArray[np.int64]) -> list[int]:
        """The watched ones among some groups."""
        self._watched = _grown(self._watched, int(groups.max(initial=0)))
        numbers: list[int] = np.unique(groups[self._watched[groups]]).tolist()
        return numbers


def _grown(column: NDArray[Scalar], index: int) -> NDArray[Scalar]:
    """The column, with room for an index."""
    more = max(index + 1, len(column) + len(column) // 2) - len(column) if index >= len(column) else 0
    return np.concatenate([column, np.zeros(more, dtype=column.dtype)]) if more else column
