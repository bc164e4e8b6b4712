"""Streams groups in `kohort describe`: the tasks of their members, and their topologies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cli.render.cells import Cell
from cli.render.document import Table, columns, fields
from groups.model import Group, Member
from groups.streams import StreamsMember, Tasks, TasksOfKind, Topology, TopologyNode

_KINDS = ("active", "standby", "warmup")
_NOT_OF_STREAMS = StreamsMember()


def member_headings(*, verbose: bool) -> list[str]:
    """Additional columns of a table with members of streams groups."""
    more = ["TARGET-TASKS", "#TOPOLOGY-EPOCH", "ENDPOINT", "CLIENT-TAGS"] if verbose else []
    return ["PROCESS", "TASKS", *more]


def member_cells(member: Member, *, verbose: bool) -> tuple[Cell, ...]:
    """The cells of the columns in `member_headings`; empty for a member of a group of another type."""
    streams = member.streams or _NOT_OF_STREAMS
    cells: tuple[Cell, ...] = (streams.process, tasks_text(streams.tasks))
    if not verbose:
        return cells
    tags = ",".join(f"{key}={value}" for key, value in sorted(streams.client_tags.items()))
    return (*cells, tasks_text(streams.target_tasks), streams.topology_epoch, streams.endpoint, tags or None)


def tasks_text(tasks: Tasks | None) -> str | None:
    """`ACTIVE: 0:[0,1]; 1:[0]; STANDBY: 1:[1]`, similar to the output of kafka-streams-groups."""
    if tasks is None:
        return None
    texts = [f"{kind.upper()}: {_kind_text(found)}" for kind in _KINDS if (found := getattr(tasks, kind))]
    return "; ".join(texts) or None


def _kind_text(tasks: TasksOfKind) -> str:
    return "; ".join(f"{name}:[{','.join(map(str, numbers))}]" for name, numbers in sorted(tasks.items()))


def member_data(member: Member) -> dict[str, Any]:
    """Fields of a member of a streams group in the JSON document."""
    streams = member.streams or _NOT_OF_STREAMS
    return {
        **fields(streams, "process", "topology_epoch", "endpoint"),
        "client_tags": dict(streams.client_tags),
        "tasks": _tasks_data(streams.tasks),
        "target_tasks": _tasks_data(streams.target_tasks),
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
            "nodes": None if each.nodes is None else list(map(_node_data, each.nodes)),
        }
        for each in topology.subtopologies
    ]
    return {
        "epoch": topology.epoch,
        "subtopologies": subtopologies,
        "global_nodes": list(map(_node_data, topology.global_nodes)),
    }


def _node_data(node: TopologyNode) -> dict[str, Any]:
    topics, stores, successors = map(list, _names(node))
    return {
        "name": node.name,
        "kind": _kind(node),
        "topics": topics,
        "stores": stores,
        "successors": successors,
    }


def topology_tables(groups: Sequence[Group]) -> list[Table]:
    """A row per subtopology of each streams group; one more table if nodes are known."""
    nodes = [
        (group.id, subtopology, node.name, _kind(node), *map(_listed, _names(node)))
        for group in groups
        if group.topology is not None
        for subtopology, found in _nodes_of(group.topology)
        for node in found
    ]
    table = Table(
        columns=columns("GROUP", "SUBTOPOLOGY", "NODE", "KIND", "TOPICS", "STORES", "SUCCESSORS"), rows=nodes
    )
    return [_subtopologies(groups), *([table] if nodes else [])]


def _nodes_of(topology: Topology) -> Iterator[tuple[str | None, Sequence[TopologyNode]]]:
    """Nodes by subtopology; None for nodes of global stores, which have none."""
    for each in topology.subtopologies:
        yield each.id, each.nodes or ()
    yield None, topology.global_nodes


def _kind(node: TopologyNode) -> str | None:
    return node.kind and node.kind.value


def _names(node: TopologyNode) -> tuple[tuple[str, ...], ...]:
    return node.topics, node.stores, node.successors


def _listed(names: Sequence[str]) -> str | None:
    return ",".join(names) or None


def _subtopologies(groups: Sequence[Group]) -> Table:
    names = ("SOURCE-TOPICS", "REPARTITION-SOURCES", "REPARTITION-SINKS", "CHANGELOGS")
    rows = [
        (
            group.id,
            group.topology.epoch,
            each.id,
            _listed(each.source_topics),
            _listed(each.repartition_sources),
            _listed(each.repartition_sinks),
            _listed(each.changelogs),
        )
        for group in groups
        if group.topology is not None
        for each in group.topology.subtopologies
    ]
    return Table(columns=columns("GROUP", "#TOPOLOGY-EPOCH", "SUBTOPOLOGY", *names), rows=rows)
