"""Client-side assignors of the consumer protocol (KIP-848), which Kafka never shipped: a member runs them itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from assignors.assignor import Leader, Side
from assignors.errors import AssignorError
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find
from coordinator.consumer.outputs import Partitions
from coordinator.engine.consumer.client_assignment import InstallAssignmentAnswer, PrepareAssignmentAnswer
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeatAnswer
from coordinator.engine.records import ClientAssignor, ClientMetadata, TopicPartitions
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAssignment:
    """An assignor's result; `error`, a code of the assignor, is the reason why it failed, or 0."""

    assignments: Mapping[str, TopicPartitions]  # By member id
    metadata: Mapping[str, ClientMetadata] = field(default_factory=dict)
    error: int = 0


class LocalAssignor(Protocol):
    """KIP-848's PartitionAssignor."""

    @property
    def name(self) -> str: ...

    @property
    def minimum_version(self) -> int:
        """The oldest metadata version that the assignor reads."""

    @property
    def maximum_version(self) -> int: ...

    def metadata(self) -> tuple[int, ClientMetadata]:
        """The reason for a new assignment, a code of the assignor (0: none), and its metadata for the other members."""

    def assign(self, group: PrepareAssignmentAnswer) -> LocalAssignment:
        """Assign the group, given every member and every subscribed topic."""

    def on_assignment(
        self, error: int, assigned: Partitions, metadata: ClientMetadata | None, epoch: int
    ) -> None:
        """The member has been assigned these partitions at this epoch, with this metadata of the computing assignor."""


class LocalAssignors:
    """A member's own assignors: reports them, and computes on request (KIP-848 "Client Side Mode")."""

    __slots__ = (
        "_asks",
        "_assignors",
        "_error",
        "_in_use",
        "_metadata",
        "_must_ask",
        "_notified_epoch",
        "has_news",
    )

    def __init__(self, assignors: Sequence[LocalAssignor]) -> None:
        self._assignors = {assignor.name: assignor for assignor in assignors}
        self._in_use = next(iter(self._assignors), "")
        """The preferred assignor, or the one of the last computation: an assignment does not name its assignor."""
        self._asks = self._must_ask = False
        self._metadata: ClientMetadata | None = None
        self._error = 0
        self._notified_epoch = 0
        self.has_news = False
        """Whether an assignment has arrived at an epoch that the assignor was not notified of."""

    def offers(self) -> tuple[ClientAssignor, ...] | None:
        """The assignors in a heartbeat; None without any."""
        offers = []
        for assignor in self._assignors.values():
            reason, metadata = assignor.metadata()
            offers.append(
                ClientAssignor(
                    name=assignor.name,
                    minimum_version=assignor.minimum_version,
                    maximum_version=assignor.maximum_version,
                    reason=reason,
                    metadata=metadata,
                )
            )
        return tuple(offers) or None

    def handle_heartbeat(self, answer: ConsumerGroupHeartbeatAnswer) -> bool:
        """Process a heartbeat's answer. Returns whether to prepare an assignment now."""
        if answer.assignment is not None:
            self._metadata, self._error = answer.metadata, answer.assignment_error
            self.has_news = answer.epoch != self._notified_epoch
        if self._asks or not (answer.should_compute or self._must_ask):
            return False
        self._asks, self._must_ask = True, False
        return True

    def compute(self, answer: object) -> LocalAssignment | None:
        """The assignment to install, given PrepareAssignment's answer. None: none before the next heartbeat."""
        if not isinstance(answer, PrepareAssignmentAnswer) or answer.error is not ErrorCode.NONE:
            self.installed(answer)
            return None
        self._in_use = answer.assignor
        return self._assignors[answer.assignor].assign(answer)

    def installed(self, answer: object) -> None:
        """InstallAssignment was answered, or lost. STALE_MEMBER_EPOCH or lost: retry after the next heartbeat."""
        self._asks = False
        self._must_ask = (
            not isinstance(answer, PrepareAssignmentAnswer | InstallAssignmentAnswer)
            or answer.error is ErrorCode.STALE_MEMBER_EPOCH
        )

    def assigned(self, partitions: Partitions, epoch: int) -> None:
        """Pass the computing assignor's metadata for this member to its assignor, once per epoch."""
        if self.has_news:
            self.has_news = False
            self._notified_epoch = epoch
            self._assignors[self._in_use].on_assignment(self._error, partitions, self._metadata, epoch)


FAILED = 1
"""The error code of an assignor that has thrown; assignors define their own codes."""


class NamedAssignor:
    """An assignor of a library's classic consumer, run by a member; it sends no metadata and no reasons."""

    minimum_version = maximum_version = 0

    def __init__(self, name: str, leader: Leader) -> None:
        """Raises UnknownAssignorError: the library has no such assignor."""
        self.name = name
        self._assignor = find(name, Side.CLIENT, leader)

    def metadata(self) -> tuple[int, ClientMetadata]:
        return 0, ClientMetadata()

    def assign(self, group: PrepareAssignmentAnswer) -> LocalAssignment:
        names = {topic: name for topic, name, _ in group.topics}
        ids = {name: topic for topic, name in names.items()}
        members = []
        for member in group.members:
            target = group.targets.get(member.id, {})
            owned = {names[topic]: numbers for topic, numbers in target.items() if topic in names}
            subscribed = {names[topic] for topic in group.subscribed.get(member.id, ()) if topic in names}
            members.append(
                MemberSpec(
                    id=member.id,
                    topics=tuple(sorted(subscribed)),
                    instance=member.instance,
                    rack=member.metadata.rack,
                    owned=Claim(partitions=owned, generation=group.group_epoch),
                )
            )
        topics = tuple(TopicSpec(name=name, partitions=count, id=id_) for id_, name, count in group.topics)
        try:
            result = self._assignor.assign(DenseGroup.of(GroupSpec(topics=topics, members=tuple(members))))
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
