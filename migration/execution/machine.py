"""The state machine that carries out a plan: round by round, each only after the gate of the one before has opened.

It knows nothing that the group does not show, but the members when each gate opened and which hooks have begun: an
execution that was killed is given both, looks at the group, and continues with the first member that is not as planned.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from groups.model import Group, GroupState, GroupType
from migration.bridge import BRIDGE, RestartMode
from migration.execution.clock import RunClock
from migration.execution.costs import CostMeter, StepCosts
from migration.execution.events import (
    EndHooks,
    GateChecked,
    GroupSighting,
    Happening,
    HookResult,
    MemberRejoined,
    MemberReturned,
    Order,
    Place,
    RollbackBegan,
    RoundBegan,
    RunHook,
    StartBridge,
    StepEnded,
    StopBridge,
)
from migration.execution.gates import Steadiness, judge_back, judge_round
from migration.execution.hands import Hands
from migration.execution.preflight import check_plan, processes_of
from migration.execution.rollback import BACK, rollback_plan
from migration.execution.rounds import START, Rounds
from migration.execution.rules import Broken, RoundView, Watch, broken_rule, unread
from migration.execution.seats import SeatChanges, Seats
from migration.execution.settings import SettingsChange, settings_after
from migration.execution.standing import standing
from migration.execution.stops import Limits, Stop, StopRule
from migration.gate.observation import GateResult
from migration.model import Plan, PlannedMember, RoundAction, Step
from migration.plan import epoch_of

OF_BRIDGE = frozenset({"precedes", "leads", "no-user-data"})
"""The checks of a gate that the bridge's place in the group decides."""
MOST_ASKED = 3  # Restarts that the bridge may ask for in a round, per member


class Phase(Enum):
    WAITING = "waiting"  # For a gate
    ACTING = "acting"  # Hooks are running
    FINISHED = "finished"
    STOPPED = "stopped"
    ROLLED_BACK = "rolled-back"  # It was stopped, and the group is as it was


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """What is known of an execution that ended before."""

    opened: Mapping[int, Sequence[PlannedMember]]
    """The members when the gate of each step opened; 0: the one before the first step."""
    hooks: Mapping[tuple[int, str], str] | None = None
    """The hooks that began, by step and member, with the member's id then (empty: not known); None if they are not
    known: then a new member id is a restart."""
    seats: Mapping[str, PlannedMember] = field(default_factory=dict)
    """The members that were restarted, as they were last seen, by the ids of the plan."""
    pending: Collection[str] | None = None
    """Members whose hook may yet have an effect, as that of an execution that was killed; None: all of them."""
    stopped: Collection[str] = ()  # Members whose last hook was to stop them
    rollback: RollbackBegan | None = None
    """If its rollback had begun, and not ended; `opened` and `hooks` are then of the steps of the rollback."""


class Execution:
    """A plan that is being carried out. `observe` every second or two, and carry out the orders that each call returns.
    What happened since is in `happenings`, which the caller empties."""

    def __init__(
        self,
        plan: Plan,
        limits: Limits,
        *,
        resumed: Resumed | None = None,
        processes: Mapping[str, str] | None = None,
        rolls_back: bool = False,
        goes_back: bool = False,
    ) -> None:
        """`processes`: the process of each member, by the ids of the plan, where several members share one; None: as
        client ids show it. `rolls_back`: whether a stop is followed by the rollback; `goes_back`: whether it begins
        with it. Raises CannotCarryOutError."""
        check_plan(plan)
        resumed = resumed or Resumed(opened={}, hooks={})
        members = plan.baseline.members if plan.baseline else ()
        self._forward, self._rounds = plan, Rounds(plan)
        self.limits, self._rolls_back = limits, rolls_back
        self._processes = processes_of(plan) if processes is None else processes
        self.seats = Seats((one for one in members if one.client_id != BRIDGE), resumed.seats)
        self._opened = dict(resumed.opened)
        self._hands = Hands(resumed.hooks, self._processes)
        self._goes_back = goes_back and resumed.rollback is None
        self._resumed = resumed
        self.costs = CostMeter(plan)
        self.happenings: list[Happening] = []
        self.stop: Stop | None = None
        self.rollback_stop: Stop | None = None  # Why the rollback did not reach its end
        self.is_rollback = False
        self.place: Place = START  # The round in progress, or whose gate is awaited
        self.gate: GateResult | None = None  # As last checked
        self._is_seated = self._is_finished = self._is_back = False
        self._outside: dict[int, set[str]] = {}
        """By step, the members that were restarted although it was not their turn."""
        self._asked: set[str] = set()  # Ids of members whose restart the bridge has asked for
        self._has_bridge = False  # Whether this execution has started it
        self._bridge_since_s: float | None = None  # When, until it is in the group
        self._clock, self._watch, self._steadiness = RunClock(), Watch(), Steadiness()
        self._group: Group | None = None  # As it was last seen
        self._deadline_s = 0.0
        self._ends_s: float | None = None
        """When it ends, after its last gate: a process that was killed is a member until its session expires."""
        self._interrupts = 0
        if resumed.rollback is not None:
            self.stop = resumed.rollback.stop
            self._take_back(resumed.rollback, resumed)

    # What it is doing

    @property
    def plan(self) -> Plan:
        """The plan that is being carried out: the rollback once it has begun."""
        return self._rounds.plan

    @property
    def step(self) -> Step | None:
        return self._rounds.step(self.place)

    @property
    def phase(self) -> Phase:
        if self._hands.running:
            return Phase.ACTING
        if not self._is_finished:
            return Phase.WAITING
        if self.stop is None:
            return Phase.FINISHED
        return Phase.ROLLED_BACK if self._is_back else Phase.STOPPED

    @property
    def opened(self) -> frozenset[int]:
        """The steps whose gate has opened; 0: the one before the first step."""
        return frozenset(self._opened)

    @property
    def deadline_s(self) -> float:
        """When it gives up waiting for the gate, by the caller's clock."""
        return self._clock.as_given(self._deadline_s)

    @property
    def present_costs(self) -> StepCosts | None:
        """Those of the step in progress, or of the rollback."""
        return self.costs.by_step.get(self._costly)

    @property
    def _costly(self) -> int:
        return 0 if self.is_rollback else self.place[0]

    @property
    def is_over(self) -> bool:
        return self.phase not in (Phase.WAITING, Phase.ACTING)

    @property
    def acting(self) -> tuple[RunHook, ...]:
        return self._hands.hooks

    @property
    def standing(self) -> tuple[str, ...]:
        """Where the group is, as it was last seen; a sentence each, for the operator. Empty before the first look."""
        if not self._is_seated:
            return ()
        hooked = self._hands.began(self.place[0])
        done = {
            seat
            for place in self._rounds.of_step(self.place[0])
            for seat in self._rounds.members(place)
            if seat in self.seats
            and self._rounds.is_done(place, seat, self.seats, self._group, self._began_with, hooked)
        }
        return tuple(standing(self._rounds, self.place, self._group, self.seats, done))

    # What goes in

    def observe(self, seen: GroupSighting) -> tuple[Order, ...]:
        """What to do next; one more look after the end only renews `standing`."""
        if self.is_over:
            if not seen.problem:
                self._see(replace(seen, at_s=self._clock.read(seen.at_s)))
            return ()
        if seen.problem:
            broken = unread(seen, self._clock.unread(seen.at_s), self.limits)
            return self._stop_with(broken, self._clock.now_s) if broken else ()
        seen = replace(seen, at_s=self._clock.read(seen.at_s))
        changes = self._see(seen)
        if not self._is_seated:
            self._is_seated = True
            self._watch.returning = {*changes.absent}
            return self._go_back(seen) if self._goes_back else self._find_place(seen, changes)
        if self.stop is None or self.is_rollback:
            broken = self._broken(seen, changes)
            if broken is not None:
                return self._stop_with(broken, seen.at_s)
        if self._hands.running:
            return ()
        if self.stop is not None and not self.is_rollback:
            return self._turn_back(seen)
        if self._ends_s is not None:
            return self._watch_end(seen, self._ends_s)
        return self._errands(seen) or self._check_gate(seen)

    def hook_ended(self, ended: HookResult) -> tuple[Order, ...]:
        at_s = self._clock.at(ended.at_s)
        hook = self._hands.end(ended.member, at_s)
        self._deadline_s = at_s + self.limits.gate_s
        if not ended.problem:
            return ()
        rule = StopRule.HOOK_TIMEOUT if ended.timed_out else StopRule.HOOK
        what = f"The command to {hook.action.value} {self.seats[ended.member].label} failed: {ended.problem}."
        return self._stop_with((rule, what), at_s)

    def halt(self, stop: Stop) -> tuple[Order, ...]:
        """Stop for a reason of the caller's."""
        return self._stop_with((stop.rule, stop.message), self._clock.at(stop.at_s))

    def interrupt(self, at_s: float) -> tuple[Order, ...]:
        """The first interrupt lets the round in progress end, the second ends everything at once."""
        at_s = self._clock.at(at_s)
        self._interrupts += 1
        self._rolls_back = False
        waits_to_turn_back = self.stop is not None and not self.is_rollback
        if self._interrupts == 1 and (waits_to_turn_back or self._ends_s is not None):
            self._is_finished, self._is_back = True, self.is_rollback
            return (StopBridge(),)
        if self._interrupts == 1 and (self.is_rollback or self.place != START):
            return ()
        self._is_finished = True
        ends = (EndHooks(),) if self._hands.running else ()
        return (*ends, *self._stop_with((StopRule.INTERRUPTED, "Interrupted."), at_s))

    def _see(self, seen: GroupSighting) -> SeatChanges:
        if self._clock.had_gap:
            self.costs.forget()
        members = map(PlannedMember.of, seen.group.members if seen.group else ())
        in_turn = self._hands.in_turn(self.seats)
        changes = self.seats.update([one for one in members if one.client_id != BRIDGE], in_turn)
        for seat, member in changes.returned.items() if self._is_seated and not self.is_over else ():
            kind = MemberReturned if seat in in_turn else MemberRejoined
            self.happenings.append(kind(at_s=seen.at_s, place=self.place, member=seat, seat=member))
            if seat not in in_turn and self.place != START:
                self._outside.setdefault(self.place[0], set()).add(seat)
        self.costs.add(self._costly if self._ends_s is None else None, seen)
        self._group = seen.group
        return changes

    def _broken(self, seen: GroupSighting, changes: SeatChanges) -> Broken | None:
        if seen.bridge_problem:
            return StopRule.BRIDGE, f"The bridge ended: {seen.bridge_problem}."
        if self.place == START:
            return None
        hands, rollout, baseline = self._hands, self._rounds.rollout(self.place), self.plan.baseline
        view = RoundView(
            step=self.step,
            action=rollout.action if rollout else None,
            start=rollout.start if rollout and not self._asked else None,
            acting=hands.running,
            acted={seat: at_s for seat, at_s in hands.ended.items() if seat not in hands.again},
            since_s=hands.since_s,
            in_turn=hands.in_turn(self.seats),
            away={*self._rounds.away(self.place), *hands.rest, *((hands.errand,) if hands.errand else ())},
            returned={seat for seat in hands.ended if self._has_returned(seat)},
            costs=None if self.is_rollback else self.present_costs,
            partitions=sum(baseline.partitions.values()) if baseline else 0,
        )
        return broken_rule(self._watch, seen, changes, self.seats, view, self.limits)

    def _stop_with(self, broken: Broken, at_s: float) -> tuple[Order, ...]:
        """Nothing more is restarted; the rollback begins when no hook is running any more."""
        rule, what = broken
        stop = Stop(rule=rule, message=f"{self._where()}: {what}", at_s=at_s)
        goes_back = self._rolls_back and not self.is_rollback and stop.allows_rollback and self._has_begun
        if self.stop is None:
            self.stop = stop
        elif self.is_rollback or (self._rolls_back and not goes_back):
            self.rollback_stop = self.rollback_stop or stop
        self._is_finished = self._is_finished or not goes_back
        return (StopBridge(),)

    def _where(self) -> str:
        """The place, for a message; the beginning of the plan is step 0, as for `kohort gate`."""
        step, round_ = self.place
        where = f"step {step}, round {round_}" if step else "the first step has not begun"
        where = f"rollback, {where}" if self.is_rollback else where
        return f"{where[0].upper()}{where[1:]}"

    @property
    def _has_begun(self) -> bool:
        return any(self._begun().values())

    # The way through the plan

    def _find_place(self, seen: GroupSighting, changes: SeatChanges) -> tuple[Order, ...]:
        """Continue where the group is: after the last gate that opened, with the first round that is not complete."""
        self._deadline_s = seen.at_s + self.limits.gate_s
        step = max(self._opened, default=-1) + 1
        if not 0 < step <= len(self.plan.steps):
            self.place = self._rounds.places[0 if step == 0 else -1]
            return ()
        self.costs.begin(0 if self.is_rollback else step, seen.at_s)
        began, pending = self._hands.began(step) or (), self._resumed.pending
        orders: tuple[Order, ...] = ()
        for place in self._rounds.of_step(step):
            self.place = place
            members = [seat for seat in self._rounds.members(place) if seat in self.seats]
            undone = [seat for seat in members if not self._is_done(seat, seen.group)]
            late = [seat for seat in undone if seat in began and (pending is None or seat in pending)]
            if undone and len(undone) == len(members) and not {*undone} & {*began}:
                before = self._rounds.before(place)
                if self.is_rollback and before == START:
                    return (*orders, *self._begin(place, seen))
                self.place = before  # Its gate is checked again before the round begins
                break
            if undone:
                self._hands.expect(late, seen.at_s)
                self._deadline_s += self.limits.return_s if late else 0.0
                orders += self._in_round([seat for seat in undone if seat not in late], seen.group)
                break
        self._hands.errand = next(
            (seat for seat in self._resumed.stopped if seat not in self._rounds.away(self.place)), None
        )
        self.happenings += [
            MemberReturned(at_s=seen.at_s, place=self.place, member=seat, seat=member)
            for seat, member in changes.returned.items()
            if seat in began
        ]
        return orders

    def _check_gate(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Begin the next round once the gate of this one is open in two equal observations."""
        if not self._has_bridge and self._needs_bridge(seen.group) and (orders := self._start_bridge(seen)):
            return orders
        if self._awaits_bridge(seen):
            return ()
        gate = self._judge(seen, accept_drift=self.place != START or self.limits.accept_drift)
        if self.gate is None or gate.reasons != self.gate.reasons or gate.open != self.gate.open:
            self.happenings.append(GateChecked(at_s=seen.at_s, place=self.place, result=gate))
        self.gate = gate
        if gate.open:
            return self._proceed(seen) if self._steadiness.is_steady(seen) else ()
        self._steadiness = Steadiness()
        reasons = "; ".join(gate.reasons)
        if gate.differences:
            return self._stop_with(
                (StopRule.PLAN, f"The group is not as the plan has it: {reasons}."), seen.at_s
            )
        closed_by = {check.check for check in gate.checks if check.holds is not True}
        is_for_bridge = closed_by <= OF_BRIDGE and gate.strayed is None
        if is_for_bridge and (orders := self._ask_of_bridge(seen)):
            return orders
        if (gate.is_final and not is_for_bridge) or seen.at_s >= self._deadline_s:
            rule = StopRule.OFF_PLAN if gate.strayed is not None else StopRule.GATE
            return self._stop_with((rule, f"The gate does not open: {reasons}."), seen.at_s)
        return ()

    def _judge(self, seen: GroupSighting, *, accept_drift: bool) -> GateResult:
        if self.is_rollback:
            members = self._rounds.members(self.place)
            undone = [seat for seat in members if not self._is_done(seat, seen.group)]
            return judge_back(self._rounds, self.place, seen, self.seats, undone)
        place, began_with = self.place, self._began_with
        return judge_round(self._rounds, place, seen, self._opened, began_with, accept_drift=accept_drift)

    @property
    def _began_with(self) -> Sequence[PlannedMember]:
        """The members when the step began; before the first step, those of the plan."""
        baseline = self.plan.baseline
        return self._opened.get(self.place[0] - 1, baseline.members if baseline else ())

    def _proceed(self, seen: GroupSighting) -> tuple[Order, ...]:
        """The gate of `place` is open."""
        changed = self._judge(seen, accept_drift=self.limits.accept_drift or self.is_rollback).reasons
        if changed:
            what = f"What the group reads has changed: {'; '.join(changed)}."
            return self._stop_with((StopRule.CHANGED, what), seen.at_s)
        self._steadiness, self.gate = Steadiness(), None
        self._hands.end_round()
        following = self._rounds.after(self.place)
        if self._rounds.ends_step(self.place):
            self._end_step(seen)
        if following is None:
            self._ends_s = seen.at_s + self.limits.watch_s
            return (StopBridge(),)
        if self._interrupts:
            self._is_finished = True
            return self._stop_with((StopRule.INTERRUPTED, "Interrupted after this round."), seen.at_s)
        return self._begin(following, seen)

    def _watch_end(self, seen: GroupSighting, ends_s: float) -> tuple[Order, ...]:
        if seen.at_s < ends_s:
            return ()
        gate = self._judge(seen, accept_drift=True)
        if gate.open:
            self._is_finished, self._is_back = True, self.is_rollback
        elif seen.at_s >= ends_s + self.limits.gate_s:
            what = f"The last gate has closed again: {'; '.join(gate.reasons)}."
            return self._stop_with((StopRule.GATE, what), seen.at_s)
        return ()

    def _end_step(self, seen: GroupSighting) -> None:
        step = self.place[0]
        members = tuple(map(PlannedMember.of, seen.group.members if seen.group else ()))
        epoch = epoch_of(seen.group) if seen.group else None
        self._opened[step] = members
        self.happenings.append(
            StepEnded(at_s=seen.at_s, step=step, members=members, epoch=epoch, is_rollback=self.is_rollback)
        )

    def _begin(self, place: Place, seen: GroupSighting) -> tuple[Order, ...]:
        self.place = place
        self._deadline_s = seen.at_s + self.limits.gate_s
        self._asked.clear()
        self.costs.begin(self._costly, seen.at_s)
        members = self._rounds.members(place)
        undone = [seat for seat in members if seat in self.seats and not self._is_done(seat, seen.group)]
        names = tuple(self.seats[seat].label for seat in undone)
        began = RoundBegan(at_s=seen.at_s, place=place, members=names, is_rollback=self.is_rollback)
        self.happenings.append(began)
        bridge = self._start_bridge(seen) if BRIDGE in members else ()
        return (*bridge, *self._in_round(undone, seen.group))

    def _has_returned(self, seat: str) -> bool:
        """Whether the member is in the group under an id that it did not have when the step, or its hook, began."""
        former = {member.id for member in self._began_with} | {
            (self._hands.began(self.place[0]) or {}).get(seat, "")
        }
        return self.seats.is_present(seat) and self.seats[seat].id not in former

    def _is_done(self, seat: str, group: Group | None) -> bool:
        hooked = self._hands.began(self.place[0])
        return self._rounds.is_done(self.place, seat, self.seats, group, self._began_with, hooked)

    # Hooks

    def _in_round(self, seats: Sequence[str], group: Group | None) -> tuple[Order, ...]:
        """The hooks of a round. Of members that are started together, the first must run as planned before the rest."""
        processes, rollout = self._hands.by_process(seats), self._rounds.rollout(self.place)
        if rollout is not None and rollout.action is RoundAction.START:
            members = [seat for seat in self._rounds.members(self.place) if seat in self.seats]
            if seats and not any(self._is_done(seat, group) for seat in members):
                has_first = len(seats) < len(members)  # Its hook began in a former execution
                first = () if has_first else processes[0]
                self._hands.rest = tuple(seat for seat in seats if seat not in first)
                return self._hooks(first)
        return self._hooks(seats)

    def _hooks(
        self, seats: Sequence[str], action: RoundAction | None = None, *, unchanged: bool = False
    ) -> tuple[Order, ...]:
        """One hook for each process of these members: the round's action, or one that leaves them as they are."""
        rollout = self._rounds.rollout(self.place)
        action = action or (rollout.action if rollout else RoundAction.RESTART)
        hooks = []
        for members in self._hands.by_process(seats):
            hook = RunHook(
                place=self.place,
                members=members,
                ids=tuple(self.seats[seat].id for seat in members),
                seat=self.seats[members[0]],
                action=action,
                change=self._change(members[0], action, unchanged=unchanged),
                is_rollback=self.is_rollback,
                is_of_round=not unchanged,
            )
            hooks.append(hook)
            self._hands.begin(hook, self._clock.now_s)
        return tuple(hooks)

    def _change(self, seat: str, action: RoundAction, *, unchanged: bool) -> SettingsChange:
        """The member's configuration after the round: in the rollback, as before the step that is undone."""
        if action is RoundAction.STOP:
            return SettingsChange()
        last = self.place[0] - unchanged
        if self.is_rollback and self.step is not None:
            last = int(self.step.id.removeprefix(BACK)) - 1
        return settings_after(Rounds(self._forward).steps_of(seat, last), self.seats[seat].library)

    def _errands(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Hooks that are due besides those with which a round begins: the rest of those to start, a member that was
        stopped for the bridge and has left, and members whose hook of a former execution had no effect."""
        hands = self._hands
        if hands.errand is not None and not self.seats.is_present(hands.errand):
            seat, hands.errand = hands.errand, None
            return self._hooks([seat], RoundAction.START, unchanged=True)
        if hands.rest and seen.group is not None and seen.group.state is GroupState.STABLE:
            first = [seat for seat in self._rounds.members(self.place) if seat not in hands.rest]
            if all(self._is_done(seat, seen.group) for seat in first):
                rest, hands.rest = hands.rest, ()
                return self._hooks(rest)
        late = [
            seat
            for seat in sorted(hands.again)
            if seen.at_s - hands.ended[seat] >= self.limits.return_s and not self._is_done(seat, seen.group)
        ]
        hands.again -= {*late}
        return self._hooks(late)

    # The bridge

    def _start_bridge(self, seen: GroupSighting) -> tuple[Order, ...]:
        if _shows_bridge(seen.group):
            return ()
        rollouts = [step.rollout for step in self.plan.steps[: self.place[0]]]
        step = max(number for number, one in enumerate(rollouts, 1) if one and one.temporary_members)
        self._has_bridge, self._bridge_since_s = True, seen.at_s
        return (StartBridge(place=(step, 1)),)

    def _needs_bridge(self, group: Group | None) -> bool:
        """Whether a former execution has started the bridge, and the plan still needs it."""
        rollouts = [step.rollout for step in self.plan.steps[: self.place[0]] if step.rollout]
        has_left = any(rollout.leaving for rollout in rollouts[:-1])
        is_classic = group is not None and group.type is GroupType.CLASSIC
        return is_classic and not has_left and any(rollout.temporary_members for rollout in rollouts)

    def _awaits_bridge(self, seen: GroupSighting) -> bool:
        """Whether the bridge has been started and may still be joining: without it the group seems to be off plan."""
        since_s = self._bridge_since_s
        if since_s is None or _shows_bridge(seen.group) or seen.at_s - since_s >= self.limits.return_s:
            self._bridge_since_s = None
        return self._bridge_since_s is not None

    def _ask_of_bridge(self, seen: GroupSighting) -> tuple[Order, ...]:
        """The restart that the bridge asks for, once for each member id; a gate waits for it again."""
        asks = seen.asks
        seat = next((one for one in self.seats if asks and self.seats[one].id == asks.member), None)
        if asks is None or seat is None or asks.member in self._asked:
            return ()
        if len(self._asked) >= MOST_ASKED * len(list(self.seats)):
            return ()
        self._asked.add(asks.member)
        if asks.mode is RestartMode.STOP:
            self._hands.errand = seat
            return self._hooks([seat], RoundAction.STOP, unchanged=True)
        return self._hooks([seat], RoundAction.RESTART, unchanged=True)

    # The rollback

    def _begun(self) -> dict[int, set[str]]:
        """By step, the members that may run otherwise than before it."""
        begun = {step: set(members) for step, members in self._hands.by_step.items()}
        if not self._hands.is_known:  # Then all that the steps so far name
            for place in self._rounds.places:
                if START < place <= self.place:
                    begun.setdefault(place[0], set()).update(self._rounds.members(place))
        for step, members in self._outside.items():
            begun.setdefault(step, set()).update(members)
        return begun

    def _go_back(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Begin with the rollback of what former executions have done."""
        step = min(max(self._opened, default=0) + 1, len(self.plan.steps))
        self.place = self._rounds.of_step(step)[-1]
        self.stop = Stop(rule=StopRule.BACK, message="The rollback was ordered with --back.", at_s=seen.at_s)
        return self._turn_back(seen)

    def _turn_back(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Continue with the plan that undoes every round in which a hook began."""
        if self.stop is None:
            return ()
        away = self._rounds.away(self.place)
        began = RollbackBegan(
            at_s=seen.at_s,
            stop=self.stop,
            begun={step: tuple(sorted(members)) for step, members in self._begun().items()},
            absent=tuple(seat for seat in self.seats if not self.seats.is_present(seat) and seat not in away),
            members=tuple(map(PlannedMember.of, seen.group.members if seen.group else ())),
        )
        self.happenings.append(began)
        self._take_back(began, Resumed(opened={}, hooks={}))
        self._watch.returning = {seat for seat in self.seats if not self.seats.is_present(seat)}
        if self.plan.steps:
            return self._begin(self._rounds.places[1], seen)
        self.place, self._deadline_s = START, seen.at_s + self.limits.gate_s
        return ()

    def _take_back(self, began: RollbackBegan, resumed: Resumed) -> None:
        self.is_rollback = True
        plan = rollback_plan(self._forward, began.begun, began.absent)
        self._rounds = Rounds(plan, is_rollback=True)
        self._opened = {0: began.members, **resumed.opened}
        self._hands = Hands(resumed.hooks, self._processes)
        self._asked.clear()
        self.gate, self._steadiness, self._watch, self._ends_s = None, Steadiness(), Watch(), None


def _shows_bridge(group: Group | None) -> bool:
    return group is not None and any(member.client.id == BRIDGE for member in group.members)
