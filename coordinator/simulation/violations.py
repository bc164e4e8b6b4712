"""The violated invariants of a run."""

from __future__ import annotations

from coordinator.simulation.result import Violation
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.story import Story

FOLLOWS = ("I1", "I2", "I4", "I7", "I10")
"""Invariants that are violated because a leader has assigned a partition to two members."""


class Violations:
    """The violations of one run: the first of each invariant, and the first by each known flaw of Kafka."""

    def __init__(self, schedule: Schedule, story: Story) -> None:
        self.all: list[Violation] = []
        self.cause = ""
        """The known flaw that assigned partitions to two members: the cause of the violations that follow."""
        self._schedule, self._story = schedule, story

    def add(self, invariant: str, message: str, known: str = "") -> None:
        if not known and invariant in FOLLOWS:
            known = self.cause
        if any((each.invariant, each.known) == (invariant, known) for each in self.all):
            return
        self._story.add("", f"{invariant} is violated{f' by {known}' if known else ''}: {message}")
        self.all.append(
            Violation(
                invariant=invariant,
                at_s=self._schedule.now_ms / 1000,
                message=message,
                known=known,
                story=self._story.last_lines(),
            )
        )
