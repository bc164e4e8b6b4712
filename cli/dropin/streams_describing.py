"""`--describe` of `kohort-streams-groups`."""

from collections.abc import Iterable, Sequence

from cli.dropin import cluster
from cli.dropin.errors import ToolFailure
from cli.dropin.parse import Options
from cli.dropin.printing import or_missing, print_error, row, safe_lines, width_of
from cli.dropin.typed_groups import ToolGroups, describe, names_of
from cli.errors import ExitStatus
from cli.render.cells import MISSING
from cli.sources.live import LiveSource
from groups.described import as_group, with_nodes
from groups.model import Group, GroupState, GroupType, TopicPartition, commit_of, each_partition
from groups.streams import NodeKind, StreamsMember, Tasks, Topology, TopologyNode
from wire.client.cluster import KafkaClient
from wire.client.offsets import EARLIEST, LATEST, offsets_at
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE


def run_describe(groups: ToolGroups, options: Options, source: LiveSource) -> int:
    """Print a table or the topology of each group, one after another."""
    client = cluster.client_of(source, "kohort describe")
    names, status = names_of(groups, options, source)
    for name in names:
        if options.flags.has("topology"):
            status = max(status, _print_topology(client, name))
            continue
        raw = describe(client, STREAMS_GROUP_DESCRIBE, [name])[name]
        group, _ = as_group(GroupType.STREAMS, raw, cluster.coordinators_of(client, [name]).get(name))
        if options.state is not None:
            _print_state_remark(group)
            table = _state_table(group, verbose=options.verbose)
        elif options.members:
            table = _member_table(group, verbose=options.verbose)
        else:
            table = _offset_table(group, source, client, verbose=options.verbose)
        if options.state is not None or group.members:
            print("\n".join(table))
    return status


def topologies_of(client: KafkaClient, names: Iterable[str]) -> dict[str, Topology]:
    """The topologies of groups. Raises ToolFailure: a group cannot be read, or has none."""
    described = describe(client, STREAMS_GROUP_DESCRIBE, names, prefix=cluster.WRAPPED)
    groups = {name: as_group(GroupType.STREAMS, raw, None)[0] for name, raw in described.items()}
    if missing := [name for name, group in groups.items() if group.topology is None]:
        raise ToolFailure(f"the topology of the group '{missing[0]}' is not known")
    return {name: group.topology for name, group in groups.items() if group.topology is not None}


def _print_state_remark(group: Group) -> None:
    if group.state is GroupState.DEAD:
        print_error(f"Streams group '{group.id}' does not exist.")
    elif group.state is GroupState.EMPTY:
        print_error(f"Streams group '{group.id}' has no active members.")


def _state_table(group: Group, *, verbose: bool) -> list[str]:
    node = group.coordinator
    coordinator = MISSING if node is None else f"{node.host}:{node.port} ({node.id})"
    assignor = group.protocol or ""
    epochs = [or_missing(group.group_epoch), or_missing(group.assignment_epoch)]
    widths = [
        width_of([group.id]),
        width_of([coordinator], 25),
        width_of([assignor]),
        25,
        *[15, 25] * verbose,
    ]
    headings = [
        "GROUP", "COORDINATOR (ID)", "ASSIGNOR", "STATE", *["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"] * verbose,
        "#MEMBERS",
    ]  # fmt: skip
    cells = [group.id, coordinator, assignor, group.state.value, *epochs * verbose, str(len(group.members))]
    return [row(headings, widths), row(cells, widths)]


def _member_table(group: Group, *, verbose: bool) -> list[str]:
    """With `verbose`, nothing is between the epoch of the topology and the member, as in the tool."""
    headings = ["GROUP", "MEMBER", "PROCESS", "CLIENT-ID", "ASSIGNMENTS"]
    rows = []
    for member in group.members:
        streams = member.streams or StreamsMember()
        tasks = _tasks_text(streams.tasks) + (_tasks_text(streams.target_tasks, "TARGET-") if verbose else "")
        rows.append([group.id, member.id, streams.process or "", member.client.id or "", tasks])
    widths = [width_of(column) for column in list(zip(*rows, strict=True))[:4]]
    if verbose:
        epoch = MISSING if group.topology is None else str(group.topology.epoch)
        headings[1:2] = [
            "TARGET-ASSIGNMENT-EPOCH",
            f"{'TOPOLOGY-EPOCH':15}MEMBER",
            "MEMBER-PROTOCOL",
            "MEMBER-EPOCH",
        ]
        for cells, member in zip(rows, group.members, strict=True):
            protocol = "streams" if member.protocol is None else "classic"
            cells[1:2] = [
                or_missing(group.assignment_epoch),
                f"{epoch:15}{cells[1]}",
                protocol,
                str(member.epoch),
            ]
        widths[1:2] = [25, 15 + widths[1], 15, 15]
    return [row(cells, widths) for cells in (headings, *rows)]


def _tasks_text(tasks: Tasks | None, prefix: str = "") -> str:
    """`ACTIVE: 0:[0,1]; 1:[0]; `, the blank at its end too."""
    tasks = tasks or Tasks()
    kinds = {"ACTIVE": tasks.active, "STANDBY": tasks.standby, "WARMUP": tasks.warmup}
    return "".join(
        f"{prefix}{kind}: "
        + "".join(f"{name}:[{','.join(map(str, has))}]; " for name, has in of_kind.items())
        for kind, of_kind in kinds.items()
        if of_kind
    )


def _offset_table(group: Group, source: LiveSource, client: KafkaClient, *, verbose: bool) -> list[str]:
    """A row for each partition that a member reads; the lag is that of the whole log where nothing is committed."""
    places = sorted({key for member in group.members for key in each_partition(member.owned)}, key=_in_order)
    answers = offsets_at(client, places, [EARLIEST, LATEST])
    cluster.raise_failure(answers.failed.values())
    committed, unknown = cluster.committed_offsets(source, [group.id])
    cluster.raise_failure(unknown.values(), prefix=cluster.WRAPPED)
    widths = [width_of([group.id]), width_of(topic for topic, _ in places), 10, *[15] * 4 * verbose]
    more = ["CURRENT-OFFSET", "LEADER-EPOCH", "LOG-END-OFFSET"] * verbose
    lines = [row(["GROUP", "TOPIC", "PARTITION", *more, "OFFSET-LAG"], widths)]
    for topic, number in places:
        start, end = answers.found[topic, number]
        commit = commit_of(committed.get(group.id), (topic, number))
        current = None if commit is None else commit.position
        lag = end - (start if current is None else current)
        values = [current, commit and commit.leader_epoch, end] * verbose
        lines.append(row([group.id, topic, str(number), *map(or_missing, values), str(lag)], widths))
    return lines


def _in_order(partition: TopicPartition) -> tuple[bytes, int]:
    return cluster.by_name(partition[0]), partition[1]


_STORED = 3
_WHY_NOT = {
    1: "No topology description is stored for streams group '{}'.",
    2: "The broker failed to fetch the topology description for streams group '{}'. See the broker logs for details.",
}
"""By status of a described topology (KIP-1331)."""


def _print_topology(client: KafkaClient, name: str) -> ExitStatus:
    """Print the topology as Kafka Streams' TopologyDescription does; FALSE if the brokers have none."""
    raw = describe(client, STREAMS_GROUP_DESCRIBE, [name], nodes=True)[name]
    group, _ = as_group(GroupType.STREAMS, raw, None)
    if raw.topology_description_status != _STORED or not raw.topology_description or not group.topology:
        why = _WHY_NOT.get(raw.topology_description_status)
        unknown = "No topology description is available for streams group '{}' (status: NOT_REQUESTED)."
        print_error((why or unknown).format(name))
        return ExitStatus.FALSE
    print(safe_lines(topology_text(with_nodes(group.topology, raw.topology_description))))
    return ExitStatus.DONE


def topology_text(topology: Topology) -> str:
    lines = ["Topologies:"]
    for subtopology in topology.subtopologies:
        lines += [f"   Sub-topology: {subtopology.id}", *_node_lines(subtopology.nodes or ()), ""]
    stores = zip(topology.global_nodes[::2], topology.global_nodes[1::2], strict=True)
    for number, pair in enumerate(stores, start=len(topology.subtopologies)):
        head = f"   Sub-topology: {number} for global store (will not generate tasks)"
        lines += [head, *_node_lines(pair), ""]
    return "\n".join([*lines, ""])


def _node_lines(nodes: Sequence[TopologyNode]) -> list[str]:
    lines = []
    for node in nodes:
        topics, stores = (f"[{', '.join(sorted(names))}]" for names in (node.topics, node.stores))
        before = [other.name for other in nodes if node.name in other.successors]
        links = [f"      --> {_names(node.successors)}", f"      <-- {_names(before)}"]
        if node.kind is NodeKind.SOURCE:
            lines += [f"    Source: {node.name} (topics: {topics})", links[0]]
        elif node.kind is NodeKind.SINK:
            topic = node.topics[0] if node.topics else "null"
            lines += [f"    Sink: {node.name} (topic: {topic})", links[1]]
        else:
            lines += [f"    Processor: {node.name} (stores: {stores})", *links]
    return lines


def _names(names: Sequence[str]) -> str:
    return ", ".join(sorted(names)) or "none"
