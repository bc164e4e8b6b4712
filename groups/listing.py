"""The entries of a list of groups, and why some are missing: all of the model that `kohort list`, run often, needs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from wire.suggestion import did_you_mean


class GroupType(Enum):
    """Group types with their names in ListGroups v5; `generic` is an earlier name of classic."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"
    UNKNOWN = "unknown"

    @classmethod
    def parse(cls, text: str) -> "GroupType":
        """From a name in any case; ValueError lists the names."""
        name = text.strip().lower()
        if name == "generic":
            return cls.CLASSIC
        try:
            return cls(name)
        except ValueError:
            known = [member.value for member in cls if member is not cls.UNKNOWN]
            hint = did_you_mean(name, known) or f"; known: {', '.join(known)} (generic means classic)"
            raise ValueError(f"unknown group type {text!r}{hint}") from None


class GroupState(Enum):
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
    def parse(cls, text: str) -> "GroupState":
        """From a name in any case, with or without underscores; ValueError lists the names."""
        name = text.strip().replace("_", "").lower()
        for state in cls:
            if state.value.lower() == name:
                return state
        known = [state.value for state in cls]
        hint = did_you_mean(text.strip(), known) or f"; known: {', '.join(known)}"
        raise ValueError(f"unknown group state {text!r}{hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupListing:
    id: str
    type: GroupType
    state: GroupState
    protocol_type: str | None = None
    protocol: str | None = None
    members: int | None = None


def shown_id(group: str) -> str:
    """A group's id in a text: quoted if it is empty or has blanks at an end, which Kafka allows (KIP-289)."""
    return group if group == group.strip(" ") != "" else f"'{group}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFilter:
    """Selects the groups of a list that meet every condition. Every group meets an empty condition."""

    types: frozenset[GroupType] = frozenset()
    states: frozenset[GroupState] = frozenset()
    protocols: frozenset[str] = frozenset()  # Protocol types or assignors, in lower case
    has_name: Callable[[str], bool] | None = None

    def may_mean(self, name: str) -> bool:
        """Whether the filter may select a group of this name; other conditions are not checked."""
        return self.has_name is None or self.has_name(name)

    def passes(self, group: GroupListing) -> bool:
        return self.may_mean(group.id) and self.mismatch(group) is None

    def mismatch(self, group: GroupListing) -> str | None:
        """The first condition that a group does not meet, except the one on its name; None if it meets all."""
        words = {word.lower() for word in (group.protocol_type, group.protocol) if word}
        if self.types and group.type not in self.types:
            return f"its type is {group.type.value}, not {_either(kind.value for kind in self.types)}"
        if self.states and group.state not in self.states:
            return f"its state is {group.state.value}, not {_either(state.value for state in self.states)}"
        if self.protocols and not self.protocols & words:
            protocol = " with ".join(word for word in (group.protocol_type, group.protocol) if word)
            return f"its protocol is {protocol or 'not known'}, not {_either(self.protocols)}"
        return None


def _either(words: Iterable[str]) -> str:
    return " or ".join(sorted(words))


class Cause(Enum):
    UNREAD = "unread"  # the broker did not answer, or not readably: the subject may exist
    ABSENT = "absent"  # the responsible broker reports that the subject does not exist
    FORBIDDEN = "forbidden"  # This user is not authorized


MALFORMED = "MALFORMED"  # a member's subscription or assignment cannot be read; Kafka has no name for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that could not be read; returned together with the data that could."""

    subject: str  # the name of the unreadable thing, for people
    message: str
    cause: Cause = Cause.UNREAD
    group: str | None = None  # the group that could not be read, or whose committed offsets could not be read
    topics: tuple[str, ...] = ()  # the topics that could not be read
    error: str | None = None  # its name in Kafka's protocol, if a broker reported one; or MALFORMED


@lru_cache(maxsize=64)  # a fleet has thousands of groups, and few states
def state_of(text: str | None) -> GroupState:
    """Parse a state as brokers write it; a state that a later Kafka adds becomes unknown."""
    try:
        return GroupState.parse(text or "Unknown")
    except ValueError:
        return GroupState.UNKNOWN


@lru_cache(maxsize=64)
def type_of(text: str | None) -> GroupType:
    """Parse a type as ListGroups v5 writes it; older brokers write no type and have classic groups only."""
    if not text:
        return GroupType.CLASSIC
    try:
        return GroupType.parse(text)
    except ValueError:
        return GroupType.UNKNOWN
