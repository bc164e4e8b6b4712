"""What a live cluster and a log tell of members in the same words: embedded protocol, assignments, tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from groups.model import Member, Partitions, Subscription, UserData
from wire.messages.embedded_protocol import read_assignment, read_subscription
from wire.messages.reader import DecodeError
from wire.uuids import format_uuid

EMBEDDED = "consumer"
"""The protocol type whose metadata and assignments Kafka's consumers can read."""


def with_embedded(
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


def task_partitions(
    source_topics: Mapping[str, Iterable[str]], tasks: Mapping[str, Sequence[int]]
) -> Partitions:
    """Tasks of a streams group's member as partitions of the source topics; both are by subtopology."""
    partitions: dict[str, set[int]] = {}
    for subtopology, numbers in tasks.items():
        for topic in source_topics.get(subtopology, ()):
            partitions.setdefault(topic, set()).update(numbers)
    return {topic: tuple(sorted(partitions[topic])) for topic in sorted(partitions)}


def source_subscription(source_topics: Mapping[str, Iterable[str]]) -> Subscription | None:
    """What all members of a streams group read; None before there is a topology."""
    topics = tuple(sorted({topic for names in source_topics.values() for topic in names}))
    return Subscription(topics=topics) if topics else None
