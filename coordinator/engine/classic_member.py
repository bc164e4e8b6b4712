"""A member of a classic group, and the states of such a group.

Source: classic.ClassicGroupMember, classic.ClassicGroupState.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from coordinator.engine.calls import JoinProtocol
from coordinator.engine.records import ClassicMemberValue


class ClassicState(Enum):
    """As ListGroups and DescribeGroups name them."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    """Of a group that does not exist."""


PREVIOUS_STATES = {
    ClassicState.EMPTY: frozenset({ClassicState.PREPARING_REBALANCE}),
    ClassicState.PREPARING_REBALANCE: frozenset(
        {ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE, ClassicState.EMPTY}
    ),
    ClassicState.COMPLETING_REBALANCE: frozenset({ClassicState.PREPARING_REBALANCE}),
    ClassicState.STABLE: frozenset({ClassicState.COMPLETING_REBALANCE}),
}
"""From which states a group may come into another one. Restoring from a record is no transition."""


@dataclass(slots=True, kw_only=True)
class ClassicMember:
    """What a member joined with, and what it was given. Protocols stand in the member's order of preference."""

    id: str
    instance: str | None
    client_id: str
    host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[JoinProtocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    """In its first rebalance: even a parked JoinGroup does not keep it alive."""

    @classmethod
    def restored(cls, value: ClassicMemberValue, protocol: str) -> ClassicMember:
        """From a record, which knows only the chosen protocol's metadata."""
        return cls(
            id=value.member,
            instance=value.instance,
            client_id=value.client_id,
            host=value.host,
            rebalance_timeout_ms=_restored_timeout(value),
            session_timeout_ms=value.session_timeout_ms,
            protocols=(JoinProtocol(name=protocol, metadata=value.subscription),),
            assignment=value.assignment,
        )

    def restore(self, value: ClassicMemberValue) -> None:
        """Take a record's word for a member that is already known, except for its protocols."""
        if value.rebalance_timeout_ms != self.rebalance_timeout_ms:
            self.rebalance_timeout_ms = _restored_timeout(value)
        self.session_timeout_ms = value.session_timeout_ms
        self.client_id, self.host = value.client_id, value.host
        self.assignment = value.assignment

    def metadata(self, protocol: str | None) -> bytes | None:
        """For the protocol; None when the member does not support it."""
        return next((each.metadata for each in self.protocols if each.name == protocol), None)

    def protocol_names(self) -> list[str]:
        """Preferred first; a name that was sent twice counts once."""
        return list(dict.fromkeys(each.name for each in self.protocols))


def _restored_timeout(value: ClassicMemberValue) -> int:
    # Records older than version 1 have no rebalance timeout.
    return value.session_timeout_ms if value.rebalance_timeout_ms == -1 else value.rebalance_timeout_ms
