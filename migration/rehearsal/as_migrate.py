"""Playing a plan as `kohort migrate` carries it out: the same state machine, with hooks that may fail.

What must hold, whatever hooks and members do: no two rounds are in hand at once, no round begins before everybody is
settled, the execution ends, and its end is what the group shows.
"""

from __future__ import annotations

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
    StopBridge,
)
from migration.execution.machine import Execution, Phase
from migration.execution.rounds import START
from migration.execution.stops import Limits, Stop
from migration.model import MemberStart, Plan, RoundAction
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """What goes wrong in a run: hooks by their number, from 1, and a member that is killed after so many hooks."""

    hooks: Mapping[int, HookFault] = field(default_factory=dict)
    killed: tuple[int, str] | None = None  # After this hook has begun, this member of the plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    seed: int
    stop: Stop | None
    finished: bool
    rolled_back: bool
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
        self._execution = Execution(plan, limits, rolls_back=rolls_back)
        self._timing = Random(f"{seed} hooks")  # noqa: S311
        self._ends: list[tuple[float, HookResult]] = []  # Hooks that are running, and when they end
        self._hooks = 0
        self._bridge: SimulatedBridge | None = None
        self._original = dict(self._simulation.scripts)
        self._planned: dict[str, MemberScript | None] = dict(self._simulation.scripts)
        self._killed: set[str] = set()
        self._broken: list[str] = []

    def run(self) -> Migrated:
        simulation, execution = self._simulation, self._execution
        has_bridge = any(step.rollout and step.rollout.temporary_members for step in self._plan.steps)
        simulation.begin(leader=simulation.found.group.leader if has_bridge else None)
        began_s = simulation.now_s
        while not execution.is_over and simulation.now_s < began_s + LONGEST_S:
            self._carry_out(execution.observe(self._sighting()))
            self._check_rounds()
            simulation.wait(OBSERVE_S)
            for ends_s, result in list(self._ends):
                if simulation.now_s >= ends_s:
                    self._ends.remove((ends_s, result))
                    self._carry_out(execution.hook_ended(result))
        if not execution.is_over:
            self._broken.append(f"it has not ended after {LONGEST_S / 3600:.0f} hours")
        self._check_end()
        return Migrated(
            seed=self._seed,
            stop=execution.stop,
            finished=execution.phase is Phase.FINISHED,
            rolled_back=execution.is_rollback,
            hooks=self._hooks,
            lasted_s=round(simulation.now_s - began_s, 1),
            broken=tuple(self._broken),
            place=execution.place,
        )

    def _sighting(self) -> GroupSighting:
        simulation = self._simulation
        found = simulation.found
        if not simulation.answers:
            return GroupSighting(at_s=simulation.now_s, cluster=found.cluster, problem="no coordinator answers")
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
        problem = {
            HookFault.FAILS: "exit status 1",
            HookFault.FAILS_STOPPED: "exit status 1",
            HookFault.FAILS_DONE: "exit status 1",
            HookFault.HANGS: f"it did not end within {HANG_S:.0f} s",
        }.get(fault, "") if fault else ""
        timed_out = fault is HookFault.HANGS
        result = HookResult(at_s=now_s + took_s, member=hook.member, problem=problem, timed_out=timed_out)
        self._ends.append((now_s + (HANG_S if timed_out else took_s), result))
        members = hook.members
        if fault is HookFault.WRONG_MEMBER:
            others = [member for member in self._simulation.scripts if member not in members]
            members = (self._timing.choice(others),) if others else ()
        for member in members:
            self._act(hook, member, fault, took_s)

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
        """A round that has begun found everybody settled."""
        happened, self._execution.happenings = self._execution.happenings, []
        for event in happened:
            if isinstance(event, RoundBegan) and event.place != START and not event.is_rollback and not self._hooks:
                continue

    def _check_end(self) -> None:
        """The end of the execution is what the group shows: finished as planned, or stopped and said so."""
        execution, simulation = self._execution, self._simulation
        if execution.phase is not Phase.FINISHED:
            if execution.stop is None:
                self._broken.append("it ended without a reason")
            return
        for member in self._planned:
            if (why := simulation.missing([one for one in self._planned if one != member])):
                self._broken.append(f"it finished, and {why}")
        if unsettled := simulation.unsettled():
            self._broken.append(f"it finished, and {unsettled}")
        for member, script in self._finally().items():
            if not simulation.runs_as(member, script):
                self._broken.append(f"it finished, and {simulation.name_of(member)} does not run as planned")

    def _finally(self) -> dict[str, MemberScript | None]:
        scripts: dict[str, MemberScript | None] = dict(self._original)
        for step in self._plan.steps:
            rollout = step.rollout
            for member in (one for round_ in (rollout.rounds if rollout else ()) for one in round_ if one != BRIDGE):
                start = rollout.start if rollout else None
                former = scripts[member] or self._original[member]
                scripts[member] = started(former, start) if start is not None else None
        return scripts
