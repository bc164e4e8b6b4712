"""The input of Kafka Streams' own assignor if every thread of a classic group rejoined now (KIP-441), from what the
members sent at the last rebalance, a topology, and the topics of the cluster."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from assignors.model import Undetermined
from assignors.streams.assignor import StreamsGroupSpec, TaskAssignorName, ThreadTasks
from assignors.streams.model import RUNNING, UNKNOWN_OFFSET_SUM, StreamThread, Task, TaskSettings
from assignors.streams.partition_groups import PartitionGroups, group_partitions
from assignors.streams.topology import DescribedSubtopology, TopologyText
from groups.classic_streams import Rebalancing, StreamsThread, changelog_names, streams_threads
from groups.counts import counted, first_names
from groups.group_spec import ADDED, WhatIf, member_names
from groups.model import Group, Member, Partitions, Topic, by_topic, each_partition
from wire.messages import streams_assignor

SETTINGS = {
    "acceptable.recovery.lag": "acceptable_recovery_lag",
    "max.warmup.replicas": "max_warmup_replicas",
    "num.standby.replicas": "num_standby_replicas",
    "probing.rebalance.interval.ms": "probing_rebalance_interval_ms",
}
"""Settings of the application that decide the assignment; the group does not show them."""
STANDBYS = "num.standby.replicas"
MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsRequest:
    topology: TopologyText | None = None
    settings: Mapping[str, int] = field(default_factory=dict)  # By Kafka's names, those of SETTINGS
    as_joined: bool = False  # No copy is restored since its thread joined; False: all are caught up


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksInput:
    spec: StreamsGroupSpec
    before: Mapping[str, ThreadTasks]  # By member, with members that a what-if removes
    probes_at_ms: int | None
    """When the probing rebalance is due that the last assignment asked for, in ms since 1970; None if none is."""
    undetermined: tuple[Undetermined, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Thread:
    member: Member
    subscription: streams_assignor.StreamsSubscription
    assignment: streams_assignor.StreamsAssignment | None
    process: UUID
    is_eager: bool

    @property
    def active(self) -> frozenset[Task]:
        return frozenset(map(_task, self.assignment.active)) if self.assignment else frozenset()

    @property
    def standby(self) -> frozenset[Task]:
        return frozenset(map(_task, self.assignment.standby)) if self.assignment else frozenset()


def tasks_input(
    group: Group, topics: Mapping[str, Topic], what_if: WhatIf, request: StreamsRequest
) -> TasksInput:
    """Raises LookupError: what the assignment needs is not known; the message says what, and how to provide it."""
    if what_if.subscribe or what_if.rack:
        raise LookupError(
            f"{group.id} is a group of Kafka Streams: its topology subscribes, and racks are not computed"
        )
    threads = [_read(thread) for thread in streams_threads(group)]
    counts = {name: topic.partitions for name, topic in topics.items()} | dict(what_if.topic_partitions)
    reported = {_task(task) for thread in threads for task in thread.subscription.offset_sums}
    reported |= {task for thread in threads for task in thread.standby}
    undetermined: list[Undetermined] = []
    topology = request.topology or _observed_topology(group, threads, undetermined)
    matched = _matched(group, topology)
    groups = group_partitions(topology, group.id, counts, reported, matched)
    undetermined += groups.undetermined
    ends = _end_offset_sums(group, groups, topics, threads, undetermined)
    settings, why = _settings(request.settings, threads, groups)
    undetermined += why
    undetermined += [*_rack_awareness(threads, settings), *_releases(threads)]
    staying, gone = _staying(threads, what_if)
    now = [_now(thread, groups, ends, settings, request.as_joined, undetermined) for thread in staying]
    added = _added(threads, what_if.add)
    if added:
        why_random = (
            "ids of members and processes are random when they start; they decide the order of processes"
        )
        undetermined.append(Undetermined(subject=added[0].id, why=why_random))
    spec = StreamsGroupSpec(
        threads=(*now, *added),
        tasks=groups.tasks,
        stateful=groups.stateful,
        end_offset_sums=ends,
        leader=next((thread.process for thread in staying if thread.member.id == group.leader), None),
        settings=settings,
        assignor=TaskAssignorName.HIGH_AVAILABILITY,
    )
    before = {
        thread.member.id: ThreadTasks(
            active=tuple(sorted(thread.active)), standby=tuple(sorted(thread.standby))
        )
        for thread in (*staying, *gone)
    }
    due = [thread.assignment.next_rebalance_ms for thread in threads if thread.assignment]
    return TasksInput(
        spec=spec,
        before=before,
        probes_at_ms=min((at for at in due if at and at != streams_assignor.NO_REBALANCE), default=None),
        undetermined=tuple(undetermined),
    )


def _read(thread: StreamsThread) -> _Thread:
    member, subscription = thread.member, thread.subscription
    if thread.unreadable is not None:
        raise LookupError(f"the user data of member {member.id} cannot be read: {thread.unreadable}")
    if subscription is None:
        raise LookupError(f"what Kafka Streams sent for member {member.id} is not known from this source")
    if subscription.process is None:
        raise LookupError(
            f"member {member.id} uses version {subscription.version} of the user data; the newest known is "
            f"{streams_assignor.NEWEST_VERSION}"
        )
    if any(task.topology is not None for task in (*subscription.offset_sums, *thread.active)):
        raise LookupError(f"member {member.id} has named topologies, whose assignment is not known")
    return _Thread(
        member=member,
        subscription=subscription,
        assignment=thread.assignment,
        process=subscription.process,
        is_eager=thread.rebalancing is Rebalancing.EAGER,
    )


def _task(task: streams_assignor.TaskId) -> Task:
    return Task(task.subtopology, task.partition)


def _observed_topology(
    group: Group, threads: Sequence[_Thread], undetermined: list[Undetermined]
) -> TopologyText:
    """The partition groups that the current assignments show: each names the task of each partition."""
    sources: dict[int, set[str]] = {}
    for thread in threads:
        if thread.assignment is None:
            continue
        partitions = sorted(each_partition(thread.member.owned))
        for task, (topic, _) in zip(thread.assignment.active, partitions, strict=False):
            sources.setdefault(task.subtopology, set()).add(topic)
        for task, copied in thread.assignment.standby.items():
            sources.setdefault(task.subtopology, set()).update(topic for topic, _ in copied)
    if not sources:
        raise LookupError("no member has a task, so the tasks are not known; --topology names them")
    seen = set().union(*sources.values())
    unseen = sorted(_subscribed(group) - seen)
    if unseen:
        names = first_names(unseen, MOST_NAMED)
        undetermined.append(
            Undetermined(
                subject=unseen[0], why=f"no member has a task of {names}; --topology names its tasks"
            )
        )
    return TopologyText(
        subtopologies=tuple(
            DescribedSubtopology(number=number, sources=frozenset(topics))
            for number, topics in sorted(sources.items())
        )
    )


def _subscribed(group: Group) -> set[str]:
    return {name for member in group.members if member.subscription for name in member.subscription.topics}


def _matched(group: Group, topology: TopologyText) -> dict[str, frozenset[str]]:
    """The topics of the only pattern: those that the members subscribe to and no other source names."""
    patterns = {pattern for part in topology.subtopologies for pattern in part.patterns}
    if not patterns:
        return {}
    if len(patterns) > 1:
        raise LookupError("the topology has several patterns, so the topics of each are not known")
    named = {topic for part in topology.subtopologies for topic in part.sources}
    named |= {f"{group.id}-{topic}" for topic in topology.internal_candidates}
    return {patterns.pop(): frozenset(_subscribed(group) - named)}


def _changelogs_by_size(
    group: Group, groups: PartitionGroups, topics: Mapping[str, Topic]
) -> dict[int, tuple[str, ...]]:
    """The changelogs of each stateful subtopology without a topology: those with as many partitions as it has tasks, if
    no other has as many."""
    sizes = Counter(task.subtopology for task in groups.stateful)
    alike = Counter(sizes.values())
    names = sorted(changelog_names(group, topics))
    return {
        number: tuple(name for name in names if topics[name].partitions == size) if alike[size] == 1 else ()
        for number, size in sizes.items()
    }


def _end_offset_sums(
    group: Group,
    groups: PartitionGroups,
    topics: Mapping[str, Topic],
    threads: Iterable[_Thread],
    undetermined: list[Undetermined],
) -> dict[Task, int]:
    """The end offsets of each task's changelogs; where they are not known, those of the copy that is furthest."""
    ends: dict[Task, int] = {}
    guessed: list[Task] = []
    reported = Counter[Task]()
    for thread in threads:
        for task_id, offset in thread.subscription.offset_sums.items():
            reported[_task(task_id)] = max(reported[_task(task_id)], offset)
    by_size = _changelogs_by_size(group, groups, topics)
    for task in sorted(groups.stateful):
        logs = groups.changelogs.get(task) or {(name, task.partition) for name in by_size[task.subtopology]}
        known = [(topics[topic].end_offsets or {}).get(number) for topic, number in logs if topic in topics]
        offsets = [offset for offset in known if offset is not None]
        if logs and len(offsets) == len(logs):
            ends[task] = sum(offsets)
        else:
            ends[task] = reported[task]
            guessed.append(task)
    if guessed:
        named = first_names([str(task) for task in guessed], MOST_NAMED)
        undetermined.append(
            Undetermined(
                subject=str(guessed[0]),
                why=f"the changelogs of {named} are not known; they are assumed to end where the furthest copy was "
                "when it joined",
            )
        )
    return ends


def _settings(
    named: Mapping[str, int], threads: Sequence[_Thread], groups: PartitionGroups
) -> tuple[TaskSettings, list[Undetermined]]:
    """The named settings; standby replicas by default as many as every stateful task has, others Kafka's defaults."""
    copies = Counter(task for thread in threads for task in thread.standby)
    replicas = min((copies[task] for task in groups.stateful), default=0)
    values = {SETTINGS[STANDBYS]: replicas} | {SETTINGS[name]: value for name, value in named.items()}
    unnamed = [name for name in SETTINGS if name not in named]
    if not groups.stateful or not unnamed:
        return TaskSettings(**values), []
    shown = ", ".join(f"{name}={getattr(TaskSettings(**values), SETTINGS[name])}" for name in unnamed)
    why = f"settings of the application are assumed: {shown}; --setting changes one"
    return TaskSettings(**values), [Undetermined(subject="settings", why=why)]


def _releases(threads: Iterable[_Thread]) -> Iterator[Undetermined]:
    """Notes on members of earlier releases, and with `upgrade.from` of one before 2.4; one of each kind."""
    notes: dict[str, Undetermined] = {}
    for thread in threads:
        newest = thread.subscription.newest_known
        if newest is None:
            continue
        if not thread.is_eager and thread.subscription.version < newest:
            why = "sends an older version than it knows: with upgrade.from before 2.4 it revokes all its tasks first"
        elif newest < streams_assignor.OLDEST_WITH_OFFSET_SUMS:
            why = "runs a release before 2.6; if it leads, it assigns tasks otherwise"
        elif newest < streams_assignor.NEWEST_VERSION:
            why = "runs a release before 3.2; if it leads, standby tasks may go to other threads of a process"
        else:
            continue
        notes.setdefault(why, Undetermined(subject=thread.member.id, why=why))
    yield from notes.values()


def _rack_awareness(threads: Iterable[_Thread], settings: TaskSettings) -> Iterator[Undetermined]:
    """Signs of settings that place tasks by racks (KIP-708, KIP-925), which are not computed."""
    for thread in threads:
        if thread.subscription.tags and settings.num_standby_replicas:
            why = "has client tags: with rack.aware.assignment.tags, standby tasks go elsewhere"
            yield Undetermined(subject=thread.member.id, why=why)
            return
    for thread in threads:
        if thread.member.rack:
            why = "is in a rack: with a rack.aware.assignment.strategy other than none, tasks go elsewhere"
            yield Undetermined(subject=thread.member.id, why=why)
            return


def _staying(threads: Sequence[_Thread], what_if: WhatIf) -> tuple[list[_Thread], list[_Thread]]:
    gone = [
        thread
        for thread in threads
        if {*member_names(thread.member), str(thread.process)} & what_if.remove
        or thread.member.rack in what_if.fail_rack
    ]
    return [thread for thread in threads if thread not in gone], gone


def _now(
    thread: _Thread,
    groups: PartitionGroups,
    ends: Mapping[Task, int],
    settings: TaskSettings,
    as_joined: bool,
    undetermined: list[Undetermined],
) -> StreamThread:
    """What the thread would send now: as it joined, apart from the tasks that it was assigned then."""
    offset_sums = {_task(task): offset for task, offset in thread.subscription.offset_sums.items()}
    assumed: list[Task] = []
    for task in sorted((thread.active | thread.standby) & groups.stateful):
        joined = offset_sums.get(task, 0)
        is_active = task in thread.active
        if joined != RUNNING and as_joined and not is_active:
            continue
        is_behind = joined == UNKNOWN_OFFSET_SUM or ends[task] - joined > settings.acceptable_recovery_lag
        if joined != RUNNING and is_behind:
            assumed.append(task)
        offset_sums[task] = RUNNING if is_active else ends[task]
    for task in offset_sums.keys() - thread.active - thread.standby:
        if offset_sums[task] == RUNNING:
            offset_sums[task] = ends.get(task, 0)
    if assumed:
        named = first_names([str(task) for task in assumed], MOST_NAMED)
        why = (
            f"assumed to have restored the state of {counted(len(assumed), 'task')} since it joined: {named}"
        )
        undetermined.append(Undetermined(subject=thread.member.id, why=why))
    return StreamThread(
        id=thread.member.id,
        process=thread.process,
        owned=frozenset() if thread.is_eager else frozenset(each_partition(thread.member.owned)),
        offset_sums=offset_sums,
        is_eager=thread.is_eager,
    )


def _added(threads: Sequence[_Thread], count: int) -> list[StreamThread]:
    """New processes, each with as many threads as most have."""
    sizes = Counter(Counter(thread.process for thread in threads).values())
    usual = sizes.most_common(1)[0][0] if sizes else 1
    return [
        StreamThread(
            id=f"{ADDED}{number}-{thread}" if usual > 1 else f"{ADDED}{number}", process=UUID(int=number)
        )
        for number in range(1, count + 1)
        for thread in range(1, usual + 1)
    ]


def partitions_of(tasks: Iterable[Task], spec: StreamsGroupSpec) -> Partitions:
    return by_topic(partition for task in tasks for partition in spec.tasks.get(task, ()))
