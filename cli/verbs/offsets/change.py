"""Set or delete committed offsets, and the documents of these changes: before → after, a row per partition."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar, TypeVar

from cli.changing import Outcome, Part, group_fields
from cli.committed_change import CommittedChange
from cli.journal.entry import ChangedItem, ItemKind, topic_items
from cli.render.document import Document, Table, columns, fields
from cli.sources.writer import ClusterWriter, Failed
from cli.verbs.internal_topics import delete_topics_of, topic_tables, topics_data, topics_in_question
from groups.counts import counted, first_names
from groups.model import Cause, GroupState, GroupType, Problem, TopicPartition
from groups.offsets.model import GroupChange, OffsetChange, PlannedChange
from groups.offsets.plan import OffsetsDeletion

_NAMED = 5


P = TypeVar("P", bound=PlannedChange)


@dataclass(slots=True, kw_only=True)
class _OfOffsets(CommittedChange[P]):
    """The common part of setting and deleting offsets."""

    what = "offset"
    verb: ClassVar[str]
    asked: ClassVar[str] = "offset"  # The noun for one offset in the confirmation

    def objections(self, plan: P) -> Sequence[Problem]:
        return (*plan.refusals, *plan.problems)

    def parts(self, plan: P) -> Iterable[Part]:
        return (*self.committed_before(plan), *plan.internal_topics)

    @property
    def question(self) -> str:
        plans = self.plans_to_apply
        of = plans[0].group if len(plans) == 1 else f"{len(plans)} groups"
        topics = topics_in_question(plans)
        return f"{self.verb} {counted(sum(plan.count for plan in plans), self.asked)} of {of}" + (
            f" and delete {topics}, which cannot be undone" if topics else ""
        )


def _by_kind(plans: Iterable[P]) -> tuple[list[P], list[P]]:
    """The plans of share groups, whose offsets have their own requests, and the plans of all other groups."""
    share, others = list[P](), list[P]()
    for plan in plans:
        (share if plan.described.type is GroupType.SHARE else others).append(plan)
    return share, others


def _flat(outcome: Mapping[str, Mapping[TopicPartition, Failed | None]]) -> Outcome:
    return {(group, place): failed for group, places in outcome.items() for place, failed in places.items()}


@dataclass(slots=True, kw_only=True)
class OffsetsChange(_OfOffsets[GroupChange]):
    """New offsets of groups."""

    verb, did = "set", "set"

    command: str
    facts: Mapping[str, object]  # Additional fields of the command

    def committed_before(self, plan: GroupChange) -> Mapping[TopicPartition, int | None]:
        return {change.place: change.before for change in plan.changes}

    def items_of(self, plan: GroupChange) -> Iterator[tuple[Part, ChangedItem]]:
        sent = [change.place for change in plan.changes if (plan.group, change.place) not in self.blocked]
        if sent and not plan.exists:  # its first offset creates the group
            group, state = plan.described, GroupState.EMPTY.value
            yield sent[0], ChangedItem(kind=ItemKind.GROUP, group=group.id, type=group.type, after=state)
        for change in plan.changes:
            yield change.place, self.offset_item(plan, change.place, change.after)
        yield from topic_items(plan)

    def send_through(self, writer: ClusterWriter) -> Iterator[Outcome]:
        share, others = _by_kind(self.plans_to_apply)
        yield _flat(writer.commit(self._changes(others), self.topic_ids))
        yield _flat(writer.alter_share_offsets(self._changes(share)))
        yield from delete_topics_of(self, writer)

    def _changes(self, plans: Iterable[GroupChange]) -> Mapping[str, Sequence[OffsetChange]]:
        sent: dict[str, list[OffsetChange]] = {}
        for plan in plans:
            for change in plan.changes:
                if (plan.group, change.place) not in self.blocked:
                    sent.setdefault(plan.group, []).append(change)
        return sent

    def document(self) -> Document:
        groups = [self._group_data(plan) for plan in self.plans]
        data = {**self.facts, "executed": self.outcome is not None, "groups": groups}
        blocks = [self.table(), *topic_tables(self.plans)]
        return Document(command=self.command, data=data, blocks=blocks, errors=merged(self.errors))

    def _group_data(self, plan: GroupChange) -> dict[str, object]:
        return {
            **group_fields(plan.described, exists=plan.exists),
            "applicable": plan.applicable,
            "offsets": [self.change_data(plan.group, change) for change in plan.changes],
            **topics_data(self, plan),
        }

    def change_data(self, group: str, change: OffsetChange) -> dict[str, object]:
        return {
            **fields(change, "topic", "partition", "before", "after", "earliest", "end"),
            **fields(change, "lag_before", "lag_after", "remark"),
            "applied": self.applied(group, change.place),
        }

    def table(self) -> Table:
        changes = [(plan.group, change) for plan in self.plans for change in plan.changes]
        remarks = any(change.remark for _, change in changes)
        names = ["GROUP", "TOPIC", "#PARTITION", "#CURRENT-OFFSET", "#NEW-OFFSET", "#LOG-END-OFFSET"]
        names += ["#LAG", "#NEW-LAG", *["REMARK"] * remarks]
        fields_of = attrgetter("topic", "partition", "before", "after", "end", "lag_before", "lag_after")
        rows = [(group, *fields_of(change), *[change.remark or ""] * remarks) for group, change in changes]
        table = Table(columns=columns(*names), rows=rows)
        return self.with_states(table, ((group, change.place) for group, change in changes))


@dataclass(slots=True, kw_only=True)
class OffsetsDeletions(_OfOffsets[OffsetsDeletion]):
    verb, did, asked = "delete", "deleted", "committed offset"

    def committed_before(self, plan: OffsetsDeletion) -> Mapping[TopicPartition, int | None]:
        return dict(plan.offsets)

    def items_of(self, plan: OffsetsDeletion) -> Iterator[tuple[Part, ChangedItem]]:
        for place in plan.places:
            yield place, self.offset_item(plan, place, None)

    def send_through(self, writer: ClusterWriter) -> Iterator[Outcome]:
        share, others = _by_kind(self.plans_to_apply)
        yield _flat(writer.delete_offsets({plan.group: plan.places for plan in others}))
        yield _flat(writer.delete_share_offsets({plan.group: plan.places for plan in share}))

    def document(self) -> Document:
        rows = [(plan.group, *partition, offset) for plan in self.plans for partition, offset in plan.offsets]
        table = Table(columns=columns("GROUP", "TOPIC", "#PARTITION", "#CURRENT-OFFSET"), rows=rows)
        parts = [(plan.group, partition) for plan in self.plans for partition, _ in plan.offsets]
        data = {"executed": self.outcome is not None, "groups": [self._data(plan) for plan in self.plans]}
        blocks = [self.with_states(table, parts)]
        return Document(command="offsets delete", data=data, blocks=blocks, errors=merged(self.errors))

    def _data(self, plan: OffsetsDeletion) -> dict[str, object]:
        deleted = ((place, offset, self.applied(plan.group, place)) for place, offset in plan.offsets)
        offsets = [
            {"topic": topic, "partition": partition, "committed": offset, "deleted": applied}
            for (topic, partition), offset, applied in deleted
        ]
        return {**group_fields(plan.described), "applicable": plan.applicable, "offsets": offsets}


def merged(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems, with one for all partitions of a group that have the same message: `payments, orders-0 and 7 more`."""
    places: dict[tuple[str, str, Cause], list[str]] = {}
    for problem in problems:
        group, comma, partition = problem.subject.rpartition(", ")
        subject = group if comma else problem.subject
        places.setdefault((subject, problem.message, problem.cause), []).extend([partition] if comma else [])
    return tuple(
        Problem(
            subject=f"{group}, {first_names([*dict.fromkeys(those)], _NAMED)}" if those else group,
            message=message,
            cause=cause,
        )
        for (group, message, cause), those in places.items()
    )
