"""Partitions to observe more closely before groups are checked: a few waiting ones of a member represent the rest."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from groups import model
from groups.commits import known_offsets
from groups.diagnosis.case import Observation
from groups.lag import NextRecord, NextRecords
from groups.progress import FEW_RECORDS

MOST_OF_A_MEMBER = 20


def unread_partitions(
    observations: Sequence[Observation], commit_interval_ms: int
) -> tuple[model.Group, model.Group] | None:
    """The first and the last observation's groups, with partitions whose records wait: not moved, or far from read."""
    shown = [one for one in observations if one.group is not None and one.group.offsets is not None]
    if not shown:
        return None
    first, last = shown[0], shown[-1]
    group = last.group
    if group is None or first.group is None or group.type is model.GroupType.SHARE:
        return None
    since_ms = last.at_ms - 2 * commit_interval_ms
    base = next((seen for seen in reversed(shown) if seen.at_ms <= since_ms), first)
    owners = {place: member.id for member in group.members for place in model.each_partition(member.owned)}
    still: list[model.TopicPartition] = []
    unread: dict[model.TopicPartition, int] = {}
    for topic, commits in (group.offsets or {}).items():
        ends, ends_before = model.logs_of(last.topics, topic).end, model.logs_of(first.topics, topic).end
        of_base = (base.group.offsets or {}).get(topic, {}) if base.group else {}
        known = dict(zip(*known_offsets(of_base), strict=True))
        for number, offset in zip(*known_offsets(commits), strict=True):
            end = ends.get(number)
            if end is None or not 0 <= offset < end:
                continue
            if known.get(number) == offset:
                still.append((topic, number))
                if not owners and len(still) == MOST_OF_A_MEMBER:
                    break
            elif (topic, number) in owners:
                produced = end - (ends_before.get(number) or 0)
                if end - offset > max(produced, FEW_RECORDS):
                    unread[topic, number] = end - offset
    chosen: dict[str, dict[int, model.CommittedOffset]] = {}
    before: dict[str, dict[int, model.CommittedOffset]] = {}
    of_member: Counter[str | None] = Counter()
    for key in (*still, *sorted(unread, key=unread.__getitem__, reverse=True)):
        of_member[owners.get(key)] += 1
        commit = model.commit_of(group.offsets, key)
        if of_member[owners.get(key)] > MOST_OF_A_MEMBER or commit is None:
            continue
        topic, number = key
        chosen.setdefault(topic, {})[number] = commit
        earlier = model.commit_of(first.group.offsets, key)
        if earlier is not None and earlier.offset != commit.offset:
            before.setdefault(topic, {})[number] = earlier
    return (replace(first.group, offsets=before), replace(group, offsets=chosen)) if chosen else None


def some_commits(group: model.Group) -> model.Group:
    """The group with a few of its commits, some from every topic: as many as are examined per member."""
    left, some = MOST_OF_A_MEMBER, dict[str, Mapping[int, model.CommittedOffset]]()
    topics = group.offsets or {}
    for position, (topic, offsets) in enumerate(topics.items()):
        share = max(left // (len(topics) - position), 1)
        some[topic] = dict(islice(offsets.items(), share))
        left -= len(some[topic])
    return replace(group, offsets=some)


def records_after(group: model.Group, records: NextRecords) -> Mapping[model.TopicPartition, NextRecord]:
    """What follows each committed offset; partitions for which it was not read are left out."""
    return {
        partition: records[partition][commit.offset]
        for partition, commit in model.each_commit(group.offsets)
        if commit.offset is not None and commit.offset in records.get(partition, ())
    }


def waiting_since(
    group: model.Group, records: Mapping[model.TopicPartition, NextRecord], at_ms: int
) -> Mapping[model.TopicPartition, int | None]:
    """Since when each partition has unread records (None: none): the latest known of commit, record and rebalance."""
    since: dict[model.TopicPartition, int | None] = {}
    for partition, record in records.items():
        commit = model.commit_of(group.offsets, partition)
        if commit is None or record.is_unknown:
            continue
        age_ms = record.age_ms(at_ms)
        if record.offset is None:
            since[partition] = None
        elif commit.timestamp is not None and age_ms is not None:
            committed_ms = commit.timestamp if commit.same_since_ms is None else commit.same_since_ms
            since[partition] = max(committed_ms, at_ms - age_ms, group.rebalanced_ms or 0)
    return since


def commits_of(group: model.Group) -> Mapping[model.TopicPartition, int]:
    return {
        partition: commit.offset
        for partition, commit in model.each_commit(group.offsets)
        if commit.offset is not None
    }


def held_partitions(
    first: Mapping[str, model.Topic], last: Mapping[str, model.Topic]
) -> Iterator[model.TopicPartition]:
    """Partitions whose last stable offset is before the end and has not moved since the first observation."""
    for name, topic in last.items():
        stable, ends = topic.stable_offsets or {}, topic.end_offsets or {}
        before = first[name].stable_offsets if name in first else None
        for partition, end in ends.items():
            at = stable.get(partition)
            if at is not None and end is not None and at < end and (before or {}).get(partition, at) == at:
                yield name, partition
