"""What a run of a scenario gives: the callbacks of each member, where it ended, what it cost, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coordinator.consumer.outputs import CallbackKind, Partitions
from coordinator.simulation.scenario import Scenario, Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackMade:
    """A method of a member's listener was called."""

    at_s: float
    member: str
    kind: CallbackKind
    partitions: Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Thrown:
    """An exception left a member's `poll`, `commitSync` or `close`."""

    at_s: float
    member: str
    error: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """A member owns partitions from `start_s` to `end_s`, by its own view; `zombie_from_s`: since when it was no
    member any more by the coordinator's."""

    member: str
    topic: str
    partition: int
    start_s: float
    end_s: float
    zombie_from_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """A member's process runs from `start_s` to `end_s`."""

    member: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ZombieOverlap:
    """A member that the coordinator has removed still consumes what another one consumes."""

    member: str
    other: str
    topic: str
    partition: int
    start_s: float
    length_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant fell; the story says what led to it, a line a happening."""

    invariant: str
    """I1 to I13."""
    at_s: float
    message: str
    known: str = ""
    """The weakness of Kafka's own rules that it is (`coordinator.simulation.known_flaws`); empty where it is none."""
    story: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """A line of the story: what happened, to whom (a member's name, `coordinator`, or empty for the world)."""

    at_s: float
    who: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A run of a scenario from a seed."""

    scenario: Scenario
    variant: Variant
    seed: int
    callbacks: tuple[CallbackMade, ...]
    thrown: tuple[Thrown, ...]
    final: Mapping[str, Partitions]
    """What each member that still runs owns at the end."""
    owners: tuple[Ownership, ...]
    presence: tuple[Presence, ...]
    rebalances: int
    """Generations of the classic protocol and target assignments of the consumer protocol."""
    moved: int
    """Partitions that came to another member than had them last."""
    without_owner_s: float
    """Seconds that partitions were without an owner, added up, from the first owner of each on."""
    read_twice: int
    """Records that were given to two members, or to one twice."""
    converged_s: float | None
    """How long it took after the last event until all was at rest; None: not within the scenario's time."""
    zombies: tuple[ZombieOverlap, ...]
    violations: tuple[Violation, ...]
    story: tuple[Happening, ...]
    ended_s: float
    is_cut: bool = False
    """Stopped before its end: by the limit of steps or by Ctrl-C."""
    requests: int = 0
    """Requests that the coordinator answered."""
