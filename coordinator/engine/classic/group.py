"""A classic group. Hard state is the last record, `stored`; a rebalance in progress, parked requests (tickets by
member id) and pending members are lost in a restart. Source: classic.ClassicGroup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from assignors.java.hash_map import DEFAULT_CAPACITY, grown_capacity, string_order
from assignors.rebalance import elect
from coordinator.engine import records as log
from coordinator.engine.timers import TimerKey, TimerKind
from groups.listing import GroupState, GroupType
from wire.messages.embedded_protocol import subscribed_topics

PREVIOUS_STATES = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.PREPARING_REBALANCE: frozenset(
        {GroupState.STABLE, GroupState.COMPLETING_REBALANCE, GroupState.EMPTY}
    ),
    GroupState.COMPLETING_REBALANCE: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.COMPLETING_REBALANCE}),
}
"""The states from which a group can enter each state. Restoring from a record is not a transition."""

CONSUMER_PROTOCOL = "consumer"
"""The protocol type whose metadata the broker can read."""


@dataclass(slots=True, kw_only=True)
class ClassicGroup:
    """See the module. `protocol_type` is empty until a member has joined."""

    type: ClassVar[GroupType] = GroupType.CLASSIC

    id: str
    state_since_ms: int
    stored: log.ClassicGroupValue | None = None
    """The last record; None for a group that exists only by its offsets or pending members."""
    state: GroupState = GroupState.EMPTY
    previous_state: GroupState = GroupState.DEAD
    protocol_type: str = ""
    protocol: str | None = None
    generation: int = 0
    leader: str | None = None
    members: dict[str, ClassicMember] = field(default_factory=dict)
    static: dict[str, str] = field(default_factory=dict)  # Member ids by instance id
    pending: set[str] = field(default_factory=set)  # Member ids that were assigned, but not yet used to join
    joining: dict[str, int] = field(default_factory=dict)
    syncing: dict[str, int] = field(default_factory=dict)
    pending_sync: set[str] = field(default_factory=set)
    """Members that have not sent SyncGroup in this generation."""
    new_member_added: bool = False  # Whether a member joined during the initial delay
    initial_delay_ms: int = 0
    initial_remaining_ms: int = 0
    """By how much the initial delay can still be extended after the current part."""
    subscribed: frozenset[str] | None = None  # The topics of all members; None if they are unknown
    _supported: Counter[str] = field(default_factory=Counter)  # How many members support each protocol
    _capacity: int = DEFAULT_CAPACITY
    """The array length of the HashMap in which a broker keeps the members; it never shrinks."""

    def is_empty(self) -> bool:
        return self.state is GroupState.EMPTY

    def has_member(self, member: str) -> bool:
        return member in self.members

    def subscribed_to(self, topic: str) -> bool:
        return self.uses_consumer_protocol() if self.subscribed is None else topic in self.subscribed

    def tombstones(self) -> tuple[log.Record, ...]:
        return (log.ClassicGroupRecord(group=self.id, value=None),)

    def timer_keys(self) -> Iterable[TimerKey]:
        for kind in (TimerKind.INITIAL_DELAY, TimerKind.JOIN, TimerKind.SYNC):
            yield TimerKey(kind, self.id)
        for member in self.members:
            yield TimerKey(TimerKind.SESSION, self.id, member)
        for member in self.pending:
            yield TimerKey(TimerKind.PENDING_MEMBER, self.id, member)

    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL

    def supports(self, protocol_type: str, protocols: Iterable[log.JoinProtocol]) -> bool:
        """Whether a member with these protocols can be in the group."""
        names = {protocol.name for protocol in protocols}
        if self.is_empty():
            return bool(protocol_type) and bool(names)
        size = len(self.members)
        return protocol_type == self.protocol_type and any(self._supported[name] == size for name in names)

    def in_order(self) -> list[ClassicMember]:
        """The members in a broker's order: the order of a Java HashMap."""
        members = self.members
        if len(members) < 2:
            return list(members.values())
        ids = list(members)
        return [members[ids[index]] for index in string_order(ids, self._capacity).tolist()]

    def elect_protocol(self) -> str:
        """Elect by the members' votes. There is at least one member, and all share a protocol."""
        return elect([member.protocol_names() for member in self.in_order()])

    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members, never negative."""
        return max((0, *(member.rebalance_timeout_ms for member in self.members.values())))

    def all_joined(self) -> bool:
        return len(self.joining) == len(self.members) and not self.pending

    def can_rebalance(self) -> bool:
        return self.state in PREVIOUS_STATES[GroupState.PREPARING_REBALANCE]

    def transition(self, state: GroupState, now_ms: int) -> None:
        if self.state not in PREVIOUS_STATES[state]:
            raise AssertionError(f"{self.id}: {self.state.value} does not become {state.value}")
        self.previous_state, self.state, self.state_since_ms = self.state, state, now_ms

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        """Add a member; the first one sets the protocol type, and becomes the leader."""
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader is None:
            self.leader = member.id
        self.pending.discard(member.id)
        self._put(member)

    def remove(self, member: str) -> None:
        """Remove a member or a pending id; its parked requests must be answered first."""
        removed = self.members.pop(member, None)
        if removed is not None:
            count(self._supported, removed.protocol_names(), -1)
            if removed.instance is not None:
                self.static.pop(removed.instance, None)
        if self.leader == member:
            self.leader = next((other.id for other in self.in_order()), None)
        self.pending.discard(member)
        self.pending_sync.discard(member)
        self.joining.pop(member, None)
        self.syncing.pop(member, None)

    def replace_static(self, instance: str, new: str) -> ClassicMember:
        """Give a static member another id; parked requests of the old id must be answered first."""
        old = self.static[instance]
        member = replace(self.members.pop(old), id=new, is_new=False)
        count(self._supported, member.protocol_names(), -1)
        self.joining.pop(old, None)
        self.syncing.pop(old, None)
        self._put(member)
        if self.leader == old:
            self.leader = new
        return member

    def offer(self, member: ClassicMember, protocols: tuple[log.JoinProtocol, ...]) -> None:
        """Replace the protocols that a member supports."""
        count(self._supported, member.protocol_names(), -1)
        member.protocols = protocols
        count(self._supported, member.protocol_names(), 1)

    def reelect_leader(self) -> bool:
        """Elect a leader among the members that have joined, unless the leader has joined. False if no member has."""
        if self.leader is not None and self.leader not in self.joining:
            joined = next((member.id for member in self.in_order() if member.id in self.joining), None)
            self.leader = joined or self.leader
        return self.leader in self.joining

    def next_generation(self, now_ms: int) -> None:
        """Move to CompletingRebalance or, without members, to Empty, when all awaited members have joined."""
        self.generation += 1
        self.protocol = self.elect_protocol() if self.members else None
        self.learn_subscriptions()
        self.transition(GroupState.COMPLETING_REBALANCE if self.members else GroupState.EMPTY, now_ms)
        self.pending_sync.clear()

    def value(self, assignments: Mapping[str, bytes], state_since_ms: int) -> log.ClassicGroupValue:
        """The value of a record with these assignments; a member without an assignment gets an empty one."""
        return log.ClassicGroupValue(
            protocol_type=self.protocol_type,
            generation=self.generation,
            protocol=self.protocol,
            leader=self.leader,
            state_since_ms=state_since_ms,
            members=self.member_values(self.protocol, assignments),
        )

    def member_values(
        self, protocol: str | None, assignments: Mapping[str, bytes]
    ) -> tuple[log.ClassicMemberValue, ...]:
        """The members as in records and answers, with their metadata for the protocol."""
        return tuple(
            [
                log.ClassicMemberValue(
                    member.id,
                    member.instance,
                    member.client_id,
                    member.host,
                    member.rebalance_timeout_ms,
                    member.session_timeout_ms,
                    subscription=member.metadata(protocol) or b"",
                    assignment=assignments.get(member.id, b""),
                )
                for member in self.in_order()
            ]
        )

    def store(self, value: log.ClassicGroupValue) -> None:
        """Apply a record. Members that stay keep what a record does not contain. A record of the current generation
        replaces a static member; the group keeps its subscribed topics until the next generation or a restart."""
        replaces = self.state is GroupState.STABLE and self.generation == value.generation
        self.stored = value
        self.protocol_type, self.protocol = value.protocol_type, value.protocol
        self.generation, self.leader = value.generation, value.leader
        for gone in self.members.keys() - {member.member for member in value.members}:
            self.remove(gone)
        for stored in value.members:
            self._restore(stored)
        self.leader = value.leader
        settled = GroupState.STABLE if value.members else GroupState.EMPTY
        if self.state is not settled:
            self.previous_state, self.state = self.state, settled
        self.state_since_ms = value.state_since_ms
        if not replaces:
            self.learn_subscriptions()

    def learn_subscriptions(self) -> None:
        """Read the subscribed topics from the members' metadata."""
        metadata = [member.metadata(self.protocol) or b"" for member in self.members.values()]
        self.subscribed = subscribed_topics(metadata) if self.uses_consumer_protocol() else None

    def _restore(self, value: log.ClassicMemberValue) -> None:
        """Create or update a member from a record, which has only the chosen protocol's metadata."""
        offered = (log.JoinProtocol(name=self.protocol or "", metadata=value.subscription),)
        # Records older than version 1 have no rebalance timeout.
        timeout_ms = (
            value.session_timeout_ms if value.rebalance_timeout_ms == -1 else value.rebalance_timeout_ms
        )
        member = self.members.get(value.member)
        if member is None:
            member = ClassicMember(
                id=value.member,
                instance=value.instance,
                client_id=value.client_id,
                host=value.host,
                rebalance_timeout_ms=timeout_ms,
                session_timeout_ms=value.session_timeout_ms,
                protocols=offered,
                assignment=value.assignment,
            )
            self._put(member)
            return
        if value.rebalance_timeout_ms != member.rebalance_timeout_ms:
            member.rebalance_timeout_ms = timeout_ms
        member.session_timeout_ms, member.assignment = value.session_timeout_ms, value.assignment
        member.client_id, member.host = value.client_id, value.host
        if member.metadata(self.protocol or "") != value.subscription:
            self.offer(member, offered)

    def _put(self, member: ClassicMember) -> None:
        self.members[member.id] = member
        self._capacity = grown_capacity(len(self.members), self._capacity)
        count(self._supported, member.protocol_names(), 1)
        if member.instance is not None:
            self.static[member.instance] = member.id


@dataclass(slots=True, kw_only=True)
class ClassicMember:
    """A member's join request, and its assignment. Protocols are in the member's order of preference."""

    id: str
    instance: str | None
    client_id: str
    host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[log.JoinProtocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    """Whether the member is in its first rebalance: even a parked JoinGroup does not keep it alive."""

    def metadata(self, protocol: str | None) -> bytes | None:
        """The metadata for the protocol; None if the member does not support it."""
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        return None

    def protocol_names(self) -> list[str]:
        """The member's protocols, preferred first; a repeated name counts once."""
        return list(dict.fromkeys([name for name, _ in self.protocols]))


def count(counts: Counter[str], names: Iterable[str], change: int) -> None:
    for name in names:
        counts[name] += change
        if not counts[name]:
            del counts[name]
