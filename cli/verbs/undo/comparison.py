"""Compare what an entry replaced with what the cluster has now: item by item, whether it is restored. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from cli.journal.entry import ChangedItem, ItemKind, ItemOutcome, ItemResult, Value
from groups.counts import first_names
from groups.model import CommittedOffset, Group, TopicPartition, commit_of, each_commit, partition_name
from groups.offsets.model import Positions

_IRREVERSIBLE: Mapping[ItemKind, str] = {
    ItemKind.MEMBER: "a member joins by itself: restart its client",
    ItemKind.TOPIC: "the records of a deleted topic are lost; a restarted application creates the topic again",
    ItemKind.STEP: "a migration is rolled back step by step: kohort migrate PLAN.yaml --back, or as its plan lists",
}


class Verdict(Enum):
    RESTORE = "restore"
    AS_BEFORE = "as_before"  # The cluster has what it had before the entry
    REFUSED = "refused"
    UNREAD = "unread"  # What the cluster has is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What the cluster has now. Groups and topics that do not exist are missing."""

    groups: Mapping[str, Group] = field(default_factory=dict)  # with their offsets
    settings: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """Each group's own settings; None for one that it has not set, and no key for one that brokers do not know."""
    features: Mapping[str, int] = field(default_factory=dict)
    topics: Mapping[str, UUID | None] = field(default_factory=dict)  # their ids; None: not known
    partitions: Mapping[str, int] = field(default_factory=dict)  # numbers of partitions
    positions: Positions = field(default_factory=Positions)
    unread_groups: Mapping[str, str] = field(default_factory=dict)  # why they could not be read
    unread_topics: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedItem:
    item: ChangedItem
    now: Value
    verdict: Verdict
    remark: str | None = None  # Why it is refused or unread; else what a user must know

    @property
    def subject(self) -> str:
        return ", ".join(name for name in (self.item.group, self.item.target) if name)

    @property
    def place(self) -> TopicPartition:
        """Of an offset."""
        return self.item.topic or "", self.item.partition or 0


def compared_items(
    results: Sequence[tuple[ChangedItem, ItemResult]], present: Present
) -> tuple[ComparedItem, ...]:
    """The items that the entry changed or may have changed, in its order; what failed changed nothing."""
    made = [(item, result) for item, result in results if result.result is not ItemOutcome.FAILED]
    compared = [
        None if item.kind is ItemKind.GROUP else _compared(item, result, present) for item, result in made
    ]
    others = [row for row in compared if row is not None]
    return tuple(row or _group(item, others, present) for row, (item, _) in zip(compared, made, strict=True))


def _compared(item: ChangedItem, result: ItemResult, present: Present) -> ComparedItem:
    if (why := _IRREVERSIBLE.get(item.kind)) is not None:
        return ComparedItem(item=item, now=None, verdict=Verdict.REFUSED, remark=why)
    if (why := present.unread_groups.get(item.group or "")) is not None:
        return ComparedItem(item=item, now=None, verdict=Verdict.UNREAD, remark=why)
    if item.kind is ItemKind.OFFSET:
        return _offset(item, result, present)
    if item.kind is ItemKind.FEATURE:
        known: Mapping[str, Value] = present.features
        what = "feature"
    else:
        known, what = present.settings.get(item.group or "", {}), "group setting"
    name = item.name or ""
    if name not in known:
        missing = f"is not a {what} of this cluster"
        return ComparedItem(item=item, now=None, verdict=Verdict.REFUSED, remark=missing)
    now = known[name]
    if now == item.before:
        return ComparedItem(item=item, now=now, verdict=Verdict.AS_BEFORE)
    return _to_restore(item, result, now)


def _to_restore(item: ChangedItem, result: ItemResult, now: Value) -> ComparedItem:
    """A value that is not as before: what the entry made of it, or somebody since."""
    if now == item.after:
        return ComparedItem(item=item, now=now, verdict=Verdict.RESTORE)
    before, after, current = ("none" if value is None else value for value in (item.before, item.after, now))
    if result.result is ItemOutcome.UNKNOWN:
        remark = f"whether it was changed is not known: was {before}, would be {after}, is {current}"
        return ComparedItem(item=item, now=now, verdict=Verdict.REFUSED, remark=remark)
    return ComparedItem(item=item, now=now, verdict=Verdict.RESTORE, remark=f"changed since: was {after}")


def _offset(item: ChangedItem, result: ItemResult, present: Present) -> ComparedItem:
    group, place = present.groups.get(item.group or ""), (item.topic or "", item.partition or 0)
    committed = None if group is None else commit_of(group.offsets, place)
    now = None if committed is None else committed.position
    if now == item.before and (now is None or _is_same_commit(item, committed)):
        return ComparedItem(item=item, now=now, verdict=Verdict.AS_BEFORE)
    if (why := present.unread_topics.get(place[0])) is not None:
        return ComparedItem(item=item, now=now, verdict=Verdict.UNREAD, remark=why)
    if (why := _log_obstacle(item, place, present)) is not None:
        return ComparedItem(item=item, now=now, verdict=Verdict.REFUSED, remark=why)
    if (why := present.positions.unread.get(place)) is not None and item.before is not None:
        remark = f"whether its log still contains {item.before} is not known: {why}"
        return ComparedItem(item=item, now=now, verdict=Verdict.UNREAD, remark=remark)
    return _to_restore(item, result, now)


def _is_same_commit(item: ChangedItem, committed: CommittedOffset | None) -> bool:
    """Whether a committed offset has the metadata and leader epoch of the item, as far as these are known."""
    if committed is None:
        return False
    pairs = (item.metadata, committed.metadata or ""), (item.leader_epoch, committed.leader_epoch)
    return all(before in (None, now) for before, now in pairs)


def _log_obstacle(item: ChangedItem, place: TopicPartition, present: Present) -> str | None:
    topic, number = place
    if topic not in present.topics:
        return "the topic was deleted since the change"
    now = present.topics[topic]
    if None not in (now, item.topic_id) and now != item.topic_id:
        return "the topic was deleted and created again since the change: its offsets are other records"
    if number >= present.partitions.get(topic, number + 1):
        return "the partition does not exist"
    if not isinstance(item.before, int):
        return None
    earliest, end = present.positions.earliest.get(place), present.positions.end.get(place)
    if earliest is not None and item.before < earliest:
        return f"{item.before} is before the earliest, {earliest}: its records are deleted"
    return f"{item.before} is beyond the end, {end}" if end is not None and item.before > end else None


def _group(item: ChangedItem, others: Sequence[ComparedItem], present: Present) -> ComparedItem:
    """A group that the entry deleted, or that it created (`before` is None)."""
    name = item.group or ""
    if (why := present.unread_groups.get(name)) is not None:
        return ComparedItem(item=item, now=None, verdict=Verdict.UNREAD, remark=why)
    group = present.groups.get(name)
    offsets = [row for row in others if row.item.kind is ItemKind.OFFSET and row.item.group == name]
    verdict, remark = Verdict.RESTORE, None
    if (group is None) is (item.before is None):
        verdict = Verdict.AS_BEFORE
    elif group is None and not any(row.verdict is Verdict.RESTORE for row in offsets):
        verdict, remark = (
            Verdict.REFUSED,
            "none of its offsets can be committed: it exists when a member joins",
        )
    elif group is not None:
        places = {row.place for row in offsets}
        later = [place for place, _ in each_commit(group.offsets) if place not in places]
        if later:
            names = first_names([partition_name(place) for place in later])
            verdict, remark = Verdict.REFUSED, f"it has offsets that the change did not set: {names}"
    now = None if group is None else group.state.value
    return ComparedItem(item=item, now=now, verdict=verdict, remark=remark)
