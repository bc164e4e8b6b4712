"""What a list of groups says; a part of its own because a list needs nothing else of `groups.model`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class GroupType(Enum):
    """Group types as ListGroups v5 names them; `generic` is what the old texts call classic."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"
    UNKNOWN = "unknown"

    @classmethod
    def parse(cls, text: str) -> GroupType:
        """From a name in any case; ValueError lists the names."""
        name = text.strip().lower()
        if name == "generic":
            return cls.CLASSIC
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(member.value for member in cls if member is not cls.UNKNOWN)
            raise ValueError(f"unknown group type {text!r}; known: {known} (generic is classic)") from None


class GroupState(Enum):
    """Group states as Kafka prints them."""

    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    EMPTY = "Empty"
    DEAD = "Dead"
    NOT_READY = "NotReady"
    UNKNOWN = "Unknown"

    @classmethod
    def parse(cls, text: str) -> GroupState:
        """From a name in any case, with or without underscores; ValueError lists the names."""
        wanted = text.strip().replace("_", "").lower()
        for state in cls:
            if state.value.lower() == wanted:
                return state
        known = ", ".join(state.value for state in cls)
        raise ValueError(f"unknown group state {text!r}; known: {known}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupListing:
    """A row of a group list."""

    id: str
    type: GroupType
    state: GroupState
    protocol_type: str | None = None
    protocol: str | None = None
    members: int | None = None
