"""Dry runs of groups of Kafka Streams: what their options ask for, the topics they need, and their tasks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from assignors.rebalance import Procedure
from assignors.streams.assignor import ThreadTasks
from assignors.streams.model import Task
from assignors.streams.rounds import RoundKind
from assignors.streams.topology import TopologyText, TopologyTextError, parse_topology
from cli.errors import UsageError
from cli.render.cells import partitions_text
from cli.render.document import Block, Table, columns, fields
from cli.sources.source import ReadResult, Source
from cli.verbs.dry_run.options import ApplicationOptions, StreamsOptions
from groups.classic_streams import changelog_names, is_classic_streams
from groups.dry_run import DryRun, TasksRun
from groups.group_spec import WhatIf, wanted_topics
from groups.model import Group, Topic
from groups.streams_tasks import SETTINGS, StreamsRequest
from groups.times import duration_text, format_moment


def streams_request(options: ApplicationOptions) -> StreamsRequest:
    """Raises UsageError: a setting is unknown or not a whole number, or the topology cannot be read."""
    settings: dict[str, int] = {}
    for given in options.setting or ():
        name, equals, text = given.partition("=")
        if name.strip() not in SETTINGS or not equals:
            raise UsageError(f"--setting {given!r} is not NAME=VALUE; the names are {', '.join(SETTINGS)}")
        if not text.strip().isascii() or not text.strip().isdigit() or int(text) >= 2**63:
            raise UsageError(f"--setting {given}: expected a whole number")
        settings[name.strip()] = int(text)
    topology = None if options.topology is None else _topology(options.topology)
    as_joined = isinstance(options, StreamsOptions) and options.as_joined
    return StreamsRequest(topology=topology, settings=settings, as_joined=as_joined)


def _topology(file: Path) -> TopologyText:
    from groups.yaml_files import read_text

    try:
        return parse_topology(read_text(file))
    except TopologyTextError as error:
        raise UsageError(f"{file}, {error}") from None


def topics_of(source: Source, groups: Sequence[Group], what_if: WhatIf) -> ReadResult[Topic]:
    """The topics that dry runs need: for Kafka Streams all, and the ends of the applications' changelogs."""
    applications = [group for group in groups if is_classic_streams(group)]
    if not applications:
        return source.topics(wanted_topics(groups, what_if), end_offsets=False)
    every = source.topics(None, end_offsets=False)
    names = [topic.name for topic in every.items]
    changelogs = {name for group in applications for name in changelog_names(group, names)}
    with_ends = source.topics(changelogs, end_offsets=True)
    others = tuple(topic for topic in every.items if topic.name not in changelogs)
    return ReadResult((*others, *with_ends.items), (*every.problems, *with_ends.problems))


def tasks_data(tasks: TasksRun) -> dict[str, object]:
    """The JSON of the tasks: tasks as `0_3`, by member; settings by Kafka's names."""
    return {
        "settings": {name: getattr(tasks.settings, attribute) for name, attribute in SETTINGS.items()},
        "probing_rebalance_due_ms": tasks.probes_at_ms,
        "processes": {member: str(process) for member, process in tasks.processes.items()},
        "before": {member: _plain(held, "active", "standby") for member, held in tasks.before.items()},
        "rebalances": [
            {
                "kind": each.kind.value,
                "members": {
                    member: _plain(held, "active", "standby", "warmup", "awaited")
                    for member, held in each.assignment.threads.items()
                },
                "next_rebalance_ms": _next_ms(tasks, number),
            }
            for number, each in enumerate(tasks.rounds)
        ],
    }


def _plain(tasks: ThreadTasks, *kinds: str) -> dict[str, object]:
    return {kind: [str(task) for task in ids] for kind, ids in fields(tasks, *kinds).items()}


def _next_ms(tasks: TasksRun, number: int) -> int | None:
    """The delay of the rebalance after this one: 0 at once, or the probing interval; None if none is due."""
    assignment = tasks.rounds[number].assignment
    if assignment.follow_up_ms == 0:
        return 0
    return tasks.settings.probing_rebalance_interval_ms if assignment.is_probing else None


def tasks_sentences(run: DryRun, tasks: TasksRun) -> Iterator[str]:
    yield (
        "Every thread revokes all its tasks first."
        if run.procedure is Procedure.EAGER
        else "Threads keep the tasks that do not move."
    )
    probing = sum(each.kind is RoundKind.PROBING for each in tasks.rounds)
    first = tasks.rounds[0].assignment
    if tasks.probes_at_ms is not None:
        yield f"A probing rebalance is due at {format_moment(tasks.probes_at_ms)}."
    rounds = [each.assignment.threads for each in tasks.rounds]
    is_cut = not run.rests and (len(rounds) == 1 or rounds[-1] != rounds[-2])
    if is_cut and probing:
        yield f"More than {probing} probing rebalances follow; the first {probing} are shown."
    elif probing:
        interval = tasks.settings.probing_rebalance_interval_ms
        if probing == 1:
            yield f"A probing rebalance follows {duration_text(interval)} later, if warm-ups are caught up by then."
        else:
            yield (
                f"Then {probing} probing rebalances follow, one every {duration_text(interval)} if warm-ups are "
                f"caught up by then: {duration_text(interval * probing)} in all."
            )
    elif first.is_probing and not is_cut:
        yield "The leader cannot fetch the changelogs' ends, so tasks stay where they are."
    if not run.rests and not is_cut:
        yield "Probing rebalances continue: no client gets further."


def tasks_blocks(run: DryRun, tasks: TasksRun) -> Iterator[Block]:
    """The rebalances, the tasks of each thread after the next one, and after the last one if that differs."""
    rows = [
        (
            *(number + 1, _when(tasks, number)),
            *(rebalance.moved, rebalance.revoked, rebalance.without_owner),
            *(_count(tasks, number, "warmup"), _count(tasks, number, "awaited")),
        )
        for number, rebalance in enumerate(run.rebalances)
    ]
    names = ("#REBALANCE", "WHEN", "#MOVED", "#REVOKED", "#UNOWNED", "#WARM-UPS", "#AWAITED")
    yield Table(columns=columns(*names), rows=rows)
    first, last = tasks.rounds[0].assignment.threads, tasks.rounds[-1].assignment.threads
    yield _thread_table(tasks, first, tasks.before, ("active", "awaited", "standby", "warmup"))
    if last != first:
        yield _thread_table(tasks, last, first, ("active", "standby", "warmup"))


def _when(tasks: TasksRun, number: int) -> str:
    kind = tasks.rounds[number].kind
    if kind is RoundKind.PROBING:
        return f"{duration_text(tasks.settings.probing_rebalance_interval_ms)} later"
    return "next" if kind is RoundKind.NEXT else "at once"


def _count(tasks: TasksRun, number: int, kind: str) -> int:
    return sum(len(getattr(held, kind)) for held in tasks.rounds[number].assignment.threads.values())


def _thread_table(
    tasks: TasksRun,
    threads: Mapping[str, ThreadTasks],
    before: Mapping[str, ThreadTasks],
    kinds: Sequence[str],
) -> Table:
    """The threads, those that leave last. Active tasks that a thread did not have before are marked as gained."""
    rows = []
    for member in (*threads, *(member for member in before if member not in threads)):
        held, had = threads.get(member, ThreadTasks()), before.get(member, ThreadTasks())
        warmup = set(held.warmup)
        shown = {
            "active": held.active,
            "awaited": held.awaited,
            "standby": tuple(task for task in held.standby if task not in warmup),
            "warmup": held.warmup,
        }
        gained = tuple(task for task in held.active if task not in had.active)
        lost = tuple(task for task in had.active if task not in held.active)
        process = tasks.processes.get(member)
        cells = (*(tasks_text(shown[kind]) for kind in kinds), tasks_text(gained), tasks_text(lost))
        rows.append((member, None if process is None else str(process), *cells))
    return Table(
        columns=columns("MEMBER", "PROCESS", *(_HEADINGS[kind] for kind in kinds), "GAINED", "LOST"),
        rows=rows,
    )


_HEADINGS = {"active": "ACTIVE", "awaited": "AWAITED", "standby": "STANDBY", "warmup": "WARM-UP"}


def tasks_text(tasks: Iterable[Task]) -> str | None:
    """Partition numbers by subtopology: `0:0,3;1:2`; None for no task."""
    numbers: dict[str, list[int]] = {}
    for task in tasks:
        numbers.setdefault(str(task.subtopology), []).append(task.partition)
    return partitions_text(numbers)
