"""An application of Kafka Streams: its threads are the members of the scenario. Each process has state on its disk,
which grows at a steady rate while one of its threads has the task: a copy of the changelog, up to its end. Threads send
it in their subscriptions, in a version that all know (KIP-268), and rejoin when their leader's assignment says so, as
StreamThread does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import NAMESPACE_OID, UUID, uuid5

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.conversation import GroupMetadata, MemberAssignment, MemberAssignor
from assignors.errors import AssignorFailedError
from assignors.model import DenseGroup, Result
from assignors.streams import STREAMS
from assignors.streams.assignor import StreamsGroupSpec
from assignors.streams.model import RUNNING, Task, TaskSettings
from assignors.streams.partition_groups import MissingSourceTopicsError, PartitionGroups, group_partitions
from assignors.streams.topology import TopologyText, TopologyTextError, parse_topology
from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientMember
from coordinator.errors import InvalidSetting
from coordinator.simulation.consumers import GROUP, NewMember, identity_of, subscription_of
from coordinator.simulation.scenario import Scenario, StreamsScript
from coordinator.simulation.scenario_checks import unknown
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.streams_leader import StreamsLeader
from groups.streams_releases import ThreadRelease
from groups.trees import Malformed
from wire.messages.streams_assignor import (
    NO_REBALANCE,
    StreamsAssignment,
    StreamsSubscription,
    TaskId,
    read_streams_assignment,
    write_streams_subscription,
)

COMMIT_INTERVAL_MS, POLL_MS = 30_000, 100
"""Defaults of Kafka Streams: commit.interval.ms and poll.ms. A thread checks after a poll whether it must rejoin."""


@dataclass(slots=True)
class _State:
    """The copy of a task's state on a disk: `offset` at `since_ms`, and more since then if a thread has the task."""

    offset: float
    since_ms: int
    thread: str | None = None
    is_active: bool = False


class StreamsApplication:
    """See the module. `tell` adds a line to the story."""

    def __init__(
        self,
        script: StreamsScript,
        schedule: Schedule,
        tell: Callable[[str, str], None],
        fresh_id: Callable[[], UUID],
        observed: StreamsGroupSpec | None = None,
    ) -> None:
        """`observed`: an application to start from, in place of the script's topology, settings and state; its threads
        have the names of members, its processes are those of the script, as UUIDs."""
        self._script, self._schedule, self._tell, self._observed = script, schedule, tell, observed
        self._fresh_id = fresh_id
        self._process_of = {thread: name for name, threads in script.processes.items() for thread in threads}
        self._ids: dict[tuple[str, int | None], UUID] = {}
        """By process and number of its start; without a number where it is the same after each."""
        self._id_of: dict[str, UUID] = {}  # The process id of each thread
        self._settings = settings_of(script) if observed is None else observed.settings
        self._disks: dict[str, dict[Task, _State]] = {name: {} for name in script.processes}
        self._starts: dict[str, int] = {}  # How often each thread has started
        self._due_ms: dict[str, int] = {}
        if observed is None:
            topology = parse_topology(script.topology)
            self._groups: Callable[[Mapping[str, int]], PartitionGroups] = lambda topics: partition_groups(
                topology, topics
            )
            self._stateful = {part.number for part in topology.subtopologies if part.stores}
            self._ends: Mapping[Task, int] = {}
        else:
            groups = PartitionGroups(tasks=observed.tasks, stateful=observed.stateful)
            self._groups = lambda _: groups
            self._stateful = {task.subtopology for task in observed.stateful}
            self._ends = observed.end_offset_sums or {}
            for thread in observed.threads:
                for task, offset in thread.offset_sums.items():
                    copied = self._end(task) if offset == RUNNING else max(0, offset)
                    state = _State(copied, schedule.now_ms, thread.id, is_active=offset == RUNNING)
                    self._disks[self._process_of[thread.id]][task] = state

    def make(self, new: NewMember) -> ClientMember:
        """The consumer of a thread. Raises InvalidSetting: as `make_member`, or its release does not start."""
        name, script = new.name, new.script
        try:
            release = ThreadRelease.of(script.release, script.upgrade_from)
        except ValueError as error:
            raise InvalidSetting(str(error)) from None
        if name in self._starts:
            self._stop(name)
        self._id_of[name] = self._process_id(name, release)
        self._starts[name] = self._starts.get(name, 0) + 1
        eager = frozenset({RebalanceProtocol.EAGER})
        assignor = Assignor(
            name=STREAMS,
            side=Side.CLIENT,
            leader=Leader.JAVA,
            protocols=eager if release.is_eager else eager | {RebalanceProtocol.COOPERATIVE},
            assign=self._assigned_by(name, release),
            at_member=lambda _: _Thread(self, name, release),
        )
        defaults = {
            "session.timeout.ms": str(release.session_timeout_ms),
            "auto.commit.interval.ms": str(COMMIT_INTERVAL_MS),
        }
        consumer = _StreamsConsumer(
            identity_of(replace(new, script=replace(script, config=defaults | dict(script.config)))),
            subscription_of(script),
            new.image,
            new.positions,
            assignors=(STREAMS,),
            custom=(assignor,),
        )
        consumer.follow_ups, consumer.thread = self._due_ms, name
        consumer.is_cooperative = not release.is_eager
        return consumer

    def _process_id(self, thread: str, release: ThreadRelease) -> UUID:
        """The id of the process with which the thread starts: the first one, a new one, or that on its disk."""
        process, number = self._process_of[thread], self._starts.get(thread, 0)
        keeps = release.keeps_process_id and bool(self._stateful)
        key = process, None if keeps else number
        if key not in self._ids:
            first = process_id(process) if self._observed is None else UUID(process)
            self._ids[key] = self._fresh_id() if number else first
        return self._ids[key]

    # The state of processes.

    def subscription(
        self, thread: str, release: ThreadRelease, version: int, unique: int
    ) -> StreamsSubscription:
        """What a thread sends: the tasks that it has, and for the first thread of its process those that no thread has.
        From 2.4 on an eager thread has closed its tasks when it rejoins, so none is running."""
        process = self._process_of[thread]
        is_first = min(self._script.processes[process]) == thread
        has_closed = release.is_eager and release.is_cooperative_leader
        sums: dict[TaskId, int] = {}
        for task, state in self._disks[process].items():
            offset = self._offset(task, state)
            if state.thread == thread or (state.thread is None and is_first):
                is_running = state.is_active and offset >= self._end(task) and not has_closed
                sums[TaskId(*task)] = RUNNING if is_running else offset
        return StreamsSubscription(
            version=version,
            newest_known=release.newest,
            process=self._id_of[thread],
            offset_sums=sums,
            unique=unique,
            error=0,
            tags={},
        )

    def _end(self, task: Task) -> int:
        return self._script.state if self._observed is None else self._ends.get(task, 0)

    def _offset(self, task: Task, state: _State) -> int:
        if state.thread is None:
            return int(state.offset)
        restored = (self._schedule.now_ms - state.since_ms) * self._script.restored_per_s / 1000
        return min(self._end(task), int(state.offset + restored))

    def assigned(self, thread: str, assignment: StreamsAssignment, upgrades_to: int | None) -> None:
        """The thread has these tasks from now on, and none else; it rejoins at once to send another version."""
        now_ms = self._schedule.now_ms
        active, standby = (
            sorted({Task(task.subtopology, task.partition) for task in tasks})
            for tasks in (assignment.active, assignment.standby)
        )
        at_ms = NO_REBALANCE if assignment.next_rebalance_ms is None else assignment.next_rebalance_ms
        disk = self._disks[self._process_of[thread]]
        stateful = [task for task in (*active, *standby) if task.subtopology in self._stateful]
        self._release(thread, stateful)
        for task in stateful:
            former = disk.get(task)
            offset = 0 if former is None else self._offset(task, former)
            disk[task] = _State(offset, now_ms, thread, is_active=task in active)
        self._due_ms.pop(thread, None)
        if upgrades_to is not None or at_ms != NO_REBALANCE:
            self._due_ms[thread] = max(0 if upgrades_to is not None else at_ms, now_ms + POLL_MS)
        self._tell(thread, _assignment_text(active, standby, at_ms, now_ms, upgrades_to))

    def _release(self, thread: str, kept: Sequence[Task] = ()) -> None:
        """No task but the `kept` ones is the thread's any more; their state stays on the disk."""
        for task, state in self._disks[self._process_of[thread]].items():
            if state.thread == thread and task not in kept:
                state.offset, state.thread, state.is_active = self._offset(task, state), None, False

    def _stop(self, thread: str) -> None:
        """The thread's earlier process of the operating system has ended."""
        self._release(thread)
        self._due_ms.pop(thread, None)

    def _assigned_by(self, thread: str, release: ThreadRelease) -> Callable[[DenseGroup], Result]:
        def assign(group: DenseGroup) -> Result:
            groups = self._groups({topic.name: topic.partitions for topic in group.spec.topics})
            leader = StreamsLeader(
                release=release,
                process=self._id_of[thread],
                groups=groups,
                end_offset_sums={task: self._end(task) for task in groups.stateful},
                settings=self._settings,
            )
            return leader.assign(group, self._schedule.now_ms)

        return assign


class _Thread(MemberAssignor):
    """What runs of the assignor at a thread."""

    def __init__(self, application: StreamsApplication, name: str, release: ThreadRelease) -> None:
        super().__init__({})
        self._application, self._name, self._release = application, name, release
        self._version, self._unique = release.sent, 0

    def subscription_user_data(self, _topics: Sequence[str], /) -> bytes:
        self._unique = (self._unique + 1) % 128
        return write_streams_subscription(
            self._application.subscription(self._name, self._release, self._version, self._unique)
        )

    def on_assignment(self, assignment: MemberAssignment, _group: GroupMetadata, /) -> None:
        """StreamsPartitionAssignor.maybeUpdateSubscriptionVersion: down to what all know, and up again after the last
        old member. Raises AssignorFailedError: the release cannot read this version."""
        if assignment.user_data is None:
            return
        read = read_streams_assignment(assignment.user_data)
        if read.version > self._release.newest:
            # A static thread gets the assignment of its newer predecessor (2.3.1 after 3.9.1, tried).
            raise AssignorFailedError(
                f"Unable to decode assignment data: used version: {read.version}; latest supported version: "
                f"{self._release.newest}"
            )
        common, changes = read.commonly_known, False
        if common is not None:  # none before version 3: a thread then keeps its own
            changes = common > self._version or read.version < self._version
            self._version = common if changes else self._version
        self._application.assigned(self._name, read, common if changes else None)


class _StreamsConsumer(ClassicConsumer):
    """The consumer of a thread, which calls enforceRebalance when the assignment's follow-up rebalance is due, and
    stays in the group when it closes."""

    leaves_when_closed = False
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


def _assignment_text(
    active: Sequence[Task], standby: Sequence[Task], at_ms: int, now_ms: int, upgrades_to: int | None
) -> str:
    parts = [f"active tasks {', '.join(map(str, active))}" if active else "no active task"]
    if standby:
        parts.append(f"copies of {', '.join(map(str, standby))}")
    if upgrades_to is not None:
        parts.append(f"rejoins at once with version {upgrades_to} of the data")
    elif at_ms != NO_REBALANCE:
        parts.append("rejoins at once" if at_ms <= now_ms else f"rejoins in {(at_ms - now_ms) / 1000:g} s")
    return f"gets {'; '.join(parts)}"
