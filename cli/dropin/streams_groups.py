"""`kohort-streams-groups`: the command line of kafka-streams-groups.sh."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from cli.dropin import cluster
from cli.dropin.deleting import delete_internal_topics, delete_offsets, print_deleted
from cli.dropin.describing import EPOCHS, state_table
from cli.dropin.errors import BadValue, ToolFailure, ToolUsageError, exception_text, status_of
from cli.dropin.flags import ParsedFlags, refuse
from cli.dropin.main import KafkaTool, Run, failing, run_tool
from cli.dropin.parse import ONLY_WITH, SCENARIOS, Action, Options, parse_command
from cli.dropin.printing import ToolColumn, print_error, remark_unknown, safe_lines, table
from cli.dropin.resetting import Resets, print_resets, run
from cli.dropin.typed_groups import TypedGroups, TypedReset
from cli.errors import ExitStatus
from cli.render.cells import MISSING, safe_text
from cli.sources.live import LiveSource
from groups.described import as_group, with_nodes
from groups.model import Group, GroupState, GroupType, TopicPartition, commit_of, each_partition
from groups.streams import NodeKind, StreamsMember, Tasks, Topology, TopologyNode
from wire.client.cluster import KafkaClient
from wire.client.groups import describe_groups
from wire.client.offsets import EARLIEST, LATEST, offsets_at
from wire.errors import Failure
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

_USAGE = "usage-streams-groups.txt"
_ONLY_WITH = {
    flag: ONLY_WITH.get(flag, ("describe",))
    for flag in ("members", "topology", "state", "offsets", "verbose")
}
_GROUPS = TypedGroups(
    type=GroupType.STREAMS,
    api=STREAMS_GROUP_DESCRIBE,
    states=(
        GroupState.EMPTY, GroupState.NOT_READY, GroupState.STABLE, GroupState.ASSIGNING, GroupState.RECONCILING,
        GroupState.DEAD,
    ),
    absent="java.lang.IllegalArgumentException: Group '{}' does not exist or is not a streams group.",
)  # fmt: skip
_ALL_INTERNAL, _INTERNAL = "delete-all-internal-topics", "delete-internal-topic"


def parse(arguments: Sequence[str]) -> Options:
    """Read and check a command line; an invalid value is a usage error, as in the tool."""
    names = {"input-topic": "topic", "all-input-topics": "all-topics"}
    actions = "--list, --describe, --delete, --reset-offsets, or --delete-offsets."
    try:
        return parse_command(
            arguments, usage=_USAGE, check=_check, actions=actions, only_with=_ONLY_WITH, names=names
        )
    except BadValue as error:
        raise ToolUsageError(str(error)) from None


def _check(flags: ParsedFlags) -> None:
    has, topics = flags.has, flags.has("input-topic", "all-input-topics")
    flags.check_describe("members", "offsets", "state", "topology")
    if has("delete"):
        flags.require_one("delete", "group", "all-groups")
        refuse(topics, "Kafka Streams does not support topic-specific offset deletion from a streams group.")
    if has("delete-offsets"):
        takes = "takes the [group] and one of these options: [all-input-topics], [input-topic]"
        refuse(not (topics and has("group")), f"Option [delete-offsets] {takes}")
        only = f"supports only one [group] at a time, but found: [{', '.join(flags.all('group'))}]"
        refuse(len(flags.all("group")) > 1, f"Option [delete-offsets] {only}")
    if has("reset-offsets"):
        flags.check_execution(required=True)
        flags.require_one("reset-offsets", "group", "all-groups")
        flags.at_most_one(*SCENARIOS)
    if has(_ALL_INTERNAL):
        flags.require_one(_ALL_INTERNAL, "reset-offsets", "delete")
        planned = has("reset-offsets") and not has("execute")
        refuse(planned, f"Option [{_ALL_INTERNAL}] takes [execute] when [reset-offsets] is used.")
    elif not (has("reset-offsets") and has("execute")):
        refuse(has(_INTERNAL), f"Option [{_INTERNAL}] takes [reset-offsets] when [execute] is used.")
    executes = has("dry-run", "execute") and not has("reset-offsets")
    refuse(executes, "Only Option [reset-offsets] accepts [execute] or [dry-run]")
    flags.exclude("list", "members", "offsets", "topology")
    flags.check_selection("input-topic")


def run_describe(options: Options, source: LiveSource) -> int:
    """Print a table or the topology of each group, one after another."""
    client = cluster.client_of(source, "kohort describe")
    names, status = _GROUPS.names(options, source)
    for name in names:
        if options.has("topology"):
            status = max(status, _print_topology(client, name))
            continue
        (group,) = _GROUPS.described(client, [name])
        if options.state is not None:
            if group.state in _WITHOUT_MEMBERS:
                print_error(f"Streams group '{name}' {_WITHOUT_MEMBERS[group.state]}.")
            print(state_table(group, *_STATE, *EPOCHS * options.has("verbose"), gap=" "))
        elif group.members:
            table_of = _member_table if options.has("members") else partial(_offset_table, source, client)
            print(table_of(group, verbose=options.has("verbose")))
    return status


def topology_of(client: KafkaClient, name: str) -> Topology:
    """The topology of a group. Raises ToolFailure: it cannot be read, or has none."""
    (group,) = _GROUPS.described(client, [name], cluster.WRAPPED)
    if group.topology is None:
        raise ToolFailure(f"the topology of the group '{name}' is not known")
    return group.topology


_WITHOUT_MEMBERS = {GroupState.DEAD: "does not exist", GroupState.EMPTY: "has no active members"}
_STATE = (
    ToolColumn[Group]("ASSIGNOR", lambda group: group.protocol or ""),
    ToolColumn[Group]("STATE", lambda group: group.state.value, 25),
)


def _member_table(group: Group, *, verbose: bool) -> str:
    """With `verbose`, nothing is between the epoch of the topology and the member, as in the tool."""
    epoch = MISSING if group.topology is None else str(group.topology.epoch)

    return table(
        group.members,
        ToolColumn("GROUP", lambda _: group.id),
        verbose and ToolColumn("TARGET-ASSIGNMENT-EPOCH", lambda _: group.assignment_epoch, 25),
        verbose
        and ToolColumn(f"{'TOPOLOGY-EPOCH':15}MEMBER", lambda member: f"{epoch:15}{member.id}", narrowest=30),
        not verbose and ToolColumn("MEMBER", lambda member: member.id),
        verbose
        and ToolColumn("MEMBER-PROTOCOL", lambda member: "classic" if member.protocol else "streams", 15),
        verbose and ToolColumn("MEMBER-EPOCH", lambda member: member.epoch, 15),
        ToolColumn("PROCESS", lambda member: (member.streams and member.streams.process) or ""),
        ToolColumn("CLIENT-ID", lambda member: member.client.id or ""),
        ToolColumn("ASSIGNMENTS", lambda member: _tasks_text(member.streams, verbose=verbose), 0),
    )


def _tasks_text(streams: StreamsMember | None, *, verbose: bool) -> str:
    """`ACTIVE: 0:[0,1]; 1:[0]; `, the blank at its end too; with `verbose`, of the target assignment too."""
    tasks = (streams and streams.tasks) or Tasks()
    target = (verbose and streams and streams.target_tasks) or Tasks()
    kinds = {
        "ACTIVE": tasks.active, "STANDBY": tasks.standby, "WARMUP": tasks.warmup, "TARGET-ACTIVE": target.active,
        "TARGET-STANDBY": target.standby, "TARGET-WARMUP": target.warmup,
    }  # fmt: skip
    texts = {
        kind: [f"{name}:[{','.join(map(str, has))}]; " for name, has in of.items()]
        for kind, of in kinds.items()
    }
    return "".join(f"{kind}: {''.join(parts)}" for kind, parts in texts.items() if parts)


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
        ToolColumn("GROUP", lambda _: group.id),
        ToolColumn("TOPIC", lambda place: place[0]),
        ToolColumn("PARTITION", lambda place: place[1], 10),
        verbose and ToolColumn("CURRENT-OFFSET", current, 15),
        verbose
        and ToolColumn("LEADER-EPOCH", lambda place: (commit := commits[place]) and commit.leader_epoch, 15),
        verbose and ToolColumn("LOG-END-OFFSET", lambda place: logs.found[place][1], 15),
        ToolColumn("OFFSET-LAG", lag, 15 * verbose),
    )


_STORED = 3
_WHY_NOT = {
    0: "No topology description is available for streams group '{}' (status: NOT_REQUESTED).",
    1: "No topology description is stored for streams group '{}'.",
    2: "The broker failed to fetch the topology description for streams group '{}'. See the broker logs for details.",
}
"""By status of a described topology (KIP-1331)."""


def _print_topology(client: KafkaClient, name: str) -> ExitStatus:
    """Print the topology as Kafka Streams' TopologyDescription does; FALSE if the brokers have none."""
    answers = describe_groups(client, _GROUPS.api, [name], nodes=True)
    cluster.raise_failure(answers.failed.values())
    answer, status = answers.found[name], answers.found[name].topology_description_status
    group, _ = as_group(GroupType.STREAMS, answer, None)
    if status != _STORED or not answer.topology_description or not group.topology:
        print_error(_WHY_NOT.get(status, _WHY_NOT[0]).format(name))
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
        lines += [f"   Sub-topology: {name}", *_node_lines(nodes), ""]
    return "\n".join([*lines, ""])


def _node_lines(nodes: Sequence[TopologyNode]) -> Iterator[str]:
    for node in nodes:
        before = [other.name for other in nodes if node.name in other.successors]
        to, of = f"      --> {_names(node.successors) or 'none'}", f"      <-- {_names(before) or 'none'}"
        match node.kind:
            case NodeKind.SOURCE:
                yield from (f"    Source: {node.name} (topics: [{_names(node.topics)}])", to)
            case NodeKind.SINK:
                yield from (f"    Sink: {node.name} (topic: {_names(node.topics) or 'null'})", of)
            case _:
                yield from (f"    Processor: {node.name} (stores: [{_names(node.stores)}])", to, of)


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def run_delete(options: Options, source: LiveSource) -> int:
    """Delete the groups, and their internal topics if requested; print the outcome of each; the exit status."""
    client = cluster.client_of(source, "kohort delete")
    names, status = _GROUPS.names(options, source)
    failed = _GROUPS.undeletable(names, source)
    doomed = [name for name in names if name not in failed and options.has(_ALL_INTERNAL)]
    topics = {name: found for name in doomed if (found := _internal_topics(client, name))}
    failed = _GROUPS.deleted(names, failed, source)
    gone = [name for name in topics if name not in failed]
    kept = {name: why for name in gone if (why := _delete_topics(source, name, topics[name]))}
    print_deleted("streams groups", names, failed, end=".")
    if kept:
        print("Deletion of some associated internal topics failed:")
        for name, why in kept.items():
            what = f"* Internal topics of the streams group '{name}' could not be deleted"
            print(safe_text(f"{what} due to: {exception_text(why)}"))
    elif gone:
        of = safe_text("', '".join(gone))
        print(f"Deletion of associated internal topics of the streams groups ('{of}') was successful.")
    return max(status, status_of([*failed.values(), *kept.values()]))


def _internal_topics(client: KafkaClient, group: str) -> list[str]:
    """The internal topics of a group; those that are not named after it are printed, and left out."""
    topology = topology_of(client, group)
    internal = list(topology.internal_topics(group))
    topics = {
        topic for part in topology.subtopologies for topic in (*part.repartition_sources, *part.changelogs)
    }
    for topic in sorted(topics - topology.input_topics - {*internal}):
        what = f"The internal topic '{topic}' is not inferred as internal"
        print_error(f"{what} and thus will not be deleted with the group '{group}'.")
    return internal


def _delete_topics(source: LiveSource, group: str, topics: Sequence[str]) -> Failure | None:
    """Delete internal topics of a group; the first failure, after each of them is printed."""
    failed = delete_internal_topics(source, group, topics).failed if topics else {}
    for topic in failed:
        print(safe_text(f"Failed to delete internal topic: {topic}"))
    remark_unknown(failed.values())
    return next(iter(failed.values()), None)


def run_delete_offsets(options: Options, source: LiveSource) -> int:
    """Delete the offsets of the named or of all input topics."""
    if not options.has("all-topics"):
        return delete_offsets(options, source)
    topics = topology_of(cluster.client_of(source, "kohort offsets delete"), options.group).input_topics
    committed = StreamsReset(options, source).committed(options.group)
    return delete_offsets(options, source, [place for place in committed if place[0] in topics])


class StreamsReset(TypedReset):
    """A reset of streams groups, of input topics only, and the deletion of their internal topics."""

    groups = _GROUPS

    def set_group(self, name: str) -> Mapping[TopicPartition, int]:
        topics = self._doomed(name) if self.options.has("execute") else []
        offsets = super().set_group(name)
        if (why := _delete_topics(self.source, name, topics)) is not None:
            print_error(f"Deleting internal topics for group '{name}' failed due to {exception_text(why)}")
            self.status = max(self.status, status_of([why]))
        return offsets

    def _doomed(self, group: str) -> list[str]:
        """The internal topics to delete. Raises ToolFailure: a named one is not an internal topic of the group."""
        named, all_of_them = self.options.flags.all(_INTERNAL), self.options.has(_ALL_INTERNAL)
        topics = _internal_topics(self.client, group) if named or all_of_them else []
        if all_of_them:
            return topics
        if others := [topic for topic in named if topic not in topics]:
            raise ToolFailure(f"'{others[0]}' is not an internal topic of the group '{group}'")
        return named

    def scope(self, committed: Iterable[TopicPartition]) -> list[TopicPartition]:
        if self.options.has("all-topics"):
            topics = topology_of(self.client, self.name).input_topics
            return [place for place in committed if place[0] in topics]
        if not self.options.topics and self.options.from_file is None:
            scopes = "--all-input-topics, --input-topic"
            raise ToolUsageError(f"One of the reset scopes should be defined: {scopes}.")
        places = super().scope(committed)
        self.check(places)
        if places and not self.committed(self.name).keys() >= set(places):
            print_error(f"One or more topics are not part of the group '{self.name}'.")
            self.status = max(self.status, ExitStatus.UNREADABLE)
            return []
        return places

    def show(self, resets: Resets) -> None:
        if self.options.has("export"):
            super().show(resets)
        else:
            print_resets(resets, _WIDTHS)


_WIDTHS = (30, 30, 15)
_RUNS: dict[Action, Run] = {
    Action.LIST: _GROUPS.run_list,
    Action.DESCRIBE: run_describe,
    Action.DELETE: run_delete,
    Action.DELETE_OFFSETS: run_delete_offsets,
    Action.RESET_OFFSETS: partial(run, kind=StreamsReset),
}
TOOL = KafkaTool(
    parse=parse,
    action_of=lambda options: _RUNS[options.action],
    report=failing("streams group"),
    usage=_USAGE,
    failed=ExitStatus.FALSE,
)
main = partial(run_tool, TOOL)
