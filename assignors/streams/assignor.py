"""The assignment of a Streams group: what StreamsPartitionAssignor.assign returns at the leader.

Theory of operation. The threads of a process are one client. A task assignor gives every task to a client, active or as
a standby (`high_availability`, `sticky`); then each client's tasks go to its threads (`share_out`). An active task
whose partitions another thread still owns is left out of the assignment until a follow-up rebalance, due at once:
cooperative rebalancing. A thread that had its state keeps it as a standby task meanwhile.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from assignors.errors import AssignorFailedError
from assignors.java.hash_map import string_order, uuid_order
from assignors.java.priority_queue import PriorityQueue
from assignors.streams import high_availability, sticky
from assignors.streams.model import (
    RUNNING,
    UNKNOWN_OFFSET_SUM,
    StreamsClient,
    StreamThread,
    Task,
    TaskSettings,
    TopicPartition,
    hash_order,
    subtopology_order,
)

TasksByThread = dict[str, list[Task]]


def share_out(
    client: StreamsClient, threads: Sequence[StreamThread]
) -> tuple[TasksByThread, TasksByThread, TasksByThread]:
    """The stateful active, the standby, and the stateless active tasks of each thread. All three are counted together:
    no thread has two tasks more than another, unless standby tasks are too few."""
    ids = sorted(thread.id for thread in threads)
    load = dict.fromkeys(ids, 0)
    previous = {thread.id: previous_by_lag(client, thread) for thread in threads}
    stateful = [task for task in sorted(client.active) if task in client.lags]
    stateless = [task for task in sorted(client.active) if task not in client.lags]
    return (
        _among(hash_order(stateful), ids, previous, load),
        _among(sorted(client.standby), ids, previous, load),
        _among(hash_order(stateless), ids, {}, load),
    )


def previous_by_lag(client: StreamsClient, thread: StreamThread) -> list[Task]:
    """The stateful tasks that the thread had, the most caught up first."""
    known = (task for task in thread.offset_sums if task in client.lags)
    return sorted(known, key=lambda task: (client.lags[task], task))


def _among(
    tasks: Sequence[Task],
    threads: Sequence[str],
    previous: Mapping[str, Sequence[Task]],
    load: dict[str, int],
) -> TasksByThread:
    """Assign `tasks`, in the order of Java's set. Each thread keeps its previous ones up to an even share; the rest
    goes in turns to those that have less, by ascending task, which spreads subtopologies. `load`, the tasks of each
    thread so far, grows."""
    shares: TasksByThread = {thread: [] for thread in threads}
    least = (sum(load.values()) + len(tasks)) // len(threads)
    # The last tasks go out in the order of the queue's array, which depends on that of Java's set.
    left = PriorityQueue(lambda task: task, tasks)
    skipped: dict[Task, str] = {}  # the last previous owner that had its share without the task
    unfilled: deque[str] = deque()
    for thread in threads if len(left) else ():
        room = least - load[thread]
        for task in previous.get(thread, ()):
            if task not in left:
                continue
            if len(shares[thread]) < room:
                shares[thread].append(task)
                left.remove(task)
            else:
                skipped[task] = thread
        if len(shares[thread]) < room:
            unfilled.append(thread)
    while unfilled:
        thread, following = unfilled.popleft(), left.poll()
        if following is None:
            raise ValueError("the tasks do not suffice for an even share of each thread")
        shares[thread].append(following)
        if len(shares[thread]) + load[thread] < least:
            unfilled.append(thread)
    if len(left):
        at_least = [thread for thread in threads if len(shares[thread]) + load[thread] == least]
        for task, thread in sorted(skipped.items()):
            if thread in at_least and task in left:
                shares[thread].append(task)
                left.remove(task)
                at_least.remove(thread)
        for task, thread in zip(left, at_least, strict=False):
            shares[thread].append(task)
    for thread, own in shares.items():
        load[thread] += len(own)
    return shares


class TaskAssignorName(Enum):
    HIGH_AVAILABILITY = "high-availability"
    STICKY = "sticky"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsGroupSpec:
    """The group to assign. `threads` are in the order of the JoinGroup response."""

    threads: tuple[StreamThread, ...]
    tasks: Mapping[Task, frozenset[TopicPartition]]
    """Each task with its source partitions, subtopologies in ascending order."""
    stateful: frozenset[Task] = frozenset()  # the tasks with a changelog
    end_offset_sums: Mapping[Task, int] | None = field(default_factory=dict)
    """By stateful task: the sum of the end offsets of its changelogs, by default 0. None: the leader cannot fetch them,
    so it keeps the previous assignment."""
    leader: UUID | None = None  # the process of the leader; None: unknown
    settings: TaskSettings = field(default_factory=TaskSettings)
    assignor: TaskAssignorName = TaskAssignorName.HIGH_AVAILABILITY


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTasks:
    """The tasks of one thread, ascending."""

    active: tuple[Task, ...] = ()
    standby: tuple[Task, ...] = ()
    """With warm-ups, and with tasks in `awaited` whose state the thread had."""
    warmup: tuple[
        Task, ...
    ] = ()  # those in `standby` that are to become active here, or to replace a standby
    awaited: tuple[Task, ...] = ()  # active tasks that another thread has to revoke first
    follow_up_ms: int | None = None
    """When the thread asks for the next rebalance: 0, at once, as it awaits tasks; or after the probing interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAssignment:
    threads: Mapping[str, ThreadTasks]  # by member id
    lags: Mapping[UUID, Mapping[Task, int]]
    """By process and stateful task; the end offset sum where it has no state."""
    is_probing: bool  # the leader's process is to ask for a probing rebalance

    @property
    def follow_up_ms(self) -> int | None:
        due = [thread.follow_up_ms for thread in self.threads.values() if thread.follow_up_ms is not None]
        return min(due, default=None)


def assign_tasks(spec: StreamsGroupSpec) -> TaskAssignment:
    """Assign the tasks. Raises AssignorFailedError: a process owns partitions, none of which belongs to a task: the
    real assignor fails there."""
    in_map = [spec.threads[index] for index in string_order([thread.id for thread in spec.threads]).tolist()]
    clients = _clients(spec, in_map)
    is_probing, warmups = _assign_to_clients(spec, list(clients.values()))
    owned = frozenset(partition for thread in spec.threads for partition in thread.owned)
    threads: dict[str, ThreadTasks] = {}
    for client in clients.values():
        members = sorted((t for t in spec.threads if t.process == client.process), key=lambda t: t.id)
        due = spec.settings.probing_rebalance_interval_ms
        probes = is_probing and client.process == spec.leader
        owners = {partition: t.id for t in in_map if t.process == client.process for partition in t.owned}
        stateful, standby, stateless = share_out(client, members)
        for thread in members:
            active = [*stateful[thread.id], *stateless[thread.id]]
            awaited = {
                task
                for task in active
                if any(p in owned and owners.get(p) != thread.id for p in spec.tasks[task])
            }
            kept_state = awaited & client.previous_standby & spec.stateful
            follow_up_ms = 0 if awaited else due if probes else None
            probes = probes and follow_up_ms is None
            own_warmups = warmups & {(client, task) for task in standby[thread.id]}
            threads[thread.id] = ThreadTasks(
                active=tuple(sorted(set(active) - awaited)),
                standby=tuple(sorted({*standby[thread.id], *kept_state})),
                warmup=tuple(sorted(task for _, task in own_warmups)),
                awaited=tuple(sorted(awaited)),
                follow_up_ms=follow_up_ms,
            )
    return TaskAssignment(
        threads={thread.id: threads[thread.id] for thread in spec.threads},
        lags={client.process: client.lags for client in clients.values()},
        is_probing=is_probing,
    )


def _assign_to_clients(
    spec: StreamsGroupSpec, clients: list[StreamsClient]
) -> tuple[bool, frozenset[tuple[StreamsClient, Task]]]:
    is_sticky = spec.assignor is TaskAssignorName.STICKY
    if not is_sticky and spec.end_offset_sums is not None:
        return high_availability.assign(clients, spec.tasks, spec.stateful, spec.settings)
    tasks, stateful = _in_java_order(spec)
    in_map = [clients[index] for index in uuid_order([client.process for client in clients]).tolist()]
    replicas = spec.settings.num_standby_replicas
    sticky.assign(in_map, tasks, stateful, replicas, keeps_active=not is_sticky)
    return not is_sticky, frozenset()


def _in_java_order(spec: StreamsGroupSpec) -> tuple[list[Task], list[Task]]:
    """All tasks, and the stateful ones, in the order of the maps that PartitionGrouper and ChangelogTopics return."""
    subtopologies = subtopology_order({task.subtopology for task in spec.tasks})
    tasks = hash_order([task for number in subtopologies for task in _of(number, sorted(spec.tasks))])
    stateful = [
        task for number in subtopologies for task in hash_order(_of(number, tasks)) if task in spec.stateful
    ]
    return tasks, hash_order(hash_order(stateful))


def _of(subtopology: int, tasks: Sequence[Task]) -> list[Task]:
    return [task for task in tasks if task.subtopology == subtopology]


def _clients(spec: StreamsGroupSpec, threads: Sequence[StreamThread]) -> dict[UUID, StreamsClient]:
    """The clients in the order of Java's map, with the previous tasks and the lags that their threads report."""
    by_process: dict[UUID, list[StreamThread]] = {}
    for thread in threads:
        by_process.setdefault(thread.process, []).append(thread)
    processes = list(by_process)
    task_of = {partition: task for task, partitions in spec.tasks.items() for partition in partitions}
    clients: dict[UUID, StreamsClient] = {}
    for index in uuid_order(processes).tolist():
        process = processes[index]
        clients[process] = _client(spec, process, by_process[process], task_of)
    return clients


def _client(
    spec: StreamsGroupSpec,
    process: UUID,
    threads: Sequence[StreamThread],
    task_of: Mapping[TopicPartition, Task],
) -> StreamsClient:
    client = StreamsClient(process, len(threads))
    owned = {partition for thread in threads for partition in thread.owned}
    client.previous_active = {task_of[partition] for partition in owned if partition in task_of}
    if owned and not client.previous_active:
        raise AssignorFailedError(
            "Must initialize prevActiveTasks from ownedPartitions before initializing remaining tasks."
        )
    offset_sums = {task: offset for thread in threads for task, offset in thread.offset_sums.items()}
    for task, offset in offset_sums.items():
        if offset == RUNNING:
            client.previous_active.add(task)
        elif task not in client.previous_active:
            client.previous_standby.add(task)
    for task in spec.stateful:
        end = None if spec.end_offset_sums is None else spec.end_offset_sums.get(task, 0)
        client.lags[task] = _lag(offset_sums.get(task, 0), end)
    return client


def _lag(offset_sum: int, end: int | None) -> int:
    """ClientState.computeTaskLags: a sum beyond the end means that the state has to be restored from the start."""
    if offset_sum in (RUNNING, UNKNOWN_OFFSET_SUM):
        return offset_sum
    if end is None:
        end = UNKNOWN_OFFSET_SUM
    return end if end < offset_sum else end - offset_sum
