"""The facts about the world that invariants depend on."""

from __future__ import annotations

from typing import Protocol

from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.engine import Engine
from coordinator.simulation.measures import Measures
from coordinator.simulation.node import Node
from coordinator.simulation.process import Process
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.topics import Topics
from coordinator.simulation.violations import Violations


class Facts(Protocol):
    """The facts about the world that invariants use."""

    schedule: Schedule
    topics: Topics
    processes: dict[str, Process]
    coordinator: Node
    measures: Measures
    violations: Violations

    @property
    def engine(self) -> Engine:
        """The engine that determines the members."""

    def is_zombie(self, process: Process) -> bool: ...

    def name_of(self, member: str) -> str: ...

    def known_flaw(self, process: Process, place: TopicPartition) -> str:
        """Why the process has a partition that the coordinator may assign to others; empty if it must not have it."""

    def broken(self, invariant: str, message: str, known: str = "") -> None:
        """Report a violated invariant; `known` is the known flaw of Kafka that violates it, or empty."""
