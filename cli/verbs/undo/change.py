"""The change that restores what an entry replaced, made of the changes of other commands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from cli.journal.entry import ItemKind, JournalEntry, Value
from cli.journal.reversible import NEVER
from cli.render.cells import Cell
from cli.render.document import Document, fields, table_of
from cli.verbs.combined import CombinedChange, Part
from cli.verbs.features.setting import CLUSTER
from cli.verbs.undo.comparison import ComparedItem, ItemVerdict
from groups.model import Problem, TopicPartition

_ANSWERS: Mapping[bool | None, str | None] = {True: "yes", False: "no", None: None}


@dataclass(slots=True, kw_only=True)
class Restoration(CombinedChange):
    """Restores an entry's items. All of them or none, unless `partly`; the items that cannot be are in `rows` too."""

    why_held: ClassVar[str] = "not restored, because the rest cannot be; --partly restores what is possible"
    entry: JournalEntry
    rows: Sequence[ComparedItem]
    partly: bool

    @property
    def refused(self) -> bool:
        return any(part.refused for part in self.parts) or any(
            row.verdict is ItemVerdict.REFUSED for row in self.rows
        )

    @property
    def obstacles(self) -> Sequence[Problem]:
        return [
            Problem(subject=row.subject or self.entry.verb, message=row.remark or "", group=row.item.group)
            for row in self.rows
            if row.verdict in (ItemVerdict.REFUSED, ItemVerdict.UNREAD)
        ]

    def held_groups(self, failing: frozenset[str]) -> frozenset[str]:
        if self.partly or not (failing or self.obstacles):
            return failing
        return frozenset(plan.group for part in self.parts for plan in part.plans)

    def document(self) -> Document:
        table = table_of(
            self.rows,
            *[("GROUP", lambda row: row.item.group)] * any(row.item.group for row in self.rows),
            ("SUBJECT", lambda row: row.item.target or "the group"),
            ("NOW", lambda row: _cell(row, row.now)),
            ("RESTORED", lambda row: _cell(row, row.item.before)),
            *[("REMARK", lambda row: row.remark or "")] * any(row.remark for row in self.rows),
            *[("APPLIED", lambda row: _ANSWERS[self._applied(row)])] * self.executed,
        )
        entry = fields(self.entry, "id", "at", "user", "host", "cluster", "verb")
        data = {
            "entry": {**entry, "command": list(self.entry.command)},
            "executed": self.executed,
            "changes": list(map(self._data, self.rows)),
        }
        warnings = () if self.features is None else self.features.document().blocks[1:]  # groups turned off
        return Document(command="undo", data=data, blocks=[table, *warnings], errors=self.errors)

    def _data(self, row: ComparedItem) -> dict[str, object]:
        return {
            "kind": row.item.kind.value,
            **fields(row.item, "group", "target", "topic", "partition", "name"),
            "after": row.item.after,
            "now": row.now,
            "restored": row.item.before,
            "verdict": row.verdict.value,
            "remark": row.remark,
            "applied": self._applied(row),
        }

    def _applied(self, row: ComparedItem) -> bool | None:
        """Whether an item was restored; None: nothing was sent, no answer came, or nothing must be restored."""
        item, group = row.item, row.item.group or ""
        if not self.executed or row.verdict is ItemVerdict.AS_BEFORE:
            return None
        if row.verdict is not ItemVerdict.RESTORE:
            return False
        if item.kind is ItemKind.FEATURE:
            return _outcome(self.features, CLUSTER, None)
        if item.kind is ItemKind.SETTING:
            return _outcome(self.settings, group, None)
        if any(plan.group == group for plan in self.deletions.plans):
            return _outcome(self.deletions, group, None)
        if item.kind is ItemKind.GROUP:  # its offsets create it
            outcome = self.offsets.outcome or {}
            return any(failed is None for (name, _), failed in outcome.items() if name == group)
        return _outcome(self.cleared if item.before is None else self.offsets, group, row.place)


def _outcome(part: Part | None, group: str, place: TopicPartition | None) -> bool | None:
    """Whether a part of the change was made; False if it was skipped."""
    if part is None or (group, place) not in (part.outcome or {}):
        return False
    return part.applied(group, place)


def _cell(row: ComparedItem, value: Value) -> Cell:
    if value is not None:
        return value
    if row.verdict is ItemVerdict.UNREAD or row.item.kind in NEVER:
        return None
    return "unset" if row.item.kind is ItemKind.SETTING else "none"
