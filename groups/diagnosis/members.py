"""Rules about members that join and leave: storms, poll intervals, evictions, static members that fence others."""

import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from groups.counts import first_names, share
from groups.diagnosis.case import EVENTS, DiagnosisCase, Need, error, note, rule, warning
from groups.diagnosis.rebalances import (
    MembershipChange,
    awaited,
    by_host,
    changes,
    host_of,
    partitions_text,
    rebalances,
)
from groups.findings import Finding
from groups.model import GroupType, Member, MemberProtocol
from groups.times import duration_text, seconds_text


@rule(
    "rebalance-storm",
    source="KIP-848, Group Epoch; KIP-345 (storms caused by restarts)",
    needs=(Need.TWO_OBSERVATIONS,),
    least=EVENTS,
)
def storm(case: DiagnosisCase) -> Iterator[Finding]:
    """An error if members join and soon leave. Cooperative groups have twice as many rebalances."""
    count, member_changes = rebalances(case), list(changes(case))
    limit = case.thresholds.storm
    left = sum(not change.came for change in member_changes)
    again = list(short_lived(member_changes))
    if count < limit or (left < limit if member_changes else count < 2 * limit):
        return
    hosts = by_host(member_changes)
    seconds = case.seen_ms / 1000
    yield (error if len(again) >= limit - 1 else warning)(
        message=f"{count} rebalances in {seconds_text(seconds)}. {_cause(case, member_changes, hosts)}",
        remedy=_storm_remedy(case, member_changes, hosts),
        members=tuple(dict.fromkeys(change.member.id for change in member_changes)),
        since_ms=case.observations[0].at_ms,
        evidence={
            "rebalances": count,
            "observed_for_s": seconds,
            "came_and_went": len(again),
            "hosts": tuple(f"{host}: {left} left, {joined} joined" for host, left, joined in hosts),
        },
    )


def short_lived(member_changes: list[MembershipChange]) -> Iterator[MembershipChange]:
    """The departures of members that joined or rejoined after the first observation."""
    came = set[str]()
    for change in member_changes:
        if change.came:
            came.add(change.member.id)
        elif change.member.id in came:
            yield change


def _cause(case: DiagnosisCase, changed: list[MembershipChange], hosts: list[tuple[str, int, int]]) -> str:
    if not changed:
        return "No member joined or left: subscriptions, partitions of topics or the assignor changed."
    again = returned(changed)
    if again:
        return (
            f"{case.named(again)} left and rejoined with the same member id: max.poll.interval.ms or the session "
            "timeout was exceeded."
        )
    host, left, joined = hosts[0]
    if min(left, joined):
        return f"Members on {host} restarted: {left} left, {joined} joined."
    return f"Most members that joined or left are on {host}: {left} left, {joined} joined."


def _storm_remedy(
    case: DiagnosisCase, changed: list[MembershipChange], hosts: list[tuple[str, int, int]]
) -> str:
    if not changed:
        return f"See what changes: kohort watch {case.in_shell}."
    if returned(changed):
        return PAUSE_REMEDY
    return restart_remedy(hosts[0][0])


def restart_remedy(host: str) -> str:
    return (
        f"Check the processes on {host} for a crash loop, a failing liveness probe or a deployment. "
        "Give members a group.instance.id, so that a restart does not rebalance the group (KIP-345)."
    )


FENCING_REMEDY = "Give each process its own group.instance.id; search their logs for FENCED_INSTANCE_ID."
PAUSE_REMEDY = (
    "Find what these members wait for when they leave: a slow record or service, garbage collection, a CPU limit. "
    "Each departure and each return rebalances the whole group."
)
POLL_REMEDY = (
    "Lower max.poll.records, or raise max.poll.interval.ms above the longest time between two polls. If the process "
    "pauses (garbage collection, no CPU), raise the session timeout."
)


def returned(member_changes: list[MembershipChange]) -> list[str]:
    """Ids of members that left and rejoined with the same id. A restarted process would have a new id."""
    gone: set[str] = set()
    again: dict[str, None] = {}
    for change in member_changes:
        if not change.came:
            gone.add(change.member.id)
        elif change.member.id in gone:
            again[change.member.id] = None
    return list(again)


@rule(
    "poll-interval",
    source="KIP-62; KIP-848, Member Id; KafkaConsumer (max.poll.interval.ms)",
    needs=(Need.TWO_OBSERVATIONS,),
    least=EVENTS,
    applies=lambda group: group.type is GroupType.CONSUMER,
)
def poll_interval(case: DiagnosisCase) -> Iterator[Finding]:
    """A member of the consumer protocol keeps its id until its process exits; a classic member gets a new id."""
    member_changes = list(changes(case))
    again = [
        member_id
        for member_id in returned(member_changes)
        if (member := case.member(member_id)) is not None and member.protocol is MemberProtocol.CONSUMER
    ]
    if not again:
        return
    of_these = [change for change in member_changes if change.member.id in again]
    yield error(
        message=f"{case.named(again)} left the group and rejoined with the same member id: the time between two polls "
        "exceeded max.poll.interval.ms, or the session expired.",
        remedy=POLL_REMEDY,
        members=tuple(again),
        since_ms=next(change.at_ms for change in of_these if change.member.id == again[0]),
        evidence={
            "hosts": tuple(sorted({host_of(change.member) for change in of_these})),
            "times_gone": sum(not change.came for change in of_these),
        },
    )


@rule(
    "member-evicted",
    source="KIP-62; KIP-848, Rebalance Timeout; librdkafka INTRODUCTION",
    needs=(Need.TWO_OBSERVATIONS,),
    least=EVENTS,
)
def evicted(case: DiagnosisCase) -> Iterator[Finding]:
    """Members gone while a rebalance waited for them were removed by a timeout; others may have left on their own."""
    departures = {change.member.id: change for change in changes(case) if not change.came}
    gone = [departure for departure in departures.values() if not _is_back(case, departure)]
    awaited_at = {at_ms: _long_awaited(case, at_ms) for at_ms in {departure.since_ms for departure in gone}}
    late = [departure for departure in gone if departure.member.id in awaited_at[departure.since_ms]]
    left = [departure for departure in gone if departure not in late]
    it = "it" if len(late) == 1 else "them"
    for level, departed, what, remedy in (
        (
            warning,
            late,
            f"removed while a rebalance waited for {it}, and did not rejoin",
            f"If the process still runs, it may process records that other members now read: stop {it}, or find out "
            f"why {it} did not poll.",
        ),
        (
            note,
            left,
            "no longer in the group",
            "If it was not stopped on purpose, check its log: it may still process records that other members now "
            "read.",
        ),
    ):
        if departed:
            texts = [f"{case.labels[change.member.id]} on {host_of(change.member)}" for change in departed]
            yield level(
                message=f"{first_names(texts)} {'was' if len(departed) == 1 else 'were'} {what}.",
                remedy=remedy,
                members=tuple(change.member.id for change in departed),
                since_ms=min(change.since_ms for change in departed),
                evidence={
                    "hosts": tuple(dict.fromkeys(host_of(change.member) for change in departed)),
                    "owned": tuple(partitions_text(change.member.owned or {}) for change in departed),
                },
            )


def _long_awaited(case: DiagnosisCase, at_ms: int) -> set[str]:
    before = tuple(seen for seen in case.observations if seen.at_ms <= at_ms)
    waiting = awaited(replace(case, observations=before))
    return {blocking.member for blocking in waiting if blocking.since_ms < at_ms}


def _is_back(case: DiagnosisCase, gone: MembershipChange) -> bool:
    before = {member.id for at, group in case.seen if at.at_ms == gone.since_ms for member in group.members}
    client = gone.member.client.id, gone.member.client.host
    return any(
        member.id == gone.member.id
        or (gone.member.instance is not None and member.instance == gone.member.instance)
        or (member.id not in before and (member.client.id, member.client.host) == client)
        for member in case.group.members
    )


@rule(
    "static-fencing",
    source="KIP-345 (FENCED_INSTANCE_ID)",
    needs=(Need.TWO_OBSERVATIONS,),
    least=replace(
        EVENTS,
        may_hide=lambda case: any(member.instance for _, group in case.seen for member in group.members),
    ),
)
def static_fencing(case: DiagnosisCase) -> Iterator[Finding]:
    """An instance id changed its member id at least twice; one change is a restart."""
    hands: Counter[str] = Counter()
    ids: dict[str, dict[str, Member]] = {}
    for _, group in case.seen:
        for member in group.members:
            if member.instance is not None:
                ids.setdefault(member.instance, {})[member.id] = member
    for (_, before), (_, after) in pairwise(case.seen):
        was = {member.instance: member.id for member in before.members if member.instance is not None}
        for member in after.members:
            if member.instance in was and was[member.instance] != member.id:
                hands[member.instance] += 1
    for instance, count in sorted(hands.items()):
        if count < 2:
            continue
        hosts = sorted({host_of(member) for member in ids[instance].values()})
        yield error(
            message=f"The static member {instance} changed its member id {count} times in "
            f"{duration_text(case.seen_ms)}: two processes have the same group.instance.id, or one restarts "
            f"repeatedly ({first_names(hosts)}).",
            remedy=FENCING_REMEDY,
            members=tuple(ids[instance]),
            since_ms=case.observations[0].at_ms,
            evidence={"instance": instance, "changes": count, "hosts": tuple(hosts)},
        )


@rule(
    "static-member-away",
    source="KIP-848, Static Membership",
    applies=lambda group: group.type is GroupType.CONSUMER,
)
def static_away(case: DiagnosisCase) -> Iterator[Finding]:
    """Their partitions stay assigned to them until they rejoin or their sessions expire."""
    away = [member for member in case.group.members if member.is_away]
    if not away:
        return
    first = away[0]
    since = case.since_ms(lambda group: any(one.id == first.id and one.is_away for one in group.members))
    names = [member.instance or member.id for member in away]
    owned = [text for member in away if (text := partitions_text(member.owned or {}))]
    yield warning(
        message=(
            f"Static members are away: {first_names(names)}. "
            + (f"No member reads {first_names(owned)}" if owned else "They own no partitions")
            + " until they rejoin or their sessions expire."
        ),
        remedy=f"Restart it with group.instance.id={names[0]}, or remove it: "
        f"kohort members remove {case.in_shell} --instance {shlex.quote(names[0])}.",
        members=tuple(member.id for member in away),
        since_ms=since,
        evidence={
            "instances": tuple(names),
            "owned": tuple(owned),
            "hosts": tuple(dict.fromkeys(map(host_of, away))),
        },
    )


@rule(
    "mixed-protocols",
    source="KIP-848, Upgrade and Downgrade",
    applies=lambda group: group.type is GroupType.CONSUMER,
)
def mixed_protocols(case: DiagnosisCase) -> Iterator[Finding]:
    classic = [member.id for member in case.group.members if member.protocol is MemberProtocol.CLASSIC]
    if not classic:
        return
    yield note(
        message=f"{share(len(classic), len(case.group.members), 'member', ('uses', 'use'))} the classic protocol: "
        "the migration to the consumer protocol is not complete.",
        remedy=f"See its progress: kohort describe {case.in_shell} --migration.",
        members=tuple(classic),
        evidence={"classic": len(classic), "members": len(case.group.members)},
    )
