"""The state machine that carries out a plan: round by round, each only after the gate of the one before has opened.

It knows nothing that the group does not show, but the members when each gate opened and which hooks have begun: an
execution that was killed is given both, looks at the group, and continues with the first member that is not as planned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum

from groups.model import Group, MemberProtocol
from migration.bridge import BRIDGE, RestartMode
from migration.execution.bridging import OF_BRIDGE, Bridging
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
from migration.execution.gates import Steadiness
from migration.execution.hands import Hands, HookMaker
from migration.execution.memory import Resumed
from migration.execution.preflight import check_plan, processes_of
from migration.execution.progress import StepProgress
from migration.execution.rollback import rollback_plan
from migration.execution.rounds import START, PlanRounds, place_text, standing
from migration.execution.rules import Broken, RoundView, Watch, broken_rule, unread
from migration.execution.seats import SeatChanges, Seats
from migration.execution.stops import ExecutionLimits, ExecutionStop, StopRule
from migration.gate.observation import GateResult
from migration.model import SESSION_S, Plan, PlannedMember, RoundAction, Step
from migration.plan import epoch_of

_INTERRUPTED = {StopRule.INTERRUPTED: "Interrupted.", StopRule.WINDOW: "The window has closed."}


class Phase(Enum):
    WAITING = "waiting"  # For a gate
    ACTING = "acting"  # Hooks are running
    FINISHED = "finished"
    STOPPED = "stopped"
    ROLLED_BACK = "rolled-back"  # It was stopped, and the group is as it was


class Execution:
    """A plan that is being carried out. `observe` every second or two, and carry out the orders that each call returns.
    What happened since is in `happenings`, which the caller empties."""

    def __init__(
        self,
        plan: Plan,
        limits: ExecutionLimits,
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
        self._forward, self._rounds = plan, PlanRounds(plan)
        self.limits, self._rolls_back = limits, rolls_back
        self._processes = processes_of(plan) if processes is None else processes
        former = {id_: seat for (_, seat), id_ in (resumed.hooks or {}).items() if id_}
        self.seats = Seats((one for one in members if one.client_id != BRIDGE), resumed.seats, former)
        self._opened = dict(resumed.opened)
        self._hands = Hands(resumed.hooks, self._processes)
        hooked = {member for _, member in resumed.hooks or ()}
        self._pending = hooked if resumed.pending is None else {*resumed.pending}
        self._goes_back = goes_back and resumed.rollback is None
        self._resumed = resumed
        self.costs = CostMeter(plan)
        self.happenings: list[Happening] = []
        self.stop: ExecutionStop | None = None
        self.rollback_stop: ExecutionStop | None = None  # Why the rollback did not reach its end
        self.is_rollback = False
        self.place: Place = START  # The round in progress, or whose gate is awaited
        self.gate: GateResult | None = None  # As last checked
        self._is_seated = self._is_finished = self._is_back = False
        self._outside: dict[int, set[str]] = {}
        """By step, the members that were restarted although it was not their turn."""
        self._bridging = Bridging()
        self._clock, self._watch, self._steadiness = RunClock(), Watch(), Steadiness()
        self._group: Group | None = None  # As it was last seen
        self._deadline_s = 0.0
        self._ends_s: float | None = None
        """When it ends, after its last gate: a process that was killed is a member until its session expires."""
        self._interrupts = 0
        self._interrupted_by = StopRule.INTERRUPTED
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
        return tuple(standing(self._rounds, self.place, self._group, self.seats, self._progress.is_done_at))

    @property
    def can_be_held(self) -> bool:
        """Whether it is on its way: not in a rollback, which is not left half done, and not watched at its end."""
        return self.stop is None and self._ends_s is None

    # What goes in

    def observe(self, seen: GroupSighting) -> tuple[Order, ...]:
        """What to do next; another look at the end only renews `standing`."""
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
        return self._maker.following(seen, self.limits.return_s) or self._check_gate(seen)

    def hook_ended(self, ended: HookResult) -> tuple[Order, ...]:
        at_s = self._clock.at(ended.at_s)
        hook = self._hands.end(ended.member, at_s)
        self._deadline_s = at_s + self.limits.gate_s
        if not ended.problem:
            return ()
        rule = StopRule.HOOK_TIMEOUT if ended.timed_out else StopRule.HOOK
        what = f"The command to {hook.action.value} {self.seats[ended.member].label} failed: {ended.problem}."
        return self._stop_with((rule, what), at_s)

    def halt(self, stop: ExecutionStop) -> tuple[Order, ...]:
        """Stop for a reason of the caller's."""
        return self._stop_with((stop.rule, stop.message), self._clock.at(stop.at_s))

    def hold(self, at_s: float) -> tuple[Order, ...]:
        """The same as the first interrupt, because the window for restarts has closed."""
        if not self.can_be_held:
            return ()
        self._interrupted_by = StopRule.WINDOW
        return self.interrupt(at_s)

    def interrupt(self, at_s: float) -> tuple[Order, ...]:
        """The first interrupt lets the round in progress end, the second ends everything at once."""
        at_s = self._clock.at(at_s)
        self._interrupts += 1
        self._interrupted_by = self._interrupted_by if self._interrupts == 1 else StopRule.INTERRUPTED
        self._rolls_back = False
        waits_to_turn_back = self.stop is not None and not self.is_rollback
        if self._interrupts == 1 and (waits_to_turn_back or self._ends_s is not None):
            self._is_finished, self._is_back = True, self.is_rollback
            return (StopBridge(),)
        if self._interrupts == 1 and (self.is_rollback or self.place != START):
            return ()
        self._is_finished = True
        ends = (EndHooks(),) if self._hands.running else ()
        return (*ends, *self._stop_with((self._interrupted_by, _INTERRUPTED[self._interrupted_by]), at_s))

    def _see(self, seen: GroupSighting) -> SeatChanges:
        if self._clock.had_gap:
            self.costs.forget()
            self._watch.outage_ends_s = seen.at_s + SESSION_S
        members = map(PlannedMember.of, seen.group.members if seen.group else ())
        in_turn = self._hands.in_turn(self.seats)
        former = {seat: self.seats[seat].id for seat in self.seats}
        changes = self.seats.update([one for one in members if one.client_id != BRIDGE], in_turn)
        for seat, member in changes.returned.items() if self._is_seated and not self.is_over else ():
            at_s, place = seen.at_s, self.place
            if seat in in_turn:
                self.happenings.append(MemberReturned(at_s=at_s, place=place, member=seat, seat=member))
                continue
            rejoined = MemberRejoined(at_s=at_s, place=place, member=seat, former=former[seat], seat=member)
            self.happenings.append(rejoined)
            self._rejoined(seat, former[seat], member)
        self.costs.add(self._costly if self._ends_s is None else None, seen)
        self._group = seen.group
        return changes

    def _rejoined(self, seat: str, former: str, member: PlannedMember) -> None:
        """A member has a new id, and was not restarted: for the gate, it began the step with that one."""
        step = self.place[0]
        if self.place != START:
            self._outside.setdefault(step, set()).add(seat)
        if step - 1 in self._opened:
            before = self._opened[step - 1]
            self._opened[step - 1] = [member if one.id == former else one for one in before]

    def _broken(self, seen: GroupSighting, changes: SeatChanges) -> Broken | None:
        if seen.bridge_problem:
            return StopRule.BRIDGE, f"The bridge ended: {seen.bridge_problem}."
        if self.step is None:
            return None
        rollout = self.step.rollout
        view = RoundView(
            plan=self.plan,
            step=self.step,
            start=rollout.start if rollout and not self._bridging.asked else None,
            hands=self._hands,
            away=self._rounds.away(self.place),
            returned={seat for seat in self._hands.ended if self._progress.has_returned(seat)},
            costs=None if self.is_rollback else self.present_costs,
        )
        return broken_rule(self._watch, seen, changes, self.seats, view, self.limits)

    def _stop_with(self, broken: Broken, at_s: float) -> tuple[Order, ...]:
        """Nothing more is restarted; the rollback begins when no hook is running any more."""
        rule, what = broken
        where = place_text(self.place, is_rollback=self.is_rollback)
        stop = ExecutionStop(rule=rule, message=f"{where}: {what}", at_s=at_s)
        goes_back = self._rolls_back and not self.is_rollback and stop.allows_rollback
        goes_back = goes_back and bool(self._hands.begun_until(self._rounds, self.place, self._outside))
        if self.stop is None:
            self.stop = stop
        elif self.is_rollback or (self._rolls_back and not goes_back):
            self.rollback_stop = self.rollback_stop or stop
        self._is_finished = self._is_finished or not goes_back
        return (StopBridge(),)

    # The way through the plan

    def _find_place(self, seen: GroupSighting, changes: SeatChanges) -> tuple[Order, ...]:
        """Continue where the group is: after the last gate that opened, with the first round that is not complete."""
        self._deadline_s = seen.at_s + self.limits.gate_s
        step = max(self._opened, default=-1) + 1
        if not 0 < step <= len(self.plan.steps):
            self.place = self._rounds.places[0 if step == 0 else -1]
            return ()
        self.costs.begin(0 if self.is_rollback else step, seen.at_s)
        began = self._hands.began(step) or {}
        orders: tuple[Order, ...] = ()
        places = self._rounds.of_step(step)
        if not self.is_rollback and self._bridging.needs_start(self.plan, step, seen.group):
            # A gate waits until the bridge is in its place again: that of the step before, or of the one that starts it
            rollout = self.plan.steps[step - 1].rollout
            starts_it = rollout is not None and rollout.temporary_members
            self.place, places = places[0] if starts_it else self._rounds.before(places[0]), []
            if rollout and rollout.start and rollout.start.protocol is MemberProtocol.CONSUMER:
                # A member that has been started for it was refused without the bridge: it returns as it was before
                refused = [seat for seat in began if seat in self.seats and not self.seats.is_present(seat)]
                self._pending -= {*refused}
                orders = self._maker.hooks(refused, RoundAction.RESTART, until=step - 1)
        for place in places:
            self.place = place
            members = [seat for seat in self._rounds.members(place) if seat in self.seats]
            undone = [seat for seat in members if not self._progress.is_done(seat, seen.group)]
            if undone and len(undone) == len(members) and not {*undone} & {*began}:
                before = self._rounds.before(place)
                if self.is_rollback and before == START:
                    return self._begin(place, seen)
                self.place = before  # Its gate is checked again before the round begins
                break
            if undone:
                orders = self._hooks_due(undone, seen)
                break
        if any(BRIDGE in self._rounds.members(place) for place in self._rounds.places):
            away = self._rounds.away(self.place)
            self._hands.errand = next((seat for seat in self._resumed.stopped if seat not in away), None)
        self.happenings += [
            MemberReturned(at_s=seen.at_s, place=self.place, member=seat, seat=member)
            for seat, member in changes.returned.items()
            if seat in began
        ]
        return orders

    def _check_gate(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Begin the next round once the gate of this one is open in two equal observations."""
        if orders := self._start_bridge(seen):
            return orders
        if self._bridging.is_awaited(seen.group, seen.at_s, self.limits.return_s):
            return ()
        gate = self._progress.judge(seen, accept_drift=self.place != START or self.limits.accept_drift)
        if self.gate is None or gate.reasons != self.gate.reasons or gate.open != self.gate.open:
            self.happenings.append(GateChecked(at_s=seen.at_s, place=self.place, result=gate))
        self.gate = gate
        if gate.open:
            return self._proceed(seen) if self._steadiness.is_steady(seen) else ()
        self._steadiness = Steadiness()
        reasons = "; ".join(gate.reasons)
        if gate.differences:
            what = f"The group is not as the plan has it: {reasons}."
            return self._stop_with((StopRule.PLAN, what), seen.at_s)
        closed_by = {check.check for check in gate.checks if check.holds is not True}
        is_for_bridge = closed_by <= OF_BRIDGE and gate.strayed is None
        if is_for_bridge and (orders := self._ask_of_bridge(seen)):
            return orders
        if (gate.is_final and not is_for_bridge) or seen.at_s >= self._deadline_s:
            rule = StopRule.OFF_PLAN if gate.strayed is not None else StopRule.GATE
            return self._stop_with((rule, f"The gate does not open: {reasons}."), seen.at_s)
        return ()

    def _proceed(self, seen: GroupSighting) -> tuple[Order, ...]:
        """The gate of `place` is open."""
        changed = self._progress.judge(
            seen, accept_drift=self.limits.accept_drift or self.is_rollback
        ).reasons
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
            why = _INTERRUPTED[self._interrupted_by]
            return self._stop_with((self._interrupted_by, f"{why} The round is complete."), seen.at_s)
        return self._begin(following, seen)

    def _watch_end(self, seen: GroupSighting, ends_s: float) -> tuple[Order, ...]:
        if seen.at_s < ends_s:
            return ()
        gate = self._progress.judge(seen, accept_drift=True)
        if gate.open:
            self._is_finished, self._is_back = True, self.is_rollback
        elif seen.at_s >= ends_s + self.limits.gate_s:
            what = f"The last gate has closed again: {'; '.join(gate.reasons)}."
            return self._stop_with((StopRule.GATE, what), seen.at_s)
        return ()

    def _end_step(self, seen: GroupSighting) -> None:
        step = self.place[0]
        if step in self._opened:  # By a former execution: the next step may have begun
            return
        self._pending.clear()
        members = tuple(map(PlannedMember.of, seen.group.members if seen.group else ()))
        epoch = epoch_of(seen.group) if seen.group else None
        self._opened[step] = members
        self.happenings.append(
            StepEnded(at_s=seen.at_s, step=step, members=members, epoch=epoch, is_rollback=self.is_rollback)
        )

    def _begin(self, place: Place, seen: GroupSighting) -> tuple[Order, ...]:
        self.place = place
        self._deadline_s = seen.at_s + self.limits.gate_s
        self._bridging.asked.clear()
        self.costs.begin(self._costly, seen.at_s)
        members = self._rounds.members(place)
        undone = [
            seat for seat in members if seat in self.seats and not self._progress.is_done(seat, seen.group)
        ]
        temporary = tuple(one for one in members if one not in self.seats)
        names = (*temporary, *(self.seats[seat].label for seat in undone))
        began = RoundBegan(at_s=seen.at_s, place=place, members=names, is_rollback=self.is_rollback)
        self.happenings.append(began)
        return (*self._start_bridge(seen), *self._hooks_due(undone, seen))

    def _hooks_due(self, undone: Sequence[str], seen: GroupSighting) -> tuple[Order, ...]:
        """The hooks of the round, but for members whose hook of a killed execution may yet have an effect."""
        began = self._hands.began(self.place[0]) or {}
        late = [seat for seat in undone if seat in self._pending and seat in began]
        self._pending -= {*late}
        if late:
            self._hands.expect(late, seen.at_s)
            self._deadline_s += self.limits.return_s
        return self._maker.of_round([seat for seat in undone if seat not in late], seen.group)

    @property
    def _progress(self) -> StepProgress:
        return StepProgress(
            rounds=self._rounds,
            place=self.place,
            seats=self.seats,
            hands=self._hands,
            opened=self._opened,
        )

    @property
    def _maker(self) -> HookMaker:
        return HookMaker(
            forward=self._forward,
            rounds=self._rounds,
            place=self.place,
            seats=self.seats,
            hands=self._hands,
            is_done=self._progress.is_done,
            at_s=self._clock.now_s,
        )

    def _start_bridge(self, seen: GroupSighting) -> tuple[Order, ...]:
        if self.is_rollback or not self._bridging.needs_start(self.plan, self.place[0], seen.group):
            return ()
        return (StartBridge(place=self._bridging.start(self.plan, self.place[0], seen.at_s)),)

    def _ask_of_bridge(self, seen: GroupSighting) -> tuple[Order, ...]:
        """The restart that the bridge asks for; a gate waits for it again."""
        seat = self._bridging.ask(seen.asks, self.seats)
        if seat is None or seen.asks is None:
            return ()
        if seen.asks.mode is RestartMode.STOP:
            self._hands.errand = seat
            return self._maker.hooks([seat], RoundAction.STOP, until=self.place[0] - 1)
        return self._maker.hooks([seat], RoundAction.RESTART, until=self.place[0] - 1)

    # The rollback

    def _go_back(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Begin with the rollback of what former executions have done."""
        step = min(max(self._opened, default=0) + 1, len(self.plan.steps))
        self.place = self._rounds.of_step(step)[-1]
        self.stop = ExecutionStop(
            rule=StopRule.BACK, message="The rollback was ordered with --back.", at_s=seen.at_s
        )
        return self._turn_back(seen)

    def _turn_back(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Continue with the plan that undoes every round in which a hook began."""
        if self.stop is None:
            return ()
        members = tuple(map(PlannedMember.of, seen.group.members if seen.group else ()))
        absent = self.seats.absent - self._rounds.away(self.place)
        began = RollbackBegan(
            at_s=seen.at_s,
            stop=self.stop,
            begun=self._hands.begun_until(self._rounds, self.place, self._outside),
            absent=tuple(seat for seat in self.seats if seat in absent),
            members=members,
        )
        self.happenings.append(began)
        self._take_back(began, Resumed(opened={}, hooks={}))
        self._watch.returning = {*self.seats.absent}
        if self.plan.steps:
            return self._begin(self._rounds.places[1], seen)
        self.place, self._deadline_s = START, seen.at_s + self.limits.gate_s
        return ()

    def _take_back(self, began: RollbackBegan, resumed: Resumed) -> None:
        self.is_rollback = True
        plan = rollback_plan(self._forward, began.begun, began.absent)
        self._rounds = PlanRounds(plan, is_rollback=True)
        self._opened = {0: began.members, **resumed.opened}
        self._hands = Hands(resumed.hooks, self._processes)
        self._bridging.asked.clear()
        self.gate, self._steadiness, self._watch, self._ends_s = None, Steadiness(), Watch(), None
