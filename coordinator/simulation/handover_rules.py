"""Rules for handing partitions over: the coordinator assigns none before its last owner has released it (I2)."""

from __future__ import annotations

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.facts import Facts
from coordinator.simulation.known_flaws import MISSED_REBALANCE, REJOINED_UNNOTICED, TOPIC_RECREATED
from coordinator.simulation.process import NOTHING


class HandoverRules:
    """I2: a partition is assigned to a member (by a leader, or in a member's current assignment) only when no other
    member owns it, except processes that the coordinator has removed.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.has: dict[str, Partitions] = {}
        """The partitions of each member of either protocol, according to the coordinator."""
        self.kept: dict[str, Partitions] = {}
        """The partitions that a consumer member has or is revoking."""
        self.recreated: set[TopicPartition] = set()
        """Partitions that were deleted, and may exist again."""
        self.released: dict[tuple[str, TopicPartition], str] = {}
        """The known flaw by which a consumer member counted as having released a partition; empty if it had."""
        self.removed: set[str] = set()
        """Removed members that have not rejoined."""
        self.rejoined: set[str] = set()
        """Removed members that have rejoined under the same id."""

    def partition_deleted(self, place: TopicPartition) -> None:
        """The partition was deleted: a new partition of its name has no owner yet.

        A member that is assigned it and does not know of the deletion will confuse it with the new partition.
        """
        for process in self._facts.processes.values():
            member = process.member.member_id
            if place in self.has.get(member, NOTHING) and place not in process.owned:
                self.released[member, place] = TOPIC_RECREATED
        self.recreated.add(place)
        for member, partitions in self.has.items():
            self.has[member] = partitions - {place}

    def rejoins(self, member: str, assigned: Partitions) -> None:
        """The member has an assignment; if it was removed before, it has rejoined."""
        if member in self.removed:
            self.removed.discard(member)
            self.rejoined.add(member)
            self._note_claims(member, assigned)

    def reassigned(self, member: str, partitions: Partitions) -> None:
        """I2: no other member may own these partitions."""
        if not partitions:
            return
        for place in partitions if self.released else ():
            if self.released.get((member, place)) in (TOPIC_RECREATED, MISSED_REBALANCE):
                del self.released[member, place]
        for process in self._facts.processes.values():
            if process.owned.isdisjoint(partitions) or process.member.member_id == member:
                continue
            taken = process.owned & partitions
            if self._facts.is_zombie(process):
                self._note_missed(process.member.member_id, taken)
            else:
                known = {self._facts.known_flaw(process, each) for each in taken}
                who = self._facts.name_of(member)
                self._facts.broken(
                    "I2",
                    f"{partition_name(min(taken))} is assigned to {who} while {process.name}, a member, still owns it",
                    "" if "" in known else min(known),
                )

    def _note_missed(self, zombie: str, taken: Partitions) -> None:
        """Note the partitions of a zombie that others are assigned: if it is still a member according to the
        coordinator, it will not be notified."""
        group = self._facts.engine.state.groups.get(GROUP)
        if isinstance(group, ClassicGroup) and group.has_member(zombie):
            self.released |= dict.fromkeys(((zombie, place) for place in taken), MISSED_REBALANCE)

    def _note_claims(self, member: str, assigned: Partitions) -> None:
        """Note the partitions that a removed member still considers its own when it rejoins."""
        for process in self._facts.processes.values():
            if process.is_running and process.member.member_id == member:
                for place in process.owned - assigned:
                    self.released[member, place] = REJOINED_UNNOTICED


def partition_name(place: TopicPartition) -> str:
    return f"{place.topic}-{place.partition}"
