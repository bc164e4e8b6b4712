"""The consumers of partitions, and which of them the coordinator has removed: zombie overlaps and I1."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.engine import Engine
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.process import Process
from coordinator.simulation.result import ZombieOverlap
from coordinator.simulation.schedule import Schedule


class Consumption:
    """The processes that fetch each partition. A process is a zombie if the coordinator does not consider it a member
    of the current generation: it was removed or replaced, left temporarily (a static member of the consumer
    protocol), or the group has continued without it (a static member that did not rejoin, which the coordinator keeps
    as a member).

    Two processes that fetch one partition are an overlap if one of them is a zombie, and violate I1 otherwise.
    """

    def __init__(
        self,
        schedule: Schedule,
        engine: Callable[[], Engine],
        broken: Callable[[str, str, str], None],
        known_flaw: Callable[[Process, TopicPartition], str],
    ) -> None:
        self.overlaps: list[ZombieOverlap] = []
        self.joined: dict[str, int] = {}
        """By member id: the last generation in the coordinator's answers to the member."""
        self._schedule, self._engine = schedule, engine
        self._broken, self._known_flaw = broken, known_flaw
        self._fetchers: dict[TopicPartition, list[Process]] = {}
        self._open: dict[tuple[Process, Process, TopicPartition], int] = {}

    def is_zombie(self, process: Process) -> bool:
        group = self._engine().state.groups.get(GROUP)
        member = process.member.member_id
        if group is None or not group.has_member(member):
            return True
        if isinstance(group, ClassicGroup):
            return self.joined.get(member, -1) < group.generation
        return group.members[member].epoch < 0

    def fetching_changed(self, process: Process, before: Partitions) -> None:
        for each in sorted(before - process.fetching):
            self._fetchers[each].remove(process)
            for key in [key for key in self._open if key[2] == each and process in key[:2]]:
                self._close(key)
        for each in sorted(process.fetching - before):
            fetchers = self._fetchers.setdefault(each, [])
            for other in fetchers:
                self._open_overlap(process, other, each)
            fetchers.append(process)

    def overlaps_now(self) -> tuple[ZombieOverlap, ...]:
        """All overlaps; open ones last until now."""
        return (*self.overlaps, *(self._overlap(key) for key in self._open))

    def fetchers(self, partition: TopicPartition) -> list[Process]:
        return self._fetchers.get(partition, [])

    def _open_overlap(self, process: Process, other: Process, partition: TopicPartition) -> None:
        for zombie, lively in ((other, process), (process, other)):
            if self.is_zombie(zombie):
                self._open[zombie, lively, partition] = self._schedule.now_ms
                return
        self._broken(
            "I1",
            f"{partition.topic}-{partition.partition} is consumed by {other.name} and {process.name}, both members",
            self._known_flaw(other, partition) or self._known_flaw(process, partition),
        )

    def _close(self, key: tuple[Process, Process, TopicPartition]) -> None:
        self.overlaps.append(self._overlap(key))
        del self._open[key]

    def _overlap(self, key: tuple[Process, Process, TopicPartition]) -> ZombieOverlap:
        zombie, other, partition = key
        start_ms = self._open[key]
        return ZombieOverlap(
            member=zombie.name,
            other=other.name,
            topic=partition.topic,
            partition=partition.partition,
            start_s=start_ms / 1000,
            length_s=(self._schedule.now_ms - start_ms) / 1000,
        )
