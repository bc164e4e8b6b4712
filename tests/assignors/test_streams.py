"""A Streams group gets the tasks that Kafka Streams' own leader assigns (A38). A failure names its seed:
KOHORT_ORACLE_SEED=… repeats the run, KOHORT_TASK_CASES=… scales it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from assignors.errors import AssignorFailedError
from assignors.streams.assignor import (
    StreamsGroupSpec,
    TaskAssignment,
    TaskAssignorName,
    ThreadTasks,
    assign_tasks,
)
from assignors.streams.model import Task
from assignors.streams.partition_groups import PartitionGroups, group_partitions
from assignors.streams.topology import parse_topology
from tests.assignors.streams_cases import Rejoin, lives
from tests.kafka.task_oracle import APPLICATION, TaskCase, TaskOracle, leading, task_ids
from tests.support.long import cases

NEVER_MS = -1


@pytest.fixture(scope="module")
def task_oracle(kafka_jars: Path) -> Iterator[TaskOracle]:
    with leading(kafka_jars) as oracle:
        yield oracle


@pytest.mark.kafka
def test_threads_get_the_tasks_that_java_assigns(task_oracle: TaskOracle, oracle_seed: str) -> None:
    print(f"KOHORT_ORACLE_SEED={oracle_seed}")
    counts: Counter[str] = Counter()
    wanted = cases("KOHORT_TASK_CASES", 60, many=2_000)
    group = 0
    while counts["equal"] < wanted:
        group += 1

        def answer(case: TaskCase, group: int = group) -> Rejoin | None:
            theirs = task_oracle.assign(case)
            where = (
                f"seed {oracle_seed}, group {group}, case {counts['equal']}: {case}\n{theirs['description']}"
            )
            groups = _groups(case, theirs["description"])
            ours = _assigned(case, groups)
            if isinstance(ours, str) or "error" in theirs:
                assert theirs.get("error") == ours, where
                counts["failed alike"] += 1
                return None
            shown = {
                id_: (
                    _partitions(tasks, groups),
                    tasks.standby,
                    NEVER_MS if tasks.follow_up_ms is None else tasks.follow_up_ms,
                )
                for id_, tasks in ours.threads.items()
            }
            expected = {
                id_: (
                    [(topic, partition) for topic, partition in thread["partitions"]],
                    task_ids(thread["standby"]),
                    thread["next_rebalance_ms"],
                )
                for id_, thread in theirs["threads"].items()
            }
            assert shown == expected, where
            counts["equal"] += 1
            counts["probing"] += ours.is_probing
            counts["with warm-ups"] += any(tasks.warmup for tasks in ours.threads.values())
            counts["with awaited tasks"] += any(tasks.awaited for tasks in ours.threads.values())
            held = {
                id_: (frozenset(_partitions(tasks, groups)), tasks.active, tasks.standby)
                for id_, tasks in ours.threads.items()
            }
            return held, groups.stateful, _ends(case, groups) or {}

        for _ in lives(Random(f"{oracle_seed}-{group}"), answer):
            pass
    print(dict(counts))
    assert min(counts["probing"], counts["with warm-ups"], counts["with awaited tasks"]) > 0


def _assigned(case: TaskCase, groups: PartitionGroups) -> TaskAssignment | str:
    """What is assigned, or the message of the exception of the leader."""
    try:
        return assign_tasks(_spec(case, groups))
    except AssignorFailedError as error:
        return str(error)


def _groups(case: TaskCase, description: str) -> PartitionGroups:
    """From the description; that an optimized table is stateful is not in it, so members have to report it."""
    topology = parse_topology(description)
    tables = {
        part.number
        for part in topology.subtopologies
        if case.optimized and part.sources & case.committed.keys()
    }
    reported = {task for thread in case.threads for task in thread.offset_sums}
    reported |= {Task(number, 0) for number in tables}
    groups = group_partitions(topology, APPLICATION, case.topics, reported)
    tasks_of_tables = {
        task: groups.changelogs[task] | {p for p in groups.tasks[task] if p[0] in case.committed}
        for task in groups.stateful
        if task.subtopology in tables
    }
    return replace(groups, changelogs={**groups.changelogs, **tasks_of_tables})


def _spec(case: TaskCase, groups: PartitionGroups) -> StreamsGroupSpec:
    return StreamsGroupSpec(
        threads=case.threads,
        tasks=groups.tasks,
        stateful=groups.stateful,
        end_offset_sums=_ends(case, groups),
        leader=case.leader,
        settings=case.settings,
        assignor=TaskAssignorName.STICKY if case.sticky else TaskAssignorName.HIGH_AVAILABILITY,
    )


def _ends(case: TaskCase, groups: PartitionGroups) -> dict[Task, int] | None:
    if case.end_offsets is None:
        return None
    ends = {**case.committed, **case.end_offsets}
    return {
        task: sum(ends[topic][partition] for topic, partition in logs if topic not in case.created)
        for task, logs in groups.changelogs.items()
    }


def _partitions(tasks: ThreadTasks, groups: PartitionGroups) -> list[tuple[str, int]]:
    return sorted(partition for task in tasks.active for partition in groups.tasks[task])
