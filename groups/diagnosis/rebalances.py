"""Rules about rebalances, stuck or in progress, and about the coordinator; and the changes between observations."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from groups.counts import first_names
from groups.diagnosis.case import DiagnosisCase, Least, Need, error, names, note, rule
from groups.findings import Finding
from groups.model import Group, GroupState, GroupType, Member, Partitions, each_partition
from groups.times import duration_text
from groups.waits import Wait, WaitKind, waits_of

_PREPARING, _COMPLETING = GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE
UNSETTLED = frozenset({_PREPARING, _COMPLETING, GroupState.ASSIGNING, GroupState.RECONCILING})


def is_unsettled(group: Group) -> bool:
    return group.state in UNSETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockingMember:
    member: str
    wait: Wait
    since_ms: int  # the time since which every observation shows the same kind of wait for this member


_OWN_TURN = (WaitKind.REVOKE, WaitKind.REJOIN, WaitKind.ASSIGN, WaitKind.RETURN, WaitKind.HEARTBEAT)


def awaited(case: DiagnosisCase) -> list[BlockingMember]:
    """Those that the newest rebalance waits for, most blocking first; PreparingRebalance: all that may be."""
    if not case.group.members:
        return []
    kinds = (*_OWN_TURN, WaitKind.MAYBE_REJOIN)
    observations = [(seen.at_ms, waits_of(group)) for seen, group in case.seen]
    blocking: list[BlockingMember] = []
    for member, waits in observations[-1][1].items():
        wait = next((wait for wait in waits or () if wait.kind in kinds), None)
        if wait is not None:
            since_ms = observations[-1][0]
            for at_ms, of_members in reversed(observations):
                if all(earlier.kind is not wait.kind for earlier in of_members.get(member) or ()):
                    break
                since_ms = at_ms
            blocking.append(BlockingMember(member=member, wait=wait, since_ms=since_ms))
    return sorted(blocking, key=lambda one: (kinds.index(one.wait.kind), one.since_ms))


def _unsettled_since(case: DiagnosisCase, waiting: Sequence[BlockingMember]) -> int | None:
    """Since when one rebalance is in progress; if the epoch grows, the start of the longest current wait."""
    since = case.since_ms(is_unsettled)
    if since is None or not waiting:
        return since
    epoch = next(group.group_epoch for look, group in case.seen if look.at_ms == since)
    longest = min(blocking.since_ms for blocking in waiting)
    return since if epoch == case.group.group_epoch else max(since, longest)


@rule(
    "rebalance-stuck",
    source="KIP-848, Reconciliation; classic.ClassicGroup",
    needs=(Need.TWO_OBSERVATIONS,),
    least=Least(
        ms=lambda limits: 2 * limits.rebalance_ms,
        may_hide=lambda case: any(is_unsettled(group) for _, group in case.seen),
    ),
)
def stuck(case: DiagnosisCase) -> Iterator[Finding]:
    """The group was in a rebalance at every observation, for longer than the threshold."""
    waiting = awaited(case)
    since = _unsettled_since(case, waiting)
    lasted_ms = case.lasted_ms(since)
    if since is None or lasted_ms < case.thresholds.rebalance_ms:
        yield from _repeated_rebalances(case, waiting)
        return
    state, lasted = case.group.state.value, duration_text(lasted_ms)
    waits = tuple(f"{case.labels[blocking.member]}: {_wait_text(blocking.wait)}" for blocking in waiting)
    yield error(
        message=f"The group has been in a rebalance for {lasted} or longer ({state}). {_waits_for(case, waiting)}",
        remedy=_remedy(case, waiting),
        members=tuple(blocking.member for blocking in waiting),
        since_ms=since,
        evidence={"state": state, "observed_for_s": lasted_ms / 1000, "waits_for": waits},
    )


def _repeated_rebalances(case: DiagnosisCase, waiting: Sequence[BlockingMember]) -> Iterator[Finding]:
    """Processes that are killed again and again leave members behind, and each rebalance waits for their sessions."""
    pairs = pairwise(case.seen)
    took_ms = sum(later.at_ms - first.at_ms for (first, group), (later, _) in pairs if is_unsettled(group))
    limit_ms = max(2 * case.thresholds.rebalance_ms, case.seen_ms // 2)
    if case.group.type is not GroupType.CLASSIC or took_ms < limit_ms:
        return
    yield error(
        message=f"The group was in rebalances for {duration_text(took_ms)} of {duration_text(case.seen_ms)} observed, "
        f"and reads little meanwhile.{' ' + _waits_for(case, waiting) if waiting else ''}",
        remedy="Check which members' processes restart or no longer exist: rebalances wait for each that was killed "
        f"until its session expires. List the members: kohort describe {case.in_shell} --members.",
        since_ms=case.observations[0].at_ms,
        evidence={
            "state": case.group.state.value,
            "in_rebalances_s": took_ms / 1000,
            "observed_for_s": case.seen_ms / 1000,
        },
    )


@rule("rebalancing", source="KIP-848, Reconciliation; classic.ClassicGroup")
def in_progress(case: DiagnosisCase) -> Iterator[Finding]:
    """The newest observation shows a rebalance that has not lasted long, as far as is known."""
    waiting = awaited(case)
    since = _unsettled_since(case, waiting)
    if since is None or case.lasted_ms(since) >= case.thresholds.rebalance_ms:
        return
    yield note(
        message=f"A rebalance is in progress ({case.group.state.value}). {_waits_for(case, waiting)}",
        remedy=f"A rebalance of a few seconds is normal. Observe it on a live cluster: kohort diagnose {case.in_shell} "
        "--for 30s.",
        since_ms=since,
        evidence={"state": case.group.state.value, "observed_for_s": case.lasted_ms(since) / 1000},
    )


_WAITS = {
    WaitKind.REVOKE: "to revoke {}",
    WaitKind.REJOIN: "to rejoin",
    WaitKind.MAYBE_REJOIN: "to rejoin, if it has not",
    WaitKind.ASSIGN: "to send the assignment, as the leader",
    WaitKind.RETURN: "to return (static, away)",
    WaitKind.HEARTBEAT: "to send its next heartbeat",
}


def _wait_text(wait: Wait) -> str:
    return _WAITS[wait.kind].format(partitions_text(wait.partitions))


def partitions_text(partitions: Partitions) -> str:
    """The first few partitions: `orders-0, orders-1 and 3 more`."""
    return names(each_partition(partitions))


def _waits_for(case: DiagnosisCase, waiting: Sequence[BlockingMember]) -> str:
    if not waiting:
        return "The source does not show which members it waits for."
    if waiting[0].wait.kind is WaitKind.MAYBE_REJOIN:
        members = case.named(blocking.member for blocking in waiting)
        why = "the broker does not show which have rejoined"
        return f"It waits for members to rejoin: one or more of {members}; {why}."
    texts = [f"{case.labels[blocking.member]} {_wait_text(blocking.wait)}" for blocking in waiting]
    return f"It waits for {first_names(texts)}."


_REMEDIES = {
    WaitKind.REVOKE: "does not finish revoking its partitions: its rebalance listener or a long batch between two "
    "polls blocks it",
    WaitKind.REJOIN: "does not rejoin: it is busy between two polls, or blocked",
    WaitKind.MAYBE_REJOIN: "may be busy between two polls, or blocked",
    WaitKind.ASSIGN: "leads the group and does not send the assignment: its assignor fails or takes too long; check "
    "its log",
    WaitKind.RETURN: "is static and away: restart or remove it",
    WaitKind.HEARTBEAT: "does not send heartbeats: it is blocked, or cannot reach the coordinator",
}


def _remedy(case: DiagnosisCase, waiting: Sequence[BlockingMember]) -> str:
    if not waiting:
        return f"Check the members' logs; their epochs: kohort describe {case.in_shell} --members --verbose."
    first = waiting[0]
    member = case.member(first.member)
    host = member.client.address if member else None
    where = f" ({host})" if host else ""
    of_consumers = case.group.type in (GroupType.CLASSIC, GroupType.CONSUMER)
    limit = "its max.poll.interval.ms" if of_consumers else "its timeout"
    return (
        f"{case.labels[first.member]}{where} {_REMEDIES[first.wait.kind]}. Take a thread dump and restart it; "
        f"otherwise the coordinator removes it after its session timeout or {limit}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipChange:
    member: Member
    came: bool
    since_ms: int  # the time of the last observation before the change
    at_ms: int  # the time of the first observation that shows the change


def changes(case: DiagnosisCase) -> Iterator[MembershipChange]:
    """In order of the observations, departures before joins; a static member with a new id did neither (KIP-345)."""
    for (earlier, before), (later, after) in pairwise(case.seen):
        was, now = ({_key(member): member for member in group.members} for group in (before, after))
        for key in (*(key for key in was if key not in now), *(key for key in now if key not in was)):
            came = key in now
            member = now[key] if came else was[key]
            yield MembershipChange(member=member, came=came, since_ms=earlier.at_ms, at_ms=later.at_ms)


def held_ms(case: DiagnosisCase, holds: Callable[[Group], bool] = lambda _: True) -> int:
    """How long every observation has shown a condition, no rebalance, and the last generation of a classic group."""
    last = case.group.generation

    def is_same(group: Group) -> bool:
        is_same_generation = None in (last, group.generation) or group.generation == last
        return not is_unsettled(group) and is_same_generation and holds(group)

    return case.lasted_ms(case.since_ms(is_same))


def assigned_ms(case: DiagnosisCase) -> int:
    """How long every observation has shown the present owners of all partitions, and no rebalance."""
    owners = {member.id: member.owned for member in case.group.members}
    return held_ms(case, lambda group: {member.id: member.owned for member in group.members} == owners)


def host_of(member: Member) -> str:
    return member.client.address or "an unknown host"


def by_host(member_changes: list[MembershipChange]) -> list[tuple[str, int, int]]:
    """Hosts with the numbers of members that left and joined there, the host with most changes first."""
    left = Counter(host_of(change.member) for change in member_changes if not change.came)
    joined = Counter(host_of(change.member) for change in member_changes if change.came)
    hosts = sorted(left.keys() | joined.keys(), key=lambda host: (-left[host] - joined[host], host))
    return [(host, left[host], joined[host]) for host in hosts]


def rebalances(case: DiagnosisCase) -> int:
    """At least, by epochs or generations; else (a broker shows no classic group's) by observations that differ."""
    groups = [group for _, group in case.seen]
    first, last = _epoch(groups[0]), _epoch(groups[-1])
    if first is not None and last is not None and groups[0].type is groups[-1].type:
        return max(last - first, 0)
    return sum(
        is_unsettled(after) or _assignment(before) != _assignment(after)
        for before, after in pairwise(groups)
        if not is_unsettled(before)
    )


def _epoch(group: Group) -> int | None:
    return group.generation if group.type is GroupType.CLASSIC else group.group_epoch


def _assignment(group: Group) -> dict[str, object]:
    return {_key(member): member.owned for member in group.members}


def _key(member: Member) -> str:
    return member.instance or member.id


UNAVAILABLE = frozenset({"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"})
LOADING = "COORDINATOR_LOAD_IN_PROGRESS"


@rule(
    "coordinator-unavailable",
    source="FindCoordinator, DescribeGroups (COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS)",
    of_unread=True,
)
def unavailable(case: DiagnosisCase) -> Iterator[Finding]:
    """The newest observation failed at every attempt within --timeout."""
    last = case.observations[-1]
    name = None if last.problem is None else last.problem.error
    if name not in UNAVAILABLE and name != LOADING:
        return
    seen_ms = max((observation.at_ms for observation, _ in case.seen), default=-1)
    failing = [observation for observation in case.observations if observation.at_ms > seen_ms]
    loads = name == LOADING
    yield error(
        message=f"The group's coordinator {'is still loading its log' if loads else 'is not available'} ({name}): "
        "members can neither join, nor send heartbeats, nor commit.",
        remedy=(
            "Check __consumer_offsets: a partition has no leader, or the topic is missing because "
            "offsets.topic.replication.factor is higher than the number of brokers (kafka-topics.sh --describe --topic "
            "__consumer_offsets)."
            if not loads
            else "Wait, and check the broker's log: loading takes long if __consumer_offsets is not compacted."
        ),
        since_ms=failing[0].at_ms,
        evidence={"error": name, "observations": len(case.observations), "failed_observations": len(failing)},
    )
