"""The rules that stop an execution, on one observation of the group. Those of gates and hooks are in `machine.py`."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from groups.counts import counted
from groups.model import GroupState
from groups.times import seconds_text
from migration.execution.costs import StepCosts, most_lag_s, most_without_owner_s
from migration.execution.events import GroupSighting
from migration.execution.hands import Hands
from migration.execution.rounds import runs_as
from migration.execution.seats import SeatChanges, Seats
from migration.execution.stops import ExecutionLimits, StopRule
from migration.gate.observation import name_all
from migration.model import MemberStart, Plan, RoundAction, Step

REJOINED_S = 300.0
"""Within this time, several members with new ids that no command was to restart are no coincidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundView:
    """The round in progress, or whose gate is awaited."""

    plan: Plan
    step: Step
    start: MemberStart | None  # As its members are started; None if they are stopped, or may run otherwise
    hands: Hands
    away: Collection[str]  # Members that need not be in the group
    returned: Collection[str]  # Members of the round that are in the group again
    costs: StepCosts | None

    @property
    def action(self) -> RoundAction | None:
        return self.step.rollout.action if self.step.rollout else None

    @property
    def acted(self) -> Mapping[str, float]:
        """The members whose hook has ended, and when."""
        return {seat: at_s for seat, at_s in self.hands.ended.items() if seat not in self.hands.again}


@dataclass(slots=True)
class Watch:
    """What was noticed in former observations."""

    absent_since_s: dict[str, float] = field(default_factory=dict)
    rejoined: dict[str, float] = field(default_factory=dict)
    """Members with a new id that no hook was to restart, and when they had it first."""
    returning: set[str] = field(default_factory=set)
    """Members that were absent at the first look: someone may be starting them."""
    outage_ends_s: float = 0.0
    """Until when members rejoin under new ids because the group, or its broker, was away."""
    unexpected: frozenset[str] = frozenset()
    doubled_since_s: dict[str, float] = field(default_factory=dict)
    errors: frozenset[str] | None = None  # Those of the first observation
    new_errors: frozenset[str] = frozenset()


Broken: TypeAlias = tuple[StopRule, str]


def unread(seen: GroupSighting, unread_s: float, limits: ExecutionLimits) -> Broken | None:
    """The rule that an observation breaks in which the group could not be read, as for `unread_s`."""
    if seen.is_refused:
        return StopRule.REFUSED, f"The group cannot be read: {seen.problem}"
    if unread_s < limits.unreadable_s:
        return None
    return StopRule.UNREADABLE, f"The group could not be read for {seconds_text(unread_s)}: {seen.problem}"


def broken_rule(
    watch: Watch,
    seen: GroupSighting,
    changes: SeatChanges,
    seats: Seats,
    view: RoundView,
    limits: ExecutionLimits,
) -> Broken | None:
    """The first rule that the observation breaks; what it shows is noted in `watch`."""
    rules = (
        _outside(watch, seen, changes, seats, view),
        _unexpected(watch, seen, changes, seats, limits),
        _lost(watch, seen, changes, seats, view, limits),
        _not_back(watch, seen, seats, view, limits),
        _wrong_configuration(seen, seats, view),
        _new_errors(watch, seen, view),
        _too_expensive(seen, view, limits),
    )
    return next((broken for rule in rules for broken in rule), None)


_Broken: TypeAlias = Iterator[Broken]


def _outside(
    watch: Watch, seen: GroupSighting, changes: SeatChanges, seats: Seats, view: RoundView
) -> _Broken:
    """A single member that is not in its turn can lose its session and rejoin under a new id; that is no restart, and
    harms nothing. Several are a deployment, or a command that restarts more than it was given."""
    others = [
        seat
        for seat in changes.returned
        if seat not in view.hands.in_turn(seats) and seat not in watch.returning
    ]
    watch.returning -= changes.returned.keys()
    if seen.at_s < watch.outage_ends_s:
        return
    again = [seat for seat in others if seat in watch.rejoined]
    watch.rejoined |= dict.fromkeys(others, seen.at_s)
    recent = [seat for seat, at_s in watch.rejoined.items() if seen.at_s - at_s < REJOINED_S]
    if again or (others and len(recent) > 1):
        names = seats.names(again or recent)
        yield StopRule.OUTSIDE_RESTART, f"New ids, although it was not their turn: {names}."


def _unexpected(
    watch: Watch, seen: GroupSighting, changes: SeatChanges, seats: Seats, limits: ExecutionLimits
) -> _Broken:
    before, watch.unexpected = watch.unexpected, frozenset(member.id for member in changes.unexpected)
    more = [member for member in changes.unexpected if member.id in before]
    if more:
        yield StopRule.UNEXPECTED_MEMBER, f"Joined, and not in the plan: {name_all(more)}."
    since_s = watch.doubled_since_s
    watch.doubled_since_s = {seat: since_s.get(seat, seen.at_s) for seat in changes.doubled}
    doubled = [seat for seat, at_s in watch.doubled_since_s.items() if seen.at_s - at_s >= limits.return_s]
    if doubled:
        for_s = seconds_text(limits.return_s)
        what = f"Its former process has been a member too for {for_s}: {seats.names(doubled)}."
        yield StopRule.UNEXPECTED_MEMBER, what


def _lost(
    watch: Watch,
    seen: GroupSighting,
    changes: SeatChanges,
    seats: Seats,
    view: RoundView,
    limits: ExecutionLimits,
) -> _Broken:
    away = {*view.away, *view.hands.in_turn(seats), *view.hands.rest, view.hands.errand}
    absent = [seat for seat in changes.absent if seat not in away]
    watch.absent_since_s = {seat: watch.absent_since_s.get(seat, seen.at_s) for seat in absent}
    lost = [seat for seat in absent if seen.at_s - watch.absent_since_s[seat] >= limits.return_s]
    if lost:
        for_s = seconds_text(limits.return_s)
        yield StopRule.MEMBER_LOST, f"Left the group, and not back for {for_s}: {seats.names(lost)}."


def _not_back(
    watch: Watch, seen: GroupSighting, seats: Seats, view: RoundView, limits: ExecutionLimits
) -> _Broken:
    """Whether a command restarted another member is known no sooner: its own may still be starting, and the other one
    may have lost its session meanwhile."""
    if view.action in (RoundAction.STOP, None):
        return
    late = [
        seat
        for seat, ended_s in view.acted.items()
        if seat not in view.returned and seen.at_s - ended_s >= limits.return_s
    ]
    after = f"{seconds_text(limits.return_s)} after its command ended with exit status 0"
    if same := [seat for seat in late if seats.is_present(seat)]:
        since = [seat for seat, at_s in watch.rejoined.items() if at_s >= (view.hands.since_s or 0.0)]
        if since and view.action is RoundAction.RESTART:
            asked = f"The command was given {seats.names(same)}, which has the same id as before, {after}"
            yield StopRule.WRONG_MEMBER, f"{asked}; instead {seats.names(since)} has a new one."
        yield StopRule.HOOK, f"Not restarted, {after}: {seats.names(same)}."
    if late:
        yield StopRule.MEMBER_MISSING, f"Not in the group, {after}: {seats.names(late)}."


def _wrong_configuration(seen: GroupSighting, seats: Seats, view: RoundView) -> _Broken:
    start = view.start
    if start is None or seen.group is None:
        return
    by_id = {member.id: member for member in seen.group.members}
    wrong = [
        seat for seat in view.returned if (member := by_id.get(seats[seat].id)) and not runs_as(member, start)
    ]
    if wrong:
        planned = f"{start.protocol.value} protocol" + (
            f" with {', '.join(start.assignors)}" if start.assignors else ""
        )
        yield StopRule.WRONG_CONFIGURATION, f"Returned without the {planned}: {seats.names(wrong)}."


def _new_errors(watch: Watch, seen: GroupSighting, view: RoundView) -> _Broken:
    errors = frozenset(seen.errors)
    if watch.errors is None:
        watch.errors = errors
    settled = seen.group is None or seen.group.state in (GroupState.STABLE, GroupState.EMPTY)
    before, watch.new_errors = watch.new_errors, errors - watch.errors
    lasting = sorted(before & watch.new_errors)
    if lasting and settled and not view.hands.running:
        texts = "; ".join(seen.errors[key] for key in lasting)
        yield StopRule.DIAGNOSE, f"There was no such error at the start: {texts}"


def _too_expensive(seen: GroupSighting, view: RoundView, limits: ExecutionLimits) -> _Broken:
    step, costs = view.step, view.costs
    if step is None or costs is None:
        return
    most = most_without_owner_s(view.plan, step, limits.tolerance)
    if most is not None and costs.without_owner_s > most:
        spent = seconds_text(costs.without_owner_s)
        yield (
            StopRule.WITHOUT_OWNER,
            f"Partitions had no owner for {spent} in all in this step; at tolerance {limits.tolerance:g} "
            f"{seconds_text(most)} are allowed.",
        )
    late = most_lag_s(step, costs, limits.tolerance)
    if late is not None and costs.lag_s is not None and costs.lag_s > late and seen.lag is not None:
        behind = f"{counted(seen.lag, 'record')} are not read, as many as are written in {seconds_text(costs.lag_s)}"
        yield StopRule.LAG, f"{behind}; {seconds_text(late)} are allowed."
