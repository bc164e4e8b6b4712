"""Rules for targets, current assignments and reports of the consumer protocol (I3, I5, I12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.consumer.member import subscribed_names_of
from coordinator.engine.records import CurrentAssignmentValue, TopicPartitions
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.handover_rules import EpochRules, HandoverRules, partition_name
from coordinator.simulation.invariants import Facts
from coordinator.simulation.known_flaws import ASSIGNED_AFTER_REPORT, LATE_REPORT
from coordinator.simulation.process import NOTHING, Process


class ConsumerGroupRules:
    """I3: a heartbeat of the previous epoch, whose last answer may be lost, is accepted only if every partition that
    it reports is the member's according to the coordinator.

    I5: a target assignment assigns each partition of the subscribed topics to exactly one member, which subscribes to
    it.

    I12: an upgrade assigns a member no partition that it did not have.
    """

    def __init__(
        self,
        facts: Facts,
        epochs: EpochRules,
        handovers: HandoverRules,
        places: Callable[[TopicPartitions], Partitions],
    ) -> None:
        self._facts, self._epochs, self._handovers, self._places = facts, epochs, handovers, places
        self._kept_before: dict[str, Partitions] = {}
        """The partitions that a member had or was revoking before its last change, which its heartbeat may have
        caused."""

    def removed(self, member: str) -> Partitions:
        """The member has left the group. :return: the partitions that it had"""
        self._epochs.members.pop(member, None)
        self._handovers.kept.pop(member, None)
        self._handovers.removed.add(member)
        return self._handovers.has.pop(member, NOTHING)

    def assigned(
        self, member: str, current: CurrentAssignmentValue, had: Partitions | None, *, is_late: bool
    ) -> None:
        """`had`: in an upgrade, the partitions that the member, or the static member that it replaces, had before."""
        before, now = self._handovers.has.get(member, frozenset()), self._places(current.assigned)
        kept = now | self._places(current.revoking)
        released = self._handovers.kept.get(member, frozenset()) - kept
        process = self._running(member) if released else None
        for partition in released:
            self._handovers.released[member, partition] = (
                LATE_REPORT if is_late else _report_flaw(process, partition)
            )
        self._kept_before[member] = self._handovers.kept.get(member, frozenset())
        self._handovers.has[member], self._handovers.kept[member] = now, kept
        self._handovers.rejoins(member, now)
        if had is not None:
            # Unowned partitions may be assigned with the first epoch after the upgrade, in the same batch.
            taken = (now - had).intersection(
                chain.from_iterable(owned for who, owned in self._handovers.has.items() if who != member)
            )
            if taken:
                who = self._facts.name_of(member)
                self._facts.broken("I12", f"the upgrade assigns {partition_name(min(taken))} to {who}")
            before = had
        self._handovers.reassigned(member, now - before)
        self._epochs.member_written(member, current.epoch)

    def target_written(self) -> None:
        """A target was computed."""
        group, topics = self._facts.engine.state.groups.get(GROUP), self._facts.engine.topics
        if not isinstance(group, ConsumerGroup) or group.payloads:
            return
        count: Counter[TopicPartition] = Counter()
        subscribed: set[str] = set()
        for member in group.members.values():
            names = subscribed_names_of(member.metadata, group.regexes)
            subscribed |= names
            for partition in self._places(group.targets.get(member.id, {})):
                count[partition] += 1
                if partition.topic not in names:
                    who = self._facts.name_of(member.id)
                    self._facts.broken(
                        "I5",
                        f"{partition_name(partition)} is assigned to {who}, which does not subscribe to it",
                    )
        for name in sorted(subscribed & topics.topics.keys()):
            for number in range(topics.topics[name].partitions):
                owners = count[TopicPartition(name, number)]
                if owners != 1:
                    self._facts.broken("I5", f"the target assigns {name}-{number} to {owners} members")

    def reported(self, request: ConsumerGroupHeartbeat, answer: object) -> None:
        """A heartbeat that reports its member's partitions was answered."""
        if getattr(answer, "error", None) or not self._epochs.is_over(request):
            return
        known = [
            partitions.get(request.member, frozenset())
            for partitions in (self._handovers.kept, self._kept_before)
        ]
        unknown = self._places(request.owned or {}).difference(*known)
        if unknown:
            who = self._facts.name_of(request.member)
            self._facts.broken(
                "I3",
                f"{who} reports {partition_name(min(unknown))} at an old epoch, and is not fenced",
            )

    def _running(self, member: str) -> Process | None:
        """The process of the member."""
        processes = self._facts.processes.values()
        return next(
            (process for process in processes if process.member.member_id == member and process.is_running),
            None,
        )


def _report_flaw(process: Process | None, partition: TopicPartition) -> str:
    """The known flaw if a member was about to acquire the partition when it reported that it does not own it: its
    listener is running, has thrown, or was called while the report was in flight. Otherwise empty."""
    if process is None:
        return ""
    is_to_come = (
        partition not in process.owned
        or partition in process.member.acquiring
        or process.assigned_ms.get(partition, -1) >= process.reported_ms
    )
    return ASSIGNED_AFTER_REPORT if is_to_come else ""
