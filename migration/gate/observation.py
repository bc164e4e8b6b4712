"""A gate's observation: the group now, the group before, and the members replaced since a step started.

A restarted member rejoins under a new id. Its instance id stays, its client id mostly (a pod's may change), its host
often: new members are matched with those that have left by as many of these as agree, and finally by their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from groups.model import Cluster, Group, GroupState, GroupType, Member
from migration.model import OfClient, Plan, PlannedMember, ProtocolIs, Step, TypeIs

SETTLED_STATES = frozenset({GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD})


@dataclass(frozen=True, kw_only=True)
class GateObservation:
    """The group at a moment, with a step of a plan.

    Without a group: no group has that id.
    """

    plan: Plan
    position: int
    """The step's place, from 0; -1 before the first one."""
    group: Group | None
    cluster: Cluster
    partitions: Mapping[str, int] = field(default_factory=dict)
    """Partition counts of topics, 0 for a deleted one; unknown ones are left out."""
    is_whole: bool = True
    """Whether a group that is not shown does not exist; a snapshot may contain only some of a cluster's groups."""
    began_with: tuple[PlannedMember, ...] | None = None
    """The members when the step started; None where they were not recorded."""
    was_open: bool = False
    """Whether this gate has been open before."""
    round: int | None = None
    """The round that is checked, from 1; None for the whole step."""

    @property
    def step(self) -> Step | None:
        """The step that is checked; None before the first one."""
        return self.plan.steps[self.position] if self.position >= 0 else None

    @property
    def members(self) -> tuple[Member, ...]:
        return self.group.members if self.group else ()

    @property
    def is_settled(self) -> bool:
        """Whether the group is in no rebalance, according to its state."""
        return self.group is None or self.group.state in SETTLED_STATES

    @cached_property
    def temporary_ids(self) -> frozenset[str]:
        """Client ids of the temporary members that the plan starts and stops."""
        baseline = self.plan.baseline
        known = {one.client_id for one in baseline.members} if baseline else set()
        return frozenset(_temporary_ids(self.plan.steps)) - known

    @cached_property
    def membership_diff(self) -> MembershipDiff | None:
        """Since the step started; None where the members of that moment are not known."""
        return None if self.began_with is None else self._since(self.began_with)

    @cached_property
    def since_plan(self) -> MembershipDiff | None:
        """Since the plan was made; None for a plan without a baseline."""
        return None if self.plan.baseline is None else self._since(self.plan.baseline.members)

    @property
    def roster(self) -> MembershipDiff | None:
        """Since the step started, or if the group had no members then, since the plan was made; None if unknown."""
        for since in (self.membership_diff, self.since_plan):
            if since is not None and (since.stayed or since.gone):
                return since
        return None

    def _since(self, then: Sequence[PlannedMember]) -> MembershipDiff:
        return membership_diff(
            then, [PlannedMember.of(member) for member in self.members], self.temporary_ids
        )


def _temporary_ids(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        for condition in (*step.gate, *step.between):
            if isinstance(condition, OfClient):
                yield condition.client_id


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipDiff:
    """The members of then and of now; temporary members, which a plan starts and stops, are left out."""

    stayed: tuple[PlannedMember, ...]
    """Still there under the same id."""
    gone: tuple[PlannedMember, ...]
    """There no more under that id: stopped, or restarted."""
    new: tuple[PlannedMember, ...]
    """Now there under an id that was not there then."""
    missing: tuple[PlannedMember, ...]
    """Of those that have left, those that no member replaced."""
    surplus: tuple[PlannedMember, ...]
    """Of the new ones, those that replace no member."""


def membership_diff(
    then: Sequence[PlannedMember], now: Sequence[PlannedMember], temporary_ids: Collection[str]
) -> MembershipDiff:
    """Compare; `temporary_ids` are client ids."""
    then = [one for one in then if one.client_id not in temporary_ids]
    now = [one for one in now if one.client_id not in temporary_ids]
    ids_then, ids_now = {one.id for one in then}, {one.id for one in now}
    gone = [one for one in then if one.id not in ids_now]
    new = [one for one in now if one.id not in ids_then]
    missing, surplus = gone, new
    for key in _LIKENESS:
        missing, surplus = _unmatched(missing, surplus, key)
    return MembershipDiff(
        stayed=tuple(one for one in then if one.id in ids_now),
        gone=tuple(gone),
        new=tuple(new),
        missing=tuple(missing),
        surplus=tuple(surplus),
    )


def is_named(member: PlannedMember, names: Collection[str]) -> bool:
    """Whether rounds that use these names mean the member."""
    return any(name in names for name in member.called)


_Key = Callable[[PlannedMember], object]
_LIKENESS: tuple[_Key, ...] = (
    lambda one: one.instance,
    lambda one: one.client_id and one.host and (one.client_id, one.host),
    lambda one: one.client_id,
    lambda one: one.host,
    lambda _: True,
)
"""What two members may have in common, the strongest first; None is nothing."""


def _unmatched(
    gone: Sequence[PlannedMember], new: Sequence[PlannedMember], key: _Key
) -> tuple[list[PlannedMember], list[PlannedMember]]:
    """Those of both that are left when members with the same key are paired."""
    waiting: dict[object, list[PlannedMember]] = defaultdict(list)
    for one in reversed(gone):
        if key(one) is not None:
            waiting[key(one)].append(one)
    matched: set[str] = set()
    surplus = []
    for one in new:
        if key(one) is not None and waiting[key(one)]:
            matched.add(waiting[key(one)].pop().id)
        else:
            surplus.append(one)
    return [one for one in gone if one.id not in matched], surplus


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """None is anything."""

    type: GroupType | None
    protocol: str | None

    def __str__(self) -> str:
        kind = self.type.value if self.type else "any type"
        return f"{kind} ({self.protocol})" if self.protocol else kind


def outcomes(plan: Plan) -> tuple[StepOutcome, ...]:
    """Before the first step, and after each."""
    baseline = plan.baseline
    found = [
        StepOutcome(type=baseline.type, protocol=baseline.protocol or None)
        if baseline
        else StepOutcome(type=None, protocol=None)
    ]
    for step in plan.steps:
        found.append(_outcome_of(step, found[-1]))
    return tuple(found)


def _outcome_of(step: Step, before: StepOutcome) -> StepOutcome:
    kinds = [one.type for one in step.gate if isinstance(one, TypeIs)]
    protocols = [one.protocol for one in step.gate if isinstance(one, ProtocolIs)]
    kind = kinds[-1] if kinds else before.type
    if protocols:
        return StepOutcome(type=kind, protocol=protocols[-1])
    return StepOutcome(type=kind, protocol=before.protocol if kind is before.type else None)
