"""The simulated group as a broker describes it."""

from __future__ import annotations

from dataclasses import replace

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.target_assignment import shown_assignor
from coordinator.engine.context import Group as EngineGroup
from coordinator.engine.groups import Names, consumer_group
from coordinator.engine.records import ClassicMemberValue
from coordinator.store.described_groups import classic_member
from groups import described
from groups.model import Group, GroupState, GroupType, Member


class Description:
    """Describes one group repeatedly; returns the same object if the group has not changed since the last time.

    A gate asks for it every two seconds, and most of the work is parsing the metadata and assignments of the members
    of a large classic group.
    """

    def __init__(self, name: str, default_assignor: str) -> None:
        """`name` is the group's id; the brokers' `default_assignor` is shown if no member requests an assignor."""
        self._name, self._default_assignor = name, default_assignor
        self._described_by: object = None
        """The input of the last description."""
        self._last: Group | None = None
        self._members: dict[ClassicMemberValue, Member] = {}
        """Members of the last description of a classic group, by the coordinator's value of each."""
        self._are_stable = False

    def of(self, group: EngineGroup | None, names: Names) -> Group | None:
        """The present group with its leader; None if there is no group. `names`: topic names by id."""
        if isinstance(group, ClassicGroup):
            return self._classic(group)
        return self._consumer(group, names) if isinstance(group, ConsumerGroup) else None

    def _classic(self, group: ClassicGroup) -> Group:
        is_stable = group.state is GroupState.STABLE
        protocol = (group.protocol or None) if is_stable else None
        assignments = {member.id: member.assignment for member in group.members.values()}
        values = group.member_values(protocol, assignments)
        bare = Group(
            id=self._name,
            type=GroupType.CLASSIC,
            state=group.state,
            protocol_type=group.protocol_type,
            protocol=protocol,
            generation=group.generation,
            leader=group.leader,
        )
        if self._last is not None and self._described_by == (bare, values):
            return self._last
        known = self._members if is_stable is self._are_stable else {}
        new = [value for value in values if value not in known]
        read = described.classic_group(bare, map(classic_member, new), stable=is_stable)[0].members
        self._members = known | dict(zip(new, read, strict=True))
        self._are_stable = is_stable
        members = tuple(self._members[value] for value in values)
        return self._remember((bare, values), replace(bare, members=members))

    def _consumer(self, group: ConsumerGroup, names: Names) -> Group:
        assignor = shown_assignor(group.requested_assignors(), self._default_assignor)
        members, targets = tuple(group.members.values()), tuple(group.targets.items())
        source = (group.epoch, group.assignment_epoch, group.capacity, assignor, members, targets, names)
        if self._last is not None and self._described_by == source:
            return self._last
        return self._remember(source, replace(consumer_group(group, names, assignor), id=self._name))

    def _remember(self, source: object, group: Group) -> Group:
        self._described_by, self._last = source, group
        return group
