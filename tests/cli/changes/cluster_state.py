"""What of a cluster Kohort can change, by the items of the journal."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from cli.journal.entry import ChangedItem, ItemKind, Value
from cli.journal.reversible import NEVER
from cli.sources.wire_source import WireSource
from cli.verbs.features.listing import read_features
from groups.listing import GroupFilter
from groups.model import each_commit, partition_name
from groups.settings import own_settings

Key: TypeAlias = tuple[ItemKind, str | None, str]
"""Kind, group and target of an item."""
State: TypeAlias = Mapping[Key, Value]
VALUED = (ItemKind.OFFSET, ItemKind.SETTING, ItemKind.FEATURE)
"""The kinds whose values are those of items; the others exist or not."""


def state_of(source: WireSource, prefix: str) -> State:
    """Groups whose names begin so with their members, offsets and settings, topics of such names, and features."""
    is_ours = GroupFilter(has_name=lambda name: name.startswith(prefix))
    listed = source.select_groups(is_ours, described=False)
    names = [group.id for group in listed.items]
    described = source.describe(names, offsets=True)
    assert (listed.problems, described.problems) == ((), ())
    state: dict[Key, Value] = {
        (ItemKind.TOPIC, prefix, topic): ""
        for topic in source.client.metadata().topics
        if topic.startswith(prefix)
    }
    for group in described.items:
        state[ItemKind.GROUP, group.id, ""] = ""
        state |= {(ItemKind.MEMBER, group.id, member.id): "" for member in group.members}
        for place, commit in each_commit(group.offsets):
            state[ItemKind.OFFSET, group.id, partition_name(place)] = commit.position
    for name, settings in source.group_settings([prefix]).by_group.items():
        state |= {
            (ItemKind.SETTING, name, key): value for key, value in (own_settings(settings) or {}).items()
        }
    features = read_features(source).by_name
    return state | {(ItemKind.FEATURE, None, name): one.finalized for name, one in features.items()}


def differing(one: State, other: State) -> set[Key]:
    return {key for key in {*one, *other} if one.get(key) != other.get(key)}


def covers(items: Iterable[ChangedItem], key: Key) -> bool:
    """Whether one of the items is about this; a step is about all of its group."""
    kind, group, target = key
    return any(
        item.group == group and (item.kind is ItemKind.STEP or (item.kind, item.target) == (kind, target))
        for item in items
    )


def restorable(state: State) -> State:
    return {key: value for key, value in state.items() if key[0] not in NEVER}
