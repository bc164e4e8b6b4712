"""Read what a cluster has now in the places of an entry's items."""

from collections.abc import Sequence
from itertools import chain

from cli.journal.entry import ChangedItem, ItemKind
from cli.sources.live import LiveSource
from cli.sources.positions import positions_of
from cli.verbs.config.action import settings_of
from cli.verbs.features.listing import read_features
from cli.verbs.offsets.facts import FoundGroups, PartitionCounts, find_groups
from cli.verbs.undo.comparison import PresentState, fault
from groups.model import Group, GroupState
from groups.settings import ConfigOrigin, GroupConfig


def read_present(source: LiveSource, items: Sequence[ChangedItem]) -> PresentState:
    """Raises CommandError, WireError: settings or features cannot be read, or there is no answer."""
    items = [item for item in items if fault(item) is None]
    names = _groups(items, ItemKind.OFFSET, ItemKind.GROUP, ItemKind.SETTING)
    read = find_groups(source, names, named=True) if names else FoundGroups(groups=())
    unread = [*read.others, *chain.from_iterable(read.problems.values())]
    topics = PartitionCounts(source)
    offsets = [item for item in items if item.kind is ItemKind.OFFSET]
    places, _ = topics.existing((item.topic or "", item.partition or 0) for item in offsets)
    with_settings = _groups(items, ItemKind.SETTING)
    configs = settings_of(source).read(with_settings) if with_settings else {}
    features = read_features(source).by_name if any(item.kind is ItemKind.FEATURE for item in items) else {}
    return PresentState(
        groups={group.id: group for group in read.groups if read.exists(group) and not _is_gone(group)},
        settings={
            group: {name: _own(config) for name, config in by_name.items()}
            for group, by_name in configs.items()
        },
        features={name: feature.finalized for name, feature in features.items()},
        partitions=topics.counts,
        topic_ids=topics.ids,
        positions=positions_of(source, places, None),
        unread_groups={problem.group: problem.message for problem in unread if problem.group is not None},
        unread_topics={
            topic: problem.message
            for problem in topics.problems
            for topic in problem.topics or {item.topic or "" for item in offsets} - topics.counts.keys()
        },
    )


def _groups(items: Sequence[ChangedItem], *kinds: ItemKind) -> list[str]:
    return list(dict.fromkeys(item.group for item in items if item.kind in kinds and item.group is not None))


def _is_gone(group: Group) -> bool:
    """Brokers before 4.0 describe a group that does not exist as Dead."""
    return group.state is GroupState.DEAD and not group.offsets


def _own(config: GroupConfig) -> str | None:
    return config.value if config.origin is ConfigOrigin.GROUP else None
