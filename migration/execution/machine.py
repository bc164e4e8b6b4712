"""The state machine that carries out a plan: round by round, each only after the gate of the one before has opened.

It knows nothing that the group does not show, but the members when each gate opened and which hooks have begun: an
execution that was killed is given both, looks at the group, and continues with the first member that is not as planned.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from groups.model import Group
from migration.bridge import BRIDGE, RestartMode
from migration.execution.costs import CostMeter, StepCosts
from migration.execution.events import (
    EndHooks,
    GateChecked,
    GroupSighting,
    Happening,
    HookResult,
    MemberReturned,
    Order,
    Place,
    RoundBegan,
    RunHook,
    StartBridge,
    StepEnded,
    StopBridge,
)
from migration.execution.rollback import BACK, rollback_plan
from migration.execution.rounds import START, Rounds
from migration.execution.rules import RoundView, Watch, broken_rule
from migration.execution.seats import SeatChanges, Seats
from migration.execution.settings import SettingsChange, settings_after
from migration.execution.stops import Limits, Stop, StopRule
from migration.gate.checks import check_condition
from migration.gate.judge import check_settled, check_steady, judge_gate
from migration.gate.observation import GateObservation, GateResult, name_all, no, yes
from migration.model import Plan, PlannedMember, RoundAction, Step
from migration.plan import epoch_of
from migration.rebalancing import SESSION_S

STEADY_S = 1.0
"""How far apart the two equal observations are between which a gate opens; as `kohort gate`."""
OF_BRIDGE = frozenset({"precedes", "leads", "no-user-data"})
"""The checks of a gate that the bridge's place in the group decides."""


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
    hooks: Collection[tuple[int, str]] | None = None
    """Steps and members of the hooks that began; None if it is not known: then a new member id is a restart."""


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
    ) -> None:
        """`processes`: the process of each member, by the ids of the plan, where several members share one;
        `rolls_back`: whether a stop is followed by the rollback. Raises ValueError: the plan has no baseline."""
        if plan.baseline is None:
            raise ValueError("the plan has no baseline")
        self._forward, self._rounds = plan, Rounds(plan)
        self._limits, self._rolls_back, self._processes = limits, rolls_back, processes or {}
        self.seats = Seats(one for one in plan.baseline.members if one.client_id != BRIDGE)
        self._opened = dict(resumed.opened) if resumed else {}
        self._hooked = (
            None if resumed and resumed.hooks is None else _by_step((resumed and resumed.hooks) or ())
        )
        self.costs = CostMeter(plan)
        self.happenings: list[Happening] = []
        self.stop: Stop | None = None
        self.rollback_stop: Stop | None = None  # Why the rollback did not reach its end
        self.is_rollback = False
        self.place: Place = START  # The round in progress, or whose gate is awaited
        self.gate: GateResult | None = None  # As last checked
        self._is_seated = self._is_finished = self._is_back = False
        self._acting: dict[str, RunHook] = {}
        self._acted: dict[str, float] = {}  # Members of the round whose hook has ended, and when
        self._outside: set[str] = set()  # Members that were restarted although it was not their turn
        self._again: set[str] = set()
        """Members whose hook began in a former execution, which may not have done anything."""
        self._errand: str | None = None
        """The member that was stopped for the bridge, to be started when it has left."""
        self._asked: set[str] = set()  # Ids of members whose restart the bridge has asked for
        self._watch = Watch()
        self._first_open: GroupSighting | None = None
        self._deadline_s = 0.0
        self._ends_s: float | None = None
        """When it ends, after its last gate: a process that was killed is a member until its session expires."""
        self._interrupts = 0

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
        if self._acting:
            return Phase.ACTING
        if not self._is_finished:
            return Phase.WAITING
        if self.stop is None:
            return Phase.FINISHED
        return Phase.ROLLED_BACK if self._is_back else Phase.STOPPED

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def opened(self) -> frozenset[int]:
        """The steps whose gate has opened; 0: the one before the first step."""
        return frozenset(self._opened)

    @property
    def deadline_s(self) -> float:
        """When it gives up waiting for the gate."""
        return self._deadline_s

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
        return tuple({hook.member: hook for hook in self._acting.values()}.values())

    @property
    def _in_turn(self) -> frozenset[str]:
        """The members that are being restarted: those of the round, and of the processes that they share."""
        processes = {self._process(seat) for seat in (*self._acting, *self._acted)}
        return frozenset(seat for seat in self.seats if self._process(seat) in processes)

    def _process(self, seat: str) -> str:
        return self._processes.get(seat, seat)

    # What goes in

    def observe(self, seen: GroupSighting) -> tuple[Order, ...]:
        if self.is_over:
            return ()
        if seen.problem:
            stop = self._watch.unread(seen, self._limits)
            return self._stop_with(stop) if stop else ()
        changes = self._see(seen)
        if not self._is_seated:
            self._is_seated = True
            return self._find_place(seen)
        if self.stop is None or self.is_rollback:
            stop = self._broken(seen, changes)
            if stop is not None:
                return self._stop_with(stop)
        if self._acting:
            return ()
        if self.stop is not None and not self.is_rollback:
            return self._turn_back(seen)
        if self._ends_s is not None:
            if seen.at_s >= self._ends_s and self._judge(seen, accept_drift=True).open:
                self._is_finished, self._is_back = True, self.is_rollback
            return ()
        return self._errands(seen) or self._check_gate(seen)

    def hook_ended(self, ended: HookResult) -> tuple[Order, ...]:
        hook = self._acting[ended.member]
        for seat in hook.members:
            del self._acting[seat]
            self._acted[seat] = ended.at_s
        self._deadline_s = ended.at_s + self._limits.gate_s
        if not ended.problem:
            return ()
        rule = StopRule.HOOK_TIMEOUT if ended.timed_out else StopRule.HOOK
        message = f"The command for {self.seats[ended.member].label} failed: {ended.problem}."
        return self._stop_with(Stop(rule=rule, message=message, at_s=ended.at_s))

    def halt(self, stop: Stop) -> tuple[Order, ...]:
        """Stop for a reason of the caller's."""
        return self._stop_with(stop)

    def interrupt(self, at_s: float) -> tuple[Order, ...]:
        """The first interrupt lets the round in progress end, the second ends everything at once."""
        self._interrupts += 1
        if self._interrupts == 1 and self.place != START and self.stop is None:
            return ()
        self._rolls_back, self._is_finished = False, True
        return (*((EndHooks(),) if self._acting else ()), *self._stop_with(_interrupted(at_s, self.place)))

    def _see(self, seen: GroupSighting) -> SeatChanges:
        members = map(PlannedMember.of, seen.group.members if seen.group else ())
        changes = self.seats.update([one for one in members if one.client_id != BRIDGE], self._in_turn)
        self.happenings += [
            MemberReturned(at_s=seen.at_s, place=self.place, member=seat, seat=member)
            for seat, member in changes.returned.items()
            if seat in self._in_turn
        ]
        if self.place != START:
            self._outside |= changes.returned.keys() - self._in_turn
        self.costs.add(self._costly, seen)
        return changes

    def _broken(self, seen: GroupSighting, changes: SeatChanges) -> Stop | None:
        if seen.bridge_problem:
            return Stop(
                rule=StopRule.BRIDGE, message=f"The bridge ended: {seen.bridge_problem}.", at_s=seen.at_s
            )
        if self.place == START:
            return None
        rollout, baseline = self._rounds.rollout(self.place), self.plan.baseline
        view = RoundView(
            step=self.step,
            action=rollout.action if rollout else None,
            start=rollout.start if rollout and not self._asked else None,
            acting=self._acting,
            acted={seat: at_s for seat, at_s in self._acted.items() if seat not in self._again},
            in_turn=self._in_turn,
            stopped={*self._rounds.stopped(self.place), *((self._errand,) if self._errand else ())},
            returned={seat for seat in self._acted if self._has_returned(seat)},
            costs=None if self.is_rollback else self.present_costs,
            partitions=sum(baseline.partitions.values()) if baseline else 0,
        )
        return broken_rule(self._watch, seen, changes, self.seats, view, self._limits)

    def _stop_with(self, stop: Stop) -> tuple[Order, ...]:
        """Nothing more is restarted; the rollback begins when no hook is running any more."""
        if self.stop is None:
            self.stop = stop
        elif self.is_rollback:
            self.rollback_stop = stop
        goes_back = self._rolls_back and not self.is_rollback and stop.allows_rollback and self._has_begun
        self._is_finished = self._is_finished or not goes_back
        return (StopBridge(),)

    @property
    def _has_begun(self) -> bool:
        return any((self._hooked or {}).values())

    # The way through the plan

    def _find_place(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Continue where the group is: after the last gate that opened, with the first round that is not complete."""
        self._deadline_s = seen.at_s + self._limits.gate_s
        step = max(self._opened, default=-1) + 1
        if not 0 < step <= len(self.plan.steps):
            self.place = self._rounds.places[0 if step == 0 else -1]
            return ()
        self.costs.begin(step, seen.at_s)
        hooked = (self._hooked or {}).get(step, set())
        for place in self._rounds.of_step(step):
            self.place = place
            seats = [seat for seat in self._rounds.members(place) if seat in self.seats]
            undone = [seat for seat in seats if not self._is_done(seat, seen.group)]
            if undone and len(undone) == len(seats) and not hooked & {*seats}:
                self.place = self._rounds.before(place)  # Its gate is checked again before the round begins
                return ()
            if undone:
                self._again = hooked & {*undone}
                self._acted = dict.fromkeys(self._again, seen.at_s)
                return self._hooks([seat for seat in undone if seat not in hooked])
        return ()

    def _check_gate(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Begin the next round once the gate of this one is open in two equal observations."""
        gate = self._judge(seen, accept_drift=self.place != START or self._limits.accept_drift)
        if self.gate is None or gate.reasons != self.gate.reasons or gate.open != self.gate.open:
            self.happenings.append(GateChecked(at_s=seen.at_s, place=self.place, result=gate))
        self.gate = gate
        if gate.open and self._is_steady(seen):
            return self._proceed(seen)
        if gate.open:
            return ()
        self._first_open = None
        if gate.differences:
            message = f"The group is not as the plan has it: {'; '.join(gate.reasons)}."
            return self._stop_with(Stop(rule=StopRule.PLAN, message=message, at_s=seen.at_s))
        closed_by = {check.check for check in gate.checks if check.holds is not True}
        is_for_bridge = closed_by <= OF_BRIDGE and gate.strayed is None
        if is_for_bridge and (orders := self._ask_of_bridge(seen)):
            return orders
        if (gate.is_final and not is_for_bridge) or seen.at_s >= self._deadline_s:
            rule = StopRule.OFF_PLAN if gate.strayed is not None else StopRule.GATE
            message = f"The gate of {_named(self.place)} does not open: {'; '.join(gate.reasons)}."
            return self._stop_with(Stop(rule=rule, message=message, at_s=seen.at_s))
        return ()

    def _is_steady(self, seen: GroupSighting) -> bool:
        first = self._first_open
        if first is None or not check_steady(first.group, seen.group).holds:
            self._first_open = seen
            return False
        return seen.at_s - first.at_s >= STEADY_S

    def _judge(self, seen: GroupSighting, *, accept_drift: bool) -> GateResult:
        step, number = self.place
        observed = GateObservation(
            plan=self.plan,
            position=step - 1,
            group=seen.group,
            cluster=seen.cluster,
            partitions=seen.partitions,
            began_with=self._began_with,
            was_open=step in self._opened,
            round=None if self._rounds.ends_step(self.place) else number,
        )
        if self.is_rollback:
            return self._judge_rollback(observed)
        return judge_gate(observed, accept_drift=accept_drift)

    def _judge_rollback(self, observed: GateObservation) -> GateResult:
        """During the rollback the group may be anything: only what the round was for must hold."""
        step = self.step
        conditions = () if step is None else step.between if observed.round is not None else step.gate
        undone = [
            self.seats[seat]
            for seat in self._rounds.members(self.place)
            if not self._is_done(seat, observed.group)
        ]
        done = (
            no("replaced", f"not as before: {name_all(undone)}") if undone else yes("replaced", "as before")
        )
        return GateResult(
            checks=(*(check_condition(one, observed) for one in conditions), done, check_settled(observed))
        )

    @property
    def _began_with(self) -> tuple[PlannedMember, ...]:
        """The members when the step began; before the first step, those of the plan."""
        baseline = self.plan.baseline
        return tuple(self._opened.get(self.place[0] - 1, baseline.members if baseline else ()))

    def _proceed(self, seen: GroupSighting) -> tuple[Order, ...]:
        """The gate of `place` is open."""
        changed = self._judge(seen, accept_drift=self._limits.accept_drift or self.is_rollback).reasons
        if changed:
            message = f"What the group reads has changed: {'; '.join(changed)}."
            return self._stop_with(Stop(rule=StopRule.CHANGED, message=message, at_s=seen.at_s))
        self._first_open, self.gate = None, None
        self._acted, self._again = {}, set()
        following = self._rounds.after(self.place)
        if self._rounds.ends_step(self.place):
            self._end_step(seen)
        if following is None:
            self._ends_s = seen.at_s + self._limits.watch_s
            return (StopBridge(),)
        if self._interrupts:
            self._is_finished = True
            return self._stop_with(_interrupted(seen.at_s, self.place))
        return self._begin(following, seen)

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
        self._deadline_s = seen.at_s + self._limits.gate_s
        self._asked.clear()
        self.costs.begin(self._costly, seen.at_s)
        members = self._rounds.members(place)
        undone = [seat for seat in members if seat in self.seats and not self._is_done(seat, seen.group)]
        names = tuple(self.seats[seat].label for seat in undone)
        began = RoundBegan(at_s=seen.at_s, place=place, members=names, is_rollback=self.is_rollback)
        self.happenings.append(began)
        shown = {member.client.id for member in seen.group.members} if seen.group else set()
        bridge = tuple(StartBridge(place=place) for one in members if one == BRIDGE and BRIDGE not in shown)
        return (*bridge, *self._hooks(undone))

    def _has_returned(self, seat: str) -> bool:
        """Whether the member is in the group under an id that it did not have when the step began."""
        former = {member.id for member in self._began_with}
        return self.seats.is_present(seat) and self.seats[seat].id not in former

    def _is_done(self, seat: str, group: Group | None) -> bool:
        hooked = None if self._hooked is None else self._hooked.get(self.place[0], set())
        return self._rounds.is_done(self.place, seat, self.seats, group, self._began_with, hooked)

    def _hooks(
        self, seats: Sequence[str], action: RoundAction | None = None, *, unchanged: bool = False
    ) -> tuple[Order, ...]:
        """One hook for each process of these members: the round's action, or one that leaves them as they are."""
        rollout = self._rounds.rollout(self.place)
        action = action or (rollout.action if rollout else RoundAction.RESTART)
        by_process: dict[str, list[str]] = {}
        for seat in seats:
            by_process.setdefault(self._process(seat), []).append(seat)
        hooks = []
        for members in by_process.values():
            hook = RunHook(
                place=self.place,
                members=tuple(members),
                seat=self.seats[members[0]],
                action=action,
                change=self._change(members[0], action, unchanged=unchanged),
                is_rollback=self.is_rollback,
            )
            hooks.append(hook)
            self._acting |= dict.fromkeys(members, hook)
            if self._hooked is not None and not unchanged:
                self._hooked.setdefault(self.place[0], set()).update(members)
        return tuple(hooks)

    def _change(self, seat: str, action: RoundAction, *, unchanged: bool) -> SettingsChange:
        """The member's configuration after the round: in the rollback, as before the step that is undone."""
        if action is RoundAction.STOP:
            return SettingsChange()
        last = self.place[0] - unchanged
        if self.is_rollback and self.step is not None:
            ids = [one.id for one in self._forward.steps]
            last = ids.index(self.step.id.removeprefix(BACK))
        return settings_after(Rounds(self._forward).steps_of(seat, last), self.seats[seat].library)

    # What the bridge asks for

    def _ask_of_bridge(self, seen: GroupSighting) -> tuple[Order, ...]:
        """The restart that the bridge asks for, once for each member id; a gate waits for it again."""
        asks = seen.asks
        seat = next((one for one in self.seats if asks and self.seats[one].id == asks.member), None)
        if asks is None or seat is None or asks.member in self._asked:
            return ()
        self._asked.add(asks.member)
        if asks.mode is RestartMode.STOP:
            self._errand = seat
            return self._hooks([seat], RoundAction.STOP)
        return self._hooks([seat], RoundAction.RESTART, unchanged=True)

    def _errands(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Hooks that are due besides those of a round: members whose hook of a former execution had no effect, and a
        member that was stopped for the bridge and has left."""
        if self._errand is not None and not self.seats.is_present(self._errand):
            seat, self._errand = self._errand, None
            return self._hooks([seat], RoundAction.START, unchanged=True)
        late = [
            seat
            for seat in sorted(self._again)
            if seen.at_s - self._acted[seat] >= SESSION_S and not self._is_done(seat, seen.group)
        ]
        self._again -= {*late}
        return self._hooks(late)

    # The rollback

    def _turn_back(self, seen: GroupSighting) -> tuple[Order, ...]:
        """Continue with the plan that undoes every round in which a hook began."""
        self.is_rollback = True
        begun = {step: set(members) for step, members in (self._hooked or {}).items()}
        begun.setdefault(self.place[0], set()).update(self._outside)
        self._rounds = Rounds(rollback_plan(self._forward, begun, seen.group), is_rollback=True)
        self._opened = {0: tuple(map(PlannedMember.of, seen.group.members if seen.group else ()))}
        self._hooked, self._acted, self._again, self._errand = {}, {}, set(), None
        self.gate = self._first_open = None
        self._watch, self._ends_s = Watch(), None
        if not self.plan.steps:  # Nothing was changed
            self._is_finished = True
            return ()
        return self._begin(self._rounds.places[1], seen)


def _by_step(hooks: Collection[tuple[int, str]]) -> dict[int, set[str]]:
    by_step: dict[int, set[str]] = {}
    for step, member in hooks:
        by_step.setdefault(step, set()).add(member)
    return by_step


def _named(place: Place) -> str:
    """`step 2, round 3` in a message; the beginning of the plan is step 0, as for `kohort gate`."""
    return f"step {place[0]}, round {place[1]}," if place[1] else f"step {place[0]}"


def _interrupted(at_s: float, place: Place) -> Stop:
    where = f"after {_named(place).rstrip(',')}" if place != START else "before the first step"
    return Stop(rule=StopRule.INTERRUPTED, message=f"Interrupted {where}.", at_s=at_s)
