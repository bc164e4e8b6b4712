"""The rules that stop an execution, on one observation of the group. Those of gates and hooks are in `machine.py`."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from groups.counts import counted
from groups.model import GroupState
from groups.times import seconds_text
from migration.execution.costs import StepCosts, most_lag_s, most_without_owner_s
from migration.execution.events import GroupSighting
from migration.execution.rounds import runs_as
from migration.execution.seats import SeatChanges, Seats
from migration.execution.stops import Limits, Stop, StopRule
from migration.gate.observation import name_all
from migration.model import MemberStart, RoundAction, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundView:
    """The round in progress, or whose gate is awaited."""

    step: Step | None  # None before the first step
    action: RoundAction | None
    start: MemberStart | None
    acting: Collection[str]  # Members whose hook is running
    acted: Mapping[str, float]  # Those whose hook has ended, and when
    in_turn: Collection[str]  # Both, and the other members of their processes
    stopped: Collection[str]  # Members that the plan has stopped
    returned: Collection[str]  # Members of the round that are in the group again
    costs: StepCosts | None
    partitions: int  # Of the plan


@dataclass(slots=True)
class Watch:
    """What was noticed in former observations."""

    absent_since_s: dict[str, float] = field(default_factory=dict)
    unexpected: frozenset[str] = frozenset()
    errors: frozenset[str] | None = None  # Those of the first observation
    new_errors: frozenset[str] = frozenset()
    unread_since_s: float | None = None

    def unread(self, seen: GroupSighting, limits: Limits) -> Stop | None:
        """The stop when the group has not been readable for too long."""
        if seen.is_refused:
            return Stop(rule=StopRule.REFUSED, message=seen.problem, at_s=seen.at_s)
        if self.unread_since_s is None:
            self.unread_since_s = seen.at_s
        if seen.at_s - self.unread_since_s < limits.unreadable_s:
            return None
        message = f"The group could not be read for {seconds_text(limits.unreadable_s)}: {seen.problem}"
        return Stop(rule=StopRule.UNREADABLE, message=message, at_s=seen.at_s)


def broken_rule(
    watch: Watch, seen: GroupSighting, changes: SeatChanges, seats: Seats, view: RoundView, limits: Limits
) -> Stop | None:
    """The first rule that the observation breaks; what it shows is noted in `watch`."""
    watch.unread_since_s = None
    rules = (
        _outside(changes, seats, view),
        _unexpected(watch, changes),
        _lost(watch, seen, changes, seats, view, limits),
        _not_back(seen, seats, view, limits),
        _wrong_configuration(seen, seats, view),
        _new_errors(watch, seen, view),
        _too_expensive(seen, view, limits),
    )
    broken = next((found for rule in rules for found in rule), None)
    return None if broken is None else Stop(rule=broken[0], message=broken[1], at_s=seen.at_s)


_Broken = Iterator[tuple[StopRule, str]]


def _outside(changes: SeatChanges, seats: Seats, view: RoundView) -> _Broken:
    others = [member for seat, member in changes.returned.items() if seat not in view.in_turn]
    if not others or view.step is None:
        return
    same = [
        seats[seat]
        for seat in (*view.acting, *view.acted)
        if seat not in view.returned and seats.is_present(seat)
    ]
    if same and view.action is RoundAction.RESTART:
        asked = f"the command was asked to restart {name_all(same)}"
        yield StopRule.WRONG_MEMBER, f"{asked}, which is still the same, and restarted {name_all(others)}."
    else:
        yield StopRule.OUTSIDE_RESTART, f"{name_all(others)} was restarted, and it was not its turn."


def _unexpected(watch: Watch, changes: SeatChanges) -> _Broken:
    before, watch.unexpected = watch.unexpected, frozenset(member.id for member in changes.unexpected)
    more = [member for member in changes.unexpected if member.id in before]
    if more:
        yield StopRule.UNEXPECTED_MEMBER, f"{name_all(more)} joined, and is not in the plan."


def _lost(
    watch: Watch, seen: GroupSighting, changes: SeatChanges, seats: Seats, view: RoundView, limits: Limits
) -> _Broken:
    absent = [seat for seat in changes.absent if seat not in view.in_turn and seat not in view.stopped]
    watch.absent_since_s = {seat: watch.absent_since_s.get(seat, seen.at_s) for seat in absent}
    lost = [seat for seat in absent if seen.at_s - watch.absent_since_s[seat] >= limits.return_s]
    if lost:
        for_s = seconds_text(limits.return_s)
        yield StopRule.MEMBER_LOST, f"{_names(seats, lost)} left the group, and has not returned for {for_s}."


def _not_back(seen: GroupSighting, seats: Seats, view: RoundView, limits: Limits) -> _Broken:
    if view.action in (RoundAction.STOP, None):
        return
    late = [
        seat
        for seat, ended_s in view.acted.items()
        if seat not in view.returned and seen.at_s - ended_s >= limits.return_s
    ]
    after = f"{seconds_text(limits.return_s)} after its command ended with exit status 0"
    if same := [seat for seat in late if seats.is_present(seat)]:
        yield StopRule.HOOK, f"{_names(seats, same)} is still the same member, {after}."
    if late:
        yield StopRule.MEMBER_MISSING, f"{_names(seats, late)} is not in the group, {after}."


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
        yield StopRule.WRONG_CONFIGURATION, f"{_names(seats, wrong)} returned without the {planned}."


def _new_errors(watch: Watch, seen: GroupSighting, view: RoundView) -> _Broken:
    errors = frozenset(seen.errors)
    if watch.errors is None:
        watch.errors = errors
    settled = seen.group is None or seen.group.state in (GroupState.STABLE, GroupState.EMPTY)
    before, watch.new_errors = watch.new_errors, errors - watch.errors
    lasting = sorted(before & watch.new_errors)
    if lasting and settled and not view.acting:
        texts = "; ".join(seen.errors[key] for key in lasting)
        yield StopRule.DIAGNOSE, f"There was no such error at the start: {texts}"


def _too_expensive(seen: GroupSighting, view: RoundView, limits: Limits) -> _Broken:
    step, costs = view.step, view.costs
    if step is None or costs is None:
        return
    most = most_without_owner_s(step, view.partitions, limits.tolerance)
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


def _names(seats: Seats, members: Collection[str]) -> str:
    return name_all([seats[seat] for seat in members])
