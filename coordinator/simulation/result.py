"""The result of a run: the callbacks of each member, the final owners, the cost, and the violations."""

from collections.abc import Mapping
from typing import TypeAlias

from coordinator.consumer.outputs import AssignorCall, CallbackKind, Partitions
from coordinator.simulation.scenario import Scenario, Variant
from wire.values import dataclass

MemberMetrics: TypeAlias = Mapping[str, Mapping[str, float | None] | None]
"""The metrics of each started member by their names; None if its library has none, or it does not run: Java removes
those of a closed consumer. A value is None if nothing was recorded lately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackCall:
    """A method of a member's listener was called."""

    at_s: float
    member: str
    kind: CallbackKind
    partitions: Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorCalled:
    """A method of a member's custom assignor was called. Members of `assign` are named as in the scenario."""

    at_s: float
    callbacks_before: int  # How many listener calls of the run, of all members, were before it
    member: str
    call: AssignorCall


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedException:
    """A member's `poll`, `commitSync` or `close` raised an exception."""

    at_s: float
    member: str
    error: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """A member considers itself owner; from `zombie_from_s` on the coordinator does not consider it a member."""

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
    """A member that the coordinator has removed still consumes a partition that another member consumes."""

    member: str
    other: str
    topic: str
    partition: int
    start_s: float
    length_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A violated invariant, and the lines of the story before it."""

    invariant: str  # I1 to I13
    at_s: float
    message: str
    known: str = ""
    """The weakness of Kafka's own rules (`coordinator.simulation.known_flaws`); empty if unknown."""
    story: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryEntry:
    """A line of the story: an event, and its subject (a member's name, `coordinator`, or empty for the world)."""

    at_s: float
    who: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A run of a scenario from a seed."""

    scenario: Scenario
    variant: Variant
    seed: int
    callbacks: tuple[CallbackCall, ...]
    assignor_calls: tuple[AssignorCalled, ...] = ()
    thrown: tuple[RaisedException, ...]
    final: Mapping[str, Partitions]  # The partitions that each running member owns at the end
    metrics: MemberMetrics  # At the end
    owners: tuple[Ownership, ...]
    presence: tuple[Presence, ...]
    rebalances: int  # Generations of the classic protocol and target assignments of the consumer protocol
    moved: int  # Partitions whose new owner was not their last owner, counted each time
    without_owner_s: float
    """The total time in which partitions had no owner, in seconds, after each partition's first owner."""
    read_twice: int  # Records that two members received, or one received twice
    converged_s: float | None
    """The time from the last event until all were settled; None: they did not settle within the scenario's time."""
    zombies: tuple[ZombieOverlap, ...]
    violations: tuple[Violation, ...]
    story: tuple[StoryEntry, ...]
    ended_s: float
    is_cut: bool = False  # Whether it was stopped before its end: by the limit of steps or by Ctrl-C
    requests: int = 0  # Requests that the coordinator answered
