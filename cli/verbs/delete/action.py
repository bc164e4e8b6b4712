"""Deleting groups: from what a source contains to what would be deleted, and to the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cli.changing import GROUPS_NAMED, Outcome, WrittenChange, group_fields
from cli.output import notice
from cli.render.document import Document, Table, columns
from cli.sources.source import Read
from cli.sources.writer import ClusterWriter
from groups.model import Group, GroupType
from groups.offsets.model import PlannedChange
from groups.offsets.plan import plan_group_deletion


@dataclass(slots=True, kw_only=True)
class GroupDeletions(WrittenChange[PlannedChange]):
    """Groups that are to be deleted."""

    did, what = "deleted", "group"

    @property
    def question(self) -> str:
        going = self.going
        what = f"the group {going[0].group}" if len(going) == 1 else f"{len(going)} groups"
        return f"delete {what} with all committed offsets; there is no way back"

    @property
    def done(self) -> str | None:
        gone = [group for (group, _), failed in (self.outcome or {}).items() if failed is None]
        if len(gone) > GROUPS_NAMED:
            return f"deleted {len(gone)} groups"
        return f"deleted {', '.join(gone)}" if gone else None

    def send_through(self, writer: ClusterWriter) -> Outcome:
        outcome = writer.delete_groups([plan.group for plan in self.going])
        return {(group, None): failed for group, failed in outcome.items()}

    def document(self) -> Document:
        groups = [plan.described for plan in self.plans]
        rows = [
            (each.id, each.type.value.capitalize(), each.state.value, len(each.members), _offsets(each))
            for each in groups
        ]
        table = Table(columns=columns("GROUP", "TYPE", "STATE", "##MEMBERS", "##OFFSETS"), rows=rows)
        data = {"executed": self.outcome is not None, "groups": [self._data(plan) for plan in self.plans]}
        return Document(command="delete", data=data, blocks=[table], errors=tuple(self.errors))

    def _data(self, plan: PlannedChange) -> dict[str, Any]:
        return {
            **group_fields(plan.described),
            "offsets": _offsets(plan.described),
            "applicable": plan.applicable,
            "deleted": self.applied(plan.group),
        }


def _offsets(group: Group) -> int | None:
    """How many partitions it has committed offsets of; None when not known."""
    return None if group.offsets is None else sum(map(len, group.offsets.values()))


def plan_group_deletions(read: Read[Group], *, writer: ClusterWriter | None) -> GroupDeletions:
    """What deleting groups would take, described with their offsets."""
    plans = tuple(map(plan_group_deletion, read.items))
    for plan in plans:
        if plan.described.type is GroupType.STREAMS and plan.applicable:
            notice(f"{plan.group}: its internal topics stay; kafka-streams-groups.sh --delete takes them too")
    return GroupDeletions(plans=plans, problems=read.problems, writer=writer)
