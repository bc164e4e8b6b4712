"""The rollback from a place in a plan, as a separate plan: the rounds that were begun, in reverse, each with a gate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from groups.model import GroupType, MemberProtocol
from migration.bridge import BRIDGE
from migration.model import (
    Condition,
    Destination,
    MemberStart,
    Plan,
    ProtocolIs,
    Rollout,
    RoundAction,
    Speaking,
    Step,
    TypeIs,
    round_names,
)
from migration.paths.path import STABLE

BACK = "back-"
"""What the id of a step of the rollback begins with; the rest is the number of the step that it undoes."""
_REVERSE = {
    RoundAction.RESTART: RoundAction.RESTART,
    RoundAction.STOP: RoundAction.START,
    RoundAction.START: RoundAction.STOP,
}


def rollback_plan(plan: Plan, begun: Mapping[int, Collection[str]], absent: Collection[str] = ()) -> Plan:
    """The plan that takes a group back. `begun`: by step, the members on which a hook began; `absent`: the members that
    are not in the group, and are started as they were. The assignor that members had is the group's when the plan was
    made. Raises ValueError: the plan has no baseline."""
    if plan.baseline is None:
        raise ValueError("the plan has no baseline")
    original = _original(plan)
    steps: list[Step] = []
    unchanged: set[str] = set()  # Members that were stopped, and started as they had been
    for number in sorted(begun, reverse=True):
        step, members = plan.steps[number - 1], {*begun[number]} - unchanged - {BRIDGE}
        if step.rollout is None:
            continue
        before = _start_before(plan.steps[: number - 1], members, original)
        if before == step.rollout.start:
            unchanged |= members if step.rollout.action is RoundAction.START else set()
        elif rounds := (*_others(step.rollout, members), *_in_reverse(step.rollout, members)):
            steps.append(_undone(plan, number, _REVERSE[step.rollout.action], rounds, before))
    restarted = {seat for step in steps if step.rollout for seats in step.rollout.rounds for seat in seats}
    if missing := tuple(seat for seat in absent if seat not in restarted):
        steps.append(_undone(plan, 1, RoundAction.RESTART, (missing,), original))
    if steps:
        # A member of a mixed group keeps it a consumer group: only the last step's gate names the type.
        steps[-1] = replace(steps[-1], gate=(*steps[-1].gate, *_as_it_was(plan, original)))
    return replace(plan, steps=tuple(steps), path=f"back from {plan.path}", rehearsal=None)


def _original(plan: Plan) -> MemberStart:
    """How the members of the plan's rounds ran before it, even in a group that was mixed already."""
    kind, protocol = (plan.baseline.type, plan.baseline.protocol) if plan.baseline else (None, None)
    if plan.destination is Destination.CLASSIC:
        return MemberStart(protocol=MemberProtocol.CONSUMER, remote_assignor=protocol)
    return MemberStart(assignors=(protocol,) if kind is GroupType.CLASSIC and protocol else ())


def _start_before(steps: Sequence[Step], members: Collection[str], original: MemberStart) -> MemberStart:
    """How these members ran before a step: as the last step before it started them."""
    start = original
    for step in steps:
        rollout = step.rollout
        if rollout is not None and rollout.start is not None and _in_reverse(rollout, members):
            start = rollout.start
    return start


def _in_reverse(rollout: Rollout, members: Collection[str]) -> tuple[tuple[str, ...], ...]:
    rounds = (tuple(seat for seat in seats if seat in members) for seats in reversed(rollout.rounds))
    return tuple(seats for seats in rounds if seats)


def _others(rollout: Rollout, members: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """Rounds of the members that are in none of the step's: they were restarted instead of one that is."""
    of_step = {seat for seats in rollout.rounds for seat in seats}
    return tuple((seat,) for seat in sorted(members) if seat not in of_step)


def _undone(
    plan: Plan, number: int, action: RoundAction, rounds: tuple[tuple[str, ...], ...], start: MemberStart
) -> Step:
    """That every member whose turn is over is in the group, or has left it, is a check of each round."""
    names = round_names(plan.baseline.members if plan.baseline else ())
    settled: tuple[Condition, ...] = () if action is RoundAction.STOP else (STABLE,)
    return Step(
        id=f"{BACK}{number}",
        title=f"Back: {plan.steps[number - 1].title}",
        actions=(),
        round_action=action,
        rounds=tuple(tuple(names[seat] for seat in seats) for seats in rounds),
        rollout=Rollout(action=action, rounds=rounds, start=None if action is RoundAction.STOP else start),
        between=settled,
        gate=settled,
    )


def _as_it_was(plan: Plan, original: MemberStart) -> tuple[Condition, ...]:
    baseline = plan.baseline
    if baseline is None:
        return ()
    protocol = (ProtocolIs(protocol=baseline.protocol),) if baseline.protocol else ()
    is_uniform = baseline.type.value == original.protocol.value
    return (
        TypeIs(type=baseline.type),
        *protocol,
        *((Speaking(protocol=original.protocol),) if is_uniform else ()),
    )
