"""A gate's observation (the group now, the group before, the members replaced since a step started) and its result.

A restarted member has a new id: new members are matched with those that left by what they share, the rest by number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from groups.counts import first_names
from groups.model import Cluster, Group, GroupState, GroupType, Member
from migration.model import OfClient, Plan, PlannedMember, ProtocolIs, Step, TypeIs
from wire.values import dataclass

SETTLED_STATES = frozenset({GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD})


@dataclass(frozen=True, kw_only=True)
class GateObservation:
    """The group at a moment, with a step of a plan. Without a group: no group has that id."""

    plan: Plan
    position: int  # The step's index, from 0; -1 before the first one
    group: Group | None
    cluster: Cluster
    partitions: Mapping[str, int] = field(default_factory=dict)
    """Partition counts of topics, 0 for a deleted topic; unknown counts are left out."""
    is_whole: bool = True
    """Whether the source shows all groups; a snapshot may contain only some of a cluster's groups."""
    began_with: tuple[PlannedMember, ...] | None = None
    """The members when the step started; None if they were not recorded."""
    was_open: bool = False
    round: int | None = None  # The round that is checked, from 1; None for the whole step

    @property
    def step(self) -> Step | None:
        return self.plan.steps[self.position] if self.position >= 0 else None

    @property
    def members(self) -> tuple[Member, ...]:
        return self.group.members if self.group else ()

    @property
    def is_settled(self) -> bool:
        """Whether the group is not rebalancing, according to its state."""
        return self.group is None or self.group.state in SETTLED_STATES

    @cached_property
    def temporary_ids(self) -> frozenset[str]:
        """Client ids of the temporary members that the plan starts and stops."""
        baseline = self.plan.baseline
        known = {one.client_id for one in baseline.members} if baseline else set()
        conditions = [one for step in self.plan.steps for one in (*step.gate, *step.between)]
        return frozenset(one.client_id for one in conditions if isinstance(one, OfClient)) - known

    @cached_property
    def membership_diff(self) -> MembershipDiff | None:
        """The changes since the step started; None if the members of that moment are unknown."""
        return None if self.began_with is None else self._since(self.began_with)

    @cached_property
    def since_plan(self) -> MembershipDiff | None:
        """The changes since the plan was made; None for a plan without a baseline."""
        return None if self.plan.baseline is None else self._since(self.plan.baseline.members)

    @property
    def roster(self) -> MembershipDiff | None:
        """The changes since the step started, or if it had no members, since the plan was made; None if unknown."""
        for since in (self.membership_diff, self.since_plan):
            if since is not None and (since.stayed or since.gone):
                return since
        return None

    def _since(self, then: Sequence[PlannedMember]) -> MembershipDiff:
        return membership_diff(then, self.members, self.temporary_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipDiff:
    """The members then and now, without the temporary members that a plan starts and stops."""

    stayed: tuple[PlannedMember, ...]  # Members then that are still in the group under the same id
    gone: tuple[PlannedMember, ...]  # Members then whose id is no longer in the group: stopped, or restarted
    new: tuple[PlannedMember, ...]
    missing: tuple[PlannedMember, ...]  # Gone members that no member replaced
    surplus: tuple[PlannedMember, ...]  # New members that replace no member


def membership_diff(
    then: Sequence[PlannedMember], now: Sequence[Member], temporary_ids: Collection[str]
) -> MembershipDiff:
    then = [one for one in then if one.client_id not in temporary_ids]
    now = [one for one in now if one.client.id not in temporary_ids]
    ids_then, ids_now = {one.id for one in then}, {one.id for one in now}
    gone = [one for one in then if one.id not in ids_now]
    new = [PlannedMember.of(one) for one in now if one.id not in ids_then]
    successors = successors_of(gone, new)
    matched = {one.id for one in successors.values()}
    return MembershipDiff(
        stayed=tuple(one for one in then if one.id in ids_now),
        gone=tuple(gone),
        new=tuple(new),
        missing=tuple(one for one in gone if one.id not in successors),
        surplus=tuple(one for one in new if one.id not in matched),
    )


def is_named(member: PlannedMember, names: Collection[str]) -> bool:
    """Whether one of these names (as rounds use them) refers to the member."""
    return any(name in names for name in member.called)


Likeness = Callable[[PlannedMember], object]
SAME_PLACE: tuple[Likeness, ...] = (
    lambda one: one.instance,
    lambda one: one.client_id and one.host and (one.client_id, one.host),
)
SAME_CLIENT: tuple[Likeness, ...] = (*SAME_PLACE, lambda one: one.client_id)
ANY_MEMBER: tuple[Likeness, ...] = (*SAME_CLIENT, lambda one: one.host, lambda _: True)
"""Keys by which a new member is matched with a gone one, the strongest first; a key of None matches nothing."""


def successors_of(
    gone: Sequence[PlannedMember], new: Sequence[PlannedMember], likeness: Sequence[Likeness] = ANY_MEMBER
) -> dict[str, PlannedMember]:
    """The new member that replaces each gone one, by the gone one's id. By default any can replace any."""
    successors: dict[str, PlannedMember] = {}
    for key in likeness:
        if len(successors) == min(len(gone), len(new)):
            break
        waiting: dict[object, list[PlannedMember]] = defaultdict(list)
        for one in reversed(gone):
            if one.id not in successors and key(one) is not None:
                waiting[key(one)].append(one)
        matched = {one.id for one in successors.values()}
        for one in new:
            if one.id not in matched and key(one) is not None and waiting[key(one)]:
                successors[waiting[key(one)].pop().id] = one
    return successors


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """A group's type and assignor after a step; None: any."""

    type: GroupType | None
    protocol: str | None

    def __str__(self) -> str:
        kind = self.type.value if self.type else "any type"
        return f"{kind} ({self.protocol})" if self.protocol else kind


def outcomes(plan: Plan) -> tuple[StepOutcome, ...]:
    kind, protocol = (plan.baseline.type, plan.baseline.protocol) if plan.baseline else (None, None)
    reached = [StepOutcome(type=kind, protocol=protocol or None)]
    for step in plan.steps:
        before = reached[-1]
        kinds = [one.type for one in step.gate if isinstance(one, TypeIs)]
        protocols = [one.protocol for one in step.gate if isinstance(one, ProtocolIs)]
        kind = kinds[-1] if kinds else before.type
        kept = before.protocol if kind is before.type else None
        reached.append(StepOutcome(type=kind, protocol=protocols[-1] if protocols else kept))
    return tuple(reached)


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedMember:
    label: str  # Its instance id or client id if it has one, else its member id
    id: str  # Its present or last id in the group
    host: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    check: str  # Its name: a condition's tag in plan files, or the name of a check of every gate (`rest`)
    holds: bool | None  # None: unknown
    text: str
    awaited: tuple[AwaitedMember, ...] = ()
    by_waiting: bool = True


def yes(check: str, text: str) -> Check:
    return Check(check=check, holds=True, text=text)


def no(check: str, text: str, *, awaited: Sequence[AwaitedMember] = (), by_waiting: bool = True) -> Check:
    return Check(check=check, holds=False, text=text, awaited=tuple(awaited), by_waiting=by_waiting)


def undecided(check: str, text: str, *, by_waiting: bool = True) -> Check:
    return Check(check=check, holds=None, text=text, by_waiting=by_waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedDeviation:
    message: str
    back_to: int  # The index of the step to return to, from 0
    by_waiting: bool = False
    """Whether it may end by itself: an extra member may be a stopped one whose session has not expired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMismatch:
    what: str
    plan: str
    now: str
    drift: bool = False  # Whether the group is still the plan's, but its topics or members have changed


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The result of a gate: the first of these fields that is not empty."""

    differences: tuple[PlanMismatch, ...] = ()  # The plan is refused: it is not for this group, or no longer
    strayed: ObservedDeviation | None = None
    checks: tuple[Check, ...] = ()

    @property
    def open(self) -> bool | None:
        """True: continue. False: not complete, or off plan. None: unknown, or the plan was refused."""
        if self.differences:
            return None
        answers = {check.holds for check in self.checks}
        if self.strayed is not None or False in answers:
            return False
        return None if None in answers or not answers else True

    @property
    def reasons(self) -> tuple[str, ...]:
        if self.differences:
            return tuple(f"{one.what}: {one.plan} in the plan, {one.now} now" for one in self.differences)
        texts = [self.strayed.message] if self.strayed else []
        is_open = self.open
        return (*texts, *(check.text for check in self.checks if check.holds is is_open is not True))

    @property
    def waiting_for(self) -> tuple[AwaitedMember, ...]:
        closed = [check for check in self.checks if check.holds is False]
        first = {one.id: one for check in reversed(closed) for one in reversed(check.awaited)}
        return tuple(reversed(first.values()))

    @property
    def is_final(self) -> bool:
        """Whether waiting cannot change the result."""
        if self.open or self.differences:
            return True
        if self.strayed is not None:
            return not self.strayed.by_waiting
        return any(check.holds is not True and not check.by_waiting for check in self.checks)


def await_all(members: Sequence[PlannedMember], why: str) -> tuple[AwaitedMember, ...]:
    return tuple(AwaitedMember(label=one.label, id=one.id, host=one.host, why=why) for one in members)


def name_all(members: Sequence[PlannedMember], most: int = 8) -> str:
    """Names for a message: `m1 (id x, host y), m2 (…) and 3 more`."""
    return first_names([_name(one) for one in members], most)


def _name(member: PlannedMember) -> str:
    known = [] if member.label == member.id else [f"id {member.id}"]
    known += [f"host {member.host}"] if member.host else []
    return f"{member.label} ({', '.join(known)})" if known else member.label
