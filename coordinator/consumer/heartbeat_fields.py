"""A member's assignment in the consumer protocol: its target, the part that it has reconciled, and its heartbeats,
whose unchanged fields are left out. Topics are identified by id; a topic waits until the client's metadata contains
it. Source: KIP-848 "ConsumerGroupHeartbeat"; ConsumerHeartbeatRequestManager.HeartbeatState."""

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from coordinator.consumer.member import Identity
from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.records import ClientAssignor, TopicPartitions
from coordinator.engine.topics import TopicImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """A step from the owned partitions to the target, as far as its topics are known."""

    number: int  # The number of the assignment
    by_id: TopicPartitions
    assigned: Partitions
    added: Partitions
    revoked: Partitions


class Assignments:
    """The last target received, and the last assignment reconciled; None without one."""

    __slots__ = ("_names", "_number", "_target", "_target_number", "owned", "version")

    def __init__(self) -> None:
        self.owned: TopicPartitions | None = None  # The reconciled assignment, as heartbeats report it
        self.version = 0
        """Increases with every change of `owned`, also when the same partitions are assigned again: they are reported
        again."""
        self._number = self._target_number = 0
        self._target: TopicPartitions | None = None
        self._names: dict[UUID, str] = {}

    def receive(self, assignment: TopicPartitions) -> None:
        """Number the assignment: one that differs from the previous one gets a new number."""
        target = {topic: tuple(sorted(partitions)) for topic, partitions in assignment.items()}
        if target != self._target:
            self._target = target
            self._target_number += 1

    def start_empty(self) -> None:
        """Start without partitions; an empty target is already reconciled."""
        self.owned, self._number = {}, self._target_number

    @property
    def is_reconciled(self) -> bool:
        return self._number == self._target_number and self.owned == self._target

    def next_step(
        self, image: TopicImage, owned: Partitions, known_topics: Container[str] | None = None
    ) -> Reconciliation | None:
        """The next step towards the target; None if everything possible is done and reported. A known name stays, as
        a deleted topic is removed from the metadata first. `known_topics` have metadata; None: all."""
        if self._target is None:
            return None
        names = self._names
        by_id: dict[UUID, tuple[int, ...]] = {}
        for topic, partitions in self._target.items():
            name = image.names.get(topic)
            if name is not None and (known_topics is None or name in known_topics):
                names[topic] = name
            if topic in names:
                by_id[topic] = partitions
        if self._number == self._target_number and by_id == self.owned:
            return None
        assigned = frozenset(
            TopicPartition(names[topic], partition)
            for topic, partitions in by_id.items()
            for partition in partitions
        )
        return Reconciliation(
            number=self._target_number,
            by_id=by_id,
            assigned=assigned,
            added=assigned - owned,
            revoked=owned - assigned,
        )

    def complete(self, step: Reconciliation) -> None:
        self.owned, self._number = step.by_id, step.number
        self._names = {topic: name for topic, name in self._names.items() if topic in step.by_id}
        self.version += 1

    def release(self) -> None:
        """The member no longer owns anything."""
        self.owned = None
        self._number = 0

    def forget_target(self) -> None:
        """The member rejoins, and its heartbeat reports everything."""
        self._target = None
        self._target_number = 0
        self._names = {}


class _SentFields(NamedTuple):
    """The fields that the coordinator knows if the last heartbeat has arrived."""

    topics: tuple[str, ...]
    regex: str | None
    client_assignors: tuple[ClientAssignor, ...] | None
    owned: int


class HeartbeatFields:
    """The heartbeats of one member, in order."""

    __slots__ = ("_assignor", "_identity", "_member", "_plain", "_sent")

    def __init__(self, identity: Identity, member: str, assignor: str | None) -> None:
        self._identity, self._member, self._assignor = identity, member, assignor
        self._sent: _SentFields | None = None
        self._plain: ConsumerGroupHeartbeat | None = None

    def forget(self) -> None:
        """The last heartbeat failed: the next one reports everything."""
        self._sent = None

    def plain(self, epoch: int) -> ConsumerGroupHeartbeat:
        """A heartbeat without changes, as most are. Returns the same object while the epoch stays."""
        if self._plain is None or self._plain.epoch != epoch:
            identity = self._identity
            self._plain = ConsumerGroupHeartbeat(
                group=identity.group, member=self._member, epoch=epoch, instance=identity.instance
            )
        return self._plain

    def next(
        self,
        epoch: int,
        topics: tuple[str, ...],
        regex: str | None,
        client_assignors: tuple[ClientAssignor, ...] | None,
        assignments: Assignments,
        *,
        joins: bool,
    ) -> ConsumerGroupHeartbeat:
        """`regex` is None if the member subscribes to topics by name."""
        before, now = self._sent, _SentFields(topics, regex, client_assignors, assignments.version)
        self._sent = now
        if before == now and not joins:
            return self.plain(epoch)
        old_regex = None if before is None else before.regex
        if joins:
            before = None
        clears = before is None and self._identity.library.behavior.clears_regex
        new_regex = regex if joins else None
        if regex != old_regex or clears:
            new_regex = regex or ""
        return replace(
            self.plain(epoch),
            rack=self._identity.rack if joins else None,
            rebalance_timeout_ms=self._identity.settings.max_poll_interval_ms if before is None else -1,
            topics=topics if before is None or topics != before.topics else None,
            regex=new_regex,
            assignor=self._assignor if before is None else None,
            owned=(assignments.owned or {}) if before is None or now.owned != before.owned else None,
            client_assignors=None
            if before is not None and client_assignors == before.client_assignors
            else client_assignors,
        )
