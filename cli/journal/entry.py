"""An entry of the journal, a change of a cluster: written as two lines of JSON, the beginning before anything is
changed, the end after it. Pure; the file format is explained in docs/journal.md."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, TypeAlias
from uuid import UUID

from cli.render.document import FORMAT_VERSION
from groups.listing import GroupType
from groups.model import CommittedOffset, Group, TopicPartition
from groups.offsets.model import PlannedChange
from groups.times import read_moment
from groups.trees import INT32, INT64, Between, Malformed, Trees, named

Value: TypeAlias = int | str | None
"""An offset, a level of a feature, or the text of anything else; None: there was, or is, none."""


class ItemKind(Enum):
    OFFSET = "offset"  # before and after: committed offsets
    SETTING = (
        "setting"  # before and after: what is set for the group itself; None: the brokers' value applies
    )
    GROUP = "group"  # a deleted group; before: its state
    MEMBER = "member"  # a removed member; before: its client and host
    FEATURE = "feature"  # before and after: levels; 0: off
    TOPIC = "topic"  # a deleted internal topic; before: its kind
    STEP = "step"  # a part of a run of migrate or bridge; before and after: what it changed, as text


class ItemOutcome(Enum):
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"  # It may have been made: no answer decides it


class EntryStatus(Enum):
    DONE = "done"
    FAILED = "failed"  # whole or in part
    STOPPED = "stopped"  # by a signal


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedItem:
    """What a change replaces in one place, with what is needed to restore it. None: unknown, or not of this kind."""

    kind: ItemKind
    group: str | None = None
    type: GroupType | None = None  # of the group
    topic: str | None = None
    topic_id: UUID | None = None
    partition: Annotated[int, Between(0, INT32)] | None = None
    name: str | None = None  # of the setting, member, feature or step
    before: Value = None
    after: Value = None
    leader_epoch: Annotated[int, Between(-1, INT32)] | None = None  # committed with `before`
    metadata: str | None = None  # committed with `before`
    at: str | None = None  # when a step was made

    @property
    def target(self) -> str:
        """The item as a user names it in its group: `orders-0`, a setting, a member; empty for the group itself."""
        if self.topic is None:
            return self.name or ""
        return self.topic if self.partition is None else f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    result: ItemOutcome
    message: str | None = None  # Why it failed or is unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """The beginning of an entry; times are ISO 8601 in UTC."""

    id: str = field(metadata=named("entry"))  # 8 hexadecimal digits
    at: str
    user: str
    host: str
    pid: Annotated[int, Between(0, INT64)]
    cluster: str | None
    context: str | None
    servers: str | None  # bootstrap servers as named, HOST:PORT,…
    agent: str | None  # the program that an agent runs Kohort with
    command: tuple[str, ...]  # the words of the command line, without secrets
    verb: str  # `offsets reset`
    items: tuple[ChangedItem, ...]
    undoes: str | None = None  # the entry that this one restores

    @property
    def at_ms(self) -> int:
        return read_moment(self.at, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryEnd:
    """The end of an entry; `results` are in the order of the entry's items, then of those that only the end has."""

    id: str = field(metadata=named("entry"))
    ended: str
    status: EntryStatus
    results: tuple[ItemResult, ...]
    items: tuple[
        ChangedItem, ...
    ] = ()  # What became known only while the change was made: steps of a migration


_ID = re.compile("[0-9A-F]{8}")


def _check(part: JournalEntry | EntryEnd) -> None:
    if not _ID.fullmatch(part.id):
        raise Malformed("expected 8 hexadecimal digits, as 4F2A91C3", "entry")
    name, text = ("at", part.at) if isinstance(part, JournalEntry) else ("ended", part.ended)
    try:
        if text[4:5] != "-":
            raise ValueError(f"{text!r} is not a time such as 2026-11-29T03:00:00Z")
        read_moment(text, 0)
    except ValueError as error:
        raise Malformed(str(error), name) from None


_WITH_NULLS = Trees()
_TREES = Trees(sparse=True, checks={JournalEntry: _check, EntryEnd: _check})


def line_of(part: JournalEntry | EntryEnd) -> bytes:
    """One line of a journal file."""
    tree = {"kohort": FORMAT_VERSION, **_TREES.write(type(part), part)}
    return json.dumps(tree, ensure_ascii=False).encode(errors="replace") + b"\n"


def read_line(line: bytes) -> JournalEntry | EntryEnd:
    """One line of a journal file. Raises Malformed: edited by hand, cut off, or written by a newer Kohort."""
    try:
        tree = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise Malformed("this line is not JSON: it was cut off or edited") from None
    if not isinstance(tree, dict):
        raise Malformed("this line is not an entry: expected a mapping")
    version = tree.pop("kohort", None)
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise Malformed(f"written by a newer Kohort (format {version}): update Kohort")
    if version != FORMAT_VERSION:
        raise Malformed(f"expected {FORMAT_VERSION}", "kohort")
    part: JournalEntry | EntryEnd = _TREES.read(EntryEnd if "ended" in tree else JournalEntry, tree, [])
    return part


def item_data(item: ChangedItem) -> Mapping[str, object]:
    """The item as in the file, with its unknown fields as null: a part of a document."""
    written: Mapping[str, object] = _WITH_NULLS.write(ChangedItem, item)
    return written


def paired(entry: JournalEntry, end: EntryEnd | None) -> Sequence[tuple[ChangedItem, ItemResult]]:
    """Every item with its result: unknown without an end, or if the end does not have it."""
    items = (*entry.items, *(end.items if end else ()))
    results = end.results if end else ()
    missing = (ItemResult(result=ItemOutcome.UNKNOWN),) * (len(items) - len(results))
    return list(zip(items, (*results, *missing), strict=False))


# What a change replaces, from the facts of its plan


def offset_item(
    group: Group,
    partition: TopicPartition,
    committed: CommittedOffset | None,
    after: int | None,
    topic_id: UUID | None,
) -> ChangedItem:
    topic, number = partition
    return ChangedItem(
        kind=ItemKind.OFFSET,
        group=group.id,
        type=group.type,
        topic=topic,
        topic_id=topic_id,
        partition=number,
        before=None if committed is None else committed.position,
        after=after,
        leader_epoch=None if committed is None else committed.leader_epoch,
        metadata=None if committed is None else committed.metadata,
    )


def topic_items(plan: PlannedChange) -> Iterator[tuple[str, ChangedItem]]:
    """The internal topics that are deleted with the change of a group, by name."""
    for topic, kind in plan.internal_topics.items():
        topic_id = plan.topic_ids.get(topic)
        yield (
            topic,
            ChangedItem(kind=ItemKind.TOPIC, group=plan.group, topic=topic, topic_id=topic_id, before=kind),
        )
