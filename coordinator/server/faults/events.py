"""The faults that can be injected. If a file names a field differently, its metadata has that name (`groups.trees`).

They use the terms of scenarios (docs/scenarios.md) if there are any: `topic`, `coordinator`, `for`. Times are in
seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, TypeAlias

from coordinator.simulation.scenario import Seconds
from groups.trees import INT32, INT64, Between, named
from wire.errors import ErrorCode

MAX_PARTITIONS = 100_000
PartitionCount = Annotated[int, Between(1, MAX_PARTITIONS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Matches requests that satisfy every given condition. One of the request's names must match.

    `client`, `group` and `topic` can contain `*` and `?`, as in a shell.
    """

    api: tuple[str, ...] = ()
    """The APIs, by Kafka's names; none: all."""
    client: str | None = None
    """The client id."""
    group: str | None = None
    topic: str | None = None
    member: str | None = None
    """The member id."""
    times: Annotated[int, Between(1, INT32)] | None = None
    """How many requests are affected; None: any number."""
    for_s: Seconds | None = field(default=None, metadata=named("for"))
    """How long the rule is active; None: until it is cleared."""
    chance: Annotated[float, Between(0, 1)] = 1.0
    """The probability for each request that matches."""
    seed: Annotated[int, Between(0, INT64)] = 0
    """Determines the affected requests, and the delay within its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay(Rule):
    """The request is handled later, by a time between the two bounds."""

    bounds_s: tuple[Seconds, ...] = field(metadata=named("delay"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerError(Rule):
    """The request is answered with an error, and not handled."""

    error: str
    """The error, by Kafka's name."""

    @property
    def code(self) -> ErrorCode:
        return ErrorCode[self.error]


class Dropped(Enum):
    """The dropped part of an exchange. The request is not handled in either case."""

    ANSWER = "answer"
    """No answer is sent, on this connection to no later request either: the client must time out."""
    CONNECTION = "connection"
    """The connection is closed instead of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(Rule):
    what: Dropped = field(metadata=named("drop"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire:
    """The session of a member expires now: by member id, instance id, or client id (all its members)."""

    member: str = field(metadata=named("expire"))
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Another process replaces a static member; a dynamic member is removed, as by an administrator."""

    member: str = field(metadata=named("fence"))
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnect:
    """The connections of a client id are closed; it can connect again."""

    client: str = field(metadata=named("disconnect"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTopic:
    """One change of a topic: it grows to `partitions`, is created, recreated with another id, or deleted."""

    topic: str
    partitions: PartitionCount | None = None
    create: PartitionCount | None = None
    recreate: PartitionCount | None = None
    delete: bool = False

    @property
    def change(self) -> str | None:
        """The field that is set; None unless exactly one is set."""
        given = [key for key in ("partitions", "create", "recreate") if getattr(self, key) is not None]
        given += ["delete"] if self.delete else []
        return given[0] if len(given) == 1 else None


class CoordinatorFault(Enum):
    MOVE = "move"
    """Another broker loads the log and takes over; the old one answers NOT_COORDINATOR."""
    CRASH = "crash"
    """The broker stops, and restarts later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailCoordinator:
    """The coordinator of a group, or of all groups."""

    fault: CoordinatorFault = field(metadata=named("coordinator"))
    group: str | None = None
    to: Annotated[int, Between(0, INT32)] | None = None
    """The broker that it moves to; None: the next one."""
    for_s: Seconds = field(default=0.0, metadata=named("for"))
    """How long the new coordinator loads, or the broker is down."""


Lasting: TypeAlias = Delay | AnswerError | Drop
"""Rules for requests."""
Action: TypeAlias = Expire | Fence | Disconnect | ChangeTopic | FailCoordinator
"""Faults that happen once."""
FaultEvent: TypeAlias = Lasting | Action
