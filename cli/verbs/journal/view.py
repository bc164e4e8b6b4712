"""The documents of `kohort journal`: the list of entries, and one entry with what it replaced."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

from cli.journal.entry import (
    ChangedItem,
    EntryStatus,
    ItemKind,
    ItemOutcome,
    JournalEntry,
    Value,
    item_data,
    paired,
)
from cli.journal.reader import Journaled
from cli.journal.reversible import is_reversible
from cli.render.cells import Cell
from cli.render.document import Block, Code, Document, Heading, Text, fields, table_of
from cli.render.lines import Role
from cli.verbs.undo.comparison import ComparedItem, ItemVerdict
from groups.counts import first_names
from groups.listing import shown_id
from groups.model import Problem

COMPARE = "unknown: compare"
_WORDS = {ItemKind.OFFSET: "none", ItemKind.SETTING: "unset"}
_NAMED = 2


def entries_document(
    entries: Sequence[Journaled], undone: Mapping[str, str], problems: Sequence[Problem]
) -> Document:
    """A row for each entry, the newest last."""
    data = [_entry_data(one, undone) for one in entries]
    rows = list(zip(data, entries, strict=True))
    table = table_of(
        rows,
        ("ID", lambda row: row[0]["id"]),
        ("AT", lambda row: _shown_time(row[1][0])),
        ("USER", lambda row: _shown_user(row[1][0])),
        ("COMMAND", lambda row: row[0]["verb"]),
        ("TARGET", lambda row: row[0]["target"]),
        ("RESULT", lambda row: result_text(row[1])),
        *[("UNDONE-BY", lambda row: row[0]["undone_by"])] * any(one["undone_by"] for one in data),
    )
    return Document(command="journal", data={"entries": data}, blocks=[table], errors=tuple(problems))


def entry_document(
    one: Journaled,
    undone: Mapping[str, str],
    problems: Sequence[Problem],
    now: Sequence[ComparedItem] | None = None,
) -> Document:
    """One entry: who changed what, and each item before and after; `now`: what the cluster has, if that is compared."""
    entry, end = one
    pairs = paired(entry, end)
    items = [
        {**item_data(item), "result": result.result.value, "message": result.message}
        for item, result in pairs
    ]
    for shown, compared in zip(items, now or (), strict=False):
        shown["now"] = compared.now
    data = {**_entry_data(one, undone), "items": items}
    where = entry.context or entry.servers or "an unknown cluster"
    place = f"{where}, the cluster {entry.cluster}" if entry.cluster else where
    lines: list[Block] = [
        Heading(f"{entry.id}: {entry.verb} of {target_text(entry)}", level=1),
        Text(f"At {entry.at} by {_shown_user(entry)} on {entry.host}, in {place}."),
        Code((shlex.join(entry.command),)),
        Text(
            _result_sentence(one, undone, is_compared=now is not None),
            Role.PLAIN if data["result"] == "done" else Role.WARNING,
        ),
    ]
    table = table_of(
        [(*pair, *([] if now is None else [now[number]])) for number, pair in enumerate(pairs)],
        *[("GROUP", lambda pair: pair[0].group)] * any(item.group is not None for item, _ in pairs),
        ("SUBJECT", lambda pair: pair[0].target or "the group"),
        ("BEFORE", lambda pair: _cell(pair[0], pair[0].before)),
        ("AFTER", lambda pair: _cell(pair[0], pair[0].after)),
        *[("NOW", lambda pair: _present(pair[2]))] * (now is not None),
        *[("AT", lambda pair: pair[0].at)] * any(item.at is not None for item, _ in pairs),
        ("RESULT", lambda pair: pair[1].result.value),
        *[("PROBLEM", lambda pair: pair[1].message or "")] * any(result.message for _, result in pairs),
    )
    return Document(
        command="journal", data={"entries": [data]}, blocks=[*lines, table], errors=tuple(problems)
    )


def result_text(one: Journaled) -> str:
    """`done`, `failed: 2 of 5`, or that what the command did is unknown."""
    entry, end = one
    if end is None:
        return COMPARE
    counts = Counter(result.result for _, result in paired(entry, end))
    undone = counts[ItemOutcome.FAILED] + counts[ItemOutcome.UNKNOWN]
    if end.status is EntryStatus.DONE or not undone:
        return end.status.value
    total = sum(counts.values())
    return end.status.value if undone == total else f"{end.status.value}: {undone} of {total}"


def target_text(entry: JournalEntry) -> str:
    """The group, and its partition or setting if only one is changed; or the groups; or the features."""
    groups = list(dict.fromkeys(item.group for item in entry.items if item.group is not None))
    if not groups:
        return first_names([item.name or "" for item in entry.items], _NAMED)
    if len(entry.items) == 1 and entry.items[0].target:
        return f"{shown_id(groups[0])}, {entry.items[0].target}"
    return first_names(groups, _NAMED)


def _entry_data(one: Journaled, undone: Mapping[str, str]) -> dict[str, object]:
    entry, end = one
    counts = Counter(result.result.value for _, result in paired(entry, end))
    single = entry.items[0] if len(entry.items) == 1 else None
    return {
        **fields(entry, "id", "at"),
        "ended": None if end is None else end.ended,
        **fields(entry, "user", "host", "agent", "cluster", "context", "servers"),
        "command": list(entry.command),
        "verb": entry.verb,
        "target": target_text(entry),
        "groups": list(dict.fromkeys(item.group for item in entry.items if item.group is not None)),
        "before": None if single is None else single.before,
        "after": None if single is None else single.after,
        "result": "unknown" if end is None else end.status.value,
        "changes": {outcome.value: counts[outcome.value] for outcome in ItemOutcome},
        "undoes": entry.undoes,
        "undone_by": undone.get(entry.id),
    }


def _shown_time(entry: JournalEntry) -> str:
    """To the minute; documents have milliseconds."""
    return f"{entry.at[:16]}Z" if entry.at.endswith("Z") else entry.at


def _shown_user(entry: JournalEntry) -> str:
    return f"{entry.user} ({entry.agent})" if entry.agent else entry.user


def _cell(item: ChangedItem, value: Value) -> Cell:
    """A value, or the word for the lack of one; None if there is no such word."""
    return _WORDS.get(item.kind) if value is None else value


def _present(compared: ComparedItem) -> Cell:
    return None if compared.verdict is ItemVerdict.UNREAD else _cell(compared.item, compared.now)


def _result_sentence(one: Journaled, undone: Mapping[str, str], *, is_compared: bool) -> str:
    entry, end = one
    if end is None:
        what = "Whether it was made is unknown: the command was killed, or is running."
        return f"{what} {'NOW is what the cluster has.' if is_compared else 'A source (-b) adds what the cluster has.'}"
    parts = [f"Result: {result_text(one)}."]
    if entry.undoes is not None:
        parts.append(f"It undoes {entry.undoes}.")
    if entry.id in undone:
        parts.append(f"It was undone by {undone[entry.id]}.")
    elif is_reversible(paired(entry, end)):
        parts.append(f"`kohort undo {entry.id}` restores what it replaced.")
    return " ".join(parts)
