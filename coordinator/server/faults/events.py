"""What can go wrong on demand. Where the file has another name for a field, its metadata have it (`groups.trees`).

The words are those of a scenario (docs/scenarios.md) where it has them: `topic`, `coordinator`, `for`. Times are in
seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, TypeAlias

from groups.trees import INT32, INT64, Between, named
from wire.errors import ErrorCode

MAX_SECONDS = 30 * 86_400
MAX_PARTITIONS = 100_000
Seconds = Annotated[float, Between(0, MAX_SECONDS)]
PartitionCount = Annotated[int, Between(1, MAX_PARTITIONS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which requests are met: those that fit every condition given. A request fits a name if it is among its names.

    `client`, `group` and `topic` may have `*` and `?`, as in a shell.
    """

    api: tuple[str, ...] = ()
    """By Kafka's names; none: all."""
    client: str | None = None
    """The client id."""
    group: str | None = None
    topic: str | None = None
    member: str | None = None
    """The member id."""
    times: Annotated[int, Between(1, INT32)] | None = None
    """How many requests are met; None: any number."""
    for_s: Seconds | None = field(default=None, metadata=named("for"))
    """How long the rule lasts; None: until it is cleared."""
    chance: Annotated[float, Between(0, 1)] = 1.0
    """Of each request that fits."""
    seed: Annotated[int, Between(0, INT64)] = 0
    """Which of them that are, and how long between the bounds of a delay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay(Rule):
    """The request is handled so much later: from the least to the greatest of two times."""

    bounds_s: tuple[Seconds, ...] = field(metadata=named("delay"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerError(Rule):
    """The request is answered with an error, and not handled."""

    error: str
    """By Kafka's name."""

    @property
    def code(self) -> ErrorCode:
        return ErrorCode[self.error]


class Dropped(Enum):
    """What of an exchange is lost. The request is not handled either way."""

    ANSWER = "answer"
    """No answer comes, on this connection to no later request either: the client must give it up."""
    CONNECTION = "connection"
    """The connection is closed in the place of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(Rule):
    what: Dropped = field(metadata=named("drop"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire:
    """The session of a member ends now: by member id, instance id, or client id (all members with it)."""

    member: str = field(metadata=named("expire"))
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Another process takes a static member's place; a dynamic member is removed, as by an administrator."""

    member: str = field(metadata=named("fence"))
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnect:
    """The connections of a client id are closed; it may connect again."""

    client: str = field(metadata=named("disconnect"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTopic:
    """One of: it grows to so many `partitions`, is created, created anew with another id, or deleted."""

    topic: str
    partitions: PartitionCount | None = None
    create: PartitionCount | None = None
    recreate: PartitionCount | None = None
    delete: bool = False

    @property
    def change(self) -> str | None:
        """Which of them; None for none or several."""
        given = [key for key in ("partitions", "create", "recreate") if getattr(self, key) is not None]
        given += ["delete"] if self.delete else []
        return given[0] if len(given) == 1 else None


class CoordinatorFault(Enum):
    MOVE = "move"
    """Another broker loads the log and takes over; the old one answers NOT_COORDINATOR."""
    CRASH = "crash"
    """The broker stops, and comes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailCoordinator:
    """The coordinator of a group, or of all groups."""

    fault: CoordinatorFault = field(metadata=named("coordinator"))
    group: str | None = None
    to: Annotated[int, Between(0, INT32)] | None = None
    """The broker that it moves to; None: the next one."""
    for_s: Seconds = field(default=0.0, metadata=named("for"))
    """How long the new one loads, or the broker is away."""


Lasting: TypeAlias = Delay | AnswerError | Drop
"""Rules for requests."""
Action: TypeAlias = Expire | Fence | Disconnect | ChangeTopic | FailCoordinator
"""What happens once."""
FaultEvent: TypeAlias = Lasting | Action
