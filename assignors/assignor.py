"""An assignor: a pure function with a name, a side and the rebalance protocols that it supports."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from assignors.model import DenseGroup, Result


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
    """An assignor. `assign` is pure; it raises AssignorFailedError if the real assignor would throw."""

    name: str
    side: Side
    leader: Leader | None  # None on the broker, and for custom assignors that any leader may run
    protocols: frozenset[RebalanceProtocol]
    """Rebalance protocols that the assignor supports; empty on the broker."""
    assign: Callable[[DenseGroup], Result]
    shares_partitions: bool = False
    """Whether a partition may get several owners, such as an index read twice. Clients accept it, brokers do not."""

    @property
    def may_share(self) -> bool:
        return self.shares_partitions and self.side is Side.CLIENT
