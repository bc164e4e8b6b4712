"""Partitions to observe more closely before groups are checked: stalled partitions with records to read.

This costs more than all other requests together, because it reads records. It is done for a few partitions of each
member, which represent the rest: a stalled member stalls in all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from groups.diagnosis.observation import Observation
from groups.lag import NextRecords
from groups.model import CommittedOffset, Group, GroupType, Topic
from groups.readable import NextRecord

Place: TypeAlias = tuple[str, int]
MOST_OF_A_MEMBER = 20


def still_partitions(observations: Sequence[Observation]) -> Group | None:
    """The group of the last observation, with the offsets of stalled partitions only; None if there are none.

    A stalled partition has the same committed offset as at the first observation, and records after it at the last.
    """
    shown = [each for each in observations if each.group is not None and each.group.offsets is not None]
    if not shown:
        return None
    first, last = shown[0], shown[-1]
    group = last.group
    if group is None or first.group is None or group.type is GroupType.SHARE:
        return None
    still = {
        (topic, partition): commit
        for topic, offsets in (group.offsets or {}).items()
        for partition, commit in offsets.items()
        if _committed(first, topic, partition) == commit.offset
        and _waits(last, topic, partition, commit.offset)
    }
    if not still:
        return None
    owners = {
        (topic, number): member.id
        for member in group.members
        for topic, numbers in (member.owned or {}).items()
        for number in numbers
    }
    found: dict[str, dict[int, CommittedOffset]] = {}
    of_member: Counter[str | None] = Counter()
    for place, commit in still.items():
        owner = owners.get(place)
        of_member[owner] += 1
        if of_member[owner] <= MOST_OF_A_MEMBER:
            found.setdefault(place[0], {})[place[1]] = commit
    return replace(group, offsets=found)


def _waits(observation: Observation, topic: str, partition: int, offset: int | None) -> bool:
    """Whether an observation shows records after this committed offset."""
    known = (observation.topics or {}).get(topic)
    end = None if known is None or known.end_offsets is None else known.end_offsets.get(partition)
    return offset is not None and end is not None and 0 <= offset < end


def _committed(observation: Observation, topic: str, partition: int) -> int | None:
    offsets = None if observation.group is None else observation.group.offsets
    commit = (offsets or {}).get(topic, {}).get(partition)
    return None if commit is None else commit.offset


def some_commits(group: Group) -> Group:
    """The group with a few of its commits, some from every topic: as many as are examined per member."""
    left, found = MOST_OF_A_MEMBER, dict[str, Mapping[int, CommittedOffset]]()
    topics = group.offsets or {}
    for position, (topic, offsets) in enumerate(topics.items()):
        share = max(left // (len(topics) - position), 1)
        found[topic] = dict(islice(offsets.items(), share))
        left -= len(found[topic])
    return replace(group, offsets=found)


def records_after(group: Group, records: NextRecords) -> Mapping[Place, NextRecord]:
    """What follows each committed offset; partitions for which it was not read are left out."""
    return {
        place: records[place][commit.offset]
        for place, commit in _commits(group)
        if commit.offset is not None and commit.offset in records.get(place, ())
    }


def waiting_since(
    group: Group, records: Mapping[Place, NextRecord], at_ms: int
) -> Mapping[Place, int | None]:
    """The time since which each partition has had unread records; None if it has none.

    It is the later of the commit time and the write time of the first unread record. Partitions for which one of the
    two is not known are left out.
    """
    found: dict[Place, int | None] = {}
    for place, commit in _commits(group):
        record = records.get(place)
        if record is None or record.is_unknown:
            continue
        age_ms = record.age_ms(at_ms)
        if record.offset is None:
            found[place] = None
        elif commit.timestamp is not None and age_ms is not None:
            found[place] = max(commit.timestamp, at_ms - age_ms)
    return found


def commits_of(group: Group) -> Mapping[Place, int]:
    """Committed offsets by partition."""
    return {place: commit.offset for place, commit in _commits(group) if commit.offset is not None}


def _commits(group: Group) -> Iterator[tuple[Place, CommittedOffset]]:
    for topic, offsets in (group.offsets or {}).items():
        for partition, commit in offsets.items():
            yield (topic, partition), commit


def held_partitions(first: Mapping[str, Topic], last: Mapping[str, Topic]) -> Iterator[Place]:
    """Partitions whose last stable offset is before the end and has not moved since the first observation."""
    for name, topic in last.items():
        stable, ends = topic.stable_offsets or {}, topic.end_offsets or {}
        before = first[name].stable_offsets if name in first else None
        for partition, end in ends.items():
            at = stable.get(partition)
            if at is not None and end is not None and at < end and (before or {}).get(partition, at) == at:
                yield name, partition
