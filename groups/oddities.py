"""What is strange about a group's ownership: an assignor takes it as it is, an operator wants to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from groups.group_spec import current_of
from groups.model import Group, Member, Partitions, Problem, Topic

MOST_NAMED = 5
"""Partitions named in one line."""


def oddities_of(group: Group, topics: Mapping[str, Topic]) -> tuple[Problem, ...]:
    """Every oddity, the member or partition it is about first. None of them stops a dry run."""
    return tuple(_oddities(group, topics))


def _oddities(group: Group, topics: Mapping[str, Topic]) -> Iterator[Problem]:
    if not group.members:
        yield Problem(subject=group.id, message="has no members: there is nobody to assign to")
    for member in group.members:
        yield from _odd_claims(member, current_of(group, member), topics)
    yield from _disputes(group)
    yield from _missing_topics(group, topics)
    yield from _idle_members(group, topics)


def _odd_claims(member: Member, current: Partitions, topics: Mapping[str, Topic]) -> Iterator[Problem]:
    wanted = member.subscription
    # A regex may want any topic.
    topics_wanted = None if wanted is None or wanted.regex else frozenset(wanted.topics)
    for topic, partitions in current.items():
        known = topics.get(topic)
        if known is None:
            yield Problem(
                subject=member.id, message=f"owns {_some(topic, partitions)} of a topic that is gone"
            )
        elif partitions and max(partitions) >= known.partitions:
            beyond = [partition for partition in partitions if partition >= known.partitions]
            message = f"owns {_some(topic, beyond)}, beyond the topic's {known.partitions} partitions"
            yield Problem(subject=member.id, message=message)
        if topics_wanted is not None and topic not in topics_wanted:
            message = f"owns {_some(topic, partitions)} without subscribing to it"
            yield Problem(subject=member.id, message=message)


def _disputes(group: Group) -> Iterator[Problem]:
    claims = [
        (topic, partition, member.id)
        for member in group.members
        for topic, partitions in current_of(group, member).items()
        for partition in partitions
    ]
    counts = Counter((topic, partition) for topic, partition, _ in claims)
    if len(counts) == len(claims):
        return
    for place in sorted(place for place, count in counts.items() if count > 1):
        claimants = [member for topic, partition, member in claims if (topic, partition) == place]
        yield Problem(subject=f"{place[0]}-{place[1]}", message=f"is owned by {' and '.join(claimants)}")


def _missing_topics(group: Group, topics: Mapping[str, Topic]) -> Iterator[Problem]:
    wanted = {name for m in group.members if m.subscription is not None for name in m.subscription.topics}
    for name in sorted(wanted - topics.keys()):
        yield Problem(subject=name, message="is subscribed to and does not exist")
    if (
        group.members
        and not wanted
        and not any(m.subscription and m.subscription.regex for m in group.members)
    ):
        yield Problem(subject=group.id, message="subscribes to no topic: there is nothing to assign")


def _idle_members(group: Group, topics: Mapping[str, Topic]) -> Iterator[Problem]:
    if any(member.subscription is None or member.subscription.regex for member in group.members):
        return
    wanted = {name for m in group.members if m.subscription is not None for name in m.subscription.topics}
    partitions = sum(topics[name].partitions for name in wanted & topics.keys())
    idle = len(group.members) - partitions
    if partitions and idle > 0:
        message = f"has {len(group.members)} members for {partitions} partitions: at least {idle} get none"
        yield Problem(subject=group.id, message=message)


def _some(topic: str, partitions: Sequence[int]) -> str:
    named = ",".join(map(str, partitions[:MOST_NAMED]))
    more = f" and {len(partitions) - MOST_NAMED} more" if len(partitions) > MOST_NAMED else ""
    return f"{topic}:{named}{more}"
