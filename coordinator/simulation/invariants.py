"""The conditions that must hold after every step, checked if something has changed.

    I1   a partition is consumed by one member                     measures
    I2   it is reassigned only after its owner has released it     handover_rules
    I3   epochs are in order and do not decrease                   handover_rules, group_rules, client_rules
    I4   without faults all settle, every partition is owned       settling_rules
    I5   a target assigns each partition once, to a subscriber     group_rules
    I6   callbacks are consistent                                  client_rules
    I7   only members can commit, and offsets do not decrease      offset_rules
    I8   the log is the state, acknowledged changes are kept       log_rules, offset_rules
    I9   every request is answered                                 settling_rules
    I10  rebalances end                                            settling_rules
    I11  a generation agrees                                       group_rules
    I12  upgrade and downgrade keep offsets and assignments        offset_rules, group_rules
    I13  metrics are consistent                                    client_rules

A violation that follows from Kafka's own rules names the weakness (`known_flaws`). Configuration errors of consumers (a
version 0 subscription under a cooperative leader, one bounce instead of two) are not violations. If an assignor shares
partitions, they may have several owners: I1 and I2 are not required, nor the order of offsets."""

from typing import Protocol

from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.engine import Engine
from coordinator.simulation.measures import Measures
from coordinator.simulation.node import CoordinatorNode
from coordinator.simulation.process import Process
from coordinator.simulation.result import Violation
from coordinator.simulation.scenario import Scenario
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.story import RunStory
from coordinator.simulation.topics import SimulatedTopics

FOLLOWS = ("I1", "I2", "I4", "I7", "I10")
"""Invariants that are violated because a leader has assigned a partition to two members."""


class Violations:
    """The violations of one run: the first of each invariant, and the first by each known flaw of Kafka."""

    def __init__(self, schedule: Schedule, story: RunStory, *, shares_partitions: bool) -> None:
        self.shares_partitions = shares_partitions
        self.all: list[Violation] = []
        self.cause = ""
        """The known flaw that assigned partitions to two members: the cause of the violations that follow."""
        self._schedule, self._story = schedule, story

    def add(self, invariant: str, message: str, known: str = "") -> None:
        if self.shares_partitions and invariant in ("I1", "I2"):
            return
        if not known and invariant in FOLLOWS:
            known = self.cause
        if any((violation.invariant, violation.known) == (invariant, known) for violation in self.all):
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


class Facts(Protocol):
    """The facts about the world that observers use."""

    scenario: Scenario
    schedule: Schedule
    topics: SimulatedTopics
    processes: dict[str, Process]
    coordinator: CoordinatorNode
    measures: Measures
    violations: Violations

    @property
    def engine(self) -> Engine:
        """The engine that determines the members."""

    def is_zombie(self, process: Process) -> bool: ...
    def name_of(self, member: str) -> str: ...

    def known_flaw(self, process: Process, partition: TopicPartition) -> str:
        """Why the process has a partition that the coordinator may assign to others; empty if it must not have it."""

    def broken(self, invariant: str, message: str, known: str = "") -> None:
        """Report a violated invariant; `known` is the known flaw of Kafka that violates it, or empty."""
