"""A member of a consumer group: what its two records say.

Source: KIP-848 "Member metadata", "Current assignment"; modern.consumer.ConsumerGroupMember.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from coordinator.engine.records import (
    ClassicMemberMetadata,
    ConsumerMemberValue,
    CurrentAssignmentValue,
    MemberState,
    RegexValue,
    TopicPartitions,
)
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode

LEFT = -1
"""Epoch of a heartbeat that leaves, and of a member whose current assignment was deleted."""


AWAY = -2
"""Epoch of a static member that is away for a while."""


NEW_METADATA = ConsumerMemberValue(
    instance=None,
    rack=None,
    client_id="",
    host="",
    topics=(),
    regex="",
    rebalance_timeout_ms=-1,
    assignor=None,
)


NEW_ASSIGNMENT = CurrentAssignmentValue(epoch=0, previous_epoch=-1, state=MemberState.STABLE)


DELETED_ASSIGNMENT = CurrentAssignmentValue(epoch=LEFT, previous_epoch=LEFT, state=MemberState.STABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """Frozen: a heartbeat makes another one, and records bring it into the group."""

    id: str
    metadata: ConsumerMemberValue = NEW_METADATA
    current: CurrentAssignmentValue = field(default=NEW_ASSIGNMENT)

    @property
    def epoch(self) -> int:
        return self.current.epoch

    @property
    def instance(self) -> str | None:
        return self.metadata.instance

    @property
    def classic(self) -> ClassicMemberMetadata | None:
        """What there is of it when it speaks the classic protocol."""
        return self.metadata.classic

    @property
    def assigned(self) -> TopicPartitions:
        return self.current.assigned

    @property
    def revoking(self) -> TopicPartitions:
        return self.current.revoking

    def reconciled_to(self, assignment_epoch: int) -> bool:
        """Whether the member has all of its target and nothing else."""
        return self.current.state is MemberState.STABLE and self.epoch == assignment_epoch


def normal_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """Subscribed names as they are kept: neither order nor repetition matters."""
    return tuple(sorted(set(topics)))


def normal_partitions(partitions: Mapping[UUID, Iterable[int]]) -> dict[UUID, tuple[int, ...]]:
    """Partitions as they are kept, ascending and without topics that have none: equal sets are equal values."""
    kept = {topic: tuple(sorted(set(numbers))) for topic, numbers in partitions.items()}
    return {topic: numbers for topic, numbers in kept.items() if numbers}


def normal_assignment(value: CurrentAssignmentValue) -> CurrentAssignmentValue:
    """A record's value as it is kept. Partitions without an epoch of their own, as brokers before 4.3 wrote them,
    count as assigned at the member's epoch."""
    assigned, revoking = normal_partitions(value.assigned), normal_partitions(value.revoking)
    fallback = max(value.epoch, 0)
    epochs = {
        (topic, partition): value.assigned_epochs.get((topic, partition), fallback)
        for partitions in (revoking, assigned)
        for topic, numbers in partitions.items()
        for partition in numbers
    }
    return replace(value, assigned=assigned, revoking=revoking, assigned_epochs=epochs)


def same_assigned(one: CurrentAssignmentValue, other: CurrentAssignmentValue) -> bool:
    """Whether both have the same partitions, assigned at the same epochs; what is being revoked does not count."""
    if one is other:
        return True
    if one.assigned != other.assigned:
        return False
    return all(
        one.assigned_epochs.get((topic, partition)) == other.assigned_epochs.get((topic, partition))
        for topic, numbers in one.assigned.items()
        for partition in numbers
    )


def names_of(metadata: ConsumerMemberValue, regexes: Mapping[str, RegexValue]) -> frozenset[str]:
    """The topic names that a member subscribes to, existing or not."""
    resolved = regexes.get(metadata.regex) if metadata.regex else None
    return frozenset(metadata.topics) if resolved is None else frozenset((*metadata.topics, *resolved.topics))


def subscribed_names(members: Iterable[ConsumerMember], regexes: Mapping[str, RegexValue]) -> frozenset[str]:
    """The topic names that some member subscribes to."""
    names: set[str] = set()
    used: set[str] = set()
    for member in members:
        names.update(member.metadata.topics)
        used.add(member.metadata.regex)
    for regex in used & regexes.keys():
        names.update(regexes[regex].topics)
    return frozenset(names)


def is_homogeneous(members: Iterable[ConsumerMember]) -> bool:
    """Whether the broker takes all subscriptions for equal: the same names and no regex, or one regex and no name.

    Not the same question as whether they are equal: a name beside a regex is enough to make it say no.
    """
    everybody = list(members)
    used = {member.metadata.regex for member in everybody}
    named = {member.metadata.topics for member in everybody}
    if used <= {""}:
        return len(named) <= 1
    return len(used) == 1 and named == {()}


def stale_epoch(member: ConsumerMember, what: str) -> RequestRefused:
    """An offset request with another epoch than the member's; a classic member hears of its generation."""
    code = ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION
    return RequestRefused(code, f"The received {what}")
