"""Simulated time: what is to happen and when, in the order of time and then of being planned."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

Action: TypeAlias = Callable[..., None]

ASKED_MS = 733
"""How often `play` asks whether to go on: in step with nothing that happens every so many seconds."""


class Schedule:
    """The heap of what is to come. `now_ms` is the moment that is played."""

    __slots__ = ("_began_ms", "_heap", "_number", "now_ms", "steps")

    def __init__(self, now_ms: int = 0) -> None:
        self.now_ms = self._began_ms = now_ms
        self.steps = 0
        """How much has been played."""
        self._heap: list[tuple[int, int, Action, tuple[Any, ...]]] = []
        self._number = 0

    def at(self, at_ms: int, action: Action, *arguments: Any) -> None:
        """Plan something; what would be in the past happens now, after all that is planned for now."""
        self._number += 1
        heappush(self._heap, (at_ms if at_ms > self.now_ms else self.now_ms, self._number, action, arguments))

    def leap(self, by_ms: int) -> None:
        """Let time pass without anything happening: all that is planned comes so much later."""
        self.now_ms += by_ms
        self._heap = [
            (at_ms + by_ms, number, action, arguments) for at_ms, number, action, arguments in self._heap
        ]

    def first_but(self, is_passed_over: Callable[[Action], bool]) -> int | None:
        """When the first thing is planned that is not passed over; None where there is none."""
        return min((at_ms for at_ms, _, action, _ in self._heap if not is_passed_over(action)), default=None)

    def skip(self, to_ms: int, is_dropped: Callable[[Action], bool]) -> None:
        """Go on at a later moment, before which only what is dropped was planned: all of that, also later."""
        self._heap = [each for each in self._heap if not is_dropped(each[2])]
        heapify(self._heap)
        self.now_ms = to_ms

    def play(self, until_ms: int, limit: int, go_on: Callable[[], bool] | None = None) -> bool:
        """Play what is planned up to and with `until_ms`; False where `limit` steps in all were reached before.

        With `go_on` it is asked every ASKED_MS and the play ends early where it says no; the clock then
        stays there. Otherwise it ends at `until_ms`.
        """
        heap, steps, began_ms = self._heap, self.steps, self._began_ms
        asked = (self.now_ms - began_ms) // ASKED_MS
        while heap:
            at_ms, _, action, arguments = heap[0]
            if at_ms > until_ms:
                break
            if go_on is not None and (at_ms - began_ms) // ASKED_MS != asked:
                asked = (at_ms - began_ms) // ASKED_MS
                if not go_on():
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
