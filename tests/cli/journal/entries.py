"""Entries as the tests of the journal need them."""

import json
import os
from pathlib import Path
from typing import Any
from uuid import UUID

from cli.journal.entry import (
    ChangedItem,
    EntryEnd,
    EntryStatus,
    ItemKind,
    ItemOutcome,
    ItemResult,
    JournalEntry,
    line_of,
)
from cli.journal.reader import Journaled, read_journal
from groups.listing import GroupType

DAY = "ops-2026-11-29.jsonl"


def entry_of(number: int = 0x4F2A91C3, *items: ChangedItem, **fields: Any) -> JournalEntry:
    facts: dict[str, Any] = {
        "at": "2026-11-29T03:00:00.000Z", "user": "carol", "host": "ops", "pid": 7, "cluster": "c1", "context": "prod",
        "servers": "kafka:9092", "agent": None, "command": ("kohort", "offsets", "reset", "payments"),
        "verb": "offsets reset",
    }  # fmt: skip
    return JournalEntry(id=f"{number:08X}", items=items or (offset_of(),), **{**facts, **fields})


def offset_of(
    partition: int = 0, before: int | None = 4, after: int | None = 9, **fields: Any
) -> ChangedItem:
    place: dict[str, Any] = {
        "group": "payments",
        "topic": "orders",
        "partition": partition,
        "topic_id": UUID(int=1),
        **fields,
    }
    return ChangedItem(
        kind=ItemKind.OFFSET, type=GroupType.CLASSIC, before=before, after=after,
        leader_epoch=2, metadata="m", **place,
    )  # fmt: skip


def end_of(entry: JournalEntry, *outcomes: ItemOutcome, status: EntryStatus = EntryStatus.DONE) -> EntryEnd:
    results = tuple(
        ItemResult(result=outcome) for outcome in outcomes or [ItemOutcome.DONE] * len(entry.items)
    )
    return EntryEnd(id=entry.id, ended="2026-11-29T03:00:01.000Z", status=status, results=results)


def write_journal(directory: Path, *parts: JournalEntry | EntryEnd | bytes, name: str = DAY) -> Path:
    file = directory / name
    with file.open("ab") as stream:
        stream.writelines(part if isinstance(part, bytes) else line_of(part) for part in parts)
    return file


def entries_about(group: str, home: Path | None = None) -> list[Journaled]:
    """The entries of a group in the journal of this process, or in that of a user."""
    state = Path(os.environ["XDG_STATE_HOME"]) if home is None else home / ".local" / "state"
    return [
        one for one in read_journal(state / "kohort")[0] if any(item.group == group for item in one[0].items)
    ]


def edited(part: JournalEntry | EntryEnd, **fields: object) -> bytes:
    """The line with other values; None removes a field."""
    tree = {**json.loads(line_of(part)), **fields}
    return json.dumps({name: value for name, value in tree.items() if value is not None}).encode() + b"\n"
