"""Members of groups in `kohort describe`; of streams groups, also their tasks and topologies."""

from collections.abc import Mapping, Sequence

from cli.render.cells import Cell, partitions_text
from cli.render.document import Table, columns, fields
from cli.verbs.describe.roles import RoleColumns, roles_data
from groups.classic_streams import StreamsThread, as_streams_member, is_classic_streams
from groups.model import AssignorAnswer, Group, GroupType, Member, MemberProtocol, Subscription
from groups.streams import StreamsMember, Tasks, TasksOfKind, Topology
from groups.trees import Trees


def upgraded(group: Group, member: Member) -> bool | None:
    """Whether a consumer group's member uses the consumer protocol; None for other groups."""
    if group.type is not GroupType.CONSUMER or member.protocol is None:
        return None
    return member.protocol is MemberProtocol.CONSUMER


def member_data(group: Group, member: Member) -> dict[str, object]:
    subscription = member.subscription
    return {
        **fields(member, "id", "instance"),
        "client_id": member.client.id,
        "host": member.client.host,
        "rack": member.rack,
        "protocol": member.protocol and member.protocol.value,
        "upgraded": upgraded(group, member),
        "subscription": subscription and {"topics": sorted(subscription.topics), "regex": subscription.regex},
        "owned": partitions_data(member.owned),
        "target": partitions_data(member.target),
        "epoch": member.epoch,
        "target_epoch": group.assignment_epoch,
        **(streams_data(member) if group.type is GroupType.STREAMS else {}),
        **roles_data(group, member),
        **_answers_data(member),
    }


def _answers_data(member: Member) -> dict[str, object]:
    """What a client-side assignor sent, if one did."""
    answers = fields(member, "assignor_answer", "target_assignor_answer")
    return {
        name: _TREES.write(AssignorAnswer, answer) for name, answer in answers.items() if answer is not None
    }


def partitions_data(partitions: Mapping[str, tuple[int, ...]] | None) -> dict[str, list[int]] | None:
    return None if partitions is None else {topic: list(partitions[topic]) for topic in sorted(partitions)}


def members_table(
    groups: Sequence[Group], threads: Mapping[str, Sequence[StreamsThread]], *, verbose: bool
) -> Table:
    """A row for each member; `threads` are those of classic Streams groups, by group."""
    static = any(member.instance for group in groups for member in group.members)
    kinds = {upgraded(group, member) for group in groups for member in group.members}
    migrating = verbose and {True, False} <= kinds
    of_streams = any(
        group.members for group in groups if group.type is GroupType.STREAMS or is_classic_streams(group)
    )
    of_threads = {
        (name, thread.member.id): as_streams_member(thread)
        for name, of_group in threads.items()
        for thread in of_group
    }
    roles = RoleColumns.of(groups, verbose=verbose)
    names = ["GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if static else [])]
    names += ["HOST", "CLIENT-ID", "##PARTITIONS"]
    answered = verbose and any(member.assignor_answer for group in groups for member in group.members)
    if verbose:
        names += ["#CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "#TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        names += ["UPGRADED"] if migrating else []
        names += ["SUBSCRIPTION"]
        names += ["#ASSIGNOR-ERROR", "#METADATA-VERSION", "METADATA"] if answered else []
    names += streams_headings(verbose=verbose) if of_streams else []
    names += roles.headings

    def row(group: Group, member: Member) -> Sequence[Cell]:
        count = None if member.owned is None else sum(map(len, member.owned.values()))
        cells: list[Cell] = [group.id, member.id]
        cells += [member.instance] if static else []
        cells += [member.client.host, member.client.id, count]
        if verbose:
            cells += [member.epoch, partitions_text(member.owned), group.assignment_epoch]
            cells += [partitions_text(member.target)]
            cells += [upgraded(group, member)] if migrating else []
            cells += [_subscription_text(member)]
            cells += _answer_cells(member.assignor_answer) if answered else ()
        if of_streams:
            streams = of_threads.get((group.id, member.id), member.streams)
            cells += streams_cells(streams or _NOT_OF_STREAMS, verbose=verbose)
        return [*cells, *roles.cells(group, member)]

    rows = [row(group, member) for group in groups for member in group.members]
    return Table(columns=columns(*names), rows=rows)


def _subscription_text(member: Member) -> str | None:
    subscription = member.subscription or Subscription()
    regex = f"regex {subscription.regex}" if subscription.regex else ""
    return "; ".join(filter(None, (",".join(sorted(subscription.topics)), regex))) or None


def _answer_cells(answer: AssignorAnswer | None) -> Sequence[Cell]:
    """Metadata in base64, as in JSON."""
    if answer is None:
        return (None, None, None)
    written = _TREES.write(AssignorAnswer, answer)
    return answer.error, None if answer.metadata is None else answer.metadata_version, written["metadata"]


_KINDS = ("active", "standby", "warmup")
_NOT_OF_STREAMS = StreamsMember()
_TREES = Trees()


def streams_headings(*, verbose: bool) -> list[str]:
    """Additional columns of a table with members of streams groups."""
    more = ["TARGET-TASKS", "#TOPOLOGY-EPOCH", "ENDPOINT", "CLIENT-TAGS"] if verbose else []
    return ["PROCESS", "TASKS", *more]


def streams_cells(streams: StreamsMember, *, verbose: bool) -> tuple[Cell, ...]:
    """The cells of the columns in `streams_headings`."""
    cells: tuple[Cell, ...] = (streams.process, tasks_text(streams.tasks))
    if not verbose:
        return cells
    tags = ",".join(f"{key}={value}" for key, value in sorted(streams.client_tags.items()))
    return (*cells, tasks_text(streams.target_tasks), streams.topology_epoch, streams.endpoint, tags or None)


def tasks_text(tasks: Tasks | None) -> str | None:
    """`ACTIVE: 0:[0,1]; 1:[0]; STANDBY: 1:[1]`, similar to the output of kafka-streams-groups."""
    if tasks is None:
        return None
    texts = [f"{kind.upper()}: {_kind_text(of_kind)}" for kind in _KINDS if (of_kind := getattr(tasks, kind))]
    return "; ".join(texts) or None


def _kind_text(tasks: TasksOfKind) -> str:
    return "; ".join(f"{name}:[{','.join(map(str, numbers))}]" for name, numbers in sorted(tasks.items()))


def streams_data(member: Member) -> dict[str, object]:
    streams = member.streams or _NOT_OF_STREAMS
    return {
        **fields(streams, "process", "topology_epoch", "endpoint"),
        "client_tags": dict(streams.client_tags),
        "tasks": streams.tasks and _TREES.write(Tasks, streams.tasks),
        "target_tasks": streams.target_tasks and _TREES.write(Tasks, streams.target_tasks),
    }


def topology_data(topology: Topology | None) -> object:
    return topology and _TREES.write(Topology, topology)


def topology_tables(groups: Sequence[Group]) -> list[Table]:
    """A row per subtopology of each streams group; one more table if nodes are known."""
    topologies = [(group.id, group.topology) for group in groups if group.topology is not None]
    subtopologies, nodes = [], []
    for group, topology in topologies:
        for part in topology.subtopologies:
            lists = (part.source_topics, part.repartition_sources, part.repartition_sinks, part.changelogs)
            subtopologies.append((group, topology.epoch, part.id, *map(_listed, lists)))
        of_parts = [(part.id, node) for part in topology.subtopologies for node in part.nodes or ()]
        for subtopology, node in (*of_parts, *((None, node) for node in topology.global_nodes)):
            kind, listed = node.kind and node.kind.value, (node.topics, node.stores, node.successors)
            nodes.append((group, subtopology, node.name, kind, *map(_listed, listed)))
    names = ("SOURCE-TOPICS", "REPARTITION-SOURCES", "REPARTITION-SINKS", "CHANGELOGS")
    headings = columns("GROUP", "#TOPOLOGY-EPOCH", "SUBTOPOLOGY", *names)
    tables = [Table(columns=headings, rows=subtopologies)]
    if nodes:
        headings = columns("GROUP", "SUBTOPOLOGY", "NODE", "KIND", "TOPICS", "STORES", "SUCCESSORS")
        tables.append(Table(columns=headings, rows=nodes))
    return tables


def _listed(names: Sequence[str]) -> str | None:
    return ",".join(names) or None
