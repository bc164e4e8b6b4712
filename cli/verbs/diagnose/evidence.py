"""Requests to a cluster after all observations, for the few groups and partitions with a suspected problem.

They return the times of offsets that do not advance and of the first records after them, open transactions in
partitions whose consumers have reached the last stable offset, and commit times of groups without members. Unreadable
data stay unknown, and the rules that need them report that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from cli.sources.source import Source
from groups.diagnosis.observation import Observation
from groups.diagnosis.places import Place
from groups.diagnosis.suspects import (
    commits_of,
    held_partitions,
    records_after,
    some_commits,
    still_partitions,
)
from groups.model import Group, GroupType, OpenTransaction, Topic
from groups.readable import NextRecord

After: TypeAlias = Mapping[str, Mapping[Place, NextRecord]]
"""Records by group and partition, like `Observation.next_records`."""


def with_idle_commits(source: Source, groups: Mapping[str, Group]) -> Mapping[str, Group]:
    """The groups; those without members have the times of some of their commits."""
    asked = [some_commits(group) for group in groups.values() if _may_expire(group)]
    timed = source.with_commit_times(asked).items if asked else ()
    return {**groups, **{group.id: _merged(groups[group.id], group) for group in timed}}


def with_commits(
    source: Source, observations: Mapping[str, Sequence[Observation]], groups: Mapping[str, Group]
) -> tuple[Mapping[str, Group], After]:
    """The groups of the last observation with the commit times that rules need, and what follows their offsets."""
    groups = {
        name: _as_before(group, observations[name][0].group) if _may_expire(group) else group
        for name, group in groups.items()
    }
    still = {name: found for name in groups if (found := still_partitions(observations[name])) is not None}
    asked = list(still.values())
    read = source.with_commit_times(asked).items if asked else ()
    timed = {group.id: _merged(groups[group.id], group) for group in read}
    places: dict[Place, set[int]] = {}
    for group in still.values():
        for place, offset in commits_of(group).items():
            places.setdefault(place, set()).add(offset)
    records = source.next_records(places).records if places else {}
    after = {name: records_after(group, records) for name, group in still.items()}
    return {**groups, **timed}, after


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
    return replace(group, offsets=offsets, commit_gap_ms=timed.commit_gap_ms)


def open_transactions(
    source: Source, first: Mapping[str, Topic], last: Mapping[str, Topic], groups: Mapping[str, Group]
) -> Mapping[Place, tuple[OpenTransaction, ...]] | None:
    """Open transactions where a group with members has reached the last stable offset; None if unavailable."""
    wanted = {place for place in held_partitions(first, last) if _is_waited_for(place, last, groups)}
    if not wanted:
        return {}
    found = source.open_transactions(wanted)
    return found.by_partition if found.by_partition else None


def _is_waited_for(place: Place, topics: Mapping[str, Topic], groups: Mapping[str, Group]) -> bool:
    topic, number = place
    stable = (topics[topic].stable_offsets or {}).get(number)
    return any(each == stable for each in _committed(place, groups))


def _committed(place: Place, groups: Mapping[str, Group]) -> Iterator[int | None]:
    topic, number = place
    for group in groups.values():
        commit = (group.offsets or {}).get(topic, {}).get(number) if group.members else None
        if commit is not None:
            yield commit.offset
