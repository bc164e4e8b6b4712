"""Kafka Streams on the classic protocol: what its assignor's user data shows of each thread (KIP-429, KIP-441).
A member is a thread: its subscription contains what its process has, its assignment what it gets. `upgrade.from` up to
1.1 shows as version 1 or 2. From 2.0 to 2.3 it makes a thread eager, which rejoins without partitions; a cooperative
one keeps them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from assignors.streams import STREAMS
from groups.model import Group, GroupType, Member, Topic
from groups.streams import StreamsMember, Tasks
from groups.streams_releases import FIRST_RELEASES, OLDEST_COOPERATIVE
from wire.messages import streams_assignor
from wire.messages.reader import DecodeError

T = TypeVar("T")


class StreamsError(Enum):
    """Errors of Kafka Streams' AssignorError, by Kafka's names."""

    NONE = 0
    INCOMPLETE_SOURCE_TOPIC_METADATA = 1
    VERSION_PROBING = 2
    ASSIGNMENT_ERROR = 3
    SHUTDOWN_REQUESTED = 4


MEANINGS = {
    1: "a source topic does not exist, or the leader does not know it; the leader's log names it",
    2: "the leader could not read a subscription of a newer version (releases before 2.4)",
    3: "the leader failed to assign tasks; its log has the exception",
    4: "an instance had a fatal error and requested that the whole application shuts down",
}
"""The errors in words."""


def error_name(code: int | None) -> str | None:
    """Kafka's name of an error, or its number if Kafka 4.4 has none for it; None if unknown."""
    if code is None:
        return None
    return StreamsError(code).name if code in {error.value for error in StreamsError} else str(code)


class Rebalancing(Enum):
    """The protocol by which a thread gives up partitions (KIP-429)."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsThread:
    """A member of a classic Streams group. None: not known from this source, or not readable."""

    member: Member
    subscription: streams_assignor.StreamsSubscription | None
    assignment: streams_assignor.StreamsAssignment | None
    warm_ups: tuple[streams_assignor.TaskId, ...] | None
    """The standby tasks of its assignment that warm up for a move (KIP-441); None if they are not known apart."""
    unreadable: str | None = None

    @property
    def active(self) -> tuple[streams_assignor.TaskId, ...]:
        """The active tasks that it was assigned, each once, ascending."""
        return tuple(sorted(set(self.assignment.active), key=_order)) if self.assignment else ()

    @property
    def standby(self) -> tuple[streams_assignor.TaskId, ...]:
        """The tasks that it was assigned a copy of, without known warm-ups."""
        copies = self.assignment.standby if self.assignment else {}
        return tuple(sorted(copies.keys() - set(self.warm_ups or ()), key=_order))

    @property
    def process(self) -> str | None:
        process = self.subscription and self.subscription.process
        return None if process is None else str(process)

    @property
    def used(self) -> int | None:
        return None if self.subscription is None else self.subscription.version

    @property
    def newest_known(self) -> int | None:
        """The newest version that its library knows. None also if it uses version 1 or 2, which do not contain it."""
        return None if self.subscription is None else self.subscription.newest_known

    @property
    def error(self) -> int | None:
        """The error that it reports or was sent, 0 for none. None: unknown, or not in its versions."""
        codes = [info.error for info in (self.subscription, self.assignment) if info is not None]
        known = [code for code in codes if code is not None]
        return next((code for code in known if code), known[0] if known else None)

    @property
    def probes_at_ms(self) -> int | None:
        """When it triggers a probing rebalance, in ms since 1970; None if it does not, or at once (`follows_up`)."""
        time_ms = self.assignment and self.assignment.next_rebalance_ms
        return time_ms if time_ms and time_ms != streams_assignor.NO_REBALANCE else None

    @property
    def follows_up(self) -> bool:
        """Whether it rejoins at once: tasks that it gets are still to be revoked from their owners."""
        return self.assignment is not None and self.assignment.next_rebalance_ms == 0

    @property
    def rebalancing(self) -> Rebalancing | None:
        """Eager by its release or by `upgrade.from` up to 1.1; cooperative if it kept partitions when it rejoined."""
        if self.member.kept:
            return Rebalancing.COOPERATIVE
        if self.used is None:
            return None
        newest = self.newest_known
        is_eager = self.used < streams_assignor.OLDEST_WITH_NEWEST_KNOWN or (
            newest is not None and newest < OLDEST_COOPERATIVE
        )
        return Rebalancing.EAGER if is_eager else None

    @property
    def offset_sums(self) -> Mapping[streams_assignor.TaskId, int]:
        return self.subscription.offset_sums if self.subscription else {}


def is_classic_streams(group: Group) -> bool:
    return group.type is GroupType.CLASSIC and group.protocol == STREAMS


def streams_threads(group: Group) -> tuple[StreamsThread, ...]:
    """The threads of a classic Streams group, in the order of its members; empty for any other group."""
    if not is_classic_streams(group):
        return ()
    threads = [_thread(member) for member in group.members]
    warm_ups = _warm_ups(threads)
    return tuple(replace(thread, warm_ups=warm_ups.get(thread.member.id)) for thread in threads)


_THREAD = re.compile(r"(?P<instance>.+)-StreamThread-\d+-consumer")


def instance_of(client_id: str | None) -> str | None:
    """The instance whose thread has this client id; None if it is not the one of a thread."""
    match = _THREAD.fullmatch(client_id or "")
    return match["instance"] if match else None


def common_version(threads: Sequence[StreamsThread]) -> int | None:
    """The newest version that all threads know; None if one does not show it, as with `upgrade.from` up to 1.1."""
    newest = [thread.newest_known for thread in threads]
    known = [version for version in newest if version is not None]
    return min(known) if known and len(known) == len(newest) else None


def probing_threads(group: Group) -> tuple[StreamsThread, ...]:
    """Threads that use another version than the newest that all know: they are to rejoin with that one (KIP-268)."""
    threads = streams_threads(group)
    common = common_version(threads)
    return tuple(thread for thread in threads if common is not None and thread.used not in (None, common))


def release_text(version: int) -> str:
    """The first release that knows a version."""
    release = FIRST_RELEASES.get(version)
    return f"Kafka {release} or later" if release else "later than Kafka 4.4"


def copies(threads: Sequence[StreamsThread]) -> dict[streams_assignor.TaskId, tuple[StreamsThread, ...]]:
    """For each active task with state, ascending, the threads that were assigned a copy of it, which other processes
    have. Tasks have state if their subtopology has a copy or an offset sum anywhere."""
    holders: dict[streams_assignor.TaskId, list[StreamsThread]] = {}
    for thread in threads:
        for task in thread.assignment.standby if thread.assignment else ():
            holders.setdefault(task, []).append(thread)
    stateful = {
        (task.topology, task.subtopology)
        for tasks in (holders, *(thread.offset_sums for thread in threads))
        for task in tasks
    }
    active = {task for thread in threads for task in thread.active}
    return {
        task: tuple(holders.get(task, ()))
        for task in sorted(active, key=_order)
        if (task.topology, task.subtopology) in stateful
    }


def _thread(member: Member) -> StreamsThread:
    data = member.user_data
    subscription, unsubscribed = _part(
        streams_assignor.read_streams_subscription, data.subscription if data else b""
    )
    assignment, unassigned = _part(streams_assignor.read_streams_assignment, data.assignment if data else b"")
    return StreamsThread(
        member=member,
        subscription=subscription,
        assignment=assignment,
        warm_ups=None,
        unreadable="; ".join(filter(None, (unsubscribed, unassigned))) or None,
    )


def _part(read: Callable[[bytes], T], data: bytes) -> tuple[T | None, str | None]:
    if not data:
        return None, None
    try:
        return read(data), None
    except DecodeError as error:
        return None, str(error)


def _warm_ups(threads: Sequence[StreamsThread]) -> Mapping[str, tuple[streams_assignor.TaskId, ...]]:
    """The warm-ups of each member; members are missing if that cannot be known.

    An assignment does not tell them from standby tasks. There are none unless a probing rebalance is scheduled; then
    they are the copies beyond `num.standby.replicas`, the fewest that any task with state has, and of a task's copies
    the one that is furthest behind."""
    assignments = [thread.assignment for thread in threads]
    known = [assignment for assignment in assignments if assignment is not None]
    if len(known) < len(threads):
        return {}
    none: dict[str, tuple[streams_assignor.TaskId, ...]] = {thread.member.id: () for thread in threads}
    if any(assignment.version < streams_assignor.OLDEST_WITH_OFFSET_SUMS for assignment in known):
        newest = [thread.newest_known for thread in threads]
        is_old = all(
            version is not None and version < streams_assignor.OLDEST_WITH_OFFSET_SUMS for version in newest
        )
        return none if is_old else {}
    if any(thread.follows_up for thread in threads):
        return {}
    if not any(thread.probes_at_ms for thread in threads):
        return none
    held = copies(threads)
    counts = [len(holders) for holders in held.values()]
    replicas = min(counts, default=0)
    if counts and replicas and replicas == max(counts):
        return {}  # each task has a warm-up, or its standby task is one
    found = {member: set[streams_assignor.TaskId]() for member in none}
    for task, holders in held.items():
        positions = {thread.member.id: _position(threads, thread, task) for thread in holders}
        behind = sorted(positions, key=lambda member: positions[member])
        extra, kept = behind[: len(holders) - replicas], behind[len(holders) - replicas :]
        if extra and kept and positions[extra[-1]] == positions[kept[0]]:
            return {}
        for member in extra:
            found[member].add(task)
    return {member: tuple(sorted(tasks, key=_order)) for member, tasks in found.items()}


def _position(threads: Iterable[StreamsThread], holder: StreamsThread, task: streams_assignor.TaskId) -> int:
    """How far the holder's process had the task when its threads last joined; -1: not at all."""
    sums = [thread.offset_sums.get(task, -1) for thread in threads if thread.process == holder.process]
    return max((offsets for offsets in sums if offsets != streams_assignor.IS_ACTIVE), default=-1)


def _order(task: streams_assignor.TaskId) -> tuple[str, int, int]:
    return task.topology or "", task.subtopology, task.partition


def as_streams_member(thread: StreamsThread) -> StreamsMember:
    """The thread in the form of a member of a streams group (KIP-1071): unknown warm-ups are standby tasks."""
    subscription = thread.subscription
    tasks = Tasks(
        active=_by_subtopology(thread.active),
        standby=_by_subtopology(thread.standby),
        warmup=_by_subtopology(thread.warm_ups or ()),
    )
    return StreamsMember(
        process=thread.process,
        endpoint=subscription.end_point if subscription else None,
        client_tags=(subscription.tags if subscription else None) or {},
        tasks=None if thread.assignment is None else tasks,
    )


def _by_subtopology(tasks: Iterable[streams_assignor.TaskId]) -> dict[str, tuple[int, ...]]:
    numbers: dict[str, list[int]] = {}
    for task in tasks:
        prefix = "" if task.topology is None else f"{task.topology}__"
        numbers.setdefault(f"{prefix}{task.subtopology}", []).append(task.partition)
    return {subtopology: tuple(partitions) for subtopology, partitions in numbers.items()}


def changelog_names(group: Group, topics: Iterable[str]) -> frozenset[str]:
    """The changelog topics of the application, which are named after it."""
    return frozenset(
        topic for topic in topics if topic.startswith(f"{group.id}-") and topic.endswith("-changelog")
    )


def task_lags(
    group: Group, threads: Sequence[StreamsThread], topics: Mapping[str, Topic]
) -> dict[str, dict[streams_assignor.TaskId, int]]:
    """The lag of each copy that a member reported, by member: the end offsets of the task's changelogs less its sum, 0
    for a task that ran as active. A copy is missing if its changelogs are not known: the classic protocol shows no
    topology, so they are known only where one subtopology has as many tasks as the changelog has partitions."""
    sizes: dict[tuple[str | None, int], int] = {}
    for task in {task for thread in threads for task in (*thread.active, *thread.offset_sums)}:
        key = (task.topology, task.subtopology)
        sizes[key] = max(sizes.get(key, 0), task.partition + 1)
    stateful = {(task.topology, task.subtopology) for thread in threads for task in thread.offset_sums}
    of_size = Counter(sizes[key] for key in stateful)
    changelogs = [topics[name] for name in changelog_names(group, topics)]

    def lag(task: streams_assignor.TaskId, offsets: int) -> int | None:
        if offsets == streams_assignor.IS_ACTIVE:
            return 0
        size = sizes[task.topology, task.subtopology]
        ends = [
            (topic.end_offsets or {}).get(task.partition) for topic in changelogs if topic.partitions == size
        ]
        known = [end for end in ends if end is not None]
        if of_size[size] != 1 or offsets < 0 or not known or len(known) < len(ends):
            return None
        return sum(known) - offsets if sum(known) >= offsets else None

    lags: dict[str, dict[streams_assignor.TaskId, int]] = {}
    for thread in threads:
        by_task = {task: lag(task, offsets) for task, offsets in thread.offset_sums.items()}
        lags[thread.member.id] = {task: behind for task, behind in by_task.items() if behind is not None}
    return lags
