"""What each member has by the coordinator, of either protocol, and whether its last owner had given it up (I2)."""

from __future__ import annotations

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.facts import Facts
from coordinator.simulation.known_flaws import CREATED_ANEW, MISSED_REBALANCE, REJOINED_UNNOTICED
from coordinator.simulation.process import NOTHING


class HandoverRules:
    """I2: a partition is given to a member (by a leader's assignment, or in a member's current assignment) only when
    nobody else takes it for its own, but for processes that the coordinator has put out.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.has: dict[str, Partitions] = {}
        """What a member has by the coordinator, of either protocol."""
        self.kept: dict[str, Partitions] = {}
        """What a member of the consumer protocol has or is giving up."""
        self.anew: set[TopicPartition] = set()
        """Partitions that were deleted, and may be there again."""
        self.released: dict[tuple[str, TopicPartition], str] = {}
        """By which known flaw a member of the consumer protocol was last taken for having given up a partition; empty
        where it had."""
        self.removed: set[str] = set()
        """Members that were removed and are not there again."""
        self.rejoined: set[str] = set()
        """Members that were removed and are there again under the same id."""

    def gone(self, place: TopicPartition) -> None:
        """The partition was deleted: another one of its name is nobody's yet.

        Who is assigned it and has not heard so yet will take the other one for it.
        """
        for process in self._facts.processes.values():
            member = process.member.member_id
            if place in self.has.get(member, NOTHING) and place not in process.owned:
                self.released[member, place] = CREATED_ANEW
        self.anew.add(place)
        for member, partitions in self.has.items():
            self.has[member] = partitions - {place}

    def rejoins(self, member: str, assigned: Partitions) -> None:
        """The member has an assignment; where it was removed before, it is there again."""
        if member in self.removed:
            self.removed.discard(member)
            self.rejoined.add(member)
            self._note_claims(member, assigned)

    def given_on(self, member: str, partitions: Partitions) -> None:
        """I2: who else takes them for its own?"""
        if not partitions:
            return
        for place in partitions if self.released else ():
            if self.released.get((member, place)) in (CREATED_ANEW, MISSED_REBALANCE):
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
                    f"{partition_name(min(taken))} is given to {who} while {process.name}, a member, still owns it",
                    "" if "" in known else min(known),
                )

    def _note_missed(self, zombie: str, taken: Partitions) -> None:
        """Others are given what it owns; where it is in the group's books nevertheless, it will not be told so."""
        group = self._facts.engine.state.groups.get(GROUP)
        if isinstance(group, ClassicGroup) and group.has_member(zombie):
            self.released |= dict.fromkeys(((zombie, place) for place in taken), MISSED_REBALANCE)

    def _note_claims(self, member: str, assigned: Partitions) -> None:
        """What a member owns, by its own view, that was removed and joins again."""
        for process in self._facts.processes.values():
            if process.is_running and process.member.member_id == member:
                for place in process.owned - assigned:
                    self.released[member, place] = REJOINED_UNNOTICED


def partition_name(place: TopicPartition) -> str:
    return f"{place.topic}-{place.partition}"
