"""The invariants that have fallen in a run."""

from __future__ import annotations

from coordinator.simulation.result import Violation
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.story import Story

FOLLOWS = ("I1", "I2", "I4", "I7", "I10")
"""Invariants that fall because a leader has given a partition to two members."""


class Violations:
    """Those of a run. Of each invariant only the first one is kept, and the first one by each known flaw of Kafka."""

    def __init__(self, schedule: Schedule, story: Story) -> None:
        self.all: list[Violation] = []
        self.cause = ""
        """The known flaw that has given partitions to two members: what follows from that is its work."""
        self._schedule, self._story = schedule, story

    def add(self, invariant: str, message: str, known: str = "") -> None:
        if not known and invariant in FOLLOWS:
            known = self.cause
        if any((each.invariant, each.known) == (invariant, known) for each in self.all):
            return
        self._story.tell("", f"{invariant} is broken{f' by {known}' if known else ''}: {message}")
        self.all.append(
            Violation(
                invariant=invariant,
                at_s=self._schedule.now_ms / 1000,
                message=message,
                known=known,
                story=self._story.so_far(),
            )
        )
