"""A member of a consumer group: the content of its two records. Source: KIP-848 "Member metadata", "Current
assignment"; modern.consumer.ConsumerGroupMember."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from coordinator.engine import records
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode

LEAVE_EPOCH = -1
"""Epoch of a heartbeat that leaves, and of a member whose current assignment was deleted."""

STATIC_LEAVE_EPOCH = -2
"""Epoch of a static member that has left temporarily."""

NEW_METADATA = records.ConsumerMemberValue()

NEW_ASSIGNMENT = records.CurrentAssignmentValue(epoch=0, previous_epoch=-1, state=records.MemberState.STABLE)

DELETED_ASSIGNMENT = records.CurrentAssignmentValue(
    epoch=LEAVE_EPOCH, previous_epoch=LEAVE_EPOCH, state=records.MemberState.STABLE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """Frozen: a heartbeat creates a new object, and records put it into the group."""

    id: str
    metadata: records.ConsumerMemberValue = NEW_METADATA
    current: records.CurrentAssignmentValue = field(default=NEW_ASSIGNMENT)

    @property
    def epoch(self) -> int:
        return self.current.epoch

    @property
    def instance(self) -> str | None:
        return self.metadata.instance

    @property
    def classic(self) -> records.ClassicMemberMetadata | None:
        """The member's classic metadata, if it uses the classic protocol."""
        return self.metadata.classic

    @property
    def assigned(self) -> records.TopicPartitions:
        return self.current.assigned

    @property
    def revoking(self) -> records.TopicPartitions:
        return self.current.revoking

    def reconciled_to(self, assignment_epoch: int) -> bool:
        """Whether the member has all of its target and nothing else."""
        return self.current.state is records.MemberState.STABLE and self.epoch == assignment_epoch


def normal_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """Subscribed names in canonical form: order and repetition do not matter."""
    return tuple(sorted(set(topics)))


def normal_partitions(partitions: Mapping[UUID, Iterable[int]]) -> dict[UUID, tuple[int, ...]]:
    """Partitions in canonical form, ascending and without empty topics: equal sets are equal values."""
    kept = {topic: tuple(sorted(set(numbers))) for topic, numbers in partitions.items()}
    return {topic: numbers for topic, numbers in kept.items() if numbers}


def normal_assignment(value: records.CurrentAssignmentValue) -> records.CurrentAssignmentValue:
    """In canonical form; partitions without an epoch (brokers before 4.3) count as assigned at the member's."""
    assigned, revoking = normal_partitions(value.assigned), normal_partitions(value.revoking)
    fallback = max(value.epoch, 0)
    epochs = {
        (topic, partition): value.assigned_epochs.get((topic, partition), fallback)
        for partitions in (revoking, assigned)
        for topic, numbers in partitions.items()
        for partition in numbers
    }
    return replace(value, assigned=assigned, revoking=revoking, assigned_epochs=epochs)


def same_assigned(one: records.CurrentAssignmentValue, other: records.CurrentAssignmentValue) -> bool:
    """Whether both have the same partitions, assigned at the same epochs; partitions being revoked do not count."""
    if one is other:
        return True
    if one.assigned != other.assigned:
        return False
    return all(
        one.assigned_epochs.get((topic, partition)) == other.assigned_epochs.get((topic, partition))
        for topic, numbers in one.assigned.items()
        for partition in numbers
    )


def subscribed_names_of(
    metadata: records.ConsumerMemberValue, regexes: Mapping[str, records.RegexValue]
) -> frozenset[str]:
    """The topic names that a member subscribes to, existing or not."""
    resolved = regexes.get(metadata.regex) if metadata.regex else None
    return frozenset(metadata.topics) if resolved is None else frozenset((*metadata.topics, *resolved.topics))


def subscribed_names(
    members: Iterable[ConsumerMember], regexes: Mapping[str, records.RegexValue]
) -> frozenset[str]:
    """The topic names that at least one member subscribes to."""
    names: set[str] = set()
    used: set[str] = set()
    for member in members:
        names.update(member.metadata.topics)
        used.add(member.metadata.regex)
    for regex in used & regexes.keys():
        names.update(regexes[regex].topics)
    return frozenset(names)


def is_homogeneous(members: Iterable[ConsumerMember]) -> bool:
    """Whether subscriptions are equal for the broker: the same names without regex, or one regex without names."""
    everybody = list(members)
    used = {member.metadata.regex for member in everybody}
    named = {member.metadata.topics for member in everybody}
    return len(named) <= 1 if used <= {""} else len(used) == 1 and named == {()}


def stale_epoch(member: ConsumerMember, what: str) -> RequestRefused:
    """The error of an offset request with a wrong epoch; a classic member's error is about its generation."""
    code = ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION
    return RequestRefused(code, f"The received {what}")
