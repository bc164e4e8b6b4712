"""A change of committed offsets, which are read again before it is sent."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar
from uuid import UUID

from cli.changing import WrittenChange
from cli.journal.entry import ChangedItem, offset_item
from groups.model import Offsets, TopicPartition, commit_of, each_commit, partition_name
from groups.offsets.model import PlannedChange

Q = TypeVar("Q", bound=PlannedChange)


@dataclass(slots=True, kw_only=True)
class CommittedChange(WrittenChange[Q]):
    """A `WrittenChange` of committed offsets, which are read again before it is sent."""

    of_all_offsets: ClassVar[bool] = False
    """Whether the change affects all committed offsets of a group, also those that were not there at the preview."""
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)  # In the preview, as far as they are known
    now: dict[str, Offsets] = field(default_factory=dict)  # The committed offsets when they were read again

    @abstractmethod
    def committed_before(self, plan: Q) -> Mapping[TopicPartition, int | None]:
        """The committed offsets in the preview that the change of a group depends on."""

    def check_again(self, *, was_asked: bool) -> None:
        # What could not be read for the preview cannot be compared with it.
        unread = {problem.group for problem in self.problems}
        known = (plan for plan in self.plans_to_apply if plan.group not in unread)
        plans = [plan for plan in known if plan.described.offsets is not None]
        before = {plan.group: self.committed_before(plan) for plan in plans}
        if self.writer is None or not before:
            return
        gone = self.writer.replaced_topics(self.topic_ids)
        self.blocked = {
            (group, partition): gone[partition[0]]
            for group, places in before.items()
            for partition in places
            if partition[0] in gone
        }
        self.now, problems = self.writer.committed([plan.described for plan in plans])
        self.unread += [problem for problem in problems if problem.group in before]
        self.held = {*self.held, *self.failing}
        for group, offsets in self.now.items():
            committed = {partition: commit.position for partition, commit in each_commit(offsets)}
            for partition in sorted({*before[group], *(committed if self.of_all_offsets else ())}):
                shown, offset = before[group].get(partition), committed.get(partition)
                if shown != offset and partition[0] not in gone:
                    subject = f"{group}, {partition_name(partition)}"
                    self.compared(subject, group, shown, offset, was_asked=was_asked)

    def offset_item(self, plan: Q, partition: TopicPartition, after: int | None) -> ChangedItem:
        group = plan.described
        commit = commit_of(self.now.get(group.id, group.offsets), partition)
        return offset_item(group, partition, commit, after, self.topic_ids.get(partition[0]))
