"""Conditions of a plan, checked against a group: true, false or unknown."""

from collections.abc import Callable, Mapping, Sequence

from groups.classic_streams import Rebalancing, release_text, streams_threads
from groups.counts import counted, share
from groups.model import Group, GroupState, GroupType, Member, MemberProtocol
from groups.succession import FirstFollower, first_follower, leader_of, leads, precedes, succession
from migration import model
from migration.gate.observation import (
    Check,
    GateObservation,
    MembershipDiff,
    await_all,
    is_named,
    name_all,
    no,
    outcomes,
    undecided,
    yes,
)
from migration.plan_file import condition_tag


def check_condition(condition: model.Condition, observed: GateObservation) -> Check:
    """The check of a condition. Without a group there is no type and no member."""
    kind, tag = type(condition), condition_tag(condition)
    if kind not in _OF_GROUP:
        return _CHECKS[kind](condition, observed, tag)
    if observed.group is None:
        return no(tag, _no_group(observed))
    return _OF_GROUP[kind](condition, observed.group, tag)


def _type(condition: model.TypeIs, group: Group, tag: str) -> Check:
    planned = condition.type
    if group.type is GroupType.UNKNOWN:
        return undecided(tag, f"the group's type is unknown; expected: {planned.value}")
    text = f"the group's type is {group.type.value}"
    holds = group.type is planned
    return Check(check=tag, holds=holds, text=text if holds else f"{text}, not {planned.value}")


def _state(condition: model.StateIn, observed: GateObservation, tag: str) -> Check:
    planned = " or ".join(state.value for state in condition.states)
    if observed.group is None and GroupState.DEAD in condition.states and not observed.is_whole:
        text = f"the file does not contain the group {observed.plan.group}: it may have been deleted, or was not saved"
        return undecided(tag, text)
    if observed.group is None and GroupState.DEAD in condition.states:
        return yes(tag, f"the group {observed.plan.group} no longer exists")
    if observed.group is None:
        return no(tag, _no_group(observed))
    state = observed.group.state
    if state is GroupState.UNKNOWN:
        return undecided(tag, f"the group's state is unknown; expected: {planned}")
    text = f"the group is {state.value}"
    if state in condition.states and not (state in _WITHOUT_MEMBERS and observed.members):
        return yes(tag, text)
    # If the group must be empty, the gate waits for the remaining members.
    must_leave = observed.members if GroupState.EMPTY in condition.states else ()
    left = [model.PlannedMember.of(member) for member in must_leave]
    more = f", with {name_all(left)}" if left else ""
    expected = "" if state in condition.states else f", not {planned}"
    return no(tag, f"{text}{expected}{more}", awaited=await_all(left, "is still a member"))


_WITHOUT_MEMBERS = frozenset({GroupState.EMPTY, GroupState.DEAD})


def _protocol(condition: model.ProtocolIs, group: Group, tag: str) -> Check:
    planned = condition.protocol
    if not group.protocol:
        if group.state is GroupState.EMPTY:
            return no(tag, f"the group is Empty: no member uses {planned}")
        why = "" if group.state is GroupState.STABLE else f" while the group is {group.state.value}"
        return undecided(tag, f"the assignor in use is not shown{why}; expected: {planned}")
    holds = group.protocol == planned
    text = f"the assignor in use is {group.protocol}"
    return Check(check=tag, holds=holds, text=text if holds else f"{text}, not {planned}")


def _member_count(condition: model.MemberCount, observed: GateObservation, tag: str) -> Check:
    least, most, count = condition.at_least, condition.at_most, len(observed.members)
    text = f"the group has {counted(count, 'member')}"
    ids = [member.client.id for member in observed.members]
    temporary_ids = [client_id for client_id in ids if client_id in observed.temporary_ids]
    if twice := len(temporary_ids) - len(set(temporary_ids)):
        count -= twice  # a duplicate does not count as a member of the group
        text += f", of which {counted(twice, 'temporary member')} too many"
    since = observed.roster
    if least is not None and count < least:
        missing = since.missing if since else ()
        more = f"; no member replaced {name_all(missing)}" if missing else ""
        awaited = await_all(missing, "has left, and no member replaced it")
        return no(tag, f"{text}, not {least}{more}", awaited=awaited)
    if most is not None and count > most:
        surplus = since.surplus if since else ()
        more = f"; new: {name_all(surplus)}" if surplus else ""
        return no(tag, f"{text}, {most} at most are expected{more}")
    return yes(tag, text)


def _speaking(condition: model.Speaking, observed: GateObservation, tag: str) -> Check:
    protocol, members = condition.protocol, observed.members
    able = [member for member in members if member.protocol is protocol]
    others = [model.PlannedMember.of(member) for member in members if member.protocol not in (protocol, None)]
    unknown = len(members) - len(able) - len(others)
    needed = max(1, len(members)) if condition.at_least is None else condition.at_least
    text = f"{share(len(able), len(members), 'member', ('speaks', 'speak'))} the {protocol.value} protocol"
    if len(able) >= needed:
        return yes(tag, text)
    if len(able) + unknown >= needed:
        return undecided(tag, f"{text}; of {unknown} the protocol is unknown")
    if condition.at_least is not None:
        text += f", not {needed}"
        names = {name for one in (observed.step.rounds if observed.step else ()) for name in one}
        others = [one for one in others if is_named(one, names)]
    more = f"; not yet: {name_all(others)}" if others else ""
    spoken = MemberProtocol.CLASSIC if protocol is MemberProtocol.CONSUMER else MemberProtocol.CONSUMER
    why = f"speaks the {spoken.value} protocol"
    return no(tag, text + more, awaited=await_all(others, why))


def _replaced(_: model.Replaced, observed: GateObservation, tag: str) -> Check:
    since, spoken = observed.membership_diff, _speaking_members(observed)
    if since is None and spoken and observed.members and spoken >= {member.id for member in observed.members}:
        return yes(tag, "every member speaks the protocol of this step")
    if since is None:
        return undecided(tag, _no_notes(observed), by_waiting=False)
    rounds = observed.step.rounds if observed.step else ()
    due = {name for names in rounds[: observed.round] for name in names}
    stayed, gone = _of_rounds(observed, since, rounds)
    total = len(stayed) + len(gone)
    if total < max(1, len(due)):
        return undecided(tag, _too_few_known(observed, total), by_waiting=False)
    is_round = observed.round is not None and observed.round < len(rounds)
    covers_all = _cover_all_members(observed, rounds)
    planned = len(due) if rounds and (is_round or not covers_all) else total
    text = f"{share(len(gone), total, 'member', ('has', 'have'))} left or rejoined under a new id"
    if early := [one for one in stayed if one.id in spoken]:
        stayed = [one for one in stayed if one.id not in spoken]
        text += f", {len(early)} already spoke the new protocol when the step started"
    # Members that no round of this step names were restarted in an earlier one: they do not count for a round.
    others = 0 if covers_all or not rounds else max(0, total - sum(map(len, rounds)))
    if len(gone) + max(0, len(early) - others) >= planned:
        return yes(tag, text)
    old = [one for one in stayed if is_named(one, due)] or stayed
    if planned != total:
        in_round = f"; after round {observed.round} it must be"
        text += f"{in_round if observed.round else ', not'} {planned}"
    awaited = await_all(old, "has not been restarted")
    return no(tag, f"{text}; not restarted: {name_all(old)}", awaited=awaited)


def _speaking_members(observed: GateObservation) -> frozenset[str]:
    """Ids of members that speak the step's destination protocol: they have its configuration, whenever they got it.
    If the step made the group classic again, all new members. Never a member from when the plan was made: a member
    keeps its protocol as long as its id, and a snapshot may leave out the protocols of its members."""
    baseline = observed.plan.baseline
    if baseline is None or observed.position <= 0:
        return frozenset()
    old = {member.id for member in baseline.members}
    new = [member for member in observed.members if member.id not in old]
    gate = observed.step.gate if observed.step else ()
    was_consumer = outcomes(observed.plan)[observed.position].type is GroupType.CONSUMER
    made_classic = was_consumer and model.TypeIs(type=GroupType.CLASSIC) in gate
    if made_classic and observed.group and observed.group.type is GroupType.CLASSIC:
        return frozenset(member.id for member in new)
    protocols = {one.protocol for one in gate if isinstance(one, model.Speaking)}
    return frozenset(member.id for member in new if member.protocol in protocols)


def _cover_all_members(observed: GateObservation, rounds: Sequence[Sequence[str]]) -> bool:
    """Whether the rounds name all members of the plan: then every member changes, including later ones."""
    baseline = observed.plan.baseline
    return baseline is not None and sum(map(len, rounds)) >= len(baseline.members)


def _of_rounds(
    observed: GateObservation, since: MembershipDiff, rounds: Sequence[Sequence[str]]
) -> tuple[Sequence[model.PlannedMember], Sequence[model.PlannedMember]]:
    """The members that the rounds name: those that stayed, and those that left. If the rounds name every member of
    the plan, or some names match no member any more, all members: a member without a unique name is named by the id
    that it had when the plan was made."""
    names = {name for one in rounds for name in one}
    stayed = [one for one in since.stayed if is_named(one, names)]
    gone = [one for one in since.gone if is_named(one, names)]
    are_known = len(stayed) + len(gone) == sum(map(len, rounds))
    if names and are_known and not _cover_all_members(observed, rounds):
        return stayed, gone
    return since.stayed, since.gone


def _no_user_data(_: model.NoUserData, group: Group, tag: str) -> Check:
    if group.type is GroupType.CONSUMER:
        return yes(tag, "a consumer group's assignments carry no user data")
    carrying = [m for m in group.members if m.user_data and m.user_data.assignment]
    if carrying:
        labels = [model.PlannedMember.of(one).label for one in carrying[:8]]
        bytes_ = [counted(len(one.user_data.assignment), "byte") for one in carrying if one.user_data]
        sizes = ", ".join(f"{label}: {size}" for label, size in zip(labels, bytes_, strict=False))
        return no(tag, f"the assignments of {counted(len(carrying), 'member')} carry user data ({sizes})")
    unknown = [member for member in group.members if member.user_data is None]
    if unknown:
        what = f"whether the assignments of {counted(len(unknown), 'member')} carry user data"
        live = "of a live cluster whose login Kohort's own client supports"
        shows = f"DescribeGroups shows it ({live}), and so does the broker's log"
        return undecided(tag, f"{what} is unknown from this source; {shows}")
    return yes(tag, "no member's assignment carries user data")


def _streams_release(condition: model.StreamsRelease, group: Group, tag: str) -> Check:
    threads = streams_threads(group)
    old = [
        thread
        for thread in threads
        if thread.newest_known is not None and thread.newest_known < condition.knows
    ]
    unknown = sum(thread.newest_known is None for thread in threads)
    needed = f"version {condition.knows} of the assignor's data ({release_text(condition.knows)})"
    if old:
        members = [model.PlannedMember.of(thread.member) for thread in old]
        why = f"knows only version {min(thread.newest_known or 0 for thread in old)}"
        return no(
            tag, f"not every thread knows {needed}: {name_all(members)}", awaited=await_all(members, why)
        )
    if unknown or not threads:
        return undecided(tag, f"the release of {counted(unknown, 'thread')} is not shown; expected: {needed}")
    return yes(tag, f"every thread knows {needed}")


def _streams_rebalancing(condition: model.StreamsRebalancing, group: Group, tag: str) -> Check:
    """A thread shows its protocol when it rejoins with tasks: one that was restarted last has not shown it yet."""
    threads = streams_threads(group)
    planned = condition.protocol
    others = [
        model.PlannedMember.of(thread.member)
        for thread in threads
        if thread.rebalancing not in (planned, None)
    ]
    if others:
        other = Rebalancing.EAGER if planned is Rebalancing.COOPERATIVE else Rebalancing.COOPERATIVE
        text = (
            f"{counted(len(others), 'thread')} of Kafka Streams shown to be {other.value}: {name_all(others)}"
        )
        return no(tag, text, awaited=await_all(others, f"is {other.value}"))
    if not any(thread.subscription for thread in threads):
        return undecided(tag, "the rebalance protocol of Kafka Streams is not known from this source")
    kept = sum(thread.rebalancing is Rebalancing.COOPERATIVE for thread in threads)
    if planned is Rebalancing.EAGER:
        return yes(tag, "no thread of Kafka Streams kept partitions when it rejoined")
    return yes(
        tag, f"no thread of Kafka Streams is shown to be eager, {kept} of {len(threads)} to be cooperative"
    )


def _precedes(condition: model.Precedes, group: Group, tag: str) -> Check:
    client_id = condition.client_id
    holds = precedes(group, client_id)
    if holds is None:
        return undecided(tag, f"whether {client_id} is next after the leader {_unknown_order(group)}")
    text = f"{client_id} comes first in the order of succession"
    if holds:
        return yes(tag, text)
    if not _holders(group.members, client_id):
        return no(tag, f"{client_id} is not a member")
    front = first_follower(group)
    advice = _how_to_come_first(group, client_id, front)
    # The order changes only with the members; `kohort bridge` rejoins if a new id may come first.
    may_change = group.state is not GroupState.STABLE or (front is not None and front.places > 0)
    text = f"{client_id} does not come first in the order of succession{advice}"
    return no(tag, text, by_waiting=may_change)


FEW_PLACES = 2  # With fewer bins in front, another attempt is not worthwhile


def _how_to_come_first(group: Group, client_id: str, front: FirstFollower | None) -> str:
    """A new id falls into a random bin, so it seldom precedes a follower in one of the first bins."""
    if front is None:
        return f": restart {client_id} to get a new member id, then run the check again"
    first = next(model.PlannedMember.of(member) for member in group.members if member.id == front.member)
    chance = f"{front.places} in {front.bins} new ids come before it"
    again = "to get a new member id, then run the check again"
    if front.places < FEW_PLACES:
        unchanged = f"restart {first.label} with its configuration unchanged"
        return f", {name_all([first])} does, and {chance}: {unchanged} {again}"
    itself = f"({chance}); `kohort bridge` rejoins by itself"
    return f", {name_all([first])} does: restart {client_id} {again} {itself}"


def _leads(condition: model.Leads, group: Group, tag: str) -> Check:
    client_id = condition.client_id
    holds = leads(group, client_id)
    if holds is None:
        return undecided(tag, f"whether {client_id} leads {_unknown(group)}")
    if holds:
        return yes(tag, f"{client_id} leads the group")
    leader = leader_of(group)
    leaders = [model.PlannedMember.of(member) for member in group.members if member.id == leader]
    more = f"; {name_all(leaders)} does" if leaders else ""
    return no(tag, f"{client_id} does not lead the group{more}")


def _unknown_order(group: Group) -> str:
    order = succession(group)
    if order is None or order.leader is None or order.certain:
        return _unknown(group)
    return f"is unknown: {order.why}"


def _unknown(group: Group) -> str:
    why = f": {group.leader_problem}" if group.leader_problem else ""
    return f"is unknown: the leader is not known{why}"


def _absent(condition: model.Absent, observed: GateObservation, tag: str) -> Check:
    client_id = condition.client_id
    there = [model.PlannedMember.of(one) for one in _holders(observed.members, client_id)]
    if there:
        return no(tag, f"{name_all(there)} is still a member", awaited=await_all(there, "is still a member"))
    if _has_unnamed(observed):
        return undecided(tag, f"client ids are not known from this source: {client_id} may still be a member")
    return yes(tag, f"{client_id} is not a member")


def _present(condition: model.Present, observed: GateObservation, tag: str) -> Check:
    client_id = condition.client_id
    if _holders(observed.members, client_id):
        return yes(tag, f"{client_id} is a member")
    if _has_unnamed(observed):
        return undecided(tag, f"client ids are not known from this source: {client_id} may not be a member")
    return no(tag, f"{client_id} is not a member yet")


def _has_unnamed(observed: GateObservation) -> bool:
    return any(member.client.id is None for member in observed.members)


def _others(_: model.OthersAlso, observed: GateObservation, tag: str) -> Check:
    since = observed.roster
    if since is None:
        return undecided(tag, "the members that belong to the group are not known", by_waiting=False)
    planned = observed.since_plan
    if not since.surplus or (planned is not None and not planned.surplus):
        return no(tag, "every member is in the plan")
    text = f"not in the plan: {name_all(since.surplus)}"
    known = {one.label for one in (*since.stayed, *since.gone)}
    if any(one.label not in known for one in since.surplus):
        return yes(tag, text)
    return undecided(tag, f"{text}, or a killed member whose session has not expired")


def _holders(members: Sequence[Member], client_id: str) -> list[Member]:
    return [member for member in members if member.client.id == client_id]


def _no_group(observed: GateObservation) -> str:
    return f"there is no group {observed.plan.group}: it was deleted, or never had a member or an offset"


def _too_few_known(observed: GateObservation, known: int) -> str:
    where = "the plan's baseline is" if observed.position <= 0 else "the gate notes are"
    return f"{counted(known, 'member')} known from the start of the step, fewer than it restarts: {where} incomplete"


def _no_notes(observed: GateObservation) -> str:
    before, number = observed.position, observed.position + 1
    if before <= 0:
        return "the members at the start of the step are unknown: the plan has no baseline. Make a new plan"
    return (
        f"the members at the start of step {number} are unknown: the gate of step {before} saved no notes. If step "
        f"{number} has not started, run that gate again (--step {before}). If it has, restart every member that may "
        "not have been restarted"
    )


_OF_GROUP: Mapping[type, Callable[..., Check]] = {
    model.TypeIs: _type,
    model.ProtocolIs: _protocol,
    model.NoUserData: _no_user_data,
    model.StreamsRelease: _streams_release,
    model.StreamsRebalancing: _streams_rebalancing,
    model.Precedes: _precedes,
    model.Leads: _leads,
}
_CHECKS: Mapping[type, Callable[..., Check]] = {
    model.StateIn: _state,
    model.MemberCount: _member_count,
    model.Speaking: _speaking,
    model.Replaced: _replaced,
    model.Absent: _absent,
    model.Present: _present,
    model.OthersAlso: _others,
}
