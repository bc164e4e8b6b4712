"""Random Streams groups that live: applications, and rebalances of a group that follow each other."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from uuid import UUID

from assignors.streams.model import (
    RUNNING,
    UNKNOWN_OFFSET_SUM,
    StreamThread,
    Task,
    TaskSettings,
    TopicPartition,
)
from tests.kafka.task_oracle import APPLICATION, Pipeline, TaskCase

Held = Mapping[str, tuple[frozenset[TopicPartition], tuple[Task, ...], tuple[Task, ...]]]
"""By thread: the partitions, active tasks and standby tasks that it was assigned."""
Rejoin = tuple[Held, frozenset[Task], Mapping[Task, int]]


def application(chance: Random) -> tuple[tuple[Pipeline, ...], dict[str, int], bool]:
    """Pipelines, the partition counts of all topics, and whether tables are optimized."""
    pipelines: list[Pipeline] = []
    topics: dict[str, int] = {}
    optimized = chance.random() < 0.2
    most = chance.choice((2, 4, 9, 30))
    for number in range(chance.choice((1, 1, 2, 3, 5))):
        name, partitions = f"t{number}", chance.randint(1, most)
        kind = chance.random()
        if kind < 0.15:
            table, topics[name] = f"table{number}", partitions
            pipelines.append(Pipeline(sources=(name,), table=True, store=table))
            if not optimized:
                topics[f"{APPLICATION}-{table}-changelog"] = partitions
            if chance.random() < 0.6:
                topics[f"j{number}"] = partitions
                pipelines.append(Pipeline(sources=(f"j{number}",), join=name, sink="out"))
            continue
        sources = (name, f"u{number}") if chance.random() < 0.2 else (name,)
        for source in sources:
            topics[source] = chance.randint(1, most) if chance.random() < 0.3 else partitions
        repartition = f"r{number}-repartition" if chance.random() < 0.4 else None
        largest = max(topics[source] for source in sources)
        store, logged = (f"s{number}" if chance.random() < 0.6 else None), chance.random() < 0.9
        if repartition:
            topics[f"{APPLICATION}-{repartition}"] = largest
        if store and logged:
            topics[f"{APPLICATION}-{store}-changelog"] = largest
        pipelines.append(
            Pipeline(
                sources=sources,
                repartition=repartition,
                store=store,
                logged=logged,
                sink=chance.choice((None, "out")),
            )
        )
    return tuple(pipelines), topics, optimized


def settings(chance: Random) -> TaskSettings:
    return TaskSettings(
        acceptable_recovery_lag=chance.choice((0, 100, 10_000, 10_000, 2**63 - 1)),
        max_warmup_replicas=chance.choice((1, 2, 2, 3, 10)),
        num_standby_replicas=chance.choice((0, 0, 1, 1, 2, 3)),
    )


def lives(chance: Random, answer: Callable[[TaskCase], Rejoin | None]) -> Iterator[None]:
    """Some rebalances of one group: `answer` returns what was assigned, the stateful tasks and their end offset sums,
    or None if the leader failed."""
    pipelines, topics, optimized = application(chance)
    changelogs = sorted(topic for topic in topics if topic.endswith("-changelog"))
    created = frozenset(topic for topic in changelogs if chance.random() < 0.05)
    scale = chance.choice((50, 5_000, 200_000))
    end_offsets = {topic: [chance.randint(0, scale) for _ in range(topics[topic])] for topic in changelogs}
    tables = [pipeline.sources[0] for pipeline in pipelines if pipeline.table]
    committed = {topic: [chance.randint(0, scale) for _ in range(topics[topic])] for topic in tables}
    processes = [_process(chance) for _ in range(chance.choice((1, 2, 2, 3, 3, 4, 6, 12)))]
    threads = [
        StreamThread(id=_member(chance, p), process=p)
        for p in processes
        for _ in range(chance.choice((1, 1, 2, 3, 5)))
    ]
    case = TaskCase(
        pipelines=pipelines,
        topics=topics,
        threads=tuple(threads),
        leader=processes[0],
        created=created,
        end_offsets=end_offsets,
        committed=committed,
        optimized=optimized,
        settings=settings(chance),
        sticky=chance.random() < 0.15,
    )
    for _ in range(chance.choice((2, 4, 8))):
        if chance.random() < 0.07:
            case = replace(case, end_offsets=None)
        answered = answer(case)
        yield
        if answered is None:
            return
        held, stateful, ends = answered
        threads = [_after(chance, thread, held, stateful, ends) for thread in case.threads]
        threads = _changed(chance, threads)
        case = replace(
            case,
            threads=tuple(threads),
            leader=chance.choice(threads).process,
            end_offsets=end_offsets,
            created=frozenset(),
        )


def _process(chance: Random) -> UUID:
    return UUID(int=chance.getrandbits(128))


def _member(chance: Random, process: UUID) -> str:
    return f"app-{process}-StreamThread-{chance.randint(1, 99)}-consumer-{UUID(int=chance.getrandbits(128))}"


def _after(
    chance: Random, thread: StreamThread, held: Held, stateful: frozenset[Task], ends: Mapping[Task, int]
) -> StreamThread:
    """What the thread says when it joins again: its active tasks run or restore, its standby tasks caught up more or
    less, and state of tasks that it lost is still on its disk."""
    owned, active, standby = held[thread.id]
    offset_sums: dict[Task, int] = {}
    for task in {*active, *standby, *thread.offset_sums} & stateful:
        end = ends.get(task, 0)
        if task in active and chance.random() < 0.85:
            offset_sums[task] = RUNNING
        elif task in active or task in standby or chance.random() < 0.5:
            usual = (end, max(0, end - 10), end // 2, chance.randint(0, end + 1))
            offset_sums[task] = chance.choice(
                (*usual, end + 5, UNKNOWN_OFFSET_SUM) if chance.random() < 0.2 else usual
            )
    if chance.random() < 0.05:
        offset_sums[Task(77, 0)] = 5  # of an older topology
    if chance.random() < 0.01:
        owned = frozenset({("gone", 0)})
    return replace(thread, owned=owned, offset_sums=offset_sums)


def _changed(chance: Random, threads: list[StreamThread]) -> list[StreamThread]:
    """The threads after a deployment, a crash, or nothing."""
    if chance.random() < 0.35:
        gone = chance.choice(threads).process
        threads = [thread for thread in threads if thread.process != gone] or threads
    if chance.random() < 0.2 and len(threads) > 1:
        threads.pop(chance.randrange(len(threads)))
    if chance.random() < 0.35:
        process = _process(chance)
        threads = threads + [
            StreamThread(id=_member(chance, process), process=process)
            for _ in range(chance.choice((1, 2, 4)))
        ]
    if chance.random() < 0.2:  # a restarted process has its state, and owns nothing
        back = chance.choice(threads).process
        threads = [
            replace(
                thread,
                id=_member(chance, back),
                owned=frozenset(),
                offset_sums={t: 1 if o == RUNNING else o for t, o in thread.offset_sums.items()},
            )
            if thread.process == back
            else thread
            for thread in threads
        ]
    if chance.random() < 0.1:
        threads = [replace(thread, owned=frozenset()) for thread in threads]
    chance.shuffle(threads)
    return threads
