"""The consumers of partitions, and which of them the coordinator has removed: zombie overlaps and I1."""

from collections.abc import Iterable, Sequence

from coordinator.consumer.outputs import Partitions, TopicPartition, without
from coordinator.engine import records as logged
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.engine import Engine
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.invariants import Facts
from coordinator.simulation.node import Answering, CoordinatorNode, LogAppend
from coordinator.simulation.process import Process
from coordinator.simulation.result import ZombieOverlap
from coordinator.simulation.watcher import Watcher


class Consumption(Watcher):
    """The processes that fetch each partition. A process is a zombie if it is no member of the current generation:
    removed or replaced, left temporarily (static, consumer protocol), or not rejoined in time (static, classic). Two
    that fetch one partition are an overlap if one of them is a zombie, and violate I1 otherwise."""

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

    def replayed(self, _node: CoordinatorNode, _before: Engine | None) -> None:
        self._has_new_authority = True

    def appended(self, batch: LogAppend) -> None:
        if type(batch.records[0]) is not logged.OffsetRecord:
            for process in self._affected(batch.records):
                if process.owned:
                    self._judge(process)

    def answering(self, answering: Answering) -> None:
        answer, node = answering.answer, answering.node
        if type(answer) is JoinGroupAnswer and not answer.error and node.engine is self._facts.engine:
            self.joined[answer.member] = answer.generation

    def owned_changed(self, process: Process, _before: Partitions) -> None:
        if process.owned:
            self._judge(process)
        else:
            self._facts.measures.zombies_since.pop(process, None)

    def fetching_changed(self, process: Process, before: Partitions) -> None:
        for partition in without(before, process.fetching):
            self._fetchers[partition].remove(process)
            for key in [key for key in self._open if key[2] == partition and process in key[:2]]:
                self.overlaps.append(self._overlap(key))
                del self._open[key]
        for partition in without(process.fetching, before):
            fetchers = self._fetchers.setdefault(partition, [])
            for other in fetchers:
                self._open_overlap(process, other, partition)
            fetchers.append(process)

    def _affected(self, records: Sequence[logged.Record]) -> Iterable[Process]:
        """Processes that may have become a zombie by the records, or stopped being one."""
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
        flaw = self._facts.known_flaw(other, partition) or self._facts.known_flaw(process, partition)
        who = f"consumed by {other.name} and {process.name}, both members"
        self._facts.broken("I1", f"{partition.topic}-{partition.partition} is {who}", flaw)

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


_OF_MEMBERS = (logged.ConsumerMemberRecord, logged.CurrentAssignmentRecord, logged.TargetMemberRecord)
