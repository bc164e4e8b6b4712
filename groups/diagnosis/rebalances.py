"""Rules about rebalances: stuck ones with the members that they wait for, and many in quick succession."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from groups.diagnosis.case import Case, Least, Need, Symptom, error, list_names, note, rule
from groups.model import Group, GroupState, GroupType, Partitions
from groups.times import duration_text
from groups.waits import Wait, WaitKind, waits_of

UNSETTLED = frozenset(
    {
        GroupState.PREPARING_REBALANCE,
        GroupState.COMPLETING_REBALANCE,
        GroupState.ASSIGNING,
        GroupState.RECONCILING,
    }
)


def is_unsettled(group: Group) -> bool:
    """Whether a rebalance is in progress."""
    return group.state in UNSETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedMember:
    """A member that must act before a rebalance can complete."""

    member: str
    wait: Wait
    since_ms: int
    """The time since which every observation shows the same kind of wait for this member."""


_OWN_TURN = (WaitKind.REVOKE, WaitKind.REJOIN, WaitKind.ASSIGN, WaitKind.RETURN, WaitKind.HEARTBEAT)
"""Waits for the member's own action, the most blocking first; all other kinds wait for other members."""


def awaited(case: Case) -> list[AwaitedMember]:
    """The members that the newest rebalance waits for, the most blocking first.

    In PreparingRebalance of a classic group, these are all that may not have joined: brokers do not show who has.
    """
    kinds = (*_OWN_TURN, WaitKind.MAYBE_REJOIN)
    observations = [(seen.at_ms, waits_of(group)) for seen, group in case.seen]
    found: list[AwaitedMember] = []
    for member, waits in observations[-1][1].items():
        wait = next((each for each in waits or () if each.kind in kinds), None)
        if wait is not None:
            found.append(
                AwaitedMember(member=member, wait=wait, since_ms=_since(observations, member, wait.kind))
            )
    return sorted(found, key=lambda each: (kinds.index(each.wait.kind), each.since_ms))


def _since(
    observations: Sequence[tuple[int, Mapping[str, tuple[Wait, ...] | None]]], member: str, kind: WaitKind
) -> int:
    """The time since which every observation shows this kind of wait for the member."""
    waiting = takewhile(
        lambda each: any(wait.kind is kind for wait in each[1].get(member) or ()), reversed(observations)
    )
    return min(at_ms for at_ms, _ in waiting)


def _unsettled_since(case: Case, waiting: Sequence[AwaitedMember]) -> int | None:
    """The time since which one rebalance has been in progress; None without a rebalance.

    Rebalances may follow each other too fast for any observation to show an end, as in a rolling restart. Then the
    epoch grows, and the result is the start of the longest current wait for a member.
    """
    since = case.since_ms(is_unsettled)
    if since is None or not waiting:
        return since
    epoch = next(group.group_epoch for look, group in case.seen if look.at_ms == since)
    return since if epoch == case.group.group_epoch else max(since, min(each.since_ms for each in waiting))


@rule(
    "rebalance-stuck",
    "a rebalance that does not end, and the members it waits for",
    source="KIP-848, Reconciliation; classic.ClassicGroup",
    needs=(Need.TWO_OBSERVATIONS,),
    least=Least(
        ms=lambda limits: 2 * limits.rebalance_ms,
        may_hide=lambda case: any(is_unsettled(group) for _, group in case.seen),
    ),
)
def stuck(case: Case) -> Iterator[Symptom]:
    """The group was in a rebalance at every observation, for longer than the threshold."""
    waiting = awaited(case)
    since = _unsettled_since(case, waiting)
    lasted_ms = case.lasted_ms(since)
    if since is None or lasted_ms < case.thresholds.rebalance_ms:
        yield from _repeated_rebalances(case, waiting)
        return
    yield error(
        message=(
            f"The group has been in a rebalance for {duration_text(lasted_ms)} or longer "
            f"({case.group.state.value}). {_waits_for(case, waiting)}"
        ),
        remedy=_remedy(case, waiting),
        members=tuple(each.member for each in waiting),
        since_ms=since,
        evidence={
            "state": case.group.state.value,
            "observed_for_s": lasted_ms / 1000,
            "waits_for": tuple(f"{case.labels[each.member]}: {_wait_text(each.wait)}" for each in waiting),
        },
    )


def _repeated_rebalances(case: Case, waiting: Sequence[AwaitedMember]) -> Iterator[Symptom]:
    """A classic group's rebalances complete but take most of the time, so that its members read little.

    Processes that are killed again and again leave their members in the group, and a rebalance waits for each of them
    until its session expires.
    """
    took_ms = sum(
        later.at_ms - earlier.at_ms
        for (earlier, group), (later, _) in pairwise(case.seen)
        if is_unsettled(group)
    )
    limit_ms = max(2 * case.thresholds.rebalance_ms, case.seen_ms // 2)
    if case.group.type is not GroupType.CLASSIC or took_ms < limit_ms:
        return
    yield error(
        message=(
            f"The group was in rebalances for {duration_text(took_ms)} of {duration_text(case.seen_ms)} observed, and "
            f"reads little meanwhile.{' ' + _waits_for(case, waiting) if waiting else ''}"
        ),
        remedy=(
            "Check which members' processes restart or no longer exist: rebalances wait for each that was killed "
            f"until its session expires. List the members: kohort describe {case.in_shell} --members."
        ),
        since_ms=case.observations[0].at_ms,
        evidence={
            "state": case.group.state.value,
            "in_rebalances_s": took_ms / 1000,
            "observed_for_s": case.seen_ms / 1000,
        },
    )


@rule("rebalancing", "a rebalance in progress", source="KIP-848, Reconciliation; classic.ClassicGroup")
def in_progress(case: Case) -> Iterator[Symptom]:
    """The newest observation shows a rebalance that has not lasted long, as far as is known."""
    waiting = awaited(case)
    since = _unsettled_since(case, waiting)
    if since is None or case.lasted_ms(since) >= case.thresholds.rebalance_ms:
        return
    yield note(
        message=f"A rebalance is in progress ({case.group.state.value}). {_waits_for(case, waiting)}",
        remedy=(
            f"A rebalance of a few seconds is normal. Observe it on a live cluster: kohort diagnose {case.in_shell} "
            "--for 30s."
        ),
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
    return list_names(
        [f"{topic}-{number}" for topic, numbers in sorted(partitions.items()) for number in numbers]
    )


def _waits_for(case: Case, waiting: Sequence[AwaitedMember]) -> str:
    if not waiting:
        return "The source does not show which members it waits for."
    if waiting[0].wait.kind is WaitKind.MAYBE_REJOIN:
        names = case.named(each.member for each in waiting)
        return f"It waits for members to rejoin: one or more of {names}; the broker does not show which have rejoined."
    texts = [f"{case.labels[each.member]} {_wait_text(each.wait)}" for each in waiting]
    return f"It waits for {list_names(texts)}."


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


def _remedy(case: Case, waiting: Sequence[AwaitedMember]) -> str:
    if not waiting:
        return f"Check the members' logs; their epochs: kohort describe {case.in_shell} --members --verbose."
    first = waiting[0]
    member = case.member(first.member)
    host = member.client.host if member else None
    where = f" ({host.removeprefix('/')})" if host else ""
    limit = (
        "its max.poll.interval.ms"
        if case.group.type in (GroupType.CLASSIC, GroupType.CONSUMER)
        else "its timeout"
    )
    return (
        f"{case.labels[first.member]}{where} {_REMEDIES[first.wait.kind]}. Take a thread dump and restart it; "
        f"otherwise the coordinator removes it after its session timeout or {limit}."
    )
