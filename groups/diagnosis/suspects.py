"""What is worth a closer look before groups are judged: partitions that stand still although there is more to read.

A closer look costs more than all others together, because it reads records. It is asked of a few partitions of each
member, which speak for the rest: a member that stands still does so in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from groups.diagnosis.observation import Observation
from groups.lag import partition_lags
from groups.model import CommittedOffset, Group, GroupType, Topic

Place: TypeAlias = tuple[str, int]
MOST_OF_A_MEMBER = 20


def still_partitions(observations: Sequence[Observation]) -> Group | None:
    """The group of the last look, with offsets of those partitions only; None where there is none.

    They have the same committed offset as at the first look, and records after it at both.
    """
    shown = [each for each in observations if each.group is not None and each.group.offsets is not None]
    if not shown or shown[-1].group is None or shown[0].group is None:
        return None
    group = shown[-1].group
    if group.type is GroupType.SHARE:
        return None
    before = {
        (row.topic, row.partition): (row.committed, row.lag)
        for row in partition_lags(shown[0].group, shown[0].topics or {})
    }
    found: dict[str, dict[int, CommittedOffset]] = {}
    of_member: dict[str | None, int] = {}
    for row in partition_lags(group, shown[-1].topics or {}):
        committed, lag = before.get((row.topic, row.partition), (None, None))
        member = None if row.member is None else row.member.id
        if (
            row.committed is None
            or committed != row.committed
            or not (row.lag or 0) > 0
            or not (lag or 0) > 0
        ):
            continue
        of_member[member] = of_member.get(member, 0) + 1
        if of_member[member] <= MOST_OF_A_MEMBER:
            offset = (group.offsets or {})[row.topic][row.partition]
            found.setdefault(row.topic, {})[row.partition] = offset
    return replace(group, offsets=found) if found else None


def waiting_since(
    group: Group, times: Mapping[Place, Mapping[int, int | None]]
) -> Mapping[Place, int | None]:
    """Since when records wait after each of a group's commits, by when the first one was written.

    Of partitions where both times are known, and where there is no such record.
    """
    found: dict[Place, int | None] = {}
    for place, commit in _commits(group):
        written = times.get(place, {})
        if commit.offset is None or commit.offset not in written:
            continue
        written_ms = written[commit.offset]
        if written_ms is None:
            found[place] = None
        elif commit.timestamp is not None:
            found[place] = max(commit.timestamp, written_ms)
    return found


def commits_of(group: Group) -> Mapping[Place, int]:
    """What is committed, by partition."""
    return {place: commit.offset for place, commit in _commits(group) if commit.offset is not None}


def _commits(group: Group) -> Iterator[tuple[Place, CommittedOffset]]:
    for topic, offsets in (group.offsets or {}).items():
        for partition, commit in offsets.items():
            yield (topic, partition), commit


def held_partitions(first: Mapping[str, Topic], last: Mapping[str, Topic]) -> Iterator[Place]:
    """Those whose last stable offset is before the end, and has not moved from the first look to the last."""
    for name, topic in last.items():
        stable, ends = topic.stable_offsets or {}, topic.end_offsets or {}
        before = first[name].stable_offsets if name in first else None
        for partition, end in ends.items():
            at = stable.get(partition)
            if at is not None and end is not None and at < end and (before or {}).get(partition, at) == at:
                yield name, partition
