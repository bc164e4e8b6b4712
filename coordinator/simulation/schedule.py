"""Simulated time: planned actions, ordered by time and then by when they were planned."""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import TypeAlias

Action: TypeAlias = Callable[..., None]
Planned: TypeAlias = tuple[int, int, Action, tuple[object, ...]]
"""Time, number, and an action with its arguments."""

CHECK_INTERVAL_MS = 733
"""How often `play` checks whether to continue: prime to common periods, so that it does not coincide with them."""


class Schedule:
    """The heap of planned actions. `now_ms` is the current moment."""

    __slots__ = ("_began_ms", "_heap", "_number", "now_ms", "steps")

    def __init__(self, now_ms: int = 0) -> None:
        self.now_ms = self._began_ms = now_ms
        self.steps = 0  # The number of actions played
        self._heap: list[Planned] = []
        self._number = 0

    def at(self, at_ms: int, action: Action, *arguments: object) -> None:
        """Plan an action; an action in the past is played now, after everything that is planned for now."""
        self._number += 1
        heappush(self._heap, (at_ms if at_ms > self.now_ms else self.now_ms, self._number, action, arguments))

    def shift(self, by_ms: int) -> None:
        """Let time pass without any action: everything planned is delayed by `by_ms`."""
        self.now_ms += by_ms
        self._heap = [
            (at_ms + by_ms, number, action, arguments) for at_ms, number, action, arguments in self._heap
        ]

    def first_except(self, is_passed_over: Callable[[Action], bool]) -> int | None:
        """The time of the first planned action that is not ignored; None without any."""
        return min((at_ms for at_ms, _, action, _ in self._heap if not is_passed_over(action)), default=None)

    def skip(self, to_ms: int, is_dropped: Callable[[Action], bool]) -> None:
        """Continue at a later moment, before which only `dropped` actions were planned; drop later ones too."""
        self._heap = [planned for planned in self._heap if not is_dropped(planned[2])]
        heapify(self._heap)
        self.now_ms = to_ms

    def play(self, until_ms: int, limit: int, keep_playing: Callable[[], bool] | None = None) -> bool:
        """Play everything planned up to and including `until_ms`; False if `limit` total steps were reached first.
        The play ends early when `keep_playing`, called every CHECK_INTERVAL_MS, returns False."""
        heap, steps, began_ms = self._heap, self.steps, self._began_ms
        asked = (self.now_ms - began_ms) // CHECK_INTERVAL_MS
        while heap:
            at_ms, _, action, arguments = heap[0]
            if at_ms > until_ms:
                break
            if keep_playing is not None and (at_ms - began_ms) // CHECK_INTERVAL_MS != asked:
                asked = (at_ms - began_ms) // CHECK_INTERVAL_MS
                if not keep_playing():
                    self.steps = steps
                    return True
            if steps >= limit:
                self.steps = steps
                return False
            heappop(heap)
            self.now_ms = at_ms
            steps += 1
            action(*arguments)
        self.now_ms = max(self.now_ms, until_ms)
        self.steps = steps
        return True
