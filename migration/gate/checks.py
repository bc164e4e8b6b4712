"""Conditions of a plan, asked of a group: true, false, or nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from groups.model import Group, GroupState, GroupType, Member, MemberProtocol
from migration.conditions import (
    Absent,
    Condition,
    Leads,
    MemberCount,
    NoUserData,
    OthersAlso,
    Precedes,
    Present,
    ProtocolIs,
    Replaced,
    Speaking,
    StateIn,
    TypeIs,
)
from migration.gate.answers import Check, await_all, count, name_all, planned
from migration.gate.outcomes import outcomes
from migration.gate.sight import Sight
from migration.gate.turnover import Turnover, is_named
from migration.model import PlannedMember
from migration.plan_file import condition_tag
from migration.succession import front_of, leader_of, leads, precedes, succession


def check_condition(condition: Condition, sight: Sight) -> Check:
    """The answer to a condition. Without a group nothing is there: no type, no member."""
    check: Check = _CHECKS[type(condition)](condition, sight, condition_tag(condition))
    return check


def _type(condition: TypeIs, sight: Sight, tag: str) -> Check:
    wanted, found = condition.type, sight.group
    if found is None:
        return Check(check=tag, holds=False, text=_no_group(sight))
    if found.type is GroupType.UNKNOWN:
        return Check(
            check=tag, holds=None, text=f"the type of the group is not known; wanted: {wanted.value}"
        )
    text = f"the group's type is {found.type.value}"
    holds = found.type is wanted
    return Check(check=tag, holds=holds, text=text if holds else f"{text}, not {wanted.value}")


def _state(condition: StateIn, sight: Sight, tag: str) -> Check:
    wanted = " or ".join(state.value for state in condition.states)
    if sight.group is None and GroupState.DEAD in condition.states and not sight.is_whole:
        text = f"the file does not hold the group {sight.plan.group}: it may be gone, or was not saved"
        return Check(check=tag, holds=None, text=text)
    if sight.group is None and GroupState.DEAD in condition.states:
        return Check(check=tag, holds=True, text=f"there is no group {sight.plan.group} any more")
    if sight.group is None:
        return Check(check=tag, holds=False, text=_no_group(sight))
    state = sight.group.state
    if state is GroupState.UNKNOWN:
        return Check(check=tag, holds=None, text=f"the state of the group is not known; wanted: {wanted}")
    text = f"the group is {state.value}"
    if state in condition.states and not (state in _WITHOUT_MEMBERS and sight.members):
        return Check(check=tag, holds=True, text=text)
    # Who is still there is who is waited for, where the group is to be empty.
    left = [planned(member) for member in sight.members] if GroupState.EMPTY in condition.states else []
    more = f", with {name_all(left)}" if left else ""
    return Check(
        check=tag,
        holds=False,
        text=f"{text}{more}" if state in condition.states else f"{text}, not {wanted}{more}",
        awaited=await_all(left, "is still a member"),
    )


_WITHOUT_MEMBERS = frozenset({GroupState.EMPTY, GroupState.DEAD})


def _protocol(condition: ProtocolIs, sight: Sight, tag: str) -> Check:
    wanted, group = condition.protocol, sight.group
    if group is None:
        return Check(check=tag, holds=False, text=_no_group(sight))
    if group.protocol is None or not group.protocol:
        if group.state is GroupState.EMPTY:
            return Check(check=tag, holds=False, text=f"the group is Empty: nobody uses {wanted}")
        why = "" if group.state is GroupState.STABLE else f" while the group is {group.state.value}"
        return Check(check=tag, holds=None, text=f"the assignor in use is not shown{why}; wanted: {wanted}")
    holds = group.protocol == wanted
    text = f"the assignor in use is {group.protocol}"
    return Check(check=tag, holds=holds, text=text if holds else f"{text}, not {wanted}")


def _member_count(condition: MemberCount, sight: Sight, tag: str) -> Check:
    least, most, found = condition.at_least, condition.at_most, len(sight.members)
    text = f"the group has {count(found, 'member')}"
    guests = [member.client.id for member in sight.members if member.client.id in sight.guests]
    if twice := len(guests) - len(set(guests)):
        found -= twice  # it stands in for nobody of the group
        text += f", {count(twice, 'temporary member')} too many among them"
    since = sight.roster
    if least is not None and found < least:
        missing = since.missing if since else ()
        more = f"; nobody came in the place of {name_all(missing)}" if missing else ""
        return Check(
            check=tag,
            holds=False,
            text=f"{text}, not {least}{more}",
            awaited=await_all(missing, "has gone, and nobody came in its place"),
        )
    if most is not None and found > most:
        surplus = since.surplus if since else ()
        more = f"; new is {name_all(surplus)}" if surplus else ""
        return Check(check=tag, holds=False, text=f"{text}, {most} at most are expected{more}")
    return Check(check=tag, holds=True, text=text)


def _speaking(condition: Speaking, sight: Sight, tag: str) -> Check:
    wanted, members = condition.protocol, sight.members
    able = [member for member in members if member.protocol is wanted]
    others = [planned(member) for member in members if member.protocol not in (wanted, None)]
    unknown = len(members) - len(able) - len(others)
    needed = max(1, len(members)) if condition.at_least is None else condition.at_least
    text = f"{len(able)} of {count(len(members), 'member')} {_verb(len(able))} the {wanted.value} protocol"
    if len(able) >= needed:
        return Check(check=tag, holds=True, text=text)
    if len(able) + unknown >= needed:
        return Check(check=tag, holds=None, text=f"{text}; of {unknown} it is not known")
    if condition.at_least is not None:
        text += f", not {needed}"
        names = {name for one in (sight.step.rounds if sight.step else ()) for name in one}
        others = [one for one in others if is_named(one, names)]
    more = f"; not yet: {name_all(others)}" if others else ""
    spoken = MemberProtocol.CLASSIC if wanted is MemberProtocol.CONSUMER else MemberProtocol.CONSUMER
    why = f"speaks the {spoken.value} protocol"
    return Check(check=tag, holds=False, text=text + more, awaited=await_all(others, why))


def _replaced(_: Replaced, sight: Sight, tag: str) -> Check:
    since, spoken = sight.turnover, _spoken(sight)
    if since is None and spoken and sight.members and spoken >= {member.id for member in sight.members}:
        return Check(check=tag, holds=True, text="every member speaks the protocol that the step brings")
    if since is None:
        return Check(check=tag, holds=None, text=_not_noted(sight), by_waiting=False)
    rounds = sight.step.rounds if sight.step else ()
    due = {name for names in rounds[: sight.round] for name in names}
    stayed, gone = _of_rounds(sight, since, rounds)
    total = len(stayed) + len(gone)
    if total < max(1, len(due)):
        return Check(check=tag, holds=None, text=_too_few_known(sight, total), by_waiting=False)
    is_round = sight.round is not None and sight.round < len(rounds)
    wanted = len(due) if rounds and (is_round or not _are_everybody(sight, rounds)) else total
    text = f"{len(gone)} of {count(total, 'member')} have gone or come back under a new id"
    if early := [one for one in stayed if one.id in spoken]:
        stayed = [one for one in stayed if one.id not in spoken]
        text += f", {len(early)} {_verb(len(early))} the new protocol since before the step began"
    if len(gone) + len(early) >= wanted:
        return Check(check=tag, holds=True, text=text)
    old = [one for one in stayed if is_named(one, due)] or stayed
    if wanted != total:
        text += f"; after round {sight.round} it must be {wanted}" if sight.round else f", not {wanted}"
    return Check(
        check=tag,
        holds=False,
        text=f"{text}; still the old one: {name_all(old)}",
        awaited=await_all(old, "has not been restarted"),
    )


def _spoken(sight: Sight) -> frozenset[str]:
    """Members that speak the protocol to which the step moves them: they have its configuration, whenever it came.

    In a group that the step made classic again, all of them. Never one that was there when the plan was made: no id
    changes its protocol, and a snapshot may leave out what its members speak.
    """
    baseline = sight.plan.baseline
    if baseline is None or sight.position <= 0:
        return frozenset()
    old = {member.id for member in baseline.members}
    new = [member for member in sight.members if member.id not in old]
    gate = sight.step.gate if sight.step else ()
    made_classic = outcomes(sight.plan)[sight.position].type is GroupType.CONSUMER and (
        TypeIs(type=GroupType.CLASSIC) in gate
    )
    if made_classic and sight.group and sight.group.type is GroupType.CLASSIC:
        return frozenset(member.id for member in new)
    wanted = {one.protocol for one in gate if isinstance(one, Speaking)}
    return frozenset(member.id for member in new if member.protocol in wanted)


def _are_everybody(sight: Sight, rounds: Sequence[Sequence[str]]) -> bool:
    """Whether the rounds name the whole group of the plan: then nobody is left as it was, whoever joined since."""
    baseline = sight.plan.baseline
    return baseline is not None and sum(map(len, rounds)) >= len(baseline.members)


def _of_rounds(
    sight: Sight, since: Turnover, rounds: Sequence[Sequence[str]]
) -> tuple[Sequence[PlannedMember], Sequence[PlannedMember]]:
    """The members that the rounds name, old ones still there and old ones gone.

    All members where the rounds are about everybody, and where the names mean nobody any more: a member without a name
    of its own is called by the id that it had when the plan was made.
    """
    names = {name for one in rounds for name in one}
    stayed = [one for one in since.stayed if is_named(one, names)]
    gone = [one for one in since.gone if is_named(one, names)]
    if names and not _are_everybody(sight, rounds) and len(stayed) + len(gone) == sum(map(len, rounds)):
        return stayed, gone
    return since.stayed, since.gone


def _no_user_data(_: NoUserData, sight: Sight, tag: str) -> Check:
    if sight.group is None:
        return Check(check=tag, holds=False, text=_no_group(sight))
    if sight.group.type is GroupType.CONSUMER:
        return Check(check=tag, holds=True, text="a consumer group's assignments carry no user data")
    carrying = [m for m in sight.members if m.user_data and m.user_data.assignment]
    if carrying:
        sizes = ", ".join(f"{_label(one)}: {count(_size(one), 'byte')}" for one in carrying[:8])
        return Check(
            check=tag,
            holds=False,
            text=f"the assignments of {count(len(carrying), 'member')} carry user data ({sizes})",
        )
    unknown = [member for member in sight.members if member.user_data is None]
    if unknown:
        return Check(
            check=tag,
            holds=None,
            text=f"whether the assignments of {count(len(unknown), 'member')} carry user data cannot be read here; "
            "DescribeGroups tells it (a live cluster whose login Kohort's own client knows), or the broker's log",
        )
    return Check(check=tag, holds=True, text="no member's assignment carries user data")


def _precedes(condition: Precedes, sight: Sight, tag: str) -> Check:
    wanted = condition.client_id
    if sight.group is None:
        return Check(check=tag, holds=False, text=_no_group(sight))
    holds = precedes(sight.group, wanted)
    if holds is None:
        return Check(
            check=tag, holds=None, text=f"whether {wanted} follows the leader {_untold_order(sight.group)}"
        )
    text = f"{wanted} comes first in the order of succession"
    if holds:
        return Check(check=tag, holds=True, text=text)
    if not _holders(sight, wanted):
        return Check(check=tag, holds=False, text=f"{wanted} is no member")
    return Check(
        check=tag,
        holds=False,
        text=f"{wanted} does not come first in the order of succession{_how_to_come_first(sight, wanted)}",
        # The order changes with the members alone.
        by_waiting=sight.group.state is not GroupState.STABLE,
    )


FEW_PLACES = 2
"""With fewer bins than these in front, trying again is not worth while."""


def _how_to_come_first(sight: Sight, wanted: str) -> str:
    """A new id falls into a bin by chance; a follower in one of the first bins leaves it next to none."""
    front = front_of(sight.group) if sight.group else None
    if front is None:
        return f": restart {wanted}, for a new member id, and ask again"
    first = next(planned(member) for member in sight.members if member.id == front.member)
    chance = f"{front.places} in {front.bins} new ids come before it"
    if front.places < FEW_PLACES:
        return (
            f", {name_all([first])} does, and {chance}: restart {first.label} with its configuration as it is, "
            "for a new member id of its own, and ask again"
        )
    return f", {name_all([first])} does: restart {wanted}, for a new member id, and ask again ({chance})"


def _leads(condition: Leads, sight: Sight, tag: str) -> Check:
    wanted = condition.client_id
    if sight.group is None:
        return Check(check=tag, holds=False, text=_no_group(sight))
    holds = leads(sight.group, wanted)
    if holds is None:
        return Check(check=tag, holds=None, text=f"whether {wanted} leads {_unknown(sight.group)}")
    if holds:
        return Check(check=tag, holds=True, text=f"{wanted} leads the group")
    leader = leader_of(sight.group)
    found = [planned(member) for member in sight.members if member.id == leader]
    more = f"; {name_all(found)} does" if found else ""
    return Check(check=tag, holds=False, text=f"{wanted} does not lead the group{more}")


def _untold_order(group: Group) -> str:
    found = succession(group)
    if found is None or found.leader is None or found.certain:
        return _unknown(group)
    return f"cannot be told: {found.why}"


def _unknown(group: Group) -> str:
    why = f": {group.leader_problem}" if group.leader_problem else ""
    return f"cannot be told: who leads is not known{why}"


def _absent(condition: Absent, sight: Sight, tag: str) -> Check:
    wanted, holders = condition.client_id, _holders(sight, condition.client_id)
    if holders:
        there = [planned(member) for member in holders]
        return Check(
            check=tag,
            holds=False,
            text=f"{name_all(there)} is still a member",
            awaited=await_all(there, "is still a member"),
        )
    if any(member.client.id is None for member in sight.members):
        return Check(check=tag, holds=None, text=f"client ids are not known here: whether {wanted} has gone")
    return Check(check=tag, holds=True, text=f"{wanted} is no member")


def _present(condition: Present, sight: Sight, tag: str) -> Check:
    wanted = condition.client_id
    if _holders(sight, wanted):
        return Check(check=tag, holds=True, text=f"{wanted} is a member")
    if any(member.client.id is None for member in sight.members):
        return Check(
            check=tag, holds=None, text=f"client ids are not known here: whether {wanted} is a member"
        )
    return Check(check=tag, holds=False, text=f"{wanted} is no member yet")


def _others(_: OthersAlso, sight: Sight, tag: str) -> Check:
    since = sight.roster
    if since is None:
        return Check(check=tag, holds=None, text="who belongs to the group is not known", by_waiting=False)
    if not since.surplus:
        return Check(check=tag, holds=False, text="nobody is there who is not in the plan")
    text = f"not in the plan: {name_all(since.surplus)}"
    known = {one.label for one in (*since.stayed, *since.gone)}
    if any(one.label not in known for one in since.surplus):
        return Check(check=tag, holds=True, text=text)
    return Check(
        check=tag, holds=None, text=f"{text}, or one that was killed and whose session has not ended"
    )


def _holders(sight: Sight, client_id: str) -> list[Member]:
    return [member for member in sight.members if member.client.id == client_id]


def _verb(number: int) -> str:
    return "speaks" if number == 1 else "speak"


def _label(member: Member) -> str:
    return planned(member).label


def _size(member: Member) -> int:
    return len(member.user_data.assignment) if member.user_data else 0


def _no_group(sight: Sight) -> str:
    return f"there is no group {sight.plan.group}: it was deleted, or never had a member or an offset"


def _too_few_known(sight: Sight, known: int) -> str:
    where = "the plan's baseline" if sight.position <= 0 else "what the gates noted"
    return f"{count(known, 'member')} known from when the step began, fewer than it restarts: {where} is not whole"


def _not_noted(sight: Sight) -> str:
    if sight.position <= 0:
        return "who was in the group when the step began is not known: the plan has no baseline; plan anew"
    return (
        f"who was in the group when step {sight.position + 1} began is not known: nothing was noted when the gate of "
        f"step {sight.position} opened. If step {sight.position + 1} has not begun, ask that gate again "
        f"(--step {sight.position}); if it has, restart every member of whose restart you are not sure"
    )


_CHECKS: Mapping[type, Callable[[Any, Sight, str], Check]] = {
    TypeIs: _type,
    StateIn: _state,
    ProtocolIs: _protocol,
    MemberCount: _member_count,
    Speaking: _speaking,
    Replaced: _replaced,
    NoUserData: _no_user_data,
    Precedes: _precedes,
    Leads: _leads,
    Absent: _absent,
    Present: _present,
    OthersAlso: _others,
}
