"""Playing a plan as `kohort migrate` carries it out: the same state machine, with hooks that may fail.

What must hold, whatever hooks and members do: no two rounds are in hand at once, no round begins before everybody is
settled, the execution ends, and its end is what the group shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from random import Random

from coordinator.simulation.scenario import Kill, MemberScript
from migration.bridge import BRIDGE
from migration.execution.events import (
    EndHooks,
    GroupSighting,
    HookResult,
    Order,
    Place,
    RoundBegan,
    RunHook,
    StartBridge,
    StepEnded,
    StopBridge,
)
from migration.execution.machine import Execution, Phase, Resumed
from migration.execution.stops import Limits, Stop
from migration.model import MemberStart, Plan, PlannedMember, RoundAction
from migration.rehearsal.bridge import SimulatedBridge
from migration.rehearsal.simulated_members import FoundGroup, MemberAction, SimulatedMembers, started
from migration.rehearsal.simulation import Simulation

OBSERVE_S = 1.0
HANG_S = 100.0  # When a hook that hangs is ended
LONGEST_S = 4 * 3600.0


class HookFault(Enum):
    """What is wrong with one run of a hook."""

    FAILS = "fails"  # It exits with an error before it has done anything
    FAILS_STOPPED = "fails-stopped"  # It exits with an error after it has stopped the process
    FAILS_DONE = "fails-done"  # It exits with an error, although it has restarted the process
    HANGS = "hangs"  # It never ends, and does nothing
    NOTHING = "nothing"  # It exits with status 0, and does nothing
    WRONG_MEMBER = "wrong-member"
    WRONG_CONFIGURATION = "wrong-configuration"  # It starts the process as it was


_PROBLEMS = {
    HookFault.FAILS: "exit status 1",
    HookFault.FAILS_STOPPED: "exit status 1",
    HookFault.FAILS_DONE: "exit status 1",
    HookFault.HANGS: f"it did not end within {HANG_S:.0f} s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """What goes wrong in a run: hooks by their number, from 1, and a member that is killed after a number of hooks."""

    hooks: Mapping[int, HookFault] = field(default_factory=dict)
    killed: tuple[int, str] | None = None  # After this hook has begun, this member of the plan
    dies_at_s: float | None = None
    """When Kohort itself is killed, to be started again when its hooks have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    seed: int
    stop: Stop | None
    rollback_stop: Stop | None
    end: Phase
    hooks: int
    lasted_s: float
    broken: tuple[str, ...]  # What must hold, and did not
    place: Place


class MigratedPlan:
    """One run. Raises InvalidSetting and CannotRehearseError, as `Simulation`."""

    def __init__(
        self,
        plan: Plan,
        found: FoundGroup,
        simulated: SimulatedMembers,
        seed: int,
        *,
        limits: Limits,
        troubles: Troubles,
        rolls_back: bool = False,
    ) -> None:
        self._plan, self._seed, self._troubles = plan, seed, troubles
        self._simulation = Simulation(found, simulated, seed, with_story=False)
        self._limits, self._rolls_back = limits, rolls_back
        self._execution = Execution(plan, limits, rolls_back=rolls_back)
        self._opened: dict[int, tuple[PlannedMember, ...]] = {}
        self._hooked: list[tuple[int, str]] = []
        self._right: set[tuple[int, str]] = set()  # Steps and members that a hook has restarted rightly
        self._timing = Random(f"{seed} hooks")  # noqa: S311
        self._ends: list[tuple[float, HookResult]] = []  # Hooks that are running, and when they end
        self._hooks = 0
        self._bridge: SimulatedBridge | None = None
        self._original = dict(self._simulation.scripts)
        self._planned: dict[str, MemberScript | None] = dict(self._simulation.scripts)
        self._killed: set[str] = set()
        self._broken: list[str] = []

    def run(self) -> Migrated:
        simulation = self._simulation
        has_bridge = any(step.rollout and step.rollout.temporary_members for step in self._plan.steps)
        simulation.begin(leader=simulation.found.group.leader if has_bridge else None)
        began_s = simulation.now_s
        dies_s = None if self._troubles.dies_at_s is None else began_s + self._troubles.dies_at_s
        while not self._execution.is_over and simulation.now_s < began_s + LONGEST_S:
            orders = self._execution.observe(self._sighting())
            self._check_rounds()
            self._carry_out(orders)
            if dies_s is not None and simulation.now_s >= dies_s:
                dies_s = None
                self._die()
            simulation.wait(OBSERVE_S)
            for ends_s, result in list(self._ends):
                if simulation.now_s >= ends_s:
                    self._ends.remove((ends_s, result))
                    self._carry_out(self._execution.hook_ended(result))
        execution = self._execution
        if not execution.is_over:
            self._broken.append(f"it has not ended after {LONGEST_S / 3600:.0f} hours")
        self._check_end()
        return Migrated(
            seed=self._seed,
            stop=execution.stop,
            rollback_stop=execution.rollback_stop,
            end=execution.phase,
            hooks=self._hooks,
            lasted_s=round(simulation.now_s - began_s, 1),
            broken=tuple(self._broken),
            place=execution.place,
        )

    def _die(self) -> None:
        """Kohort is killed: only the notes of gates and the hooks that began are left."""
        for ends_s, _ in self._ends:
            self._simulation.wait(max(0.0, ends_s - self._simulation.now_s))
        self._ends.clear()
        resumed = Resumed(opened=self._opened, hooks=self._hooked if self._opened else frozenset())
        self._execution = Execution(self._plan, self._limits, resumed=resumed, rolls_back=self._rolls_back)

    def _sighting(self) -> GroupSighting:
        simulation = self._simulation
        found = simulation.found
        if not simulation.answers:
            return GroupSighting(
                at_s=simulation.now_s, cluster=found.cluster, problem="no coordinator answers"
            )
        return GroupSighting(
            at_s=simulation.now_s,
            group=simulation.group(),
            cluster=found.cluster,
            partitions={topic.name: topic.partitions for topic in found.topics.values()},
            asks=self._bridge.asks if self._bridge else None,
        )

    def _carry_out(self, orders: Sequence[Order]) -> None:
        places = {hook.place for hook in self._execution.acting}
        if len(places) > 1:
            self._broken.append(f"hooks of {len(places)} rounds run at once")
        for order in orders:
            match order:
                case RunHook():
                    self._run(order)
                case StartBridge():
                    self._start_bridge(order.place)
                case StopBridge():
                    if self._bridge is not None:
                        self._bridge.leave()
                case EndHooks():
                    self._ends = [(self._simulation.now_s, result) for _, result in self._ends]

    def _start_bridge(self, place: Place) -> None:
        rollout = self._plan.steps[place[0] - 1].rollout
        if rollout is not None:
            for temporary in rollout.temporary_members:
                start = rollout.start or MemberStart()
                self._bridge = SimulatedBridge(self._simulation, temporary, start, self._seed)
                self._bridge.enter()

    def _run(self, hook: RunHook) -> None:
        self._hooks += 1
        fault = self._troubles.hooks.get(self._hooks)
        now_s, bounce_s = self._simulation.now_s, self._plan.bounce_s
        took_s = bounce_s * self._timing.uniform(0.5, 1.0) + self._timing.uniform(0, 1)
        if self._troubles.killed is not None and self._troubles.killed[0] == self._hooks:
            self._kill(self._troubles.killed[1])
        problem = _PROBLEMS.get(fault, "") if fault else ""
        timed_out = fault is HookFault.HANGS
        result = HookResult(at_s=now_s + took_s, member=hook.member, problem=problem, timed_out=timed_out)
        self._ends.append((now_s + (HANG_S if timed_out else took_s), result))
        members = hook.members
        if fault is HookFault.WRONG_MEMBER:
            others = [member for member in self._simulation.scripts if member not in members]
            members = (self._timing.choice(others),) if others else ()
        for member in members:
            if (
                fault is None
                and (hook.place[0], member) in self._right
                and hook.action is RoundAction.RESTART
                and not hook.is_rollback
            ):
                self._broken.append(
                    f"{self._simulation.name_of(member)} was restarted twice in step {hook.place[0]}"
                )
            self._act(hook, member, fault, took_s)
        self._hooked += [(hook.place[0], member) for member in hook.members]
        if fault is None and self._bridge is None:
            self._right |= {(hook.place[0], member) for member in members}

    def _act(self, hook: RunHook, member: str, fault: HookFault | None, took_s: float) -> None:
        script = self._script(hook, member)
        if fault is HookFault.WRONG_CONFIGURATION and hook.action is not RoundAction.STOP:
            script = self._original[member]
        if fault in (HookFault.FAILS, HookFault.HANGS, HookFault.NOTHING):
            return
        if fault is HookFault.FAILS_STOPPED:
            script = None
        self._planned[member] = script
        away_s = took_s if hook.action is RoundAction.RESTART else 0.0
        self._simulation.perform(MemberAction(member=member, script=script, away_s=away_s))

    def _script(self, hook: RunHook, member: str) -> MemberScript | None:
        if hook.action is RoundAction.STOP:
            return None
        rollout = self._execution.step.rollout if self._execution.step else None
        planned = rollout is not None and member in {one for round_ in rollout.rounds for one in round_}
        if rollout is None or rollout.start is None or not planned:
            return self._simulation.scripts[member]
        return started(self._simulation.scripts[member], rollout.start)

    def _kill(self, member: str) -> None:
        name = self._simulation.name_of(member)
        if self._simulation.world.processes[name].is_running:
            self._killed.add(member)
            self._simulation.world.play(Kill(at=0, member=name))

    def _check_rounds(self) -> None:
        """Whether every round that has just begun found all processes running and settled. What no broker shows is not
        held against it: a process that was killed is a member until its session expires."""
        happened, self._execution.happenings = self._execution.happenings, []
        for event in happened:
            if isinstance(event, StepEnded) and not event.is_rollback:
                self._opened[event.step] = event.members
            if not isinstance(event, RoundBegan) or event.is_rollback or self._killed:
                continue
            stopped = [member for member, script in self._planned.items() if script is None]
            why = self._simulation.missing(stopped) or self._simulation.unsettled_group()
            if why:
                self._broken.append(f"step {event.place[0]}, round {event.place[1]}, began, and {why}")

    def _check_end(self) -> None:
        """The end of the execution is what the group shows: as planned, as it was, or stopped for a reason."""
        execution, simulation = self._execution, self._simulation
        if execution.phase not in (Phase.FINISHED, Phase.ROLLED_BACK):
            if execution.stop is None:
                self._broken.append("it ended without a reason")
            return
        end = f"it is {execution.phase.value.replace('-', ' ')}, and"
        scripts = self._finally() if execution.phase is Phase.FINISHED else dict(self._original)
        stopped = [member for member, script in scripts.items() if script is None]
        for why in (simulation.missing(stopped), simulation.unsettled()):
            if why:
                self._broken.append(f"{end} {why}")
        for member, script in scripts.items():
            if not simulation.runs_as(member, script):
                self._broken.append(f"{end} {simulation.name_of(member)} runs otherwise")

    def _finally(self) -> dict[str, MemberScript | None]:
        scripts: dict[str, MemberScript | None] = dict(self._original)
        for step in self._plan.steps:
            rollout = step.rollout
            for member in (
                one for round_ in (rollout.rounds if rollout else ()) for one in round_ if one != BRIDGE
            ):
                start = rollout.start if rollout else None
                former = scripts[member] or self._original[member]
                scripts[member] = started(former, start) if start is not None else None
        return scripts
