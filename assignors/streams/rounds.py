"""The rebalances of a Streams group until it settles: the next one, those that follow at once because tasks are revoked
first (KIP-429), and probing ones (KIP-441). Between two of them warm-ups and standby tasks catch up only if the second
one is a probing rebalance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from uuid import UUID

from assignors.streams.assignor import StreamsGroupSpec, TaskAssignment, ThreadTasks, assign_tasks
from assignors.streams.model import RUNNING, StreamThread, Task

MOST_ROUNDS, LEAST_ROUNDS, MOST_WORK = 100, 5, 2_000_000
"""The most rebalances that are computed, and the fewest of a large group, so that it takes seconds. Work: tasks times
threads."""


class RoundKind(Enum):
    NEXT = "next"
    FOLLOW_UP = "follow-up"
    PROBING = "probing"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRound:
    kind: RoundKind
    assignment: TaskAssignment


def run_rounds(spec: StreamsGroupSpec) -> tuple[tuple[TaskRound, ...], bool]:
    """The rebalances, and whether the group settles in them: it does not if a probing rebalance changes nothing, as for
    a leader that cannot fetch end offsets, or if more follow. Raises AssignorFailedError: in the first rebalance."""
    rounds: list[TaskRound] = []
    kind = RoundKind.NEXT
    work = len(spec.tasks) * len(spec.threads)
    most = max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_WORK // max(1, work)))
    while len(rounds) < most:
        assignment = assign_tasks(spec)
        is_repeated = kind is RoundKind.PROBING and assignment.threads == rounds[-1].assignment.threads
        rounds.append(TaskRound(kind=kind, assignment=assignment))
        if assignment.follow_up_ms == 0:
            kind = RoundKind.FOLLOW_UP
        elif assignment.is_probing and not is_repeated:
            kind = RoundKind.PROBING
        else:
            return tuple(rounds), not assignment.is_probing
        spec = rejoined(spec, assignment, caught_up=kind is RoundKind.PROBING)
    return tuple(rounds), False


def rejoined(spec: StreamsGroupSpec, assignment: TaskAssignment, *, caught_up: bool) -> StreamsGroupSpec:
    """The group when every thread rejoins with its assignment. `caught_up`: its tasks have restored all state since;
    else they are where they were."""
    held: dict[UUID, dict[Task, int]] = {}
    for thread in spec.threads:
        held.setdefault(thread.process, {}).update(thread.offset_sums)
    threads = tuple(
        _rejoined(spec, thread, assignment.threads[thread.id], held[thread.process], caught_up)
        for thread in spec.threads
    )
    assigned: dict[UUID, set[Task]] = {}
    for thread in threads:
        assigned.setdefault(thread.process, set()).update(thread.offset_sums)
    left_on_disk = [_with_state_on_disk(spec, before, assigned[before.process]) for before in spec.threads]
    return replace(
        spec,
        threads=tuple(
            replace(thread, offset_sums={**left, **thread.offset_sums})
            for thread, left in zip(threads, left_on_disk, strict=True)
        ),
    )


def _rejoined(
    spec: StreamsGroupSpec,
    thread: StreamThread,
    tasks: ThreadTasks,
    held: Mapping[Task, int],
    caught_up: bool,
) -> StreamThread:
    offset_sums: dict[Task, int] = {}
    for task in (*tasks.active, *tasks.standby):
        if task not in spec.stateful:
            continue
        if task in tasks.active and (caught_up or held.get(task) == RUNNING):
            offset_sums[task] = RUNNING
        elif caught_up:
            offset_sums[task] = end_of(spec, task)
        elif task in held:
            offset_sums[task] = end_of(spec, task) if held[task] == RUNNING else held[task]
    owned = frozenset(partition for task in tasks.active for partition in spec.tasks[task])
    return replace(thread, owned=frozenset() if thread.is_eager else owned, offset_sums=offset_sums)


def _with_state_on_disk(spec: StreamsGroupSpec, thread: StreamThread, assigned: set[Task]) -> dict[Task, int]:
    """The state that the thread reported, of tasks that its process no longer has."""
    return {
        task: end_of(spec, task) if offset == RUNNING else offset
        for task, offset in thread.offset_sums.items()
        if task not in assigned
    }


def end_of(spec: StreamsGroupSpec, task: Task) -> int:
    return (spec.end_offset_sums or {}).get(task, 0)
