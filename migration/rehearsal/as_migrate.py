"""Playing a plan as `kohort migrate` carries it out: the same state machine, with hooks that fail, members that die,
and a Kohort that is killed and started again.

What must hold, whatever goes wrong: only the members of one round are in hand at once; no round begins while the gate
of the one before is closed, a member is away, or the group has not settled; no member is restarted twice that returned
right; the execution ends; and what it says at its end is what the group shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from coordinator.simulation.run import without_collector
from coordinator.simulation.scenario import Kill, MemberScript
from migration.bridge import BRIDGE
from migration.execution.events import (
    EndHooks,
    GroupSighting,
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
from migration.execution.gates import observed
from migration.execution.machine import Execution, Phase
from migration.execution.memory import ExecutionMemory
from migration.execution.rounds import START, PlanRounds
from migration.execution.stops import ExecutionLimits, ExecutionStop
from migration.gate.judge import judge_gate
from migration.model import MemberStart, Plan, PlannedMember, RoundAction
from migration.rehearsal.bridge import SimulatedBridge
from migration.rehearsal.rehearsed import GroupSummary
from migration.rehearsal.simulated_members import FoundGroup, MemberAction, SimulatedMembers, started
from migration.rehearsal.simulation import RehearsalCosts, Simulation
from migration.rehearsal.troubles import HANG_S, PROBLEMS, HookFault, Troubles, drawn_troubles

OBSERVE_S = 1.0
LONGEST_S = 6 * 3600.0
JOINS_S = 10.0
GHOST_S = 60.0  # How long a process that was killed can be a member
LIMITS = ExecutionLimits(accept_drift=True)  # Rehearsals begin with the group as found


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """How a plan was carried out from a seed."""

    seed: int
    end: Phase
    stop: ExecutionStop | None
    rollback_stop: ExecutionStop | None
    hooks: int
    lasted_s: float
    costs: RehearsalCosts
    longest_round_s: float
    left: GroupSummary  # The group at the end
    broken: tuple[str, ...]  # What must hold, and did not
    story: tuple[str, ...]  # Events, one line each; empty unless requested


def migrate_seed(
    plan: Plan,
    found: FoundGroup,
    simulated: SimulatedMembers,
    seed: int,
    *,
    troubles: Troubles | None = None,
    with_story: bool = False,
) -> Migrated:
    """Carry out the plan from a seed; `troubles`: None for those that the seed draws. Raises InvalidSetting and
    CannotRehearseError, as `Simulation`, and CannotCarryOutError."""
    drawn = drawn_troubles(plan, list(simulated.members), seed) if troubles is None else troubles
    with without_collector():
        return MigratedPlan(plan, found, simulated, seed, troubles=drawn, with_story=with_story).run()


class MigratedPlan:
    def __init__(
        self,
        plan: Plan,
        found: FoundGroup,
        simulated: SimulatedMembers,
        seed: int,
        *,
        troubles: Troubles,
        with_story: bool = False,
    ) -> None:
        self._plan, self._seed, self._troubles = plan, seed, troubles
        self._simulation = Simulation(found, simulated, seed, with_story=with_story)
        self._execution = Execution(plan, LIMITS, rolls_back=troubles.rolls_back)
        self._memory = ExecutionMemory()
        self._opened: dict[int, tuple[PlannedMember, ...]] = {}
        self._right: set[tuple[int, str]] = set()  # Steps and members that a hook has restarted rightly
        self._misled: set[str] = set()  # Members that run otherwise than hooks were to start them, unseen
        self._timing = Random(f"{seed} hooks")  # noqa: S311
        self._ends: list[tuple[float, HookResult]] = []  # Hooks that are running, and when they end
        self._deaths = list(troubles.deaths)
        self._hooks = self._bridges = 0
        self._bridge: SimulatedBridge | None = None
        self._original = dict(self._simulation.scripts)
        self._planned: dict[str, MemberScript | None] = dict(self._simulation.scripts)
        self._killed: dict[str, float] = {}  # Members that do not run, and since when
        self._died: dict[str, float] = {}  # Members that ever died, and when they last did
        self._rejoined: set[int] = set()  # Steps in which members have a new id that no hook gave them
        self._round: tuple[Place, float] | None = None
        self._longest_s = 0.0
        self._broken: list[str] = []

    def run(self) -> Migrated:
        simulation = self._simulation
        has_bridge = any(step.rollout and step.rollout.temporary_members for step in self._plan.steps)
        simulation.begin(leader=simulation.found.group.leader if has_bridge else None)
        began_s, before = simulation.now_s, simulation.costs
        while not self._execution.is_over and simulation.now_s < began_s + LONGEST_S:
            orders = self._execution.observe(self._sighting())
            self._note_happenings()
            self._carry_out(orders)
            if self._deaths and simulation.now_s >= began_s + self._deaths[0].at_s:
                self._die()
            simulation.wait(OBSERVE_S)
            self._end_hooks()
        execution = self._execution
        self._end_round()
        if not execution.is_over:
            self._broken.append(f"it has not ended after {LONGEST_S / 3600:.0f} hours")
        execution.observe(self._sighting())
        group = simulation.group()
        self._check_end()
        for stop in filter(None, (execution.stop, execution.rollback_stop)):
            self._tell(f"stop by the rule {stop.rule.value}: {stop.message}")
        for text in (execution.phase.value, *execution.standing, *(f"BROKEN: {why}" for why in self._broken)):
            self._tell(text)
        return Migrated(
            seed=self._seed,
            end=execution.phase,
            stop=execution.stop,
            rollback_stop=execution.rollback_stop,
            hooks=self._hooks,
            lasted_s=round(simulation.now_s - began_s, 1),
            costs=simulation.costs - before,
            longest_round_s=round(self._longest_s, 1),
            left=GroupSummary.of(group),
            broken=tuple(self._broken),
            story=simulation.world.story.last_lines(),
        )

    def _tell(self, text: str) -> None:
        self._simulation.world.story.add("kohort", text)

    # Kohort

    def _die(self) -> None:
        """Kohort is killed, and started again. The hooks that were running run to their end, and no one hears of it."""
        death = self._deaths.pop(0)
        self._tell("is killed")
        if self._bridge is not None and death.takes_bridge:
            self._bridge.leave()
        for ends_s, _ in self._ends:
            self._simulation.wait(max(0.0, ends_s - self._simulation.now_s))
        self._ends.clear()
        self._simulation.wait(death.away_s)
        self._tell("is started again")
        if self._died.keys() - self._killed.keys():  # It may have returned meanwhile, as it was
            self._rejoined.add(self._execution.place[0])
        resumed = self._memory.resumed(self._opened)
        rolls_back = self._troubles.rolls_back
        self._execution = Execution(self._plan, LIMITS, resumed=resumed, rolls_back=rolls_back)

    def _sighting(self) -> GroupSighting:
        simulation = self._simulation
        at_s, cluster = simulation.now_s, simulation.found.cluster
        if not simulation.answers:
            return GroupSighting(at_s=at_s, cluster=cluster, problem="no coordinator answers")
        return GroupSighting(
            at_s=at_s,
            group=simulation.group(),
            cluster=cluster,
            partitions={topic.name: topic.partitions for topic in simulation.found.topics.values()},
            asks=self._bridge.asks if self._bridge else None,
        )

    def _carry_out(self, orders: Sequence[Order]) -> None:
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
        self._check_hands()

    def _start_bridge(self, place: Place) -> None:
        rollout = self._plan.steps[place[0] - 1].rollout
        for temporary in rollout.temporary_members if rollout is not None else ():
            start = rollout.start if rollout is not None else None
            self._bridges += 1
            seed = self._seed + 7919 * (self._bridges - 1)  # Each draws other ids
            self._bridge = SimulatedBridge(self._simulation, temporary, start or MemberStart(), seed)
            self._bridge.enter()

    def _note_happenings(self) -> None:
        happenings, self._execution.happenings = self._execution.happenings, []
        for event in happenings:
            match event:
                case MemberReturned() | MemberRejoined():
                    self._memory.returned(event.member, event.seat)
                    if isinstance(event, MemberRejoined):
                        self._rejoined.add(event.place[0])
                case RollbackBegan():
                    self._tell(f"begins the rollback: {event.stop.message}")
                    self._memory.rollback_began(event)
                    self._right.clear()
                case StepEnded(is_rollback=True):
                    self._memory.step_undone(event.step, event.members)
                case StepEnded():
                    self._opened[event.step] = event.members
                case RoundBegan():
                    self._end_round()
                    self._round = event.place, self._simulation.now_s
                    back = "rollback, " if event.is_rollback else ""
                    self._tell(f"begins {back}step {event.place[0]}, round {event.place[1]}")
                    self._check_round(event)

    def _end_round(self) -> None:
        if self._round is not None:
            self._longest_s = max(self._longest_s, self._simulation.now_s - self._round[1])
        self._round = None

    # Hooks

    def _run(self, hook: RunHook) -> None:
        self._hooks += 1
        fault = self._troubles.hooks.get(self._hooks)
        simulation = self._simulation
        took_s = self._plan.bounce_s * self._timing.uniform(0.5, 1.0) + self._timing.uniform(0, 1)
        death = self._troubles.killed
        if death is not None and death.after_hook == self._hooks:
            self._kill(death.member, death.returns_s)
        named = ", ".join(map(simulation.name_of, hook.members))
        self._tell(f"hook {self._hooks}: {hook.action.value} {named}{f' ({fault.value})' if fault else ''}")
        self._memory.hook_began(hook.place[0], hook.members, hook.ids, stops=hook.action is RoundAction.STOP)
        timed_out = fault is HookFault.HANGS
        ends_s = simulation.now_s + (HANG_S if timed_out else took_s)
        problem = PROBLEMS.get(fault, "") if fault else ""
        result = HookResult(at_s=ends_s, member=hook.member, problem=problem, timed_out=timed_out)
        self._ends.append((ends_s, result))
        members = hook.members
        if fault is HookFault.WRONG_MEMBER:
            others = [member for member in simulation.scripts if member not in members]
            members = (self._timing.choice(others),) if others else ()
        if fault in (HookFault.NOTHING, HookFault.WRONG_MEMBER):
            self._misled |= {*hook.members} & {*self._died}  # Its supervisor's restart looks like the hook's
        for member in members:
            step_member = hook.place[0], member
            if fault is None and step_member in self._right and not hook.is_rollback and self._bridge is None:
                name = simulation.name_of(member)
                self._broken.append(f"{name} was restarted twice in step {hook.place[0]}")
            self._act(hook, member, fault, took_s)
            if member not in hook.members:
                self._right.discard(step_member)  # How it was started is not known: it is due again
            elif fault is None and hook.action is not RoundAction.STOP:
                self._right.add(step_member)

    def _act(self, hook: RunHook, member: str, fault: HookFault | None, took_s: float) -> None:
        script = self._script(hook, member)
        if member in hook.members and not self._gives(hook, member, script):
            name = self._simulation.name_of(member)
            self._broken.append(f"{name} is started with other lines than planned")
        if fault is HookFault.WRONG_CONFIGURATION and hook.action is not RoundAction.STOP:
            script = self._original[member]
            self._misled.add(member)
        if fault in (HookFault.FAILS, HookFault.HANGS, HookFault.NOTHING):
            return
        if fault is HookFault.FAILS_STOPPED:
            script = None
        self._planned[member] = script
        self._killed.pop(member, None)
        # A process joins some seconds after its command has ended.
        away_s = took_s + self._timing.uniform(0, JOINS_S) if hook.action is RoundAction.RESTART else 0.0
        self._simulation.perform(MemberAction(member=member, script=script, away_s=away_s))

    def _script(self, hook: RunHook, member: str) -> MemberScript | None:
        """As the hook starts the member; unchanged if the bridge has asked for it, or as it was in a rollback."""
        if hook.action is RoundAction.STOP:
            return None
        is_planned = hook.is_of_round and not hook.is_rollback
        if not is_planned and not (hook.change.lines or hook.change.removed):
            return self._original[member]
        rollout = self._execution.step.rollout if self._execution.step else None
        planned = rollout is not None and any(member in seats for seats in rollout.rounds)
        if rollout is None or rollout.start is None or not planned or not hook.is_of_round:
            return self._simulation.scripts[member]
        return started(self._simulation.scripts[member], rollout.start)

    def _gives(self, hook: RunHook, member: str, script: MemberScript | None) -> bool:
        """Whether the lines of the hook's file, on top of the member's configuration before the migration, are those of
        the script, as far as its protocol goes; no lines: as it was."""
        change, original = hook.change, self._original[member]
        if script is None:
            return True
        if not (change.lines or change.removed or change.remarks):
            return (script.protocol, script.assignors) == (original.protocol, original.assignors)
        return change.lines.get("group.protocol", original.protocol) == script.protocol

    def _end_hooks(self) -> None:
        for ends_s, result in list(self._ends):
            if self._simulation.now_s >= ends_s:
                self._ends.remove((ends_s, result))
                if result.problem:
                    hook = next(hook for hook in self._execution.acting if hook.member == result.member)
                    self._memory.hook_failed(hook.members)
                self._carry_out(self._execution.hook_ended(result))

    def _kill(self, member: str, returns_s: float | None) -> None:
        simulation = self._simulation
        if not simulation.world.processes[simulation.name_of(member)].is_running:
            return
        self._killed[member] = self._died[member] = simulation.now_s
        self._right = {(step, other) for step, other in self._right if other != member}
        simulation.world.play(Kill(at=0, member=simulation.name_of(member)))
        if returns_s is not None:
            schedule = simulation.world.schedule
            schedule.at(schedule.now_ms + int(returns_s * 1000), self._supervise, member)

    def _supervise(self, member: str) -> None:
        """Start a member that has died, unless a hook has done so, or has stopped it."""
        if member in self._killed:
            del self._killed[member]
            action = MemberAction(member=member, script=self._simulation.scripts[member])
            self._simulation.perform(action)

    # What must hold

    def _check_hands(self) -> None:
        hooks = self._execution.acting
        if len(places := {hook.place for hook in hooks}) > 1:
            self._broken.append(f"hooks of {len(places)} rounds run at once")
        for hook in hooks:
            members = PlanRounds(self._execution.plan).members(hook.place)
            if hook.is_of_round and not set(hook.members) <= {*members}:
                self._broken.append(f"a hook of step {hook.place[0]} is for a member of another round")
        if sum(not hook.is_of_round for hook in hooks) > 1:
            self._broken.append("two members are restarted at once for the bridge")

    def _check_round(self, began: RoundBegan) -> None:
        """What no broker shows is not held against it: a process that was killed is a member until its session
        expires, and no list of a classic member is shown."""
        if began.is_rollback:
            return
        simulation, rounds = self._simulation, PlanRounds(self._plan)
        former = rounds.before(began.place)
        began_with = self._opened.get(former[0] - 1) if former != START else None
        observation = observed(rounds, former, self._sighting(), self._opened, ())
        gate = judge_gate(replace(observation, began_with=began_with), accept_drift=True)
        where = f"step {began.place[0]}, round {began.place[1]}, begins"
        # For a gate alone, a member that rejoined by itself has been restarted.
        if not gate.open and former[0] not in self._rejoined:
            self._broken.append(f"{where}, although the gate before is closed: {'; '.join(gate.reasons)}")
        stopped = [member for member, script in self._planned.items() if script is None]
        # A static member that returns within its session is refused, and the one that died is still shown.
        ghosts = [seat for seat, at_s in self._died.items() if simulation.now_s - at_s < GHOST_S]
        why = simulation.missing([*stopped, *self._killed, *ghosts])
        if not self._killed and not ghosts:
            why = why or simulation.unsettled_group()
        if why:
            self._broken.append(f"{where}, and {why}")
        scripts = self._planned_until(former)
        so_far = [place for place in rounds.of_step(former[0]) if place <= former]
        for member in {seat for place in so_far for seat in rounds.members(place)}:
            is_shown = member in scripts and member not in (*self._misled, *self._killed)
            if is_shown and not simulation.runs_as(member, scripts[member]):
                self._broken.append(f"{where}, and {simulation.name_of(member)} does not run as planned")

    def _check_end(self) -> None:
        """The end of the execution is what the group shows: as planned, as it was, or stopped for a reason."""
        execution, simulation = self._execution, self._simulation
        if execution.phase not in (Phase.FINISHED, Phase.ROLLED_BACK):
            if execution.stop is None:
                self._broken.append("it ended without a reason")
            self._check_standing()
            return
        end = f"it is {execution.phase.value.replace('-', ' ')}, and"
        is_finished = execution.phase is Phase.FINISHED
        scripts = self._planned_until(PlanRounds(self._plan).places[-1] if is_finished else START)
        recently = [seat for seat, at_s in self._killed.items() if simulation.now_s - at_s < GHOST_S]
        stopped = [member for member, script in scripts.items() if script is None]
        if why := simulation.missing([*stopped, *recently]):
            self._broken.append(f"{end} {why}")
        if not recently and (why := simulation.unsettled()):
            self._broken.append(f"{end} {why}")
        for member, script in scripts.items():
            if member not in self._misled and not simulation.runs_as(member, script):
                self._broken.append(f"{end} {simulation.name_of(member)} runs otherwise")

    def _check_standing(self) -> None:
        """Whether a member that the group does not have is named, and the group's state and type."""
        group, said = self._simulation.group(), " ".join(self._execution.standing)
        seats = self._execution.seats
        present = {member.id for member in group.members} if group else set()
        for seat in seats:
            if seats[seat].id not in present and seats[seat].label not in said:
                self._broken.append(f"it says nothing about {seats[seat].label}, which is not in the group")
        if group is not None and not (group.state.value in said and group.type.value in said):
            self._broken.append(f"it does not say that the group is {group.type.value}, {group.state.value}")

    def _planned_until(self, last: Place) -> dict[str, MemberScript | None]:
        """The script of each member when the round of `last` is complete; None: stopped."""
        scripts: dict[str, MemberScript | None] = dict(self._original)
        rounds = PlanRounds(self._plan)
        for place in rounds.places:
            rollout = rounds.rollout(place)
            if rollout is None or place > last:
                continue
            for member in rounds.members(place):
                if member != BRIDGE:
                    former = scripts[member] or self._original[member]
                    scripts[member] = started(former, rollout.start) if rollout.start is not None else None
        return scripts
