"""What a gate asks of a group, as data: a plan file holds it, `gate` evaluates it.

Each condition is about what a broker shows. Who was restarted cannot be seen directly: a restarted member has a
new member id, so `Replaced` compares with the ids that the group had when the step began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from groups.model import GroupState, GroupType, MemberProtocol
from groups.trees import Tagged


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeIs:
    """The group is of this type."""

    type: GroupType


@dataclass(frozen=True, slots=True, kw_only=True)
class StateIn:
    """The group is in one of these states."""

    states: tuple[GroupState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolIs:
    """The assignor in use (the classic group's protocol, or the assignor of a consumer group)."""

    protocol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCount:
    """The group has at least, and at most, so many members; None is no bound."""

    at_least: int | None = None
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaking:
    """So many members, or all where None, speak this protocol."""

    protocol: MemberProtocol
    at_least: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """Members that were there when the step began have gone or come back under new ids.

    At least the members of the rounds that are done (of all rounds, for the whole step).
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class NoUserData:
    """No member's assignment carries user data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Precedes:
    """Among the members but the leader, one with this client id comes first in the broker's order of succession."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Leads:
    """A member with this client id leads the group (where the leader can be known), or leads by succession."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """No member has this client id."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A member has this client id."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OthersAlso:
    """A member outside the plan is there: neither in the plan nor new in the place of one that was."""


Condition: TypeAlias = Annotated[
    TypeIs
    | StateIn
    | ProtocolIs
    | MemberCount
    | Speaking
    | Replaced
    | NoUserData
    | Precedes
    | Leads
    | Absent
    | Present
    | OthersAlso,
    Tagged("check"),
]
