"""Deleting committed offsets and groups: from what a source tells to what would go, and to the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.changing import GROUPS_NAMED
from cli.output import notice
from cli.render.document import Document, Table, columns
from cli.sources.source import Read, Source
from cli.sources.writer import ClusterWriter, Failed
from cli.verbs.offsets.group_offsets_change import GroupOffsetsChange
from cli.verbs.offsets.plans import find_groups
from cli.verbs.offsets.view import Outcome, applied, merged
from groups.model import Group, GroupType, Problem
from groups.offsets.model import TopicScope
from groups.offsets.plan import GroupDeletion, OffsetsDeletion, plan_group_deletion, plan_offsets_deletion


@dataclass(slots=True, kw_only=True)
class OffsetsDeletions(GroupOffsetsChange[OffsetsDeletion]):
    """Committed offsets of groups that are to go."""

    verb, did, what = "delete", "deleted", "committed offset"

    def send(self, writer: ClusterWriter) -> Outcome:
        return writer.delete_offsets(
            {plan.group: [place for place, _ in plan.offsets] for plan in self.going}
        )

    def document(self) -> Document:
        errors = [*self.problems]
        for plan in self.plans:
            errors += [*plan.refusals, *plan.problems]
        for group, places in (self.outcome or {}).items():
            errors += [
                Problem(subject=f"{group}, {topic}-{number}", message=failed.message)
                for (topic, number), failed in places.items()
                if failed is not None
            ]
        rows = [
            (plan.group, topic, number, offset)
            for plan in self.plans
            for (topic, number), offset in plan.offsets
        ]
        table = Table(columns=columns("GROUP", "TOPIC", "#PARTITION", "#CURRENT-OFFSET"), rows=rows)
        data = {"executed": self.outcome is not None, "groups": [self._data(plan) for plan in self.plans]}
        return Document(command="offsets delete", data=data, blocks=[table], errors=merged(errors))

    def _data(self, plan: OffsetsDeletion) -> dict[str, Any]:
        told = None if self.outcome is None else self.outcome.get(plan.group)
        return {
            "group": plan.group,
            "type": plan.type.value,
            "state": plan.state.value,
            "members": [member.id for member in plan.members],
            "applicable": plan.applicable,
            "offsets": [
                {
                    "topic": topic,
                    "partition": number,
                    "committed": offset,
                    "deleted": None if told is None else applied(told.get((topic, number))),
                }
                for (topic, number), offset in plan.offsets
            ],
        }


def plan_offsets_deletions(
    source: Source,
    names: Sequence[str],
    scopes: Sequence[TopicScope],
    *,
    named: bool,
    problems: tuple[Problem, ...],
    writer: ClusterWriter | None,
) -> OffsetsDeletions:
    """What deleting offsets of topics would take; a group that has none of them is left out unless named."""
    found = find_groups(source, names, named=named)
    missing = [Problem(subject=name, message="no such group") for name in sorted(found.absent)]
    plans = [
        plan_offsets_deletion(group, scopes, found.problems.get(group.id, ()))
        for group in found.groups
        if found.exists(group)
    ]
    if not named:
        plans = [plan for plan in plans if plan.offsets]
    return OffsetsDeletions(plans=tuple(plans), problems=(*problems, *missing, *found.others), writer=writer)


@dataclass(slots=True, kw_only=True)
class GroupDeletions:
    """Groups that are to go (`cli.changing.Change`)."""

    plans: tuple[GroupDeletion, ...]
    problems: tuple[Problem, ...]
    writer: ClusterWriter | None
    outcome: Mapping[str, Failed | None] | None = None

    @property
    def is_empty(self) -> bool:
        return not any(plan.applicable for plan in self.plans)

    @property
    def question(self) -> str:
        going = [plan.group for plan in self.plans if plan.applicable]
        what = f"the group {going[0]}" if len(going) == 1 else f"{len(going)} groups"
        return f"delete {what} with all committed offsets; there is no way back"

    @property
    def refused(self) -> bool:
        said = (self.outcome or {}).values()
        return any(plan.refusals for plan in self.plans) or any(each and each.refused for each in said)

    @property
    def done(self) -> str | None:
        gone = [group for group, failed in (self.outcome or {}).items() if failed is None]
        if len(gone) > GROUPS_NAMED:
            return f"deleted {len(gone)} groups"
        return f"deleted {', '.join(gone)}" if gone else None

    def apply(self) -> None:
        if self.writer is None:
            raise ValueError("a change without a writer is only shown")
        self.outcome = self.writer.delete_groups([plan.group for plan in self.plans if plan.applicable])

    def document(self) -> Document:
        errors = [*self.problems]
        for plan in self.plans:
            errors += plan.refusals
        errors += [
            Problem(subject=group, message=failed.message)
            for group, failed in (self.outcome or {}).items()
            if failed is not None
        ]
        rows = [
            (plan.group, plan.type.value.capitalize(), plan.state.value, len(plan.members), plan.offsets)
            for plan in self.plans
        ]
        table = Table(columns=columns("GROUP", "TYPE", "STATE", "##MEMBERS", "##OFFSETS"), rows=rows)
        data = {"executed": self.outcome is not None, "groups": [self._data(plan) for plan in self.plans]}
        return Document(command="delete", data=data, blocks=[table], errors=tuple(errors))

    def _data(self, plan: GroupDeletion) -> dict[str, Any]:
        sent = self.outcome is not None and plan.group in self.outcome
        return {
            "group": plan.group,
            "type": plan.type.value,
            "state": plan.state.value,
            "members": [member.id for member in plan.members],
            "offsets": plan.offsets,
            "applicable": plan.applicable,
            "deleted": applied((self.outcome or {})[plan.group]) if sent else None,
        }


def plan_group_deletions(read: Read[Group], *, writer: ClusterWriter | None) -> GroupDeletions:
    """What deleting groups would take, described with their offsets."""
    plans = tuple(map(plan_group_deletion, read.items))
    for plan in plans:
        if plan.type is GroupType.STREAMS and plan.applicable:
            notice(f"{plan.group}: its internal topics stay; kafka-streams-groups.sh --delete takes them too")
    return GroupDeletions(plans=plans, problems=read.problems, writer=writer)
