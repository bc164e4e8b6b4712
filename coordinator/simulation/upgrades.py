"""The conversion of a classic group by an online upgrade, and the known flaws of Kafka that follow from it.

An upgrade converts the assignments that the coordinator knows: neither all that members own, nor all that exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from coordinator.consumer.leader import assigned
from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.records import (
    ConsumerGroupRecord,
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    Record,
    TopicPartitions,
)
from coordinator.engine.topics import TopicImage
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.invariants import Facts
from coordinator.simulation.known_flaws import GONE_TAKEN_OVER, UPGRADED_WITHOUT_TARGET
from coordinator.simulation.process import NOTHING


class Upgrades:
    """See the module."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._topics_then: TopicImage | None = None
        """The topics when an upgrade converted the existing assignment; None if it was reassigned since."""
        self._left_out: dict[str, Partitions] = {}
        """By classic member: its assigned partitions of topics that were deleted before the upgrade, which omits
        them. The member has not received another assignment since."""

    def upgraded(self, assignments: Mapping[str, bytes]) -> None:
        """:param given: the leader's assignment to each member"""
        topics = self._facts.engine.topics.topics
        self._left_out = {
            member: frozenset(
                partition for partition in assigned(assignment) if partition.topic not in topics
            )
            for member, assignment in assignments.items()
        }

    def synced(self, member: str) -> None:
        """A classic member receives its assignment."""
        self._left_out.pop(member, None)

    def taken_over(self) -> None:
        """The target is the assignment that the upgrade converted."""
        self._topics_then = self._facts.topics.image

    def reassigned(self) -> None:
        """A new target was computed or, after a downgrade, a leader has assigned."""
        self._topics_then = None

    def forgotten(
        self, records: Sequence[Record], generation: int, assignments: Mapping[str, bytes]
    ) -> Iterator[tuple[str, TopicPartition]]:
        """Members, with partitions that they own and that the upgrade of these records has not converted.

        This follows from Kafka's rules: the leader has not assigned them; or a rebalance started after a generation
        that the leader had not assigned yet, as its start clears all assignments.

        :param generation: the last generation that a leader has assigned
        :param given: the leader's assignment to each member
        """
        at, epoch = next(
            (number, record.value.epoch)
            for number, record in enumerate(records)
            if isinstance(record, ConsumerGroupRecord) and record.value is not None
        )
        taken = {
            record.member: NOTHING for record in records[:at] if isinstance(record, ConsumerMemberRecord)
        }
        for record in reversed(records):  # the upgrade's record of a member is its first one
            if isinstance(record, CurrentAssignmentRecord) and record.value and record.member in taken:
                taken[record.member] = self.places(record.value.assigned)
        is_cleared = epoch > generation and not any(taken.values())
        for process in self._facts.processes.values():
            member = process.member.member_id
            if process.is_running and member in taken:
                known = NOTHING if is_cleared else assigned(assignments.get(member, b""))
                for partition in process.owned - taken[member] - known:
                    yield member, partition

    def takes_over_deleted(self) -> bool:
        """Whether an upgrade has converted a partition that does not exist, or would now."""
        group, topics = self._facts.engine.state.groups.get(GROUP), self._facts.topics
        if isinstance(group, ClassicGroup):
            converted: Iterable[Partitions] = (
                assigned(member.assignment) for member in group.members.values()
            )
        else:
            converted = () if group is None else map(self.places, group.targets.values())
        return any(
            partition.topic in topics.image.topics and not topics.exists(partition)
            for partitions in converted
            for partition in partitions
        )

    def flaw_when_settled(self, partition: TopicPartition, *, is_assigned: bool) -> str:
        """Why the partition has no owner, or has one although it was deleted, while all members are settled.

        A topic that changes after the upgrade bumps the group epoch: then this is not a known flaw.
        """
        now, then = self._facts.topics.image.counts, self._topics_then
        if then is None or now.get(partition.topic) != then.counts.get(partition.topic):
            return ""
        if self._facts.topics.exists(partition):
            return "" if is_assigned else UPGRADED_WITHOUT_TARGET
        if is_assigned:
            return GONE_TAKEN_OVER
        return UPGRADED_WITHOUT_TARGET if self._is_left_out(partition) else ""

    def _is_left_out(self, partition: TopicPartition) -> bool:
        """Whether a member owns the partition and was never notified that the upgrade omitted it."""
        return any(
            partition in process.owned & self._left_out.get(process.member.member_id, NOTHING)
            for process in self._facts.processes.values()
        )

    def places(self, partitions: TopicPartitions) -> Partitions:
        """Partitions by the names of their topics, without deleted topics."""
        names = self._facts.engine.topics.names
        return frozenset(
            TopicPartition(names[topic], number)
            for topic, numbers in partitions.items()
            if topic in names
            for number in numbers
        )
