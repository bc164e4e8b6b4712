"""Forgetting committed offsets, and whole groups: what would go, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groups.model import Group, GroupState, GroupType, Member, Problem
from groups.offsets.model import Place
from groups.offsets.plan import is_active, named, named_members, other_tool
from groups.offsets.scope import TopicScope, committed_in

EMBEDDED = "consumer"
"""The protocol type of groups whose members' subscriptions the coordinator can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsDeletion:
    """The committed offsets of one group that would go."""

    group: str
    type: GroupType
    state: GroupState
    members: tuple[Member, ...]
    offsets: tuple[tuple[Place, int | None], ...]
    """Every partition with its committed offset; None where that could not be read."""
    refusals: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def count(self) -> int:
        """How many offsets would go."""
        return len(self.offsets)

    @property
    def applicable(self) -> bool:
        """Whether there is something to delete, and nothing speaks against it."""
        return bool(self.offsets) and not self.refusals and not self.problems


def plan_offsets_deletion(
    group: Group, scopes: Sequence[TopicScope], problems: Sequence[Problem] = ()
) -> OffsetsDeletion:
    """What a group has committed within the scopes; `problems` are those of reading it."""
    committed = group.offsets or {}
    places = committed_in(scopes, committed)
    return OffsetsDeletion(
        group=group.id,
        type=group.type,
        state=group.state,
        members=group.members,
        offsets=tuple(((topic, number), committed[topic][number].offset) for topic, number in places),
        refusals=tuple(_refusals(group, scopes)),
        problems=(*problems, *(() if problems else _nothing(group, scopes))),
    )


def _nothing(group: Group, scopes: Sequence[TopicScope]) -> Iterator[Problem]:
    """A problem for each scope in which nothing is committed: most likely the name is wrong."""
    for scope in scopes:
        if not committed_in([scope], group.offsets or {}):
            partitions = "" if scope.partitions is None else f":{','.join(map(str, scope.partitions))}"
            message = "the group shows no committed offset there"
            yield Problem(subject=f"{group.id}, {scope.topic}{partitions}", message=message)


def _refusals(group: Group, scopes: Sequence[TopicScope]) -> Iterator[Problem]:
    """As `GroupMetadataManager` sees it: offsets of topics that a member subscribes to stay."""
    if tool := other_tool(group):
        yield tool
    elif is_active(group) and group.type is GroupType.CLASSIC and group.protocol_type not in (EMBEDDED, None):
        yield Problem(subject=group.id, message=f"{named_members(group)}; stop them, then try again")
    else:
        for topic in dict.fromkeys(scope.topic for scope in scopes):
            readers = [member for member in group.members if _reads(member, topic)]
            if readers:
                message = (
                    f"{named(readers)} subscribe{'s' if len(readers) == 1 else ''} to it; stop them first"
                )
                yield Problem(subject=f"{group.id}, {topic}", message=message)


def _reads(member: Member, topic: str) -> bool:
    return topic in (member.owned or ()) or bool(member.subscription and topic in member.subscription.topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDeletion:
    """A group that would go, with everything that it has committed."""

    group: str
    type: GroupType
    state: GroupState
    members: tuple[Member, ...]
    offsets: int | None
    """How many partitions it has committed offsets of; None when not known."""
    refusals: tuple[Problem, ...] = ()

    @property
    def applicable(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.refusals


def plan_group_deletion(group: Group) -> GroupDeletion:
    """What deleting a group would take; a coordinator only deletes groups without members, of any type."""
    active = is_active(group)
    message = f"{named_members(group)}; stop them, then try again" if active else ""
    return GroupDeletion(
        group=group.id,
        type=group.type,
        state=group.state,
        members=group.members,
        offsets=None if group.offsets is None else sum(map(len, group.offsets.values())),
        refusals=(Problem(subject=group.id, message=message),) if active else (),
    )
