"""The faults that can be injected into a server; simulations change topics and coordinators in the same way."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, TypeAlias

from groups.model import wrong_topic_name
from groups.trees import INT32, INT64, Between, Malformed, named
from wire.errors import ErrorCode

MAX_SECONDS = 30 * 86_400
Seconds = Annotated[float, Between(0, MAX_SECONDS, "s")]
PartitionCount = Annotated[int, Between(1, 100_000)]
"""The maximum is per topic. A simulation keeps all partitions in memory and checks each after every step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    at: Seconds = 0.0  # When, in a file: counted from the start of the server or of the simulation


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRule(_Event):
    """Matches requests that satisfy every condition; names as in a shell, with `*` and `?`: one of them must match."""

    api: tuple[str, ...] = ()  # the APIs, by Kafka's names; none: all
    client: str | None = None  # the client id
    group: str | None = None
    topic: str | None = None
    member: str | None = None  # the member id
    times: Annotated[int, Between(1, INT32)] | None = None  # how many requests are affected; None: any number
    for_s: Seconds | None = field(default=None, metadata=named("for"))  # None: until it is cleared
    chance: Annotated[float, Between(0, 1)] = 1.0  # the probability for each request that matches
    seed: Annotated[int, Between(0, INT64)] = 0  # determines the affected requests, and the delay


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay(RequestRule):
    """The request is handled later, by a time between the two bounds."""

    bounds_s: tuple[Seconds, ...] = field(metadata=named("delay"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerError(RequestRule):
    """The request is answered with an error, and not handled."""

    error: str  # the error, by Kafka's name

    @property
    def code(self) -> ErrorCode:
        return ErrorCode[self.error]


class Dropped(Enum):
    """The dropped part of an exchange. The request is not handled in either case."""

    ANSWER = "answer"  # on this connection none to later requests either: the client must time out
    CONNECTION = "connection"  # the connection is closed instead of an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(RequestRule):
    what: Dropped = field(metadata=named("drop"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire(_Event):
    """The session of a member expires now: by member id, instance id, or client id (all its members)."""

    member: str = field(metadata=named("expire"))
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence(_Event):
    """Another process replaces a static member; a dynamic member is removed, as by an administrator."""

    member: str = field(metadata=named("fence"))
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnect(_Event):
    """The connections of a client id are closed; it can connect again."""

    client: str = field(metadata=named("disconnect"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTopic(_Event):
    """One change of a topic: it grows to `partitions`, is created, recreated with another id, or deleted."""

    topic: str
    partitions: PartitionCount | None = None
    create: PartitionCount | None = None
    recreate: PartitionCount | None = None
    delete: bool = False

    @property
    def count(self) -> int | None:
        """The number of its partitions from now on; None: it is deleted."""
        return self.partitions or self.create or self.recreate

    @property
    def deletes(self) -> bool:
        """Whether the present topic and its partitions are deleted, to be recreated or not."""
        return self.delete or self.recreate is not None

    def check(self) -> None:
        """Raises Malformed: the name is invalid, or there is not exactly one change."""
        if (wrong := wrong_topic_name(self.topic)) is not None:
            raise Malformed(wrong, "topic")
        if (self.partitions, self.create, self.recreate, self.delete or None).count(None) != 3:
            raise Malformed("needs one of partitions, create, recreate and delete", "topic")


class CoordinatorFault(Enum):
    CRASH = "crash"  # the broker restarts later; in a simulation it stops between append and answer
    MOVE = "move"  # Another broker loads the log and takes over; the old one answers NOT_COORDINATOR
    ZOMBIE = "zombie"  # like MOVE, but the old one answers for this long; its records are lost


@dataclass(frozen=True, slots=True, kw_only=True)
class FailCoordinator(_Event):
    """The coordinator of all groups, or on a server of one."""

    fault: CoordinatorFault = field(metadata=named("coordinator"))
    for_s: Seconds = field(default=0.0, metadata=named("for"))  # of the crash, the loading, or the zombie
    group: str | None = None  # Server only
    to: Annotated[int, Between(0, INT32)] | None = None  # None: the next broker. Server only
    compacted: bool = False  # before it is loaded; the seed decides how far. Simulation only


Lasting: TypeAlias = Delay | AnswerError | Drop  # Rules for requests
Action: TypeAlias = Expire | Fence | Disconnect | ChangeTopic | FailCoordinator  # Faults that happen once
FaultEvent: TypeAlias = Lasting | Action
