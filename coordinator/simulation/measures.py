"""The cost of a run, counted for its `Result`; and the consumers of each partition: zombie overlaps and I1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coordinator.consumer.outputs import Callback, Committed, Partitions, Raised, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.engine import Engine
from coordinator.engine.records import (
    ClassicGroupRecord,
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    OffsetRecord,
    Record,
    TargetEpochRecord,
    TargetMemberRecord,
)
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.node import Node
from coordinator.simulation.process import Process
from coordinator.simulation.result import CallbackCall, Ownership, Presence, RaisedException, ZombieOverlap
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.watcher import Answering, Batch, Facts, Watcher


class Measures(Watcher):
    """The figures of a run. Times are in ms until they are returned."""

    def __init__(self, schedule: Schedule) -> None:
        self.callbacks: list[CallbackCall] = []
        self.thrown: list[RaisedException] = []
        self.owners: list[Ownership] = []
        self.presence: list[Presence] = []
        self.rebalances = 0
        self.moved = 0
        self.read_twice = 0
        self.commits_refused = 0
        self.changed_ms = 0
        """When an owner, an epoch, a callback or an exception last changed something."""
        self.zombies_since: dict[Process, int] = {}
        self._schedule = schedule
        self._counted = -1
        """The last generation or target epoch that is counted."""
        self._since: dict[tuple[Process, TopicPartition], int] = {}
        self._owner: dict[TopicPartition, str] = {}
        """The last owner of each partition."""
        self._owned_by: dict[TopicPartition, int] = {}
        self._ownerless: dict[TopicPartition, int] = {}
        self._without_owner_ms = 0
        self._read: dict[TopicPartition, int] = {}
        """The offset up to which the readers have read a partition: every reader starts at or before it."""
        self._started: dict[Process, int] = {}

    @property
    def without_owner_s(self) -> float:
        """The sum over all partitions, until now."""
        now_ms = self._schedule.now_ms
        waiting_ms = sum(now_ms - since_ms for since_ms in self._ownerless.values())
        return (self._without_owner_ms + waiting_ms) / 1000

    def owners_now(self) -> tuple[Ownership, ...]:
        """All intervals; open ones last until now."""
        return (*self.owners, *(self._ownership(*key) for key in self._since))

    def presence_now(self) -> tuple[Presence, ...]:
        running = (self._present(process) for process in self._started)
        return tuple(sorted((*self.presence, *running), key=lambda each: (each.start_s, each.member)))

    def forget(self) -> None:
        """Drop closed intervals, and callbacks."""
        self.owners.clear()
        self.presence.clear()
        self.callbacks.clear()

    def started(self, process: Process) -> None:
        self._started[process] = self.changed_ms = self._schedule.now_ms

    def ended(self, process: Process) -> None:
        self.changed_ms = self._schedule.now_ms
        self.presence.append(self._present(process))
        del self._started[process]

    def owned_changed(self, process: Process, before: Partitions) -> None:
        now_ms = self.changed_ms = self._schedule.now_ms
        for partition in sorted(before - process.owned):
            self.owners.append(self._ownership(process, partition))
            del self._since[process, partition]
            self._owned_by[partition] -= 1
            if not self._owned_by[partition]:
                self._ownerless[partition] = now_ms
        for partition in sorted(process.owned - before):
            self._since[process, partition] = now_ms
            self._owned_by[partition] = self._owned_by.get(partition, 0) + 1
            ownerless_ms = self._ownerless.pop(partition, None)
            if ownerless_ms is not None:
                self._without_owner_ms += now_ms - ownerless_ms
            if self._owner.setdefault(partition, process.name) != process.name:
                self.moved += 1
                self._owner[partition] = process.name

    def epoch_changed(self, _process: Process, _before: int) -> None:
        self.changed_ms = self._schedule.now_ms

    def calling(self, process: Process, callback: Callback) -> None:
        self.changed_ms = self._schedule.now_ms
        self.callbacks.append(
            CallbackCall(
                at_s=self._schedule.now_ms / 1000,
                member=process.name,
                kind=callback.kind,
                partitions=callback.partitions,
            )
        )

    def called_back(self, _process: Process, _callback: Callback, _threw: bool) -> None:
        self.changed_ms = self._schedule.now_ms

    def committed(self, _process: Process, committed: Committed) -> None:
        self.commits_refused += bool(committed.error)

    def raised(self, process: Process, raised: Raised) -> None:
        self.changed_ms = self._schedule.now_ms
        self.thrown.append(
            RaisedException(
                at_s=self._schedule.now_ms / 1000,
                member=process.name,
                error=raised.error,
                message=raised.message,
            )
        )

    def read(self, partition: TopicPartition, start: int, end: int) -> None:
        """An application received records of a partition, from `start` up to before `end`."""
        known = self._read.get(partition, 0)
        if start < known:
            self.read_twice += min(end, known) - start
        if end > known:
            self._read[partition] = end

    def partition_deleted(self, partition: TopicPartition) -> None:
        self._read.pop(partition, None)
        ownerless_ms = self._ownerless.pop(partition, None)
        if ownerless_ms is not None:
            self._without_owner_ms += self._schedule.now_ms - ownerless_ms

    def appended(self, batch: Batch) -> None:
        for record in batch.records:
            if type(record) is ClassicGroupRecord and record.value is not None and record.value.members:
                self._count(record.value.generation)
            elif type(record) is TargetEpochRecord and record.value is not None:
                self._count(record.value.epoch)

    def _count(self, number: int) -> None:
        if number != self._counted:
            self._counted = number
            self.rebalances += 1
            self.changed_ms = self._schedule.now_ms

    def _ownership(self, process: Process, partition: TopicPartition) -> Ownership:
        start_ms, zombie_ms = self._since[process, partition], self.zombies_since.get(process)
        return Ownership(
            member=process.name,
            topic=partition.topic,
            partition=partition.partition,
            start_s=start_ms / 1000,
            end_s=self._schedule.now_ms / 1000,
            zombie_from_s=None if zombie_ms is None else max(zombie_ms, start_ms) / 1000,
        )

    def _present(self, process: Process) -> Presence:
        return Presence(
            member=process.name,
            start_s=self._started[process] / 1000,
            end_s=self._schedule.now_ms / 1000,
        )


class Consumption(Watcher):
    """The processes that fetch each partition. A process is a zombie if the coordinator does not consider it a member
    of the current generation: it was removed or replaced, left temporarily (a static member of the consumer
    protocol), or the group has continued without it (a static member that did not rejoin, which the coordinator keeps
    as a member).

    Two processes that fetch one partition are an overlap if one of them is a zombie, and violate I1 otherwise.
    """

    def __init__(self, facts: Facts) -> None:
        self.overlaps: list[ZombieOverlap] = []
        self.joined: dict[str, int] = {}
        """By member id: the last generation in the coordinator's answers to the member."""
        self._facts = facts
        self._has_new_authority = False
        """Whether no process has been judged since another node has loaded the group."""
        self._fetchers: dict[TopicPartition, list[Process]] = {}
        self._open: dict[tuple[Process, Process, TopicPartition], int] = {}

    def is_zombie(self, process: Process) -> bool:
        group = self._facts.engine.state.groups.get(GROUP)
        member = process.member.member_id
        if group is None or not group.has_member(member):
            return True
        if isinstance(group, ClassicGroup):
            return self.joined.get(member, -1) < group.generation
        return group.members[member].epoch < 0

    def overlaps_now(self) -> tuple[ZombieOverlap, ...]:
        """All overlaps; open ones last until now."""
        return (*self.overlaps, *(self._overlap(key) for key in self._open))

    def replayed(self, _node: Node, _before: Engine | None) -> None:
        self._has_new_authority = True

    def appended(self, batch: Batch) -> None:
        if type(batch.records[0]) is not OffsetRecord:
            for process in self._affected(batch.records):
                if process.owned:
                    self._judge(process)

    def answering(self, answering: Answering) -> None:
        answer = answering.answer
        if (
            type(answer) is JoinGroupAnswer
            and not answer.error
            and answering.node.engine is self._facts.engine
        ):
            self.joined[answer.member] = answer.generation

    def owned_changed(self, process: Process, _before: Partitions) -> None:
        if process.owned:
            self._judge(process)
        else:
            self._facts.measures.zombies_since.pop(process, None)

    def fetching_changed(self, process: Process, before: Partitions) -> None:
        for partition in sorted(before - process.fetching):
            self._fetchers[partition].remove(process)
            for key in [key for key in self._open if key[2] == partition and process in key[:2]]:
                self.overlaps.append(self._overlap(key))
                del self._open[key]
        for partition in sorted(process.fetching - before):
            fetchers = self._fetchers.setdefault(partition, [])
            for other in fetchers:
                self._open_overlap(process, other, partition)
            fetchers.append(process)

    def _affected(self, records: Sequence[Record]) -> Iterable[Process]:
        """Processes that may have become a zombie by the records, or stopped being one. These are all processes,
        unless the records concern only members of a consumer group."""
        processes = self._facts.processes
        members = [record.member for record in records if isinstance(record, _OF_MEMBERS)]
        if len(members) < len(records) or self._has_new_authority:
            self._has_new_authority = False
            return processes.values()
        names = dict.fromkeys(map(self._facts.name_of, members))
        return [processes[name] for name in names if name in processes]

    def _judge(self, process: Process) -> None:
        """Record since when a process has been a zombie."""
        since = self._facts.measures.zombies_since
        if not self.is_zombie(process):
            since.pop(process, None)
        elif process not in since:
            since[process] = self._facts.schedule.now_ms

    def _open_overlap(self, process: Process, other: Process, partition: TopicPartition) -> None:
        for zombie, lively in ((other, process), (process, other)):
            if self.is_zombie(zombie):
                self._open[zombie, lively, partition] = self._facts.schedule.now_ms
                return
        self._facts.broken(
            "I1",
            f"{partition.topic}-{partition.partition} is consumed by {other.name} and {process.name}, both members",
            self._facts.known_flaw(other, partition) or self._facts.known_flaw(process, partition),
        )

    def _overlap(self, key: tuple[Process, Process, TopicPartition]) -> ZombieOverlap:
        zombie, other, partition = key
        start_ms = self._open[key]
        return ZombieOverlap(
            member=zombie.name,
            other=other.name,
            topic=partition.topic,
            partition=partition.partition,
            start_s=start_ms / 1000,
            length_s=(self._facts.schedule.now_ms - start_ms) / 1000,
        )


_OF_MEMBERS = (ConsumerMemberRecord, CurrentAssignmentRecord, TargetMemberRecord)
