"""What comes out of a member: requests to send, listener calls to make, exceptions that leave `poll`; and what waits
in it until it can come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from coordinator.engine.calls import Request


class TopicPartition(NamedTuple):
    """A partition, as clients name it."""

    topic: str
    partition: int


Partitions: TypeAlias = frozenset[TopicPartition]


class CallbackKind(Enum):
    """A method of ConsumerRebalanceListener."""

    ASSIGNED = "assigned"
    REVOKED = "revoked"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class FindCoordinator:
    """Who coordinates the group? Its answer is a node's number, or None while there is none."""

    group: str


class Send(NamedTuple):
    """Send a request to a node; the driver comes back with `answered(number, …)` or `failed(number, …)`."""

    number: int
    node: int | None
    """The coordinator; None is any broker, which FindCoordinator goes to."""
    request: Request[Any] | FindCoordinator
    timeout_ms: int
    """When the client gives the request up and closes the connection."""


@dataclass(frozen=True, slots=True)
class Callback:
    """Call the rebalance listener; the driver comes back with `called_back`. Nothing goes on in `poll` meanwhile."""

    kind: CallbackKind
    partitions: Partitions


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception leaves `poll`, `commitSync`, `subscribe` or `close`: the application is out of `poll` now."""

    error: str
    """The class of the exception, as Java names it."""
    message: str = ""
    is_refusal: bool = False
    """Whether the call had no effect, and the consumer is what it was."""


class Committed(NamedTuple):
    """A commit has ended: of offsets by partition; `error` is the class of its exception, empty where there is none."""

    offsets: dict[TopicPartition, int]
    error: str = ""


@dataclass(frozen=True, slots=True)
class Positioned:
    """Partitions are read from these offsets on: -1 where none was committed."""

    offsets: dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Closed:
    """`close` is over: the process may end."""


@dataclass(frozen=True, slots=True)
class DueCallback:
    """A callback that waits for `poll`."""

    kind: CallbackKind
    partitions: Partitions
    then: Callable[[int], None]
    """What is done, at a time in ms, when it has returned."""
    assigned: Partitions | None = None
    """What is owned from the call on."""


@dataclass(frozen=True, slots=True)
class DueFailure:
    """An exception that waits for `poll`."""

    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Deadlocked:
    """The client's threads wait for each other: nothing that comes in is taken up any more, though the process runs."""


Output: TypeAlias = Send | Callback | Raised | Committed | Positioned | Closed | Deadlocked
