"""The outputs of a member: requests, calls of its listener and assignors, exceptions of `poll`; and callbacks and
exceptions that wait."""

from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from assignors.conversation import AssignorMetadata, GroupMetadata
from coordinator.engine.calls import AnyRequest
from wire.values import dataclass


class TopicPartition(NamedTuple):
    """A partition, identified by its topic's name, as in clients."""

    topic: str
    partition: int


Partitions: TypeAlias = frozenset[TopicPartition]


@lru_cache(maxsize=1024)
def in_order(partitions: Partitions) -> tuple[TopicPartition, ...]:
    """By topic and number. Remembered: a member commits the same partitions again and again."""
    return tuple(sorted(partitions))


def without(partitions: Partitions, others: Partitions) -> tuple[TopicPartition, ...]:
    """The partitions that are not among the others, in order."""
    return in_order(partitions - others if others else partitions)


class CallbackKind(Enum):
    """A method of ConsumerRebalanceListener."""

    ASSIGNED = "assigned"
    REVOKED = "revoked"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class FindCoordinator:
    """Find the coordinator of the group. The answer is a node's number, or None while it is unknown."""

    group: str


class Send(NamedTuple):
    """Send a request to a node; the driver then calls `answered(number, …)` or `failed(number, …)`."""

    number: int
    node: int | None  # The coordinator; None: any broker, for FindCoordinator
    request: AnyRequest | FindCoordinator
    timeout_ms: int  # When the client's request times out and the connection is closed


@dataclass(frozen=True, slots=True)
class Callback:
    """Call the rebalance listener; the driver then calls `called_back`. Until then `poll` does nothing."""

    kind: CallbackKind
    partitions: Partitions


class AssignorMethod(Enum):
    """A method of ConsumerPartitionAssignor, or of KIP-848's PartitionAssignor."""

    SUBSCRIPTION_USER_DATA = "subscription_user_data"
    METADATA = "metadata"
    ASSIGN = "assign"
    ON_ASSIGNMENT = "on_assignment"


class AssignedMember(NamedTuple):
    """A member in a call of `assign`: its user data, and what it is assigned."""

    member: str  # Its member id
    sent: bytes | None
    partitions: Partitions
    user_data: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorCall:
    """A custom assignor was called, and has returned or thrown. The driver has nothing to do."""

    assignor: str
    method: AssignorMethod
    topics: tuple[str, ...] = ()  # The subscription that `subscription_user_data` or `metadata` takes
    user_data: bytes | None = None  # What that returned, or what `on_assignment` takes
    metadata: AssignorMetadata | None = None  # What `metadata` returned
    partitions: Partitions = frozenset()  # What `on_assignment` takes
    group: GroupMetadata | None = None  # What `on_assignment` takes
    error_code: int = 0  # What `on_assignment` takes in KIP-848's client side: the assignor's code
    members: tuple[
        AssignedMember, ...
    ] = ()  # What `assign` takes and returned, in the order of JoinGroup's answer
    error: str = ""  # The exception's message, if it threw


@dataclass(frozen=True, slots=True)
class Warned:
    """The client logs a warning."""

    message: str


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception leaves `poll` or another method of the consumer: the application is out of `poll` now."""

    error: str  # The class of the exception, as Java names it
    message: str = ""
    is_refusal: bool = False  # Whether the call had no effect, and the consumer is unchanged


class Committed(NamedTuple):
    """The end of a commit. Offsets by partition; `error` is the class of its exception, empty on success."""

    offsets: dict[TopicPartition, int]
    error: str = ""


@dataclass(frozen=True, slots=True)
class Positioned:
    """Partitions are read from these offsets: -1 if none was committed."""

    offsets: dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Closed:
    """`close` has finished: the process may stop."""


@dataclass(frozen=True, slots=True)
class DueCallback:
    """A callback that waits for `poll`."""

    kind: CallbackKind
    partitions: Partitions
    then: Callable[[int], None]  # The next step when the callback has returned; takes the time in ms
    assigned: Partitions | None = None
    """The partitions that are owned as soon as it is called; None: unchanged."""


@dataclass(frozen=True, slots=True)
class DueFailure:
    """An exception that waits for `poll`."""

    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Deadlocked:
    """The client's threads wait for each other: no input has an effect any more, though the process runs."""


@dataclass(frozen=True, slots=True)
class CollectingChanges:
    """Topics have changed; the member collects further changes for this long before it rejoins."""

    for_ms: int


Output: TypeAlias = (
    Send
    | Callback
    | AssignorCall
    | Warned
    | Raised
    | Committed
    | Positioned
    | Closed
    | Deadlocked
    | CollectingChanges
)
