"""What `kohort describe` shows of streams groups: the tasks of their members, and their topologies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cli.render.cells import Cell
from cli.render.document import Table, columns, fields
from groups.model import Group, Member
from groups.streams import StreamsMember, Tasks, TasksOfKind, Topology

_KINDS = ("active", "standby", "warmup")
_NOT_OF_STREAMS = StreamsMember()


def member_headings(*, verbose: bool) -> list[str]:
    """Columns that a table of members gets where one of them is of a streams group."""
    more = ["TARGET-TASKS", "#TOPOLOGY-EPOCH", "ENDPOINT", "CLIENT-TAGS"] if verbose else []
    return ["PROCESS", "TASKS", *more]


def member_cells(member: Member, *, verbose: bool) -> tuple[Cell, ...]:
    """Under those headings; empty ones for a member of another group."""
    told = member.streams or _NOT_OF_STREAMS
    cells: tuple[Cell, ...] = (told.process, tasks_text(told.tasks))
    if not verbose:
        return cells
    tags = ",".join(f"{key}={value}" for key, value in sorted(told.client_tags.items()))
    return (*cells, tasks_text(told.target_tasks), told.topology_epoch, told.endpoint, tags or None)


def tasks_text(tasks: Tasks | None) -> str | None:
    """`ACTIVE: 0:[0,1]; 1:[0]; STANDBY: 1:[1]`, nearly as kafka-streams-groups writes it."""
    if tasks is None:
        return None
    texts = [f"{kind.upper()}: {_kind_text(found)}" for kind in _KINDS if (found := getattr(tasks, kind))]
    return "; ".join(texts) or None


def _kind_text(tasks: TasksOfKind) -> str:
    return "; ".join(f"{name}:[{','.join(map(str, numbers))}]" for name, numbers in sorted(tasks.items()))


def member_data(member: Member) -> dict[str, Any]:
    """Fields of a member of a streams group in the JSON document."""
    told = member.streams or _NOT_OF_STREAMS
    return {
        **fields(told, "process", "topology_epoch", "endpoint"),
        "client_tags": dict(told.client_tags),
        "tasks": _tasks_data(told.tasks),
        "target_tasks": _tasks_data(told.target_tasks),
    }


def _tasks_data(tasks: Tasks | None) -> dict[str, dict[str, list[int]]] | None:
    if tasks is None:
        return None
    return {
        kind: {name: list(numbers) for name, numbers in sorted(getattr(tasks, kind).items())}
        for kind in _KINDS
    }


def topology_data(topology: Topology | None) -> dict[str, Any] | None:
    """The topology of a streams group in the JSON document."""
    if topology is None:
        return None
    subtopologies = [
        {
            "id": each.id,
            "source_topics": list(each.source_topics),
            "repartition_sinks": list(each.repartition_sinks),
            "repartition_sources": list(each.repartition_sources),
            "changelogs": list(each.changelogs),
        }
        for each in topology.subtopologies
    ]
    return {"epoch": topology.epoch, "subtopologies": subtopologies}


def topology_table(groups: Sequence[Group]) -> Table:
    """A row per subtopology of each streams group."""
    names = ("SOURCE-TOPICS", "REPARTITION-SOURCES", "REPARTITION-SINKS", "CHANGELOGS")
    rows = [
        (
            group.id,
            group.topology.epoch,
            each.id,
            *(
                ",".join(topics) or None
                for topics in (
                    each.source_topics,
                    each.repartition_sources,
                    each.repartition_sinks,
                    each.changelogs,
                )
            ),
        )
        for group in groups
        if group.topology is not None
        for each in group.topology.subtopologies
    ]
    return Table(columns=columns("GROUP", "#TOPOLOGY-EPOCH", "SUBTOPOLOGY", *names), rows=rows)
