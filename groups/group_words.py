"""Group states and types as brokers write them."""

from __future__ import annotations

from groups.group_listing import GroupState, GroupType
from groups.problem import Problem


def state_of(text: str | None) -> GroupState:
    """A state as the broker writes it; one that a later broker adds is unknown."""
    try:
        return GroupState.parse(text or "Unknown")
    except ValueError:
        return GroupState.UNKNOWN


def type_of(text: str | None) -> GroupType:
    """A type as ListGroups v5 writes it; older brokers have classic groups only."""
    if text is None:
        return GroupType.CLASSIC
    try:
        return GroupType.parse(text)
    except ValueError:
        return GroupType.UNKNOWN


def says_no_such_group(problem: Problem) -> bool:
    """Whether it is known that there is no such group; in a log of which a part cannot be read it is not."""
    return problem.message.startswith("no such group") and "what can be read" not in problem.message
