"""Requests to a cluster after all observations, for the few groups and partitions with a suspected problem.

They return the times of offsets that do not advance and of the first records after them, open transactions in
partitions whose consumers have reached the last stable offset, and commit times of groups without members. Unreadable
data stay unknown, and the rules that need them report that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cli.sources.source import Source
from cli.verbs.diagnose.observing import FleetObservation
from groups.diagnosis.case import is_held
from groups.diagnosis.suspects import (
    commits_of,
    held_partitions,
    records_after,
    some_commits,
    unread_partitions,
    waiting_since,
)
from groups.lag import NextRecord
from groups.model import Group, GroupType, OpenTransaction, Topic, TopicPartition


def with_idle_commits(source: Source, groups: Mapping[str, Group]) -> Mapping[str, Group]:
    """The groups; those without members have the times of some of their commits."""
    asked = [some_commits(group) for group in groups.values() if _may_expire(group)]
    timed = source.with_commit_times(asked).items if asked else ()
    return {**groups, **{group.id: _merged(groups[group.id], group) for group in timed}}


def with_evidence(
    source: Source, observations: Sequence[FleetObservation], commit_interval_ms: int
) -> list[FleetObservation]:
    """The observations; the first and the last with data that is requested only for groups with a suspected problem."""
    first, last = observations[0], observations[-1]
    groups = {
        name: _as_before(group, first.groups.get(name)) if _may_expire(group) else group
        for name, group in last.groups.items()
    }
    unread = {
        name: pair
        for name in groups
        if (pair := unread_partitions([each.at(name) for each in observations], commit_interval_ms))
    }
    before = _timed(source, first.groups, [group for group, _ in unread.values() if group.offsets])
    groups |= _timed(source, groups, [group for _, group in unread.values()])
    offsets: dict[TopicPartition, set[int]] = {}
    for pair in unread.values():
        for group in pair:
            for place, offset in commits_of(group).items():
                offsets.setdefault(place, set()).add(offset)
    records = source.next_records(offsets).records if offsets else {}
    after = {name: records_after(group, records) for name, (_, group) in unread.items()}
    last = replace(
        last,
        groups=groups,
        next_records=after,
        waiting_since_ms={
            name: waiting_since(groups[name], found, last.at_ms) for name, found in after.items()
        },
        transactions=_open_transactions(source, first.topics or {}, last.topics or {}, groups, after),
        cluster=last.cluster or source.cluster(),
    )
    if len(observations) == 1:
        return [last]
    first = replace(
        first,
        groups={**first.groups, **before},
        next_records={name: records_after(group, records) for name, (group, _) in unread.items()},
    )
    return [first, *observations[1:-1], last]


def _timed(source: Source, groups: Mapping[str, Group], suspects: Sequence[Group]) -> Mapping[str, Group]:
    """The suspected groups with the times of their suspected commits."""
    read = source.with_commit_times(suspects).items if suspects else ()
    return {group.id: _merged(groups[group.id], group) for group in read}


def _as_before(group: Group, first: Group | None) -> Group:
    """The group, with the known times of commits that have not changed."""
    before = {} if first is None or first.offsets is None else first.offsets
    if group.offsets is None:
        return group
    offsets = {
        topic: {
            number: old
            if (old := before.get(topic, {}).get(number)) is not None and old.offset == commit.offset
            else commit
            for number, commit in found.items()
        }
        for topic, found in group.offsets.items()
    }
    return replace(group, offsets=offsets)


def _may_expire(group: Group) -> bool:
    return not group.members and bool(group.offsets) and group.type is not GroupType.SHARE


def _merged(group: Group, timed: Group) -> Group:
    offsets = dict(group.offsets or {})
    for topic, found in (timed.offsets or {}).items():
        offsets[topic] = {**offsets.get(topic, {}), **found}
    return replace(
        group, offsets=offsets, commit_gap_ms=timed.commit_gap_ms, rebalanced_ms=timed.rebalanced_ms
    )


def _open_transactions(
    source: Source,
    first: Mapping[str, Topic],
    last: Mapping[str, Topic],
    groups: Mapping[str, Group],
    after: Mapping[str, Mapping[TopicPartition, NextRecord]],
) -> Mapping[TopicPartition, tuple[OpenTransaction, ...]] | None:
    """Open transactions that a group with members waits for; None if unavailable."""
    wanted = {place for place in held_partitions(first, last) if _is_waited_for(place, last, groups, after)}
    if not wanted:
        return {}
    found = source.open_transactions(wanted)
    return found.by_partition if found.by_partition else None


def _is_waited_for(
    place: TopicPartition,
    topics: Mapping[str, Topic],
    groups: Mapping[str, Group],
    after: Mapping[str, Mapping[TopicPartition, NextRecord]],
) -> bool:
    topic, number = place
    return any(
        is_held(topics[topic], number, commit.offset, after.get(name, {}).get(place))
        for name, group in groups.items()
        if group.members and (commit := (group.offsets or {}).get(topic, {}).get(number)) is not None
    )
