"""Observers of a run. They are called in the order of `World.watchers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from coordinator.consumer.outputs import Callback, Committed, Partitions, Raised, TopicPartition
from coordinator.engine.calls import AnyRequest
from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.engine.topics import TopicImage

if TYPE_CHECKING:
    from coordinator.simulation.invariants import Violations
    from coordinator.simulation.measures import Measures
    from coordinator.simulation.node import Node
    from coordinator.simulation.process import Process
    from coordinator.simulation.schedule import Schedule
    from coordinator.simulation.topics import Topics


class Batch(NamedTuple):
    """Records that a node has appended."""

    records: Sequence[Record]
    request: AnyRequest | None = None
    """The request that caused them; None: time, or the topics."""
    is_late: bool = False
    """Whether the request arrived after its connection was lost."""


class Answering(NamedTuple):
    """A node is about to answer a request."""

    node: Node
    request: AnyRequest
    answer: object
    is_heard: bool
    """Whether the connection is not lost yet."""
    is_late: bool


class Watcher:
    """Has no effect; a subclass overrides what it observes."""

    # A node's work, before its answers are sent.

    def appended(self, batch: Batch) -> None: ...

    def answering(self, answering: Answering) -> None: ...

    def replayed(self, node: Node, before: Engine | None) -> None: ...

    def failed_to_load(self, node: Node, error: Exception) -> None: ...

    def lost(self, node: Node, records: Sequence[Record]) -> None: ...

    # A process, and the topics.

    def owned_changed(self, process: Process, before: Partitions) -> None: ...

    def fetching_changed(self, process: Process, before: Partitions) -> None: ...

    def epoch_changed(self, process: Process, before: int) -> None: ...

    def refreshing_topics(self, process: Process, image: TopicImage) -> None: ...

    def calling(self, process: Process, callback: Callback) -> None: ...

    def called_back(self, process: Process, callback: Callback, threw: bool) -> None: ...

    def raised(self, process: Process, raised: Raised) -> None: ...

    def committed(self, process: Process, committed: Committed) -> None: ...

    def read(self, partition: TopicPartition, start: int, end: int) -> None: ...

    def received(self, process: Process, answer: object) -> None: ...

    def failed(self, process: Process) -> None: ...

    def deadlocked(self, process: Process) -> None: ...

    def ended(self, process: Process) -> None: ...

    def partition_deleted(self, partition: TopicPartition) -> None:
        """The partition was deleted: a new partition of its name has no owner yet."""


class Facts(Protocol):
    """The facts about the world that observers use."""

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
