"""What of a cluster Kohort can change, by the items of the journal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from cli.journal.entry import ChangedItem, ItemKind, Value
from cli.journal.reversible import NEVER
from cli.sources.wire_source import WireSource
from cli.verbs.features.listing import read_features
from groups.listing import GroupFilter, GroupType
from groups.model import each_commit, partition_name
from groups.settings import own_settings

Key: TypeAlias = tuple[ItemKind, str | None, str]
"""Kind, group and target of an item."""
State: TypeAlias = Mapping[Key, Value | tuple[object, ...]]
"""Of an offset also its leader epoch and metadata, of a group its type."""


def state_of(source: WireSource, prefix: str, *, configured: Sequence[str]) -> State:
    """Groups and topics whose names begin so, with members and offsets; settings of some groups; features."""
    is_ours = GroupFilter(has_name=lambda name: name.startswith(prefix))
    listed = source.select_groups(is_ours, described=False)
    described = source.describe([group.id for group in listed.items], offsets=True)
    assert (listed.problems, described.problems) == ((), ())
    topics = [topic for topic in source.client.metadata().topics if topic.startswith(prefix)]
    state: dict[Key, Value | tuple[object, ...]] = {(ItemKind.TOPIC, prefix, topic): "" for topic in topics}
    for group in described.items:
        is_streams = group.type is GroupType.STREAMS  # which is restored as a classic one
        state[ItemKind.GROUP, group.id, ""] = (GroupType.CLASSIC if is_streams else group.type).value
        state |= {(ItemKind.MEMBER, group.id, member.id): "" for member in group.members}
        for place, commit in each_commit(group.offsets):
            key = ItemKind.OFFSET, group.id, partition_name(place)
            state[key] = commit.position, commit.leader_epoch, commit.metadata
    for name, settings in source.group_settings(configured).by_group.items():
        own = own_settings(settings) or {}
        state |= {(ItemKind.SETTING, name, key): value for key, value in own.items()}
    features = read_features(source).by_name
    return state | {(ItemKind.FEATURE, None, name): one.finalized for name, one in features.items()}


def value_of(state: State, item: ChangedItem) -> object:
    """As the item has it, of an offset, a setting or a feature."""
    value = state.get((item.kind, item.group, item.target))
    return value[0] if isinstance(value, tuple) else value


def differing(one: State, other: State) -> set[Key]:
    return {key for key in {*one, *other} if one.get(key) != other.get(key)}


def covers(items: Iterable[ChangedItem], key: Key) -> bool:
    """Whether one of the items is about this; a step is about all of its group."""
    kind, group, target = key
    return any(
        item.group == group and (item.kind is ItemKind.STEP or (item.kind, item.target) == (kind, target))
        for item in items
    )


def restorable(state: State, items: Iterable[ChangedItem]) -> State:
    """What an undo of these items restores: nothing of a group of which steps were made."""
    steps = [item for item in items if item.kind is ItemKind.STEP]
    return {key: value for key, value in state.items() if key[0] not in NEVER and not covers(steps, key)}
