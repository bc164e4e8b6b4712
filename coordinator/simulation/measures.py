"""The cost of a run, counted for its `Result`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from coordinator.consumer.outputs import (
    AssignorCall,
    Callback,
    Committed,
    Partitions,
    Raised,
    TopicPartition,
    without,
)
from coordinator.engine.records import ClassicGroupRecord, ConsumerMemberRecord, TargetEpochRecord
from coordinator.simulation.node import LogAppend
from coordinator.simulation.process import Process
from coordinator.simulation.read_positions import ReadRange
from coordinator.simulation.result import AssignorCalled, CallbackCall, Ownership, Presence, RaisedException
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.watcher import Watcher

_Owned: TypeAlias = tuple[Process, TopicPartition, int, int, int | None]
"""A process owned a partition from one time to another, in ms; since when it was a zombie then."""


class RecordsRead(Watcher):
    """The number of records that were read twice."""

    def __init__(self) -> None:
        self.read_twice = 0
        self._read: dict[TopicPartition, int] = {}
        """The offset up to which the readers have read a partition: every reader starts at or before it."""

    def read(self, ranges: Sequence[ReadRange]) -> None:
        for partition, start, end in ranges:
            known = self._read.get(partition, 0)
            if start < known:
                self.read_twice += min(end, known) - start
            if end > known:
                self._read[partition] = end

    def partition_deleted(self, partition: TopicPartition) -> None:
        self._read.pop(partition, None)


class Measures(RecordsRead):
    """The figures of a run. Times are in ms until they are returned."""

    def __init__(self, schedule: Schedule, names: Callable[[str], str] = str) -> None:
        """`names` returns a member's name by its id, or the id."""
        super().__init__()
        self.callbacks: list[CallbackCall] = []
        self.assignor_calls: list[AssignorCalled] = []
        self.thrown: list[RaisedException] = []
        self.presence: list[Presence] = []
        self.rebalances = 0
        self.moved = 0
        self.commits_refused = 0
        self.changed_ms = 0  # When an owner, an epoch, a callback or an exception last changed something
        self.zombies_since: dict[Process, int] = {}
        self._schedule, self._names = schedule, names
        self._counted = -1  # The last generation or target epoch that is counted
        self._owned: list[_Owned] = []  # Closed intervals
        self._since: dict[tuple[Process, TopicPartition], int] = {}
        self._owner: dict[TopicPartition, str] = {}  # The last owner of each partition
        self._owned_by: dict[TopicPartition, int] = {}
        self._ownerless: dict[TopicPartition, int] = {}
        self._without_owner_ms = 0
        self._started: dict[Process, int] = {}

    @property
    def without_owner_s(self) -> float:
        """The sum over all partitions, until now."""
        now_ms = self._schedule.now_ms
        waiting_ms = sum(now_ms - since_ms for since_ms in self._ownerless.values())
        return (self._without_owner_ms + waiting_ms) / 1000

    def owners_now(self) -> tuple[Ownership, ...]:
        """All intervals; open ones last until now."""
        now_ms = self._schedule.now_ms
        present = (
            (process, partition, start_ms, now_ms, self.zombies_since.get(process))
            for (process, partition), start_ms in self._since.items()
        )
        return tuple(_ownership(*owned) for owned in (*self._owned, *present))

    def presence_now(self) -> tuple[Presence, ...]:
        running = (self._present(process) for process in self._started)
        return tuple(sorted((*self.presence, *running), key=lambda span: (span.start_s, span.member)))

    def forget(self) -> None:
        """Drop closed intervals, and callbacks."""
        self._owned.clear()
        self.presence.clear()
        self.callbacks.clear()
        self.assignor_calls.clear()

    def started(self, process: Process) -> None:
        self._started[process] = self.changed_ms = self._schedule.now_ms

    def ended(self, process: Process) -> None:
        self.changed_ms = self._schedule.now_ms
        self.presence.append(self._present(process))
        del self._started[process]

    def owned_changed(self, process: Process, before: Partitions) -> None:
        now_ms = self.changed_ms = self._schedule.now_ms
        zombie_ms = self.zombies_since.get(process)
        for partition in without(before, process.owned):
            start_ms = self._since.pop((process, partition))
            self._owned.append((process, partition, start_ms, now_ms, zombie_ms))
            self._owned_by[partition] -= 1
            if not self._owned_by[partition]:
                self._ownerless[partition] = now_ms
        for partition in without(process.owned, before):
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

    def assignor_called(self, process: Process, call: AssignorCall) -> None:
        members = tuple(share._replace(member=self._names(share.member)) for share in call.members)
        self.assignor_calls.append(
            AssignorCalled(
                at_s=self._schedule.now_ms / 1000,
                callbacks_before=len(self.callbacks),
                member=process.name,
                call=replace(call, members=members),
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

    def partition_deleted(self, partition: TopicPartition) -> None:
        super().partition_deleted(partition)
        ownerless_ms = self._ownerless.pop(partition, None)
        if ownerless_ms is not None:
            self._without_owner_ms += self._schedule.now_ms - ownerless_ms

    def appended(self, batch: LogAppend) -> None:
        for record in () if batch.is_commit else batch.records:
            if type(record) is ClassicGroupRecord and record.value is not None and record.value.members:
                self._count(record.value.generation)
            elif type(record) is TargetEpochRecord and record.value is not None and not _is_emptied(batch):
                self._count(record.value.epoch)

    def _count(self, number: int) -> None:
        if number != self._counted:
            self._counted = number
            self.rebalances += 1
            self.changed_ms = self._schedule.now_ms

    def _present(self, process: Process) -> Presence:
        start_s, end_s = self._started[process] / 1000, self._schedule.now_ms / 1000
        return Presence(member=process.name, start_s=start_s, end_s=end_s)


def _ownership(
    process: Process, partition: TopicPartition, start_ms: int, end_ms: int, zombie_ms: int | None
) -> Ownership:
    return Ownership(
        member=process.name,
        topic=partition.topic,
        partition=partition.partition,
        start_s=start_ms / 1000,
        end_s=end_ms / 1000,
        zombie_from_s=None if zombie_ms is None else max(zombie_ms, start_ms) / 1000,
    )


def _is_emptied(batch: LogAppend) -> bool:
    """Whether the last member leaves: the assignment epoch follows, and no target is computed (KAFKA-20442)."""
    removes = any(type(record) is ConsumerMemberRecord and record.value is None for record in batch.records)
    target = batch.records[-1]
    return removes and type(target) is TargetEpochRecord and not (target.value and target.value.assigned_ms)
