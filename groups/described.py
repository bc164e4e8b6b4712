"""Groups as brokers describe them and as their logs hold them: what both mappings share.

A describe answer and a replayed log name the same facts differently: each source fills `Member` by its own names. What
is common is here: the embedded protocol of classic members, assignments by topic name, and tasks of streams groups as
partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from groups.listing import Problem
from groups.model import Group, Member, Partitions, Subscription, UserData
from wire.messages.embedded_protocol import read_assignment, read_subscription
from wire.messages.reader import DecodeError
from wire.uuids import format_uuid

EMBEDDED = "consumer"
"""The protocol type whose metadata and assignments Kafka's consumers can read."""


def classic_group(
    group: Group, members: Iterable[tuple[Member, bytes, bytes]], *, stable: bool
) -> tuple[Group, tuple[Problem, ...]]:
    """A classic group with its members, each given with its metadata and its assignment in the embedded protocol.

    What cannot be read leaves a member's subscription or ownership unknown, and is a problem. Members of other protocol
    types (connect) stay as they are.
    """
    if group.protocol_type != EMBEDDED:
        return replace(group, members=tuple(member for member, _, _ in members)), ()
    found: list[Member] = []
    problems: list[Problem] = []
    for base, metadata, assignment in members:
        member, oddity = _with_embedded(base, metadata, assignment, stable=stable)
        found.append(member)
        if oddity is not None:
            problems.append(Problem(subject=f"{group.id}, member {member.id}", message=oddity))
    return replace(group, members=tuple(found)), tuple(problems)


def streams_members(
    source_topics: Mapping[str, Iterable[str]],
    members: Iterable[tuple[Member, Mapping[str, Sequence[int]], Mapping[str, Sequence[int]]]],
) -> Iterator[Member]:
    """Members of a streams group, each given with its current and its target active tasks by subtopology.

    Tasks become partitions of the source topics, which all members read; there is no subscription before a topology.
    """
    topics = tuple(sorted({topic for names in source_topics.values() for topic in names}))
    subscription = Subscription(topics=topics) if topics else None
    for member, active, target in members:
        yield replace(
            member,
            subscription=subscription,
            owned=_task_partitions(source_topics, active),
            target=_task_partitions(source_topics, target),
        )


def _with_embedded(
    base: Member, metadata: bytes, assignment: bytes, *, stable: bool
) -> tuple[Member, str | None]:
    """The member with what its embedded protocol says, and why some of it cannot be read.

    Empty bytes are unknown, except that a member of a `stable` group without an assignment owns nothing.
    """
    wanted = given = oddity = None
    try:
        wanted = read_subscription(metadata) if metadata else None
        given = read_assignment(assignment) if assignment else None
    except DecodeError as error:
        oddity = str(error)
    unreadable = oddity
    if stable and not metadata:
        unreadable = "it sent no metadata"
    member = base if unreadable is None else replace(base, unreadable=unreadable)
    if wanted is not None:
        # As sent: the order decides where Java's maps keep insertion order in a bucket.
        topics = Subscription(topics=tuple(dict.fromkeys(wanted.topics)))
        member = replace(member, rack=wanted.rack, subscription=topics)
    if given is not None:
        owned = {name: tuple(sorted(set(numbers))) for name, numbers in sorted(given.partitions.items())}
        member = replace(member, owned=owned)
    elif stable and not assignment:
        member = replace(member, owned={})
    if wanted is not None or given is not None:
        data = UserData(
            subscription=(wanted.user_data if wanted else None) or b"",
            assignment=(given.user_data if given else None) or b"",
        )
        member = replace(member, user_data=data)
    return member, oddity


def named_partitions(assigned: Iterable[tuple[str | None, UUID | None, Sequence[int]]]) -> Partitions:
    """Of name, id and partitions of each topic; one without a name, whose topic is gone, is named by its id."""
    partitions: dict[str, tuple[int, ...]] = {}
    for topic, topic_id, numbers in assigned:
        name = topic or _unnamed(topic_id)
        partitions[name] = tuple(sorted({*partitions.get(name, ()), *numbers}))
    # In the broker's order: it is that of its map, and decides which topic a member gives up first.
    return partitions


def _unnamed(topic_id: UUID | None) -> str:
    return "?" if topic_id is None else format_uuid(topic_id)


def _task_partitions(
    source_topics: Mapping[str, Iterable[str]], tasks: Mapping[str, Sequence[int]]
) -> Partitions:
    """Tasks of a streams group's member as partitions of the source topics; both are by subtopology."""
    partitions: dict[str, set[int]] = {}
    for subtopology, numbers in tasks.items():
        for topic in source_topics.get(subtopology, ()):
            partitions.setdefault(topic, set()).update(numbers)
    return {topic: tuple(sorted(partitions[topic])) for topic in sorted(partitions)}
