"""`--describe` of `kohort-streams-groups`."""

from collections.abc import Iterable, Sequence
from functools import partial

from cli.dropin import cluster
from cli.dropin.describing import EPOCHS, state_table
from cli.dropin.errors import ToolFailure
from cli.dropin.parse import Options
from cli.dropin.printing import Column, print_error, safe_lines, table
from cli.dropin.typed_groups import TypedGroups
from cli.errors import ExitStatus
from cli.render.cells import MISSING
from cli.sources.live import LiveSource
from groups.described import as_group, with_nodes
from groups.model import Group, GroupState, GroupType, Member, TopicPartition, commit_of, each_partition
from groups.streams import NodeKind, StreamsMember, Tasks, Topology, TopologyNode
from wire.client.cluster import KafkaClient
from wire.client.offsets import EARLIEST, LATEST, offsets_at
from wire.errors import Failure
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

GROUPS = TypedGroups(
    type=GroupType.STREAMS,
    api=STREAMS_GROUP_DESCRIBE,
    states=(
        GroupState.EMPTY, GroupState.NOT_READY, GroupState.STABLE, GroupState.ASSIGNING, GroupState.RECONCILING,
        GroupState.DEAD,
    ),
    absent=lambda name: Failure(
        message=f"java.lang.IllegalArgumentException: Group '{name}' does not exist or is not a streams group.",
        is_unsent=True,
    ),
)  # fmt: skip


def run_describe(options: Options, source: LiveSource) -> int:
    """Print a table or the topology of each group, one after another."""
    client = cluster.client_of(source, "kohort describe")
    names, status = GROUPS.names(options, source)
    for name in names:
        if options.flags.has("topology"):
            status = max(status, _print_topology(client, name))
            continue
        (group,) = GROUPS.described(client, [name])
        if options.state is not None:
            if group.state in _WITHOUT_MEMBERS:
                print_error(f"Streams group '{name}' {_WITHOUT_MEMBERS[group.state]}.")
            print(state_table(group, *_STATE, *EPOCHS * options.verbose, gap=" "))
        elif group.members:
            table_of = _member_table if options.members else partial(_offset_table, source, client)
            print(table_of(group, verbose=options.verbose))
    return status


def topology_of(client: KafkaClient, name: str) -> Topology:
    """The topology of a group. Raises ToolFailure: it cannot be read, or has none."""
    (group,) = GROUPS.described(client, [name], prefix=cluster.WRAPPED)
    if group.topology is None:
        raise ToolFailure(f"the topology of the group '{name}' is not known")
    return group.topology


_WITHOUT_MEMBERS = {GroupState.DEAD: "does not exist", GroupState.EMPTY: "has no active members"}
_STATE = (
    Column[Group]("ASSIGNOR", lambda group: group.protocol or ""),
    Column[Group]("STATE", lambda group: group.state.value, 25),
)


def _member_table(group: Group, *, verbose: bool) -> str:
    """With `verbose`, nothing is between the epoch of the topology and the member, as in the tool."""
    epoch = MISSING if group.topology is None else str(group.topology.epoch)

    def tasks(member: Member) -> str:
        streams = member.streams or StreamsMember()
        target = _tasks_text(streams.target_tasks, "TARGET-") if verbose else ""
        return _tasks_text(streams.tasks) + target

    return table(
        group.members,
        Column("GROUP", lambda _: group.id),
        verbose and Column("TARGET-ASSIGNMENT-EPOCH", lambda _: group.assignment_epoch, 25),
        verbose
        and Column(f"{'TOPOLOGY-EPOCH':15}MEMBER", lambda member: f"{epoch:15}{member.id}", narrowest=30),
        not verbose and Column("MEMBER", lambda member: member.id),
        verbose and Column("MEMBER-PROTOCOL", lambda member: "classic" if member.protocol else "streams", 15),
        verbose and Column("MEMBER-EPOCH", lambda member: member.epoch, 15),
        Column("PROCESS", lambda member: (member.streams and member.streams.process) or ""),
        Column("CLIENT-ID", lambda member: member.client.id or ""),
        Column("ASSIGNMENTS", tasks, 0),
    )


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


def _offset_table(source: LiveSource, client: KafkaClient, group: Group, *, verbose: bool) -> str:
    """A row for each partition that a member reads; the lag is that of the whole log where nothing is committed."""
    owned = {place for member in group.members for place in each_partition(member.owned)}
    logs = offsets_at(client, sorted(owned, key=cluster.by_place), [EARLIEST, LATEST])
    cluster.raise_failure(logs.failed.values())
    committed, unknown = cluster.committed_offsets(source, [group.id])
    cluster.raise_failure(unknown.values(), prefix=cluster.WRAPPED)
    commits = {place: commit_of(committed.get(group.id), place) for place in logs.found}

    def current(place: TopicPartition) -> int | None:
        return commit.position if (commit := commits[place]) else None

    def lag(place: TopicPartition) -> int:
        start, end = logs.found[place]
        return end - (start if (offset := current(place)) is None else offset)

    return table(
        logs.found,
        Column("GROUP", lambda _: group.id),
        Column("TOPIC", lambda place: place[0]),
        Column("PARTITION", lambda place: place[1], 10),
        verbose and Column("CURRENT-OFFSET", current, 15),
        verbose
        and Column("LEADER-EPOCH", lambda place: (commit := commits[place]) and commit.leader_epoch, 15),
        verbose and Column("LOG-END-OFFSET", lambda place: logs.found[place][1], 15),
        Column("OFFSET-LAG", lag, 15 * verbose),
    )


_STORED = 3
_WHY_NOT = {
    1: "No topology description is stored for streams group '{}'.",
    2: "The broker failed to fetch the topology description for streams group '{}'. See the broker logs for details.",
}
"""By status of a described topology (KIP-1331)."""
_NOT_REQUESTED = "No topology description is available for streams group '{}' (status: NOT_REQUESTED)."


def _print_topology(client: KafkaClient, name: str) -> ExitStatus:
    """Print the topology as Kafka Streams' TopologyDescription does; FALSE if the brokers have none."""
    answer = GROUPS.read(client, [name], nodes=True)[name]
    group, _ = as_group(GroupType.STREAMS, answer, None)
    status = answer.topology_description_status
    if status != _STORED or not answer.topology_description or not group.topology:
        print_error(_WHY_NOT.get(status, _NOT_REQUESTED).format(name))
        return ExitStatus.FALSE
    print(safe_lines(topology_text(with_nodes(group.topology, answer.topology_description))))
    return ExitStatus.DONE


def topology_text(topology: Topology) -> str:
    parts = [(part.id, part.nodes or ()) for part in topology.subtopologies]
    stores = zip(topology.global_nodes[::2], topology.global_nodes[1::2], strict=True)
    for number, pair in enumerate(stores, start=len(parts)):
        parts.append((f"{number} for global store (will not generate tasks)", pair))
    lines = ["Topologies:"]
    for name, nodes in parts:
        described = (line for node in nodes for line in _node_lines(node, nodes))
        lines += [f"   Sub-topology: {name}", *described, ""]
    return "\n".join([*lines, ""])


def _node_lines(node: TopologyNode, nodes: Sequence[TopologyNode]) -> list[str]:
    before = [other.name for other in nodes if node.name in other.successors]
    to, of = (
        f"      {arrow} {_names(names) or 'none'}"
        for arrow, names in (("-->", node.successors), ("<--", before))
    )
    match node.kind:
        case NodeKind.SOURCE:
            return [f"    Source: {node.name} (topics: [{_names(node.topics)}])", to]
        case NodeKind.SINK:
            return [f"    Sink: {node.name} (topic: {_names(node.topics) or 'null'})", of]
        case _:
            return [f"    Processor: {node.name} (stores: [{_names(node.stores)}])", to, of]


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
