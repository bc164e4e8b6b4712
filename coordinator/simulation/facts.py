"""What invariants may ask about the world."""

from __future__ import annotations

from typing import Protocol

from coordinator.engine.engine import Engine
from coordinator.simulation.node import Node
from coordinator.simulation.process import Process
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.topics import Topics


class Facts(Protocol):
    """The world, as invariants see it."""

    schedule: Schedule
    topics: Topics
    processes: dict[str, Process]
    coordinator: Node

    @property
    def engine(self) -> Engine:
        """The one that says who is a member."""

    def is_zombie(self, process: Process) -> bool: ...

    def name_of(self, member: str) -> str: ...

    def broken(self, invariant: str, message: str) -> None:
        """An invariant has fallen."""
