"""Epochs are in order (I3), and no partition is assigned before its last owner has released it (I2)."""

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.calls import AnyRequest
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.invariants import Facts
from coordinator.simulation.known_flaws import MISSED_REBALANCE, REJOINED_UNNOTICED, TOPIC_RECREATED
from coordinator.simulation.process import NOTHING


class EpochRules:
    """I3 for the coordinator: member epoch ≤ assignment epoch ≤ group epoch; none decreases, nor does a generation,
    unless the other protocol reuses an empty group."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.generation = 0  # The classic group's last generation that was written
        self.members: dict[str, int] = {}  # The epoch of each member of the consumer group
        self._group = self._target = 0
        self._timely: object = None  # The last heartbeat at its member's epoch that advanced the member

    def upgraded(self) -> None:
        """A consumer group was created."""
        self._group = self._target = 0

    def deleted(self) -> None:
        """The consumer group was deleted."""
        self.generation = self._group = self._target = 0
        self.members.clear()

    def group_written(self, epoch: int) -> None:
        self._group = self._grown("group epoch", self._group, epoch)

    def target_written(self, epoch: int) -> None:
        self._target = self._grown("assignment epoch", self._target, epoch)

    def generation_written(self, generation: int, *, starts_over: bool) -> None:
        self.generation = self._grown("generation", 0 if starts_over else self.generation, generation)

    def member_written(self, member: str, epoch: int) -> None:
        if epoch <= 0:
            return
        who = self._facts.name_of(member)
        if epoch > max(self._target, 1):  # a group starts with an empty target of epoch 1
            self._facts.broken("I3", f"{who} is at epoch {epoch}, but the target at {self._target}")
        self._grown(f"epoch of {who}", self.members.get(member, 0), epoch)
        self.members[member] = epoch

    def batch_written(self) -> None:
        """All records of a batch were written."""
        if self._target > self._group:
            self._facts.broken("I3", f"assignment epoch {self._target} is above group epoch {self._group}")

    def moves(self, request: AnyRequest | None) -> None:
        """Records of this request are about to be written."""
        if type(request) is ConsumerGroupHeartbeat and request.epoch == self.members.get(request.member, 0):
            self._timely = request

    def is_over(self, request: ConsumerGroupHeartbeat) -> bool:
        """Whether the heartbeat has an epoch that its member had already left."""
        return 0 < request.epoch < self.members.get(request.member, 0) and request is not self._timely

    def _grown(self, what: str, before: int, now: int) -> int:
        if now < before:
            self._facts.broken("I3", f"{what} decreases from {before} to {now}")
        return now


class HandoverRules:
    """I2: a partition is assigned only when no other member owns it, except removed processes."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.has: dict[str, Partitions] = {}
        """The partitions of each member of either protocol, according to the coordinator."""
        self.kept: dict[str, Partitions] = {}  # The partitions that a consumer member has or is revoking
        self.recreated: set[TopicPartition] = set()  # Partitions that were deleted, and may exist again
        self.released: dict[tuple[str, TopicPartition], str] = {}
        """The known flaw by which a consumer member counted as having released a partition; empty if it had."""
        self.removed: set[str] = set()  # Removed members that have not rejoined
        self.rejoined: set[str] = set()  # Removed members that have rejoined under the same id

    def partition_deleted(self, partition: TopicPartition) -> None:
        """A new partition of its name has no owner yet; members that miss the deletion confuse them."""
        for process in self._facts.processes.values():
            member = process.member.member_id
            if partition in self.has.get(member, NOTHING) and partition not in process.owned:
                self.released[member, partition] = TOPIC_RECREATED
        self.recreated.add(partition)
        for assignments in (self.has, self.kept):
            for member, partitions in assignments.items():
                assignments[member] = partitions - {partition}

    def of_deleted_topics(self, member: str, partitions: Partitions) -> Partitions:
        """The `partitions` that are assigned to a member by the id of a deleted topic."""
        kept = self.kept.get(member)
        return NOTHING if kept is None else partitions & self.recreated - kept

    def rejoins(self, member: str, assigned: Partitions) -> None:
        """The member has an assignment; if it was removed before, it has rejoined."""
        if member in self.removed:
            self.removed.discard(member)
            self.rejoined.add(member)
            for process in self._facts.processes.values():
                if process.is_running and process.member.member_id == member:
                    for partition in process.owned - assigned:  # it still considers them its own
                        self.released[member, partition] = REJOINED_UNNOTICED

    def reassigned(self, member: str, partitions: Partitions) -> None:
        """I2: no other member may own these partitions."""
        if not partitions:
            return
        for partition in partitions if self.released else ():
            if self.released.get((member, partition)) in (TOPIC_RECREATED, MISSED_REBALANCE):
                del self.released[member, partition]
        for process in self._facts.processes.values():
            if process.owned.isdisjoint(partitions) or process.member.member_id == member:
                continue
            taken = process.owned & partitions
            if self._facts.is_zombie(process):
                # If it is still a member, it will not be notified.
                group, zombie = self._facts.engine.state.groups.get(GROUP), process.member.member_id
                if isinstance(group, ClassicGroup) and group.has_member(zombie):
                    missed = ((zombie, partition) for partition in taken)
                    self.released |= dict.fromkeys(missed, MISSED_REBALANCE)
            else:
                known = {self._facts.known_flaw(process, partition) for partition in taken}
                who = self._facts.name_of(member)
                self._facts.broken(
                    "I2",
                    f"{partition_name(min(taken))} is assigned to {who} while {process.name}, a member, still owns it",
                    "" if "" in known else min(known),
                )


def partition_name(partition: TopicPartition) -> str:
    return f"{partition.topic}-{partition.partition}"
