"""What must hold after every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coordinator.consumer.outputs import Callback, TopicPartition
from coordinator.engine.calls import Request
from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.simulation.node import Node
from coordinator.simulation.process import Process
from coordinator.simulation.result import Violation
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.story import Story
from coordinator.simulation.topics import Topics


class Invariants:
    """See the module. Of each invariant only the first violation is kept."""

    def __init__(self, schedule: Schedule, story: Story, topics: Topics) -> None:
        self.violations: list[Violation] = []
        self._schedule, self._story, self._topics = schedule, story, topics

    def broken(self, invariant: str, message: str) -> None:
        """An invariant has fallen."""
        if any(each.invariant == invariant for each in self.violations):
            return
        self._story.tell("", f"{invariant} is broken: {message}")
        self.violations.append(
            Violation(
                invariant=invariant,
                at_s=self._schedule.now_ms / 1000,
                message=message,
                story=self._story.so_far(),
            )
        )

    def started(self, process: Process) -> None: ...

    def gone(self, partition: TopicPartition) -> None: ...

    def appended(
        self, world: Any, node: Node, records: Sequence[Record], request: Request[Any] | None, is_late: bool
    ) -> None: ...

    def answering(
        self, world: Any, node: Node, member: str, request: Request[Any], answer: object
    ) -> None: ...

    def replayed(self, world: Any, node: Node, before: Engine | None) -> None: ...

    def epoch_changed(self, process: Process, before: int) -> None: ...

    def calling(self, process: Process, callback: Callback) -> None: ...

    def called_back(self, process: Process, callback: Callback, *, threw: bool) -> None: ...

    def received(self, process: Process, answer: object) -> None: ...
