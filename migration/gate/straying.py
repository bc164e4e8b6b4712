"""Whether a group has left its plan, and the step to go back to.

A plan names strays of its own. Others need no data: a step that was done has come undone (the group's type or assignor
fell back, an old member is back), or members are there that nobody planned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from groups.model import GroupState, GroupType, MemberProtocol
from migration.conditions import OthersAlso, Speaking
from migration.gate.answers import Strayed, name_all, planned
from migration.gate.checks import check_condition
from migration.gate.outcomes import Outcome, outcomes
from migration.gate.sight import Sight
from migration.gate.staleness import is_mixed


def find_stray(sight: Sight) -> Strayed | None:
    """The first way in which the group has strayed: those of the plan, then those of every plan."""
    if sight.group is None or sight.position < 0:
        return None
    found = (*_of_plan(sight), *_fallen_back(sight), *_old_member_back(sight), *_unplanned(sight))
    return found[0] if found else None


def _of_plan(sight: Sight) -> Iterator[Strayed]:
    ids = [step.id for step in sight.plan.steps]
    whole = replace(sight, round=None)
    for stray in sight.step.strays if sight.step else ():
        if all(check_condition(one, whole).holds for one in stray.conditions):
            yield Strayed(message=stray.message, back_to=ids.index(stray.back_to))


def _fallen_back(sight: Sight) -> Iterator[Strayed]:
    """The type or the assignor is that of an earlier step, not that of this step's begin or end.

    Where the gate has been open, later steps may have begun.
    """
    ways, group, position = outcomes(sight.plan), sight.group, sight.position
    if group is None or group.state is not GroupState.STABLE:
        return
    begin = position + 1 if sight.was_open else position
    now = Outcome(type=group.type, protocol=group.protocol or None)
    end = len(ways) if sight.was_open else position + 2
    if any(_agree(now, way) for way in ways[begin:end]):
        return
    for place in range(begin - 1, -1, -1):
        if _agree(now, ways[place]) and not _agree(now, ways[place + 1]):
            yield Strayed(
                message=f"the group fell back: it is {now}, and was {ways[place + 1]} after step {place + 1}",
                back_to=place,
            )
            return


def _agree(now: Outcome, way: Outcome) -> bool:
    if way.type is not None and now.type is not way.type:
        return False
    return None in (way.protocol, now.protocol) or now.protocol == way.protocol


def _old_member_back(sight: Sight) -> Iterator[Strayed]:
    """A step that was complete had all members speak one protocol, and one speaks another now."""
    last = sight.position + 1 if sight.was_open else sight.position
    for place in range(last - 1, -1, -1):
        wanted = [
            one.protocol
            for one in sight.plan.steps[place].gate
            if isinstance(one, Speaking) and one.at_least is None
        ]
        if not wanted:
            continue
        back = [
            planned(member)
            for member in sight.members
            if member.protocol not in (wanted[-1], None) and member.client.id not in sight.guests
        ]
        if back:
            yield Strayed(
                message=f"since step {place + 1} every member speaks the {wanted[-1].value} protocol, and now there is "
                f"{name_all(back)}, which does not: stop it, or give it the configuration of that step",
                back_to=place,
            )
        return


def _unplanned(sight: Sight) -> Iterator[Strayed]:
    """Members of a protocol, or in a number, that the plan does not know."""
    kinds = {way.type for way in outcomes(sight.plan)}
    if (
        sight.group
        and sight.group.type is GroupType.CONSUMER
        and is_mixed(sight)
        and not kinds & {GroupType.CONSUMER, None}
    ):
        new = [planned(one) for one in sight.members if one.protocol is MemberProtocol.CONSUMER]
        yield Strayed(
            message=f"no step of this plan uses the consumer protocol, and {name_all(new)} speaks it: stop it; with "
            "the last one gone the group is classic again",
            back_to=sight.position,
        )
    others = check_condition(OthersAlso(), sight)
    if others.holds and sight.group and sight.group.state is GroupState.STABLE:
        yield Strayed(
            message=f"{others.text}. Stop it, or make a new plan with it; a member that was killed stays until its "
            "session ends",
            back_to=sight.position,
            by_waiting=True,
        )
