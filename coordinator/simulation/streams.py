"""An application of Kafka Streams: its threads are the members of the scenario. Each process has state on its disk,
which grows at a steady rate while one of its threads has the task: a copy of the changelog, up to its end. Threads send
it in their subscriptions, and rejoin when their leader's assignment says so, as StreamThread does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_OID, UUID, uuid5

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.conversation import GroupMetadata, MemberAssignment, MemberAssignor
from assignors.model import DenseGroup, Result
from assignors.rules import from_named
from assignors.streams import STREAMS
from assignors.streams.assignor import StreamsGroupSpec, assign_tasks
from assignors.streams.model import RUNNING, StreamThread, Task, TaskSettings
from assignors.streams.partition_groups import MissingSourceTopicsError, PartitionGroups, group_partitions
from assignors.streams.topology import TopologyText, TopologyTextError, parse_topology
from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientMember
from coordinator.simulation.consumers import GROUP, NewMember, identity_of, subscription_of
from coordinator.simulation.scenario import Scenario, StreamsScript
from coordinator.simulation.scenario_checks import unknown
from coordinator.simulation.schedule import Schedule
from groups.trees import Malformed
from wire.messages.streams_assignor import (
    NEWEST_VERSION,
    NO_REBALANCE,
    StreamsAssignment,
    StreamsSubscription,
    TaskId,
    read_streams_assignment,
    read_streams_subscription,
    write_streams_assignment,
    write_streams_subscription,
)


@dataclass(slots=True)
class _State:
    """The copy of a task's state on a disk: `offset` at `since_ms`, and more since then if a thread has the task."""

    offset: float
    since_ms: int
    thread: str | None = None
    is_active: bool = False


class StreamsApplication:
    """See the module. `tell` adds a line to the story."""

    def __init__(self, script: StreamsScript, schedule: Schedule, tell: Callable[[str, str], None]) -> None:
        self._script, self._schedule, self._tell = script, schedule, tell
        self.topology = parse_topology(script.topology)
        self._process_of = {thread: name for name, threads in script.processes.items() for thread in threads}
        self._disks: dict[str, dict[Task, _State]] = {name: {} for name in script.processes}
        self._due_ms: dict[str, int] = {}

    def make(self, new: NewMember) -> ClientMember:
        """The consumer of a thread. Raises InvalidSetting: as `make_member`."""
        name = new.client_id
        self._stop(name)
        assignor = Assignor(
            name=STREAMS,
            side=Side.CLIENT,
            leader=Leader.JAVA,
            protocols=frozenset({RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER}),
            assign=self._assigned_by(name),
            at_member=lambda _: _Thread(self, name),
        )
        consumer = _StreamsConsumer(
            identity_of(new),
            subscription_of(new.script),
            new.image,
            new.position,
            assignors=(STREAMS,),
            custom=(assignor,),
            history=new.history,
        )
        consumer.follow_ups, consumer.thread = self._due_ms, name
        return consumer

    # The state of processes.

    def process_of(self, thread: str) -> str:
        return self._process_of[thread]

    def offset_sums(self, thread: str) -> dict[Task, int]:
        """What a thread reports: the tasks that it has, and for the first thread of its process those that no thread
        has."""
        process = self._process_of[thread]
        is_first = min(self._script.processes[process]) == thread
        sums: dict[Task, int] = {}
        for task, state in self._disks[process].items():
            offset = self._offset(state)
            if state.thread == thread or (state.thread is None and is_first):
                is_running = state.is_active and offset >= self._script.state
                sums[task] = RUNNING if is_running else offset
        return sums

    def _offset(self, state: _State) -> int:
        if state.thread is None:
            return int(state.offset)
        restored = (self._schedule.now_ms - state.since_ms) * self._script.restored_per_s / 1000
        return min(self._script.state, int(state.offset + restored))

    def assigned(self, thread: str, active: Sequence[Task], standby: Sequence[Task], at_ms: int) -> None:
        """The thread has these tasks from now on, and none else."""
        now_ms = self._schedule.now_ms
        disk = self._disks[self._process_of[thread]]
        stateful = [task for task in (*active, *standby) if self._is_stateful(task)]
        for task, state in disk.items():
            if state.thread == thread and task not in stateful:
                state.offset, state.thread, state.is_active = self._offset(state), None, False
        for task in stateful:
            former = disk.get(task)
            offset = 0 if former is None else self._offset(former)
            disk[task] = _State(offset, now_ms, thread, is_active=task in active)
        self._due_ms.pop(thread, None)
        if at_ms != NO_REBALANCE:
            self._due_ms[thread] = max(at_ms, now_ms)
        self._tell(thread, _assignment_text(active, standby, at_ms, now_ms))

    def _is_stateful(self, task: Task) -> bool:
        return any(part.number == task.subtopology and part.stores for part in self.topology.subtopologies)

    def _stop(self, thread: str) -> None:
        """The thread's earlier process of the operating system has ended: no task is its own any more."""
        for state in self._disks[self._process_of[thread]].values():
            if state.thread == thread:
                state.offset, state.thread, state.is_active = self._offset(state), None, False
        self._due_ms.pop(thread, None)

    # The leader.

    def _assigned_by(self, leader: str) -> Callable[[DenseGroup], Result]:
        def assign(group: DenseGroup) -> Result:
            groups = partition_groups(
                self.topology, {topic.name: topic.partitions for topic in group.spec.topics}
            )
            spec = StreamsGroupSpec(
                threads=tuple(
                    _thread(member.id, member.user_data or b"", member.owned.partitions)
                    for member in group.spec.members
                ),
                tasks=groups.tasks,
                stateful=groups.stateful,
                end_offset_sums=dict.fromkeys(groups.stateful, self._script.state),
                leader=process_id(self._process_of[leader]),
                settings=settings_of(self._script),
            )
            assignment = assign_tasks(spec)
            named: dict[str, dict[str, list[int]]] = {}
            data: dict[str, bytes] = {}
            for member, tasks in assignment.threads.items():
                places = sorted((place, task) for task in tasks.active for place in groups.tasks[task])
                named[member] = {}
                for (topic, number), _ in places:
                    named[member].setdefault(topic, []).append(number)
                after_ms = tasks.follow_up_ms
                data[member] = write_streams_assignment(
                    StreamsAssignment(
                        version=NEWEST_VERSION,
                        commonly_known=NEWEST_VERSION,
                        active=tuple(TaskId(*task) for _, task in places),
                        standby={TaskId(*task): tuple(sorted(groups.tasks[task])) for task in tasks.standby},
                        by_host={},
                        standby_by_host={},
                        error=0,
                        next_rebalance_ms=NO_REBALANCE
                        if after_ms is None
                        else 0
                        if after_ms == 0
                        else self._schedule.now_ms + after_ms,
                    )
                )
            return Result(assignment=from_named(STREAMS, group, named), user_data=data)

        return assign


class _Thread(MemberAssignor):
    """What runs of the assignor at a thread."""

    def __init__(self, application: StreamsApplication, name: str) -> None:
        super().__init__({})
        self._application, self._name = application, name

    def subscription_user_data(self, _topics: Sequence[str], /) -> bytes:
        application = self._application
        return write_streams_subscription(
            StreamsSubscription(
                version=NEWEST_VERSION,
                newest_known=NEWEST_VERSION,
                process=process_id(application.process_of(self._name)),
                offset_sums={
                    TaskId(*task): offset for task, offset in application.offset_sums(self._name).items()
                },
                unique=0,
                error=0,
                tags={},
            )
        )

    def on_assignment(self, assignment: MemberAssignment, _group: GroupMetadata, /) -> None:
        if assignment.user_data is None:
            return
        read = read_streams_assignment(assignment.user_data)
        active, standby = (
            sorted({Task(task.subtopology, task.partition) for task in tasks})
            for tasks in (read.active, read.standby)
        )
        at_ms = NO_REBALANCE if read.next_rebalance_ms is None else read.next_rebalance_ms
        self._application.assigned(self._name, active, standby, at_ms)


class _StreamsConsumer(ClassicConsumer):
    """The consumer of a thread, which calls enforceRebalance when the assignment's follow-up rebalance is due."""

    follow_ups: dict[str, int]
    """When threads of the application have to rejoin, in ms."""
    thread: str

    def next_deadline(self) -> int | None:
        usual_ms, due_ms = super().next_deadline(), self.follow_ups.get(self.thread)
        if due_ms is None or not self.in_poll or self._rejoins:
            return usual_ms
        return due_ms if usual_ms is None else min(usual_ms, due_ms)

    def wake(self, now_ms: int) -> None:
        due_ms = self.follow_ups.get(self.thread)
        if due_ms is not None and due_ms <= now_ms and self.in_poll and not self._rejoins:
            del self.follow_ups[self.thread]
            self.enforce_rebalance(now_ms)
        super().wake(now_ms)


SETTINGS = tuple(name.replace("_", ".") for name in TaskSettings.__slots__)


def check_streams(scenario: Scenario, script: StreamsScript) -> None:
    """Raises Malformed: with the path of the invalid value."""
    try:
        topology = parse_topology(script.topology)
    except TopologyTextError as error:
        raise Malformed(str(error), "streams", "topology") from None
    try:
        partition_groups(topology, scenario.topics)
    except MissingSourceTopicsError as error:
        raise Malformed(str(error), "topics") from None
    for name in script.settings:
        if name not in SETTINGS:
            raise Malformed(unknown("setting", name, SETTINGS), "streams", "settings", name)
    threads = [thread for threads in script.processes.values() for thread in threads]
    for process, members in script.processes.items():
        for member in members:
            if member not in scenario.members:
                raise Malformed(unknown("member", member, scenario.members), "streams", "processes", process)
            if threads.count(member) > 1:
                raise Malformed(f"{member} is in several processes", "streams", "processes", process)
    for member in scenario.members:
        if member not in threads:
            raise Malformed("is in no process of `streams`: all members are threads", "members", member)


def process_id(process: str) -> UUID:
    return uuid5(NAMESPACE_OID, process)


def settings_of(script: StreamsScript) -> TaskSettings:
    return TaskSettings(**{name.replace(".", "_"): value for name, value in script.settings.items()})


def partition_groups(topology: TopologyText, topics: Mapping[str, int]) -> PartitionGroups:
    """The tasks; every store has a changelog. Raises MissingSourceTopicsError."""
    changelogs = {f"{GROUP}-{store}-changelog": 1 for part in topology.subtopologies for store in part.stores}
    return group_partitions(topology, GROUP, {**changelogs, **topics})


def _thread(member: str, user_data: bytes, owned: Mapping[str, Sequence[int]]) -> StreamThread:
    read = read_streams_subscription(user_data)
    return StreamThread(
        id=member,
        process=read.process or UUID(int=0),
        owned=frozenset((topic, number) for topic, numbers in owned.items() for number in numbers),
        offset_sums={Task(task.subtopology, task.partition): sum_ for task, sum_ in read.offset_sums.items()},
    )


def _assignment_text(active: Sequence[Task], standby: Sequence[Task], at_ms: int, now_ms: int) -> str:
    parts = [f"active tasks {', '.join(map(str, active))}" if active else "no active task"]
    if standby:
        parts.append(f"copies of {', '.join(map(str, standby))}")
    if at_ms != NO_REBALANCE:
        parts.append("rejoins at once" if at_ms <= now_ms else f"rejoins in {(at_ms - now_ms) / 1000:g} s")
    return f"gets {'; '.join(parts)}"
