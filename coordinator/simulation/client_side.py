"""Client-side assignors of the consumer protocol (KIP-848) based on classic assignors: range and others."""

from __future__ import annotations

from assignors.assignor import Leader, Side
from assignors.errors import AssignorError
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find
from coordinator.consumer.local_assignor import LocalAssignment
from coordinator.consumer.outputs import Partitions
from coordinator.engine.consumer.client_assignment import PrepareAssignmentAnswer
from coordinator.engine.records import ClientMetadata

FAILED = 1
"""The error code of an assignor that has thrown; assignors define their own codes."""


class NamedAssignor:
    """An assignor of a library's classic consumer, run by a member for its consumer group. It sends no metadata, and
    never requests a new assignment on its own."""

    minimum_version = maximum_version = 0

    def __init__(self, name: str, leader: Leader) -> None:
        """:raises UnknownAssignorError: the library has no such assignor"""
        self.name = name
        self._assignor = find(name, Side.CLIENT, leader)

    def metadata(self) -> tuple[int, ClientMetadata]:
        return 0, ClientMetadata()

    def assign(self, group: PrepareAssignmentAnswer) -> LocalAssignment:
        names = {topic: name for topic, name, _ in group.topics}
        ids = {name: topic for topic, name in names.items()}
        members = tuple(
            MemberSpec(
                id=member.id,
                topics=tuple(
                    sorted(names[each] for each in group.subscribed.get(member.id, ()) if each in names)
                ),
                instance=member.instance,
                rack=member.metadata.rack,
                owned=Claim(
                    partitions={
                        names[topic]: numbers
                        for topic, numbers in group.targets.get(member.id, {}).items()
                        if topic in names
                    },
                    generation=group.group_epoch,
                ),
            )
            for member in group.members
        )
        topics = tuple(
            TopicSpec(name=name, partitions=count, id=topic) for topic, name, count in group.topics
        )
        try:
            result = self._assignor.assign(DenseGroup.of(GroupSpec(topics=topics, members=members)))
        except AssignorError:
            return LocalAssignment(assignments={}, error=FAILED)
        return LocalAssignment(
            assignments={
                member: {ids[name]: tuple(numbers) for name, numbers in partitions.items()}
                for member, partitions in result.assignment.named().items()
            }
        )

    def on_assignment(
        self, error: int, assigned: Partitions, metadata: ClientMetadata | None, epoch: int
    ) -> None:
        """No effect: the assignor keeps no state."""
