"""Text about partitions for the messages of findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from groups.diagnosis.case import Case, list_names
from groups.lag import records_between
from groups.model import CommittedOffset, Topic
from groups.readable import NextRecord, readable

Place: TypeAlias = tuple[str, int]


def committed(case: Case) -> Iterator[tuple[Place, CommittedOffset, int]]:
    """The group's committed offsets in the newest observation that requested them."""
    for topic, offsets in case.offsets.items():
        for partition, each in offsets.items():
            if each.offset is not None and each.offset >= 0:
                yield (topic, partition), each, each.offset


def names(places: Iterable[Place]) -> str:
    """The first few partitions, and the number of the others."""
    return list_names([f"{topic}-{number}" for topic, number in sorted(places)])


def all_names(places: Iterable[Place]) -> tuple[str, ...]:
    """The names of all partitions, for the evidence."""
    return tuple(f"{topic}-{number}" for topic, number in sorted(places))


def unread(case: Case, place: Place) -> int:
    """The number of records between the committed offset and the end; 0 if it is not known."""
    topic = case.topics.get(place[0])
    end = None if topic is None else (topic.end_offsets or {}).get(place[1])
    found = case.offsets.get(place[0], {}).get(place[1])
    return max(records_between(None if found is None else found.offset, end) or 0, 0)


def waits_for_transaction(case: Case, place: Place) -> bool:
    """Whether no record before the last stable offset is left to read, and records of open transactions follow."""
    topic = case.topics.get(place[0])
    commit = case.offsets.get(place[0], {}).get(place[1])
    return (
        topic is not None
        and commit is not None
        and is_held(topic, place[1], commit.offset, case.last.next_records.get(place))
    )


def is_held(topic: Topic, partition: int, committed: int | None, next_record: NextRecord | None) -> bool:
    """Whether everything that can be read from a committed offset waits for the end of an open transaction."""
    start, stable, end = (
        (offsets or {}).get(partition)
        for offsets in (topic.start_offsets, topic.stable_offsets, topic.end_offsets)
    )
    return readable(committed, start=start, stable=stable, end=end, next_record=next_record).is_held
