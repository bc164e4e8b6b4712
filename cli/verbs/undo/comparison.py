"""Compare what an entry replaced with what the cluster has now: item by item, whether it is restored. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from uuid import UUID

from cli.journal.entry import ChangedItem, ItemKind, ItemOutcome, ItemResult, Value
from groups.counts import first_names
from groups.model import CommittedOffset, Group, TopicPartition, commit_of, each_commit, partition_name
from groups.offsets.model import Positions
from groups.trees import INT64

INT16 = 2**15 - 1
_IRREVERSIBLE: Mapping[ItemKind, str] = {
    ItemKind.MEMBER: "a member joins by itself: restart its client",
    ItemKind.TOPIC: "the records of a deleted topic are lost; a restarted application creates the topic again",
    ItemKind.STEP: "a migration is rolled back step by step: kohort migrate PLAN.yaml --back, or without a "
    "plan kohort plan GROUP --to classic",
}
_NAMES = {ItemKind.SETTING: "group setting", ItemKind.FEATURE: "feature"}
_REQUIRED: Mapping[ItemKind, Sequence[str]] = {
    ItemKind.OFFSET: ("group", "topic", "partition"),
    ItemKind.SETTING: ("group", "name"),
    ItemKind.GROUP: ("group",),
    ItemKind.FEATURE: ("name", "before"),
}
_HIGHEST: Mapping[ItemKind, int] = {ItemKind.OFFSET: INT64, ItemKind.FEATURE: INT16}


class ItemVerdict(Enum):
    RESTORE = "restore"
    AS_BEFORE = "as_before"  # The cluster has what it had before the entry
    REFUSED = "refused"
    UNREAD = "unread"  # What the cluster has is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentState:
    """What the cluster has now. Groups and topics that do not exist are missing."""

    groups: Mapping[str, Group] = field(default_factory=dict)  # with their offsets
    settings: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """Each group's own settings; None for one that it has not set, and no key for one that brokers do not know."""
    features: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)  # of each topic that exists
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)  # as far as they are known
    positions: Positions = field(default_factory=Positions)
    unread_groups: Mapping[str, str] = field(default_factory=dict)  # why they could not be read
    unread_topics: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedItem:
    item: ChangedItem
    now: Value
    verdict: ItemVerdict
    remark: str | None = None  # Why it is refused or unread; else what a user must know

    @property
    def subject(self) -> str:
        return ", ".join(name for name in (self.item.group, self.item.target) if name)

    @property
    def place(self) -> TopicPartition:
        return place_of(self.item)


def place_of(item: ChangedItem) -> TopicPartition:
    """The partition of an offset."""
    return item.topic or "", item.partition or 0


def compared_items(
    results: Sequence[tuple[ChangedItem, ItemResult]], present: PresentState
) -> tuple[ComparedItem, ...]:
    """The items that the entry changed or may have changed, in its order; what failed changed nothing."""
    made = [(item, result) for item, result in results if result.result is not ItemOutcome.FAILED]
    rows = [_compared(item, result, present) for item, result in made]
    offsets: dict[str | None, list[ComparedItem]] = {}
    for row in rows:
        if row.item.kind is ItemKind.OFFSET:
            offsets.setdefault(row.item.group, []).append(row)
    return tuple(
        _with_offsets(row, offsets.get(row.item.group, ()), present)
        if row.item.kind is ItemKind.GROUP and row.verdict is ItemVerdict.RESTORE
        else row
        for row in rows
    )


def fault(item: ChangedItem) -> str | None:
    """Why an item does not say what to restore: its entry was edited; None if it does."""
    for name in _REQUIRED.get(item.kind, ()):
        value = getattr(item, name)
        if value in (None, "") or "\0" in str(value):  # no client can send a NUL
            return f"the entry does not contain its {name}"
    highest, before = _HIGHEST.get(item.kind), item.before
    if highest is None or before is None or (isinstance(before, int) and 0 <= before <= highest):
        return None
    return f"the entry contains {before!r}, which is not a number from 0 to {highest}"


def _compared(item: ChangedItem, result: ItemResult, present: PresentState) -> ComparedItem:
    now, is_as_before = _now(item, present)
    unread = present.unread_groups.get(item.group or "")
    if (why := _IRREVERSIBLE.get(item.kind) or fault(item)) is not None:
        verdict, remark = ItemVerdict.REFUSED, why
    elif unread is not None:
        verdict, remark = ItemVerdict.UNREAD, unread
    elif is_as_before:
        verdict, remark = ItemVerdict.AS_BEFORE, None
    else:
        judge = _obstacle_of_offset if item.kind is ItemKind.OFFSET else _obstacle
        verdict, remark = judge(item, present) or _restored(item, result, now)
    return ComparedItem(item=item, now=now, verdict=verdict, remark=remark)


def _now(item: ChangedItem, present: PresentState) -> tuple[Value, bool]:
    """What the cluster has, and whether that is what it had before."""
    now: Value = None
    group = present.groups.get(item.group or "")
    if item.kind is ItemKind.OFFSET:
        committed = None if group is None else commit_of(group.offsets, place_of(item))
        now = None if committed is None else committed.position
        return now, now == item.before and (now is None or _is_same_commit(item, committed))
    if item.kind is ItemKind.GROUP:
        return None if group is None else group.state.value, (group is None) is (item.before is None)
    if item.kind in (ItemKind.SETTING, ItemKind.FEATURE):
        known = _known(item, present)
        now = known.get(item.name or "")
        return now, item.name in known and now == item.before
    return now, False


def _is_same_commit(item: ChangedItem, committed: CommittedOffset | None) -> bool:
    """Whether a committed offset has the metadata and leader epoch of the item, as far as these are known."""
    if committed is None:
        return False
    pairs = (item.metadata, committed.metadata or ""), (item.leader_epoch, committed.leader_epoch)
    return all(before in (None, now) for before, now in pairs)


def _known(item: ChangedItem, present: PresentState) -> Mapping[str, Value]:
    """The features, or the settings of the group."""
    return present.features if item.kind is ItemKind.FEATURE else present.settings.get(item.group or "", {})


def _restored(item: ChangedItem, result: ItemResult, now: Value) -> tuple[ItemVerdict, str | None]:
    """Of a value that is not as before: the entry has set it, or somebody since."""
    if now == item.after or item.kind is ItemKind.GROUP:
        return ItemVerdict.RESTORE, None
    before, after, current = ("none" if value is None else value for value in (item.before, item.after, now))
    if result.result is ItemOutcome.UNKNOWN:
        remark = f"whether it was changed is not known: was {before}, would be {after}, is {current}"
        return ItemVerdict.REFUSED, remark
    return ItemVerdict.RESTORE, f"changed since: was {after}"


def _obstacle(item: ChangedItem, present: PresentState) -> tuple[ItemVerdict, str] | None:
    if item.kind is ItemKind.GROUP or item.name in _known(item, present):
        return None
    return ItemVerdict.REFUSED, f"is not a {_NAMES[item.kind]} of this cluster"


def _obstacle_of_offset(item: ChangedItem, present: PresentState) -> tuple[ItemVerdict, str] | None:
    topic, number = place = place_of(item)
    if (why := present.unread_topics.get(topic)) is not None:
        return ItemVerdict.UNREAD, why
    if topic not in present.partitions:
        return ItemVerdict.REFUSED, "the topic was deleted since the change"
    before, positions = item.before, present.positions
    if item.topic_id is not None and present.topic_ids.get(topic, item.topic_id) != item.topic_id:
        why = "the topic was deleted and created again since the change: its offsets are other records"
        return ItemVerdict.REFUSED, why
    if number >= present.partitions[topic]:
        return ItemVerdict.REFUSED, "the partition does not exist"
    if not isinstance(before, int):
        return None
    if (why := positions.unread.get(place)) is not None:
        return ItemVerdict.UNREAD, f"whether its log still contains {before} is not known: {why}"
    if before < (earliest := positions.earliest.get(place, 0)):
        return ItemVerdict.REFUSED, f"{before} is before the earliest, {earliest}: its records are deleted"
    if before > (end := positions.end.get(place, before)):
        return ItemVerdict.REFUSED, f"{before} is beyond the end, {end}"
    return None


def _with_offsets(row: ComparedItem, offsets: Sequence[ComparedItem], present: PresentState) -> ComparedItem:
    """A group that the entry deleted exists with its offsets; one that it created is deleted if it has no others."""
    group = present.groups.get(row.item.group or "")
    places = {offset.place for offset in offsets}
    later = [] if group is None else [place for place, _ in each_commit(group.offsets) if place not in places]
    if later:
        names = first_names([partition_name(place) for place in later])
        return replace(
            row, verdict=ItemVerdict.REFUSED, remark=f"it has offsets that the change did not set: {names}"
        )
    if group is None and not any(offset.verdict is ItemVerdict.RESTORE for offset in offsets):
        why = "none of its offsets can be committed: it exists when a member joins"
        return replace(row, verdict=ItemVerdict.REFUSED, remark=why)
    return row
