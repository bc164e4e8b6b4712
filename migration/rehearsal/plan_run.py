"""Playing a plan: carry out each round on the simulated group, check each gate until it opens, and roll back."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from coordinator.simulation.run import without_collector
from coordinator.simulation.scenario import MemberScript
from groups.classic_streams import is_classic_streams
from groups.model import Group
from groups.streams_tasks import StreamsRequest
from migration.bridge import BRIDGE, MemberRestart, RestartMode
from migration.client_config import ClientConfig
from migration.execution.bridging import OF_BRIDGE
from migration.gate.judge import STEADY_S, check_steady, judge_gate
from migration.gate.observation import GateObservation, GateResult, undecided
from migration.model import SESSION_S, MemberStart, Plan, PlannedMember, Step, TemporaryMember
from migration.rehearsal.applications import with_application
from migration.rehearsal.bridge import SimulatedBridge
from migration.rehearsal.faults import NO_FAULTS, PlanFaults
from migration.rehearsal.rehearsed import GatePoll, GroupSummary, Rehearsed, RollbackResult, RoundPlayed
from migration.rehearsal.simulated_members import (
    CannotRehearseError,
    FoundGroup,
    MemberAction,
    SimulatedMembers,
    StepRound,
    rollback_of,
    round_actions,
    simulated_members,
)
from migration.rehearsal.simulation import Simulation

ASK_S = 2.0
"""Time between two observations of a gate; STEADY_S between the last two before it opens. As `kohort gate --wait`."""
PATIENCE_S = 300.0
"""How long to wait for a gate after the processes have restarted: as long as `kohort gate --wait`."""
RESOLUTION_S = 0.001
SETTLING_S = 30.0
"""How long a mistaken operator waits after the start of an unplanned member before the next action."""
PAUSE_S = 5.0  # The longest pause of an operator between two rounds; the seed decides the length
SPREAD_S = 1.0  # Processes that are started together are up within this time; the seed decides when

AFTER: StepRound = (0, 0)

NO_ANSWER = GateResult(checks=(undecided("coordinator", "no coordinator answers"),))

Operator = Callable[
    [StepRound, tuple[MemberAction, ...], Mapping[str, MemberScript]], tuple[MemberAction, ...]
]  # returns the actions at a place, given the plan's actions there and the last script of each member


def as_planned(
    _place: StepRound, actions: tuple[MemberAction, ...], _scripts: Mapping[str, MemberScript]
) -> tuple[MemberAction, ...]:
    return actions


def simulated_for_plan(
    plan: Plan,
    found_group: FoundGroup,
    configs: Sequence[ClientConfig] = (),
    streams: StreamsRequest | None = None,
) -> SimulatedMembers:
    """The members of a rehearsal; `configs` are the members' configuration files, `streams` is known of an application
    of Kafka Streams. Raises CannotRehearseError."""
    if plan.baseline is None:
        raise CannotRehearseError("the plan does not name the group it was made for; make a new plan")
    if not found_group.group.members:
        raise CannotRehearseError("the group has no members to rehearse with")
    if any(member.client.id == BRIDGE for member in found_group.group.members):
        raise CannotRehearseError("the group has a bridge leader; stop it, then make a new plan")
    for number, step in enumerate(plan.steps, 1):
        if step.rollout is None and (step.rounds or step.round_action):
            why = "the plan does not contain the protocol of its members; make a new plan"
            also = "Steps that only the application itself can do cannot be rehearsed"
            raise CannotRehearseError(f"step {number} ({step.title}): {why}. {also}")
    if not places(plan):
        raise CannotRehearseError("the plan does not stop or start any member: there is nothing to rehearse")
    simulated = simulated_members(found_group.group, plan.baseline.members, configs)
    if is_classic_streams(found_group.group):
        return with_application(simulated, plan, found_group, streams or StreamsRequest())
    return simulated


def is_of_group(plan: Plan, found_group: FoundGroup) -> GateResult:
    return judge_gate(_observed(plan, found_group))


def _observed(plan: Plan, found_group: FoundGroup) -> GateObservation:
    partitions = {topic.name: topic.partitions for topic in found_group.topics.values()}
    group, cluster = found_group.group, found_group.cluster
    return GateObservation(plan=plan, position=-1, group=group, cluster=cluster, partitions=partitions)


def rehearse(
    plan: Plan,
    found_group: FoundGroup,
    simulated: SimulatedMembers,
    seed: int,
    *,
    stop_at: StepRound | None = None,
    with_story: bool = False,
    operator: Operator = as_planned,
    last_step: int | None = None,
    faults: PlanFaults = NO_FAULTS,
) -> Rehearsed:
    """Play the plan, up to the round `stop_at` and back if it is given. Raises CannotRehearseError or
    InvalidSetting."""
    simulation = Simulation(found_group, simulated, seed, with_story=with_story)
    with without_collector():
        return PlanRun(plan, simulation, seed, operator, faults).run(stop_at, last_step)


class PlanRun:
    def __init__(
        self,
        plan: Plan,
        simulation: Simulation,
        seed: int,
        operator: Operator,
        faults: PlanFaults = NO_FAULTS,
        make_bridge: Callable[
            [Simulation, TemporaryMember, MemberStart, int], SimulatedBridge
        ] = SimulatedBridge,
    ) -> None:
        self._plan, self._simulation, self._seed = plan, simulation, seed
        self._make_bridge = make_bridge
        self._operator, self._faults = operator, faults
        self._timing = Random(f"{seed} operator")  # noqa: S311
        self._rounds: list[RoundPlayed] = []
        self._polls: list[GatePoll] = []
        self._unsafe: list[str] = []
        self._opened_wrongly: list[str] = []
        self._undo: list[tuple[MemberAction, ...]] = []  # The rollback of each completed round
        self._planned: dict[str, MemberScript | None] = {}
        """The script of each member according to the rounds so far; None: stopped."""
        self._began_with: dict[int, tuple[PlannedMember, ...]] = {}
        """By step: the members of the group when it started."""
        self._bridge: SimulatedBridge | None = None
        self._restarted_for_bridge: set[str] = set()  # Ids of members whose restart the bridge has requested
        self._judged: Group | None = None
        self._results: dict[tuple[int, int | None, bool], GateResult] = {}
        """Results of gates for `_judged`, by step, round and whether the gate has been open before."""

    def run(self, stop_at: StepRound | None, last_step: int | None) -> Rehearsed:
        simulation = self._simulation
        has_bridge = any(step.rollout and step.rollout.temporary_members for step in self._plan.steps)
        simulation.begin(leader=simulation.found.group.leader if has_bridge else None)
        misplaced = simulation.misplaced()
        self._began_with[1] = self._members()
        start = simulation.group()
        back = None
        last = stop_at or (last_step or len(self._plan.steps), sys.maxsize)
        played = [step_round for step_round in places(self._plan) if step_round <= last]
        if all(self._play_round(step_round) for step_round in played):
            if stop_at is None:
                self._afterwards(played[-1])
            else:
                back = self._go_back(start, *stop_at)
        metrics = simulation.metrics
        if not self._unsafe and not simulation.settles():
            self._unsafe.append(f"the group does not settle: {simulation.unsettled()}")
        for broken in simulation.violations:
            known = f" by {broken.known}, a weakness of Kafka's own rules" if broken.known else ""
            when = f"{broken.invariant} is violated at {broken.at_s:.1f} s"
            self._unsafe.append(f"{when}{known}: {broken.message}")
        return Rehearsed(
            seed=self._seed,
            rounds=tuple(self._rounds),
            back=back,
            polls=tuple(self._polls),
            opened_wrongly=tuple(self._opened_wrongly),
            refusals=simulation.refusals(),
            misplaced=misplaced,
            metrics=metrics,
            violations=simulation.violations,
            unsafe=tuple(self._unsafe),
            story=simulation.world.story.last_lines(),
            result=simulation.result(),
        )

    def _play_round(self, step_round: StepRound) -> bool:
        """Do a round and wait for its gate; False if the gate stays closed or opens wrongly."""
        simulation, (number, round_) = self._simulation, step_round
        before = simulation.costs
        simulation.wait(self._timing.uniform(0, PAUSE_S))
        began_s = simulation.now_s
        for counted_from in (step_round,) if self._rounds else (None, step_round):
            simulation.inject(self._faults, counted_from)
        rollout = self._plan.steps[number - 1].rollout
        actions = self._spread(round_actions(self._plan, number, round_, simulation.scripts))
        if rollout is not None:
            if undo := rollback_of(rollout, actions, simulation.scripts):
                self._undo.append(undo)
            for temporary in rollout.temporary_members:
                start = rollout.start or MemberStart()
                self._bridge = self._make_bridge(simulation, temporary, start, self._seed)
                self._bridge.enter()
        self._planned |= {action.member: action.script for action in actions}
        done = self._operator(step_round, actions, simulation.scripts)
        self._planned |= {action.member: action.script for action in done if action.is_ahead}
        self._perform(step_round, done)
        if done != actions:
            simulation.wait(STEADY_S)  # so that the last action has an effect before the gate is checked
        opened = not self._has_rounds(number) or self._wait_for_gate(step_round, round_)
        if opened and round_ < len(_rounds(self._plan.steps[number - 1])):
            rest = (one for one in places(self._plan) if one[0] == number)
            whole = (action for one in rest for action in round_actions(self._plan, *one, simulation.scripts))
            if self._judge(step_round, None, simulation.group()).open and (
                differs := self._differs({action.member: action.script for action in whole})
            ):
                gate = f"the gate of step {number}"
                self._note_opened(f"{gate} is open after round {round_}, although {differs}")
        elif opened:
            opened = self._wait_for_gate(step_round, None)
            self._began_with[number + 1] = self._members()
        costs = simulation.costs - before
        open_s = round(simulation.now_s - began_s, 1) if opened else None
        self._rounds.append(
            RoundPlayed(step=number, round=round_, costs=costs, began_s=began_s, gate_open_after_s=open_s)
        )
        # A mistaken operator continues when a gate opens: the next action shows the effect.
        return opened and (self._operator is not as_planned or not self._unsafe)

    def _spread(self, actions: Sequence[MemberAction]) -> tuple[MemberAction, ...]:
        """Processes that are started together are up one after the other; the seed decides the order."""
        late_s: dict[str, float] = {}
        for action in actions:
            instance = self._simulation.instance_of(action.member)
            if instance not in late_s:
                late_s[instance] = self._timing.uniform(0, SPREAD_S) if late_s else 0.0
        return tuple(
            action.delayed(late_s[self._simulation.instance_of(action.member)]) for action in actions
        )

    def _restart_for_bridge(self, asked: MemberRestart | None) -> bool:
        simulation = self._simulation
        if asked is None or asked.member in self._restarted_for_bridge:
            return False
        self._restarted_for_bridge.add(asked.member)
        member = simulation.origin_of(asked.member)
        if self._planned.get(member, simulation.scripts[member]) is None:
            return False  # it is stopped, and its session has not ended
        away_s = self._plan.bounce_s + (SESSION_S if asked.mode is RestartMode.STOP else 0.0)
        simulation.perform(MemberAction(member=member, script=simulation.scripts[member], away_s=away_s))
        return True

    def _afterwards(self, last: StepRound) -> None:
        actions = self._operator(AFTER, (), self._simulation.scripts)
        if actions:
            before = self._simulation.costs
            self._perform(last, actions)
            self._simulation.wait(self._plan.bounce_s + SETTLING_S)
            self._wait_for_gate(last, None)
            costs = self._rounds[-1].costs + (self._simulation.costs - before)
            self._rounds[-1] = replace(self._rounds[-1], costs=costs)

    def _has_rounds(self, number: int) -> bool:
        return len(self._plan.steps[number - 1].rounds) > 1

    def _perform(self, step_round: StepRound, actions: Sequence[MemberAction]) -> None:
        """Perform each action at its time; the gate is checked in between, and its result is only recorded."""
        simulation, began_s = self._simulation, self._simulation.now_s
        round_ = step_round[1] if self._has_rounds(step_round[0]) else None
        for action in sorted(actions, key=lambda action: action.at_s):
            while (left_s := began_s + action.at_s - simulation.now_s) >= RESOLUTION_S:
                self._check_gate(step_round, round_)
                simulation.wait(min(ASK_S, left_s))
            simulation.perform(action)

    def _wait_for_gate(self, step_round: StepRound, round_: int | None) -> bool:
        """Check the gate until it opens, and record what is unsafe; False if it stays closed or is off plan."""
        simulation = self._simulation
        what = f"the gate of step {step_round[0]}" + (f", round {round_}," if round_ else "")
        end_s = simulation.now_s + self._plan.bounce_s + PATIENCE_S
        while True:
            judged, group = self._check_gate(step_round, round_)
            if judged.open:
                simulation.wait(STEADY_S)
                again, after = self._check_gate(step_round, round_)
                if again.open and check_steady(group, after).holds:
                    break
                judged = again
            closed_by = {*self._polls[-1].closed_by}
            if self._bridge is not None and closed_by & OF_BRIDGE and judged.strayed is None:
                # The bridge's place changes as members restart: an operator would check again.
                if closed_by <= OF_BRIDGE and self._restart_for_bridge(self._bridge.asks):
                    end_s = simulation.now_s + self._plan.bounce_s + PATIENCE_S
            elif judged.is_final and not judged.open:
                self._unsafe.append(f"{what} reports that the group is off plan: {'; '.join(judged.reasons)}")
                return False
            if simulation.now_s >= end_s:
                self._unsafe.append(f"{what} does not open: {'; '.join(judged.reasons)}")
                return False
            simulation.unsettled()  # records since when each member has been settled
            simulation.wait_for_change(ASK_S, end_s - simulation.now_s)
        away = [member for member, script in self._planned.items() if script is None]
        # Faults stop single members too; the group is settled as long as these keep their partitions.
        of_all = simulation.unsettled if self._faults is NO_FAULTS else simulation.unsettled_group
        if unsettled := simulation.missing(away) or of_all():
            self._note_opened(f"{what} opens too early, at {simulation.now_s:.1f} s: {unsettled}")
        elif round_ is None and (differs := self._differs(self._planned)):
            self._note_opened(f"{what} opens at {simulation.now_s:.1f} s, although {differs}")
        return True

    def _note_opened(self, wrongly: str) -> None:
        self._opened_wrongly.append(wrongly)
        self._unsafe.append(wrongly)

    def _differs(self, planned: Mapping[str, MemberScript | None]) -> str:
        """Names a member that does not run as planned; empty if there is none."""
        for member, script in planned.items():
            if not self._simulation.runs_as(member, script):
                return f"{self._simulation.name_of(member)} does not run as planned"
        return ""

    def _check_gate(self, step_round: StepRound, round_: int | None) -> tuple[GateResult, Group | None]:
        if self._simulation.answers:
            group = self._simulation.group()
            judged = self._judge(step_round, round_, group)
        else:
            group, judged = None, NO_ANSWER
        at_s, shown = self._simulation.now_s, GroupSummary.of(group)
        poll = GatePoll(at_s=at_s, place=step_round, round=round_, judged=judged, shown=shown)
        if not self._polls or not poll.repeats(self._polls[-1]):
            self._polls.append(poll)
        return judged, group

    def _judge(self, step_round: StepRound, round_: int | None, group: Group | None) -> GateResult:
        number = step_round[0]
        asked = (number, round_, number + 1 in self._began_with)
        if group is not self._judged:
            self._judged, self._results = group, {}
        if asked not in self._results:
            observed = replace(
                _observed(self._plan, self._simulation.found),
                position=number - 1,
                group=group,
                began_with=self._began_with[number],
                was_open=number + 1 in self._began_with,
                round=round_,
            )
            self._results[asked] = judge_gate(observed, accept_drift=True)
        return self._results[asked]

    def _members(self) -> tuple[PlannedMember, ...]:
        group = self._simulation.group()
        return tuple(PlannedMember.of(member) for member in group.members) if group else ()

    def _go_back(self, start: Group | None, step: int, round_: int) -> RollbackResult:
        simulation = self._simulation
        simulation.wait(self._timing.uniform(0, PAUSE_S))
        before, began_s = simulation.costs, simulation.now_s
        arrived = True
        while self._undo and arrived:
            actions = self._undo.pop()
            for action in actions:
                simulation.perform(action)
            simulation.wait(max(self._plan.bounce_s, *(action.away_s for action in actions)))
            arrived = simulation.wait_until_settled()
        if self._bridge is not None and arrived:
            self._bridge.leave()  # it joined before the rounds that were undone
            arrived = simulation.wait_until_settled()
        missing = (
            simulation.missing([]) if self._faults is NO_FAULTS else ""
        )  # a fault may have killed a member
        now = simulation.group()
        ends = {group and (group.type, group.protocol, group.state) for group in (now, start)}
        arrived = arrived and not missing and len(ends) == 1 and now is not None
        if not arrived:
            where = "nowhere" if now is None else f"{now.type.value} ({now.protocol}), {now.state.value}"
            where += f"; {missing}" if missing else ""
            rollback = f"the rollback from step {step}, round {round_}"
            self._unsafe.append(f"{rollback}, ends in another state: {where}")
        costs, lasted_s = simulation.costs - before, round(simulation.now_s - began_s, 1)
        return RollbackResult(step=step, round=round_, costs=costs, lasted_s=lasted_s, arrived=arrived)


def places(plan: Plan) -> tuple[StepRound, ...]:
    counts = {number: len(_rounds(step)) for number, step in enumerate(plan.steps, 1)}
    return tuple((number, round_) for number, count in counts.items() for round_ in range(1, count + 1))


def _rounds(step: Step) -> Sequence[Sequence[str]]:
    return step.rollout.rounds if step.rollout is not None else ()
