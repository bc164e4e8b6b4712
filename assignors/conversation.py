"""What an assignor does at each member, besides `assign`: it puts bytes into the member's subscription and is called
with its assignment. Java makes one object for each consumer, which may keep state; here that is a `MemberAssignor`.
Source: ConsumerPartitionAssignor (KIP-429); PartitionAssignor of KIP-848's client side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from assignors.model import Partitions

ApplicationState: TypeAlias = Mapping[str, str]
"""What a member's application shows its assignors, by name: Java passes it to `Configurable.configure`. A view: the
application may change values while the member runs."""
NO_STATE: ApplicationState = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetadata:
    """ConsumerGroupMetadata: a group, and the member that got an assignment in it."""

    group: str
    generation: int  # Its generation; the member epoch in the consumer protocol
    member: str
    instance: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAssignment:
    """What a leader assigned to one member."""

    partitions: Partitions
    user_data: bytes | None = None
    error: int = 0  # In KIP-848's client side: the assignor's own code of why there is no assignment, or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorMetadata:
    """KIP-848's client side: a member's bytes for the others, and their version. A `reason` other than 0, a code of the
    assignor, asks for a rebalance."""

    reason: int = 0
    version: int | None = None  # None: the assignor's
    data: bytes = b""


class MemberAssignor:
    """An assignor at one member. A subclass overrides what it needs; any method may raise AssignorFailedError, with the
    message of the exception that the real one would throw."""

    def __init__(self, state: ApplicationState) -> None:
        self.state = state

    def subscription_user_data(self, _topics: Sequence[str], /) -> bytes | None:
        """The bytes in the member's subscription to these topics; called before each JoinGroup."""
        return None

    def on_assignment(self, _assignment: MemberAssignment, _group: GroupMetadata, /) -> None:
        """The member got an assignment that this assignor computed; called before its listener's `assigned`."""

    def metadata(self, topics: Sequence[str], /) -> AssignorMetadata:
        """In place of `subscription_user_data` in KIP-848's client side, before each heartbeat. A change of the bytes
        causes another assignment, as a `reason` does."""
        return AssignorMetadata(data=self.subscription_user_data(topics) or b"")
