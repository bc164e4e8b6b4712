"""What a log that was loaded tells of its groups and topics, in the words of `groups.model`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.store import described_groups
from coordinator.store.described_groups import Names
from coordinator.store.loader import LoadedLog
from coordinator.store.topic_names import KnownTopic
from groups.dry_run import BROKERS_DEFAULT
from groups.model import Group, GroupListing, GroupType, Problem, Topic

DEFAULT_ASSIGNORS: Mapping[GroupType, str] = {GroupType.CONSUMER: BROKERS_DEFAULT, GroupType.SHARE: "simple"}
"""The first of `group.consumer.assignors` and of `group.share.assignors`, unless somebody changed them."""


def group_ids(log: LoadedLog) -> list[str]:
    """All groups of the log, of every type, sorted."""
    return sorted({*log.state.groups, *log.share, *log.streams})


def described(log: LoadedLog, name: str, names: Names) -> tuple[Group | None, tuple[Problem, ...]]:
    """A group, and what of it cannot be read; None where the log has no such group. `names`: of topics by id."""
    stored = log.state.groups.get(name)
    if isinstance(stored, ClassicGroup):
        return described_groups.classic_group(stored)
    if isinstance(stored, ConsumerGroup):
        return described_groups.consumer_group(stored, names), ()
    if name in log.share:
        return described_groups.share_group(log.share[name], names), ()
    if name in log.streams:
        return described_groups.streams_group(log.streams[name]), ()
    return None, ()


def silent(groups: Iterable[Group | GroupListing]) -> dict[str, str]:
    """By group, the assignor that a broker takes where no member names one."""
    return {
        group.id: DEFAULT_ASSIGNORS[group.type]
        for group in groups
        if group.protocol is None and group.type in DEFAULT_ASSIGNORS
    }


def with_default(group: Group) -> Group:
    """The group with the assignor that a broker takes where no member names one."""
    return replace(group, protocol=silent([group]).get(group.id, group.protocol))


def sized_topics(known: Iterable[KnownTopic]) -> Iterator[Topic]:
    """Those topics of which the number of partitions is known."""
    for topic in known:
        if topic.partitions is not None:
            yield Topic(name=topic.name, partitions=topic.partitions, id=topic.id, racks=topic.racks)
