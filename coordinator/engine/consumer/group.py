"""A consumer group (KIP-848): its members, their targets, and the owner of each partition. Only `apply` changes its
hard state, the records of keys 3 to 8 and 16. Source: modern.ModernGroup, modern.consumer.ConsumerGroup."""

from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from uuid import UUID

from assignors.java.hash_map import FIRST_SLOTS, grown_slots, timeline_order
from coordinator.configs.settings import Config
from coordinator.engine import records as log
from coordinator.engine.classic.group import count
from coordinator.engine.consumer.client_assignors import ClientSide
from coordinator.engine.consumer.member import (
    DELETED_ASSIGNMENT,
    ConsumerMember,
    normal_assignment,
    normal_partitions,
    normal_topics,
)
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.errors import RequestRefused
from groups.listing import GroupState, GroupType
from wire.errors import ErrorCode

MEMBER_TIMERS = (
    TimerKind.SESSION,
    TimerKind.REBALANCE,
    TimerKind.JOIN,
    TimerKind.SYNC,
    TimerKind.CLIENT_ASSIGNOR,
)
NOT_RESOLVED = log.RegexValue(topics=(), version=0, resolved_ms=0)


class ConsumerGroup:
    """A group of type consumer. A new group starts at group epoch 1 with an empty assignment of epoch 1."""

    type = GroupType.CONSUMER
    protocol_type = "consumer"

    def __init__(self, group_id: str) -> None:
        self.id = group_id
        self.epoch = 1
        self.metadata_hash = 0
        self.has_partition_metadata = False
        """Whether a broker before 4.1 left a record of key 4, which must be deleted."""
        self.assignment_epoch = 1
        self.assigned_ms = 0
        """When the target was computed; 0 if it was not computed, or by a broker that did not record it."""
        self.members: dict[str, ConsumerMember] = {}
        self.targets: dict[str, log.TopicPartitions] = {}
        self.payloads: dict[str, log.Payload] = {}
        """The client-side assignor's metadata that comes with the target, by member."""
        self.regexes: dict[str, log.RegexValue] = {}
        """Resolved regexes; a regex that is missing here matches nothing yet."""
        self.refresh_metadata = True
        """Soft state: whether a topic may have changed since the metadata hash was computed."""
        self.may_describe: Callable[[str], bool] | None = None
        """Soft state: whether the member whose heartbeat had the regexes resolved may describe a topic; None: all."""
        self.client = ClientSide()  # Soft state: the member that computes for the group
        self.capacity = FIRST_SLOTS
        """The capacity of the map in which a broker keeps the members; it never shrinks."""
        self.regex_users: Counter[str] = Counter()  # How many members subscribe with each regex
        self._subscriptions: Counter[str] = Counter()
        """How many members and resolved regexes subscribe to each topic."""
        self._static: dict[str, str] = {}
        self._owners: dict[UUID, dict[int, str]] = {}

    def apply(self, record: log.ConsumerRecord) -> None:
        """Apply a record, unless it deletes the whole group."""
        match record:
            case log.ConsumerGroupRecord(value=log.ConsumerGroupValue() as value):
                self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
            case log.PartitionMetadataRecord(value=topics):
                self.has_partition_metadata = topics is not None
            case log.ConsumerMemberRecord(member=name, value=None):
                member = self.members.pop(name, None)
                if member is not None:
                    self._remove_owner(member)
                    self._count(member, -1)
                    self.client.forget(name)
                    self._release_instance(member)
            case log.ConsumerMemberRecord(member=name, value=log.ConsumerMemberValue() as metadata):
                member = self.members.get(name, ConsumerMember(id=name))
                self._put(replace(member, metadata=replace(metadata, topics=normal_topics(metadata.topics))))
            case log.TargetEpochRecord(value=target):
                computed = target or log.TargetEpochValue(epoch=-1)
                self.assignment_epoch, self.assigned_ms = computed.epoch, computed.assigned_ms
            case log.TargetMemberRecord(member=name, value=None):
                self.targets.pop(name, None)
                self.payloads.pop(name, None)
            case log.TargetMemberRecord(member=name, value=partitions, payload=payload):
                self.targets[name] = normal_partitions(partitions or {})
                self.payloads.pop(name, None)
                if payload != log.NO_PAYLOAD:
                    self.payloads[name] = payload
            case log.CurrentAssignmentRecord(member=name, value=None):
                if name in self.members:
                    self._put(replace(self.members[name], current=DELETED_ASSIGNMENT))
            case log.CurrentAssignmentRecord(member=name, value=log.CurrentAssignmentValue() as current):
                member = self.members.get(name, ConsumerMember(id=name))
                self._put(replace(member, current=normal_assignment(current)))
            case log.RegexRecord(regex=regex, value=resolved):
                count(self._subscriptions, self.regexes.pop(regex, NOT_RESOLVED).topics, -1)
                if resolved is not None:
                    self.regexes[regex] = replace(resolved, topics=normal_topics(resolved.topics))
                    count(self._subscriptions, self.regexes[regex].topics, 1)

    def _put(self, member: ConsumerMember) -> None:
        old = self.members.get(member.id)
        if old is None or old.current is not member.current:
            if old is not None:
                self._remove_owner(old)
            for topic, partition in _partitions(member):
                self._owners.setdefault(topic, {})[partition] = member.id
        if old is None or old.metadata is not member.metadata:
            if old is not None:
                self._count(old, -1)
                if old.instance != member.instance:
                    self._release_instance(old)
            self._count(member, 1)
        # The broker's map grows for one more member even if it only replaces a member.
        self.capacity = grown_slots(self.capacity, len(self.members) + 1)
        self.members[member.id] = member
        if member.instance is not None:
            self._static[member.instance] = member.id

    def _release_instance(self, member: ConsumerMember) -> None:
        if member.instance is not None and self._static.get(member.instance) == member.id:
            del self._static[member.instance]

    def _count(self, member: ConsumerMember, change: int) -> None:
        count(self._subscriptions, member.metadata.topics, change)
        if member.metadata.regex:
            count(self.regex_users, (member.metadata.regex,), change)

    def _remove_owner(self, member: ConsumerMember) -> None:
        for topic, partition in _partitions(member):
            owners = self._owners.get(topic, {})
            if owners.get(partition) == member.id:
                del owners[partition]
                if not owners:
                    del self._owners[topic]

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        if all(member.reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return GroupState.STABLE
        return GroupState.RECONCILING

    def in_order(self) -> list[ConsumerMember]:
        """The members in a broker's order."""
        members = list(self.members.values())
        order = timeline_order([member.id for member in members], self.capacity) if members else []
        return [members[index] for index in order]

    def owner(self, topic: UUID, partition: int) -> str | None:
        """The member that has the partition, or is revoking it; None if no member has it."""
        return self._owners.get(topic, {}).get(partition)

    def is_free(self, topic: UUID, partition: int) -> bool:
        return self.owner(topic, partition) is None

    def static_member(self, instance: str | None) -> ConsumerMember | None:
        return None if instance is None else self.members.get(self._static.get(instance, ""))

    def target_of(self, member: str, instance: str | None) -> log.TopicPartitions:
        """The member's target; with an instance id, the target of the member that has the instance id now."""
        return self.targets.get(member if instance is None else self._static.get(instance, ""), {})

    def member(self, member_id: str) -> ConsumerMember:
        """The member with that id. Raises UNKNOWN_MEMBER_ID if it does not exist."""
        if member_id in self.members:
            return self.members[member_id]
        message = f"Member {member_id} is not a member of group {self.id}."
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, message)

    def subscribed_topics(self) -> Set[str]:
        """Names that members subscribe to, and names that their resolved regexes match. A view: do not keep it."""
        return self._subscriptions.keys()

    def waits_for_others(self, member: ConsumerMember) -> bool:
        """Whether the member waits for partitions in its target that another member still has."""
        if member.current.state is not log.MemberState.UNRELEASED_PARTITIONS:
            return False
        return any(
            partition not in member.assigned.get(topic, ()) and not self.is_free(topic, partition)
            for topic, partitions in self.targets.get(member.id, {}).items()
            for partition in partitions
        )

    def requested_assignors(self) -> dict[str, int]:
        """How many members request each assignor, in the order of the broker's map."""
        requested = Counter(member.metadata.assignor for member in self.members.values())
        names = [name for name in requested if name is not None]
        return {names[index]: requested[names[index]] for index in (timeline_order(names) if names else ())}

    def is_empty(self) -> bool:
        return not self.members

    def has_member(self, member: str) -> bool:
        return member in self.members

    def subscribed_to(self, topic: str) -> bool:
        return topic in self._subscriptions

    def timer_keys(self) -> Iterator[TimerKey]:
        yield TimerKey(TimerKind.REGEX, self.id)
        for member in self.members:
            yield from member_timer_keys(self.id, member)

    def member_tombstones(self, member: str) -> tuple[log.Record, ...]:
        """The records that remove a member, in the broker's order."""
        return (
            log.CurrentAssignmentRecord(group=self.id, member=member, value=None),
            log.TargetMemberRecord(group=self.id, member=member, value=None),
            log.ConsumerMemberRecord(group=self.id, member=member, value=None),
        )

    def tombstones(self, old: str | None = None, new: str | None = None) -> tuple[log.Record, ...]:
        """The records that delete the group, in the broker's order, key 4 included; they name `new` for `old`."""
        members = [new if new is not None and member.id == old else member.id for member in self.in_order()]
        aimed = dict.fromkeys((*members, *(member for member in self.targets if member != old)))
        return (
            *(log.CurrentAssignmentRecord(group=self.id, member=member, value=None) for member in members),
            *(log.TargetMemberRecord(group=self.id, member=member, value=None) for member in aimed),
            log.TargetEpochRecord(group=self.id, value=None),
            *(log.ConsumerMemberRecord(group=self.id, member=member, value=None) for member in members),
            *(log.RegexRecord(group=self.id, regex=regex, value=None) for regex in self.regexes),
            log.PartitionMetadataRecord(group=self.id, value=None),
            log.ConsumerGroupRecord(group=self.id, value=None),
        )


def member_timer_keys(group: str, member: str) -> Iterator[TimerKey]:
    """All timers of a member of a consumer group; only classic members have JOIN and SYNC."""
    for kind in MEMBER_TIMERS:
        yield TimerKey(kind, group, member)


def _partitions(member: ConsumerMember) -> Iterator[tuple[UUID, int]]:
    for partitions in (member.revoking, member.assigned):
        for topic, numbers in partitions.items():
            for partition in numbers:
                yield topic, partition


def check_room(group: ConsumerGroup, member: str, config: Config) -> None:
    """Check that the group has room for the member, new or known. Raises GROUP_MAX_SIZE_REACHED."""
    limit = config.group_consumer_max_size
    if len(group.members) >= limit and not (member and group.has_member(member)):
        message = f"The consumer group has reached its maximum capacity of {limit} members."
        raise RequestRefused(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
