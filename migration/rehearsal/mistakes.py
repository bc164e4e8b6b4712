"""Operator mistakes: other members, other scripts or another time at a place of a plan. `symptoms` plays them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

from assignors.streams import STREAMS
from coordinator.simulation.scenario import MemberScript
from groups.model import MemberProtocol
from groups.times import seconds_text
from migration.model import MemberStart, Plan, Rollout, RoundAction
from migration.rehearsal.plan_run import AFTER, SETTLING_S, Operator, places
from migration.rehearsal.simulated_members import (
    MemberAction,
    SimulatedMembers,
    StepRound,
    round_actions,
    started,
)

Actions: TypeAlias = tuple[MemberAction, ...]
Scripts: TypeAlias = Mapping[str, MemberScript]
Change: TypeAlias = Callable[[Actions, Scripts], Actions]


class Mistake(Enum):
    SKIPPED_BOUNCE = "bounce-skipped"
    REVERSED_LIST = "list-reversed"
    TOO_EARLY = "next-round-too-early"
    OLD_MEMBER = "old-member-back"
    EARLY_SUCCESSOR = "successor-too-early"
    WRONG_JAR = "wrong-jar"
    DEPLOY = "deploy-in-the-middle"
    KEPT_UPGRADE_FROM = "upgrade-from-kept"
    REFUSED_UPGRADE_FROM = "upgrade-from-refused"


OF_STREAMS = frozenset({Mistake.KEPT_UPGRADE_FROM, Mistake.REFUSED_UPGRADE_FROM})
"""Those that only exist in plans of Kafka Streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedMistake:
    mistake: Mistake
    step: int  # The step, from 1, during or after which it is made
    place: StepRound  # The round that it changes; the last round for a mistake that is made afterwards
    what: str
    operator: Operator
    last_step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inapplicable:
    mistake: Mistake
    why: str


def mistakes_in(plan: Plan, simulated: SimulatedMembers) -> tuple[PlacedMistake | Inapplicable, ...]:
    """All mistakes in the order of the enum, each in every step in which it can be made."""
    mistakes: list[PlacedMistake | Inapplicable] = []
    for mistake, (ways, why_not) in _WAYS.items():
        placed: list[PlacedMistake] = []
        for number, step in enumerate(plan.steps, 1):
            rollout = step.rollout
            if rollout is not None and rollout.rounds and not rollout.temporary_members:
                placed += ways(_Step(plan=plan, simulated=simulated, number=number, rollout=rollout))
        if not placed and (mistake not in OF_STREAMS or simulated.application is not None):
            mistakes.append(Inapplicable(mistake=mistake, why=why_not))
        mistakes += placed
    return tuple(mistakes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    plan: Plan
    simulated: SimulatedMembers
    number: int  # From 1
    rollout: Rollout

    @property
    def first(self) -> StepRound:
        return self.number, 1

    @property
    def after(self) -> StepRound | None:
        return next((step_round for step_round in places(self.plan) if step_round[0] > self.number), None)

    @property
    def next(self) -> StepRound | None:
        return next((step_round for step_round in places(self.plan) if step_round > self.first), None)

    def placed(
        self, mistake: Mistake, target: StepRound, what: str, operator: Operator, last_step: int | None = None
    ) -> PlacedMistake:
        number = self.number
        where: dict[str, Any] = {"step": number, "place": target, "last_step": last_step or number}
        return PlacedMistake(mistake=mistake, what=what, operator=operator, **where)

    def name(self, member: str) -> str:
        return self.simulated.members[member].name

    def with_instance(self, member: str) -> tuple[str, ...]:
        """The members that restart together with this one, itself included: the threads of its process."""
        instance = self.simulated.instance_of(member)
        return tuple(one for one in self.simulated.members if self.simulated.instance_of(one) == instance)

    def found(self, member: str) -> MemberScript:
        return self.simulated.members[member].script

    def changes(self, member: str) -> bool:
        """Whether the steps so far run the member with another script than when the plan was made."""
        script = found = self.found(member)
        for step in self.plan.steps[: self.number]:
            if step.rollout is not None and step.rollout.start is not None:
                script = started(script, step.rollout.start)
        return self.rollout.start is None or script != found


def _in(target: StepRound, change: Change) -> Operator:
    return lambda here, actions, scripts: change(actions, scripts) if here == target else actions


def _in_step(number: int, change: Callable[[MemberScript], MemberScript]) -> Operator:

    def changed(action: MemberAction) -> MemberAction:
        return action if action.script is None else replace(action, script=change(action.script))

    return lambda here, actions, _: tuple(map(changed, actions)) if here[0] == number else actions


def _later(actions: Sequence[MemberAction], by_s: float) -> tuple[MemberAction, ...]:
    return tuple(replace(action, at_s=action.at_s + by_s) for action in actions)


def _is_list(rollout: Rollout | None) -> bool:
    if rollout is None or rollout.start is None:
        return False
    return rollout.action is RoundAction.RESTART and rollout.start.protocol is MemberProtocol.CLASSIC


def _skip_bounce(at: _Step) -> Iterator[PlacedMistake]:
    second = at.plan.steps[at.number].rollout if at.number < len(at.plan.steps) else None
    if not _is_list(at.rollout) or second is None or not _is_list(second):
        return
    first, then = at.rollout.start or MemberStart(), second.start or MemberStart()
    if set(then.assignors) < set(first.assignors):
        what = f"members are restarted with {_words(then)}, the list of step {at.number + 1}, too early"
        operator = _in_step(at.number, lambda script: started(script, then))
        yield at.placed(Mistake.SKIPPED_BOUNCE, at.first, what, operator)
    elif first.upgrade_from is not None and then.upgrade_from is None:
        what = f"instances are restarted without upgrade.from, as in step {at.number + 1}, too early"
        operator = _in_step(at.number, lambda script: replace(script, upgrade_from=None))
        yield at.placed(Mistake.SKIPPED_BOUNCE, at.first, what, operator)


def _keep_upgrade_from(at: _Step) -> Iterator[PlacedMistake]:
    before = at.plan.steps[at.number - 2].rollout if at.number > 1 else None
    start = before.start if before is not None else None
    if start is None or start.upgrade_from is None or not _is_list(at.rollout):
        return
    member = at.rollout.rounds[0][0]
    what = (
        f"the instance of {at.name(member)} is restarted with upgrade.from={start.upgrade_from}, as in step "
    )
    kept = _of_instance(at, member, lambda one: {"script": started(at.found(one.member), start)})
    yield at.placed(Mistake.KEPT_UPGRADE_FROM, at.first, f"{what}{at.number - 1}", _in(at.first, kept))


def _refuse_upgrade_from(at: _Step) -> Iterator[PlacedMistake]:
    start = at.rollout.start
    if start is None or start.upgrade_from is None:
        return
    member = at.rollout.rounds[0][0]
    what = (
        f"the instance of {at.name(member)} gets Kafka Streams 4.0, which does not start with upgrade.from="
    )
    refused = _of_instance(at, member, lambda _: {"script": None})
    yield at.placed(
        Mistake.REFUSED_UPGRADE_FROM, at.first, f"{what}{start.upgrade_from}", _in(at.first, refused)
    )


def _reverse_list(at: _Step) -> Iterator[PlacedMistake]:
    listed = at.rollout.start.assignors if at.rollout.start is not None else ()
    if len(listed) > 1:
        turned = replace(at.rollout.start or MemberStart(), assignors=listed[::-1])
        what = f"members are restarted with {_words(turned)}, not {_words(at.rollout.start or MemberStart())}"
        operator = _in_step(at.number, lambda script: started(script, turned))
        yield at.placed(Mistake.REVERSED_LIST, at.first, what, operator)


def _begin_too_early(at: _Step) -> Iterator[PlacedMistake]:
    step_round = at.next
    if step_round is None:
        return

    def operator(here: StepRound, actions: Actions, scripts: Scripts) -> Actions:
        if here == step_round:
            return ()
        if here != at.first:
            return actions
        early = [replace(action, is_ahead=True) for action in round_actions(at.plan, *step_round, scripts)]
        return (*actions, *_later(early, at.plan.bounce_s / 2))

    number, round_ = step_round
    what = f"step {number}, round {round_}, starts {seconds_text(at.plan.bounce_s / 2)} after it"
    yield at.placed(Mistake.TOO_EARLY, at.first, what, operator, number)


def _old_member_back(at: _Step) -> Iterator[PlacedMistake]:
    member = at.rollout.rounds[-1][-1]
    if not at.changes(member):
        return
    after, members = at.after, at.with_instance(member)
    back = [MemberAction(member=one, script=at.found(one), away_s=at.plan.bounce_s) for one in members]

    def change(actions: Actions, _: Scripts) -> Actions:
        others = [action for action in actions if action.member not in members]
        return (*back, *_later(others, at.plan.bounce_s + SETTLING_S))

    what = f"{at.name(member)} is started with its old configuration after step {at.number}: {_setup(at.found(member))}"
    place = after or (at.number, len(at.rollout.rounds))
    yield at.placed(Mistake.OLD_MEMBER, place, what, _in(after or AFTER, change), place[0])


def _start_successor_early(at: _Step) -> Iterator[PlacedMistake]:
    if at.rollout.action is not RoundAction.RESTART:
        return
    for round_, members in enumerate(at.rollout.rounds, 1):
        for member in members:
            if at.found(member).instance is not None:
                early = seconds_text(at.plan.bounce_s)
                what = f"the successor of {at.name(member)} is started {early} before it is stopped"
                step_round = at.number, round_
                operator = _in(step_round, _of_instance(at, member, lambda one: {"away_s": -one.away_s}))
                yield at.placed(Mistake.EARLY_SUCCESSOR, step_round, what, operator)
                return


def _of_instance(at: _Step, member: str, fields: Callable[[MemberAction], Mapping[str, Any]]) -> Change:
    """Change the actions of the member, and of those that restart with it."""
    members = at.with_instance(member)

    def changed(one: MemberAction) -> MemberAction:
        return replace(one, **fields(one)) if one.member in members else one

    return lambda actions, _: tuple(map(changed, actions))


def _take_wrong_jar(at: _Step) -> Iterator[PlacedMistake]:
    member = at.rollout.rounds[0][0]
    if at.rollout.start is None or not at.changes(member):
        return
    what = f"{at.name(member)} is started with the old release: {_setup(at.found(member))}"
    change = _of_instance(at, member, lambda one: {"script": at.found(one.member)})
    yield at.placed(Mistake.WRONG_JAR, at.first, what, _in(at.first, change))


def _deploy(at: _Step) -> Iterator[PlacedMistake]:
    step_round = at.number, (len(at.rollout.rounds) + 1) // 2

    def change(actions: Actions, scripts: Scripts) -> Actions:
        restarts = {action.member: action.script or scripts[action.member] for action in actions}
        who = {member: script for member, script in scripts.items() if member not in restarts} or restarts
        when: dict[str, Any] = {"at_s": at.plan.bounce_s / 2, "away_s": at.plan.bounce_s}
        more = (MemberAction(member=member, script=script, **when) for member, script in who.items())
        return (*actions, *more)

    what = f"all members are restarted unchanged, {seconds_text(at.plan.bounce_s / 2)} into round {step_round[1]}"
    yield at.placed(Mistake.DEPLOY, step_round, what, _in(step_round, change))


def _words(start: MemberStart) -> str:
    return f"[{', '.join(start.assignors)}]"


def _setup(script: MemberScript) -> str:
    if script.assignors == (STREAMS,):
        by = f", upgrade.from={script.upgrade_from}" if script.upgrade_from else ""
        return f"Kafka Streams {script.release or 'of an unknown release'}{by}"
    is_classic = script.protocol == MemberProtocol.CLASSIC.value
    return f"[{', '.join(script.assignors)}]" if is_classic else f"the {script.protocol} protocol"


_WAYS: Mapping[Mistake, tuple[Callable[[_Step], Iterator[PlacedMistake]], str]] = {
    Mistake.SKIPPED_BOUNCE: (_skip_bounce, "the plan has no two bounces"),
    Mistake.REVERSED_LIST: (_reverse_list, "no step gives members a list of two assignors"),
    Mistake.TOO_EARLY: (_begin_too_early, "the plan has one round"),
    Mistake.OLD_MEMBER: (_old_member_back, "no step changes how a member runs"),
    Mistake.EARLY_SUCCESSOR: (_start_successor_early, "no static member is restarted"),
    Mistake.WRONG_JAR: (_take_wrong_jar, "no step starts a member with another configuration"),
    Mistake.DEPLOY: (_deploy, "the plan restarts no member"),
    Mistake.KEPT_UPGRADE_FROM: (_keep_upgrade_from, "no step removes the upgrade.from of an earlier one"),
    Mistake.REFUSED_UPGRADE_FROM: (_refuse_upgrade_from, "no step sets upgrade.from"),
}
