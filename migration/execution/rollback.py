"""The rollback from a place in a plan, as a separate plan: the rounds that were begun, in reverse, each with a gate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from groups.model import Group, GroupType, MemberProtocol
from migration.model import (
    Condition,
    MemberCount,
    MemberStart,
    Plan,
    ProtocolIs,
    Rollout,
    RoundAction,
    Speaking,
    Step,
    TypeIs,
)
from migration.paths.path import GONE, STABLE

BACK = "back-"
"""What the id of a step of the rollback begins with; the rest is the id of the step that it undoes."""
_REVERSE = {
    RoundAction.RESTART: RoundAction.RESTART,
    RoundAction.STOP: RoundAction.START,
    RoundAction.START: RoundAction.STOP,
}


def rollback_plan(plan: Plan, begun: Mapping[int, Collection[str]], group: Group | None) -> Plan:
    """The plan that takes a group back. `begun`: by step, the members on which a hook began. The assignor that members
    had is the group's when the plan was made. Raises ValueError: the plan has no baseline."""
    if plan.baseline is None:
        raise ValueError("the plan has no baseline")
    original = _original(plan)
    steps = []
    for number in sorted(begun, reverse=True):
        step = plan.steps[number - 1]
        if step.rollout is None:
            continue
        before = _start_before(plan.steps[: number - 1], begun[number], original)
        if step.rollout.action is not RoundAction.RESTART or before != step.rollout.start:
            steps.append(_undone(step, step.rollout, begun[number], before, len(plan.baseline.members)))
    if steps:
        last = steps[-1]
        # A member of a mixed group keeps it a consumer group: only the last step's gate names the type.
        steps[-1] = replace(last, gate=(*last.gate, *_as_it_was(plan, last)))
    now = plan.baseline if group is None else replace(plan.baseline, type=group.type, protocol=group.protocol)
    return replace(plan, baseline=now, steps=tuple(steps), path=f"back from {plan.path}", rehearsal=None)


def _original(plan: Plan) -> MemberStart:
    baseline = plan.baseline
    if baseline is not None and baseline.type is GroupType.CONSUMER:
        return MemberStart(protocol=MemberProtocol.CONSUMER, remote_assignor=baseline.protocol)
    return MemberStart(assignors=(baseline.protocol,) if baseline is not None and baseline.protocol else ())


def _start_before(steps: Sequence[Step], members: Collection[str], original: MemberStart) -> MemberStart:
    """How these members ran before a step: as the last step before it started them."""
    start = original
    for step in steps:
        rollout = step.rollout
        if rollout is not None and rollout.start is not None and _seats(rollout) & set(members):
            start = rollout.start
    return start


def _undone(step: Step, rollout: Rollout, begun: Collection[str], start: MemberStart, members: int) -> Step:
    action = _REVERSE[rollout.action]
    rounds = tuple(
        kept for seats in reversed(rollout.rounds) if (kept := tuple(seat for seat in seats if seat in begun))
    )
    settled: tuple[Condition, ...] = (STABLE, MemberCount(at_least=members))
    gate = (GONE,) if action is RoundAction.STOP else settled
    return Step(
        id=f"{BACK}{step.id}",
        title=f"Back: {step.title}",
        actions=(),
        rounds=rounds,
        rollout=Rollout(action=action, rounds=rounds, start=None if action is RoundAction.STOP else start),
        between=settled,
        gate=gate,
    )


def _as_it_was(plan: Plan, last: Step) -> tuple[Condition, ...]:
    baseline = plan.baseline
    if baseline is None or last.rollout is None or last.rollout.start is None:
        return ()
    protocol = (ProtocolIs(protocol=baseline.protocol),) if baseline.protocol else ()
    speaking = Speaking(protocol=last.rollout.start.protocol)
    return (TypeIs(type=baseline.type), *protocol, speaking)


def _seats(rollout: Rollout) -> set[str]:
    return {seat for seats in rollout.rounds for seat in seats}
