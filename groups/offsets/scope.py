"""Which partitions are meant: `--topic orders`, `--topic orders:0,1`, or all that have a committed offset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from groups.model import Offsets, Problem
from groups.offsets.model import Place

_PARTITION = re.compile(r"[0-9]{1,10}", re.ASCII)
_MAX_PARTITION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TopicScope:
    """A topic, whole (`partitions` None) or some of its partitions."""

    topic: str
    partitions: tuple[int, ...] | None = None


def parse_scope(text: str) -> TopicScope:
    """`TOPIC` or `TOPIC:0,1`, as kafka-consumer-groups takes it; ValueError says what is wrong."""
    topic, colon, numbers = text.partition(":")
    if not topic:
        raise ValueError(f"{text!r} names no topic; write TOPIC or TOPIC:0,1")
    if not colon:
        return TopicScope(topic)
    return TopicScope(topic, tuple(dict.fromkeys(_partition(text, part) for part in numbers.split(","))))


def _partition(text: str, number: str) -> int:
    number = number.strip()
    if not _PARTITION.fullmatch(number) or int(number) > _MAX_PARTITION:
        raise ValueError(f"{text!r}: {number!r} is no partition; write TOPIC or TOPIC:0,1")
    return int(number)


def places_in(
    scopes: Sequence[TopicScope], partitions: Mapping[str, int]
) -> tuple[tuple[Place, ...], tuple[Problem, ...]]:
    """The partitions that exist of those that are meant, in order, and a problem for each that does not.

    `partitions`: how many each known topic has.
    """
    meant: set[Place] = set()
    problems: list[Problem] = []
    for scope in scopes:
        count = partitions.get(scope.topic)
        if count is None:
            problems.append(unknown_topic(scope.topic))
        else:
            meant.update((scope.topic, number) for number in scope.partitions or range(count))
    places, missing = existing(meant, partitions)
    return places, (*dict.fromkeys(problems), *missing)


def existing(
    places: Iterable[Place], partitions: Mapping[str, int]
) -> tuple[tuple[Place, ...], tuple[Problem, ...]]:
    """The places that exist, in order, and a problem for each that does not."""
    found: list[Place] = []
    problems: dict[Problem, None] = {}
    for topic, number in sorted(set(places)):
        count = partitions.get(topic)
        if count is None:
            problems[unknown_topic(topic)] = None
        elif number >= count:
            problems[Problem(subject=f"{topic}-{number}", message=_no_partition(topic, count))] = None
        else:
            found.append((topic, number))
    return tuple(found), tuple(problems)


def _no_partition(topic: str, count: int) -> str:
    return f"no such partition; {topic} has {count}" + (f", 0 to {count - 1}" if count > 1 else "")


def unknown_topic(topic: str) -> Problem:
    """The problem of a topic that is not there."""
    return Problem(subject=topic, message="no such topic")


def committed_places(offsets: Offsets) -> tuple[Place, ...]:
    """Everything that has a committed offset, in order."""
    return tuple((topic, number) for topic in sorted(offsets) for number in sorted(offsets[topic]))


def committed_in(scopes: Sequence[TopicScope], offsets: Offsets) -> tuple[Place, ...]:
    """What has a committed offset within a scope; everything when there is none."""
    if not scopes:
        return committed_places(offsets)
    return tuple(
        (topic, number)
        for topic, number in committed_places(offsets)
        if any(scope.topic == topic and number in (scope.partitions or (number,)) for scope in scopes)
    )
