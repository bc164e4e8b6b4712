"""An assignor: a pure function with a name, a side and the rebalance protocols that it supports, and what runs of it at
each member (`assignors.conversation`)."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from assignors.conversation import ApplicationState, MemberAssignor
from assignors.model import Claim, DenseGroup, Result


class Side(Enum):
    """The side that computes assignments: the leader among the clients (classic protocol) or the broker (KIP-848)."""

    CLIENT = "client"
    BROKER = "broker"


class Leader(Enum):
    """The library of a classic group's leader, which decides which implementation of an assignor runs."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"


class RebalanceProtocol(Enum):
    """KIP-429: how much a member revokes before it rejoins. A higher value is preferred."""

    EAGER = 0
    COOPERATIVE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignor:
    """An assignor. `assign` is pure; raises AssignorFailedError if the real one would throw."""

    name: str
    side: Side
    leader: Leader | None  # None on the broker, and for custom assignors that any leader may run
    protocols: frozenset[RebalanceProtocol]
    """Rebalance protocols that the assignor supports; empty on the broker."""
    assign: Callable[[DenseGroup], Result]
    version: int = 0
    """The version of its user data, and the oldest one that it reads, for KIP-848's client side. Java's consumer never
    calls `version()` of a ConsumerPartitionAssignor: an assignor writes the version into its bytes."""
    oldest_version: int = 0
    at_member: Callable[[ApplicationState], MemberAssignor] = MemberAssignor
    """Makes what runs of it at one member."""
    time_limit_s: float = 60.0
    """How long a method of a custom assignor may run (`assignors.guard`)."""
    claim: Callable[[bytes], Claim] | None = None
    """What a member claims in its user data. None: it claims the `ownedPartitions` of its subscription."""
    shares_partitions: bool = False
    """Whether a partition may get several owners, such as an index read twice. Clients accept it, brokers do not."""

    @property
    def may_share(self) -> bool:
        return self.shares_partitions and self.side is Side.CLIENT
