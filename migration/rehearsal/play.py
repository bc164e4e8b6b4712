"""Playing a plan: each round done to the simulated group, each gate asked until it opens, and the ways back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from coordinator.simulation.result import Violation
from coordinator.simulation.scenario import MemberScript
from groups.model import Group
from migration.course import Course, Manner
from migration.gate.answers import Judgement
from migration.gate.judge import check_steady, judge_gate
from migration.gate.observation import GateObservation
from migration.model import Plan, PlannedMember, Step
from migration.paths.path import BRIDGE
from migration.rehearsal.cast import Cast, cast_of, started
from migration.rehearsal.errors import CannotRehearseError
from migration.rehearsal.stage import Costs, Found, Stage

ASK_S = 2.0
"""Between two looks at a gate, and STEADY_S between the two before it opens: as `kohort gate --wait` asks."""
STEADY_S = 1.0
PATIENCE_S = 300.0
"""How long a gate is waited for, from the start of the processes on: as `kohort gate --wait` does."""
PAUSE_S = 5.0
"""How long an operator takes from one round to the next, at most: the seed says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlayed:
    """A round that was done."""

    step: int
    """From 1."""
    round: int
    """From 1."""
    costs: Costs
    gate_open_after_s: float | None
    """From the first stop or start of the round on; None: it stayed closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """Back to the start, after a round, by undoing one round after the other."""

    step: int
    round: int
    costs: Costs
    lasted_s: float
    arrived: bool
    """Whether the group is at rest, of the type and with the assignor that it was found with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """A plan played from a seed."""

    seed: int
    rounds: tuple[RoundPlayed, ...]
    back: WayBack | None
    """Where the rehearsal went back."""
    misplaced: int
    """Partitions that began with another member than was found."""
    violations: tuple[Violation, ...]
    unsafe: tuple[str, ...]
    """Why the plan is not safe: gates that opened too early or stayed closed, invariants that fell."""
    story: tuple[str, ...]
    """What happened, a line each; empty unless it was asked for."""

    @property
    def is_safe(self) -> bool:
        return not self.unsafe


def cast_for(plan: Plan, found: Found) -> Cast:
    """Who plays.

    :raises CannotRehearseError: the plan, or somebody of the group, cannot be played
    """
    if plan.baseline is None:
        raise CannotRehearseError("the plan does not say which group it was made for: plan anew")
    if not found.group.members:
        raise CannotRehearseError("the group has no members: there is nobody to rehearse with")
    if any(member.client.id == BRIDGE for member in found.group.members):
        raise CannotRehearseError("a bridge leader is in the group: stop it, then plan anew")
    for number, step in enumerate(plan.steps, 1):
        if step.course is None and (step.rounds or step.manner):
            raise CannotRehearseError(
                f"step {number} ({step.title}): the plan does not say what its members speak then; plan anew, or it "
                "is a step that only its own application carries out"
            )
        if step.course is not None and step.course.guests:
            raise CannotRehearseError(f"step {number} ({step.title}): a bridge leader is not rehearsed yet")
    if not places(plan):
        raise CannotRehearseError("the plan stops and starts nobody: there is nothing to rehearse")
    return cast_of(found.group, plan.baseline.members)


def is_of_group(plan: Plan, found: Found) -> Judgement:
    """What the gate before the first step says of the group as it was found, whatever its topics and members do."""
    observed = GateObservation(
        plan=plan,
        position=-1,
        group=found.group,
        cluster=found.cluster,
        partitions={topic.name: topic.partitions for topic in found.topics.values()},
    )
    return judge_gate(observed)


def rehearse(
    plan: Plan,
    found: Found,
    cast: Cast,
    seed: int,
    *,
    stop_at: tuple[int, int] | None = None,
    tells: bool = False,
) -> Rehearsed:
    """Play the plan; `stop_at` a step and a round of it, from 1: after that the way back begins.

    With `tells` there is a story, and the run is slower.

    :raises CannotRehearseError: the group as found does not come to rest
    :raises InvalidSetting: a setting of the brokers cannot be played
    """
    return _Play(plan, Stage(found, cast, seed, tells=tells), seed).play(stop_at)


class _Play:
    def __init__(self, plan: Plan, stage: Stage, seed: int) -> None:
        self._plan, self._stage, self._seed = plan, stage, seed
        self._operator = Random(f"{seed} operator")  # noqa: S311
        self._rounds: list[RoundPlayed] = []
        self._unsafe: list[str] = []
        self._done: list[Callable[[], None]] = []
        """What undoes each round that was done."""
        self._began_with: tuple[PlannedMember, ...] = ()
        self._stopped: set[str] = set()
        """Members that are to be away."""

    def play(self, stop_at: tuple[int, int] | None) -> Rehearsed:
        stage = self._stage
        stage.begin()
        misplaced = stage.misplaced()
        self._began_with = self._members()
        start = stage.group()
        back = None
        for place in self._places(stop_at):
            if not self._carry_out(*place):
                break
            if place == stop_at:
                back = self._go_back(start, *place)
                break
        if not self._unsafe and not stage.calm():
            self._unsafe.append(f"the group does not come to rest: {stage.unrest()}")
        self._unsafe += [
            f"{each.invariant} falls at {each.at_s:.1f} s: {each.message}" for each in stage.violations
        ]
        return Rehearsed(
            seed=self._seed,
            rounds=tuple(self._rounds),
            back=back,
            misplaced=misplaced,
            violations=stage.violations,
            unsafe=tuple(self._unsafe),
            story=stage.world.story.so_far(),
        )

    def _places(self, stop_at: tuple[int, int] | None) -> Iterator[tuple[int, int]]:
        return (place for place in places(self._plan) if stop_at is None or place <= stop_at)

    def _carry_out(self, number: int, round_: int) -> bool:
        """Do a round and wait for its gate; False where that stays closed, or opened too early."""
        stage, step = self._stage, self._plan.steps[number - 1]
        stage.wait(self._operator.uniform(0, PAUSE_S))
        before, began_s = stage.costs, stage.now_s
        if step.course is not None:
            self._do(step.course, step.course.rounds[round_ - 1])
        several, is_last = len(step.rounds) > 1, round_ == len(_rounds(step))
        opened = not several or self._opens(number, round_)
        if opened and is_last:
            opened = self._opens(number, None)
            self._began_with = self._members()
        self._rounds.append(
            RoundPlayed(
                step=number,
                round=round_,
                costs=stage.costs - before,
                gate_open_after_s=round(stage.now_s - began_s, 1) if opened else None,
            )
        )
        return opened and not self._unsafe

    def _do(self, course: Course, members: Sequence[str]) -> None:
        scripts = {member: self._stage.scripts[member] for member in members}
        self._stopped -= set(members)
        if course.manner is Manner.STOP:
            self._stopped |= set(members)
            self._stop(members)
            self._done.append(lambda: self._start(scripts))
        elif course.start is not None:
            new = {member: started(script, course.start) for member, script in scripts.items()}
            if course.manner is Manner.START:
                self._start(new)
                self._done.append(lambda: self._stop(members))
            else:
                self._restart(new)
                self._done.append(lambda: self._restart(scripts))

    def _start(self, scripts: dict[str, MemberScript]) -> None:
        for member, script in scripts.items():
            self._stage.start(member, script)

    def _stop(self, members: Sequence[str]) -> None:
        for member in members:
            self._stage.stop(member)

    def _restart(self, scripts: dict[str, MemberScript]) -> None:
        for member, script in scripts.items():
            self._stage.restart(member, script, self._plan.bounce_s)

    def _opens(self, number: int, round_: int | None) -> bool:
        """Ask from now on until the gate opens; what is unsafe is noted."""
        stage = self._stage
        what = f"the gate of step {number}" + (f", round {round_}," if round_ else "")
        end_s = stage.now_s + self._plan.bounce_s + PATIENCE_S
        while True:
            judged, group = self._ask(number, round_)
            if judged.open:
                stage.wait(STEADY_S)
                again, after = self._ask(number, round_)
                if again.open and check_steady(group, after).holds:
                    break
                judged = again
            if judged.is_final and not judged.open:
                self._unsafe.append(f"{what} says that the group has strayed: {'; '.join(judged.reasons)}")
                return False
            if stage.now_s >= end_s:
                self._unsafe.append(f"{what} stays closed: {'; '.join(judged.reasons)}")
                return False
            stage.unrest()  # it counts since when each member is settled
            stage.wait(ASK_S)
        if unrest := stage.missing(self._stopped) or stage.unrest():
            self._unsafe.append(f"{what} opens too early, at {stage.now_s:.1f} s: {unrest}")
        return True

    def _ask(self, number: int, round_: int | None) -> tuple[Judgement, Group | None]:
        stage = self._stage
        group = stage.group()
        observed = GateObservation(
            plan=self._plan,
            position=number - 1,
            group=group,
            cluster=stage.found.cluster,
            partitions={topic.name: topic.partitions for topic in stage.found.topics.values()},
            began_with=self._began_with,
            round=round_,
        )
        return judge_gate(observed, accept_drift=True), group

    def _members(self) -> tuple[PlannedMember, ...]:
        group = self._stage.group()
        return tuple(PlannedMember.of(member) for member in group.members) if group else ()

    def _go_back(self, start: Group | None, step: int, round_: int) -> WayBack:
        stage = self._stage
        stage.wait(self._operator.uniform(0, PAUSE_S))
        before, began_s = stage.costs, stage.now_s
        arrived = True
        while self._done and arrived:
            self._done.pop()()
            stage.wait(self._plan.bounce_s)
            arrived = stage.rest()
        now = stage.group()
        arrived = arrived and now is not None and start is not None and _alike(now, start)
        if not arrived:
            where = "nowhere" if now is None else f"{now.type.value} ({now.protocol}), {now.state.value}"
            self._unsafe.append(f"the way back from step {step}, round {round_}, ends elsewhere: {where}")
        return WayBack(
            step=step,
            round=round_,
            costs=stage.costs - before,
            lasted_s=round(stage.now_s - began_s, 1),
            arrived=arrived,
        )


def places(plan: Plan) -> tuple[tuple[int, int], ...]:
    """Every round of the plan that the group notices, by step and round from 1."""
    return tuple(
        (number, round_)
        for number, step in enumerate(plan.steps, 1)
        for round_ in range(1, len(_rounds(step)) + 1)
    )


def _rounds(step: Step) -> Sequence[Sequence[str]]:
    return step.course.rounds if step.course is not None else ()


def _alike(now: Group, then: Group) -> bool:
    return (now.type, now.protocol, now.state) == (then.type, then.protocol, then.state)
