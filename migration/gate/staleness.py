"""Whether a plan is that of the group: another cluster's, another group's or an old one must not be followed.

What a step of the plan changes is no difference: the group may stand anywhere on its way.
"""

from __future__ import annotations

from collections.abc import Iterator

from groups.model import GroupType, Member, MemberProtocol
from migration.gate.answers import Difference
from migration.gate.outcomes import outcomes
from migration.gate.sight import Sight
from migration.model import Baseline, PlannedMember

GONE = "gone"


def differences(sight: Sight) -> tuple[Difference, ...]:
    """Between the group that the plan was made for and the one that is there; nothing for a plan without baseline."""
    baseline = sight.plan.baseline
    if baseline is None:
        return ()
    cluster = tuple(_cluster(sight, baseline))
    if cluster or sight.group is None:
        return cluster
    found = [
        *_kind(sight),
        *_partitions(sight, baseline),
        *_topics(sight, baseline),
    ]
    if sight.position < 0:
        found += _members(sight)
    return tuple(found)


def is_mixed(sight: Sight) -> bool:
    """Whether members of both protocols share the group."""
    return {member.protocol for member in sight.members} >= set(MemberProtocol)


def _cluster(sight: Sight, baseline: Baseline) -> Iterator[Difference]:
    now = sight.cluster.id
    if None not in (baseline.cluster, now) and baseline.cluster != now:
        yield Difference(what="cluster id", plan=str(baseline.cluster), now=str(now))


def _kind(sight: Sight) -> Iterator[Difference]:
    """A type or an assignor that no step leads to."""
    group, ways = sight.group, outcomes(sight.plan)
    if sight.position < 0:
        ways = ways[:1]
    if group is None or group.type is GroupType.UNKNOWN:
        return
    kinds = {way.type for way in ways}
    if None not in kinds and group.type not in kinds:
        # One stranger of the other protocol makes a mixed group: it can be sent away.
        if not (is_mixed(sight) and sight.position >= 0):
            yield Difference(
                what="group type",
                plan=_either(way.type.value for way in ways if way.type),
                now=group.type.value,
            )
        return
    names = [way.protocol for way in ways if way.type in (group.type, None)]
    if group.protocol and None not in names and group.protocol not in names:
        yield Difference(what="assignor", plan=_either(str(name) for name in names), now=group.protocol)


def _partitions(sight: Sight, baseline: Baseline) -> Iterator[Difference]:
    for topic, then in sorted(baseline.partitions.items()):
        now = sight.partitions.get(topic, then)
        if now != then:
            yield Difference(
                what=f"partitions of {topic}", plan=str(then), now=str(now) if now else GONE, drift=True
            )


def _topics(sight: Sight, baseline: Baseline) -> Iterator[Difference]:
    """Topics that the members want; only where all of them tell, and none by a regex that the broker matches."""
    members = [member for member in sight.members if member.client.id not in sight.guests]
    if not members or not sight.is_at_rest or not baseline.topics or not all(map(_tells_topics, members)):
        return
    now = {topic for member in members for topic in _topics_of(member)}
    gone = {topic for topic, count in sight.partitions.items() if not count}
    for topic in sorted(set(baseline.topics) - now - gone):
        yield Difference(what=f"topic {topic}", plan="read", now="not subscribed to", drift=True)
    for topic in sorted(now - set(baseline.topics)):
        yield Difference(what=f"topic {topic}", plan="not read", now="subscribed to", drift=True)


def _tells_topics(member: Member) -> bool:
    return member.subscription is not None and not member.subscription.regex


def _topics_of(member: Member) -> set[str]:
    wanted = member.subscription.topics if member.subscription else ()
    return {*wanted, *(topic for topic, numbers in (member.owned or {}).items() if numbers)}


def _members(sight: Sight) -> Iterator[Difference]:
    """Before the first step, members that came or went; restarted ones are the same."""
    since = sight.since_plan
    if since is None:
        return
    for one in since.missing:
        yield Difference(what=f"member {_name(one)}", plan="there", now=GONE, drift=True)
    for one in since.surplus:
        yield Difference(what=f"member {_name(one)}", plan="not there", now="there", drift=True)


def _name(member: PlannedMember) -> str:
    return member.label if member.label == member.id else f"{member.label} ({member.id})"


def _either(names: Iterator[str]) -> str:
    return " or ".join(dict.fromkeys(names))
