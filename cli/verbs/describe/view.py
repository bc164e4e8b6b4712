"""`kohort describe`: read groups, and show the same facts and columns as kafka-consumer-groups, and more."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from cli.errors import UsageError
from cli.options import ClustersOptions, OutputOptions, RepeatOptions
from cli.render.cells import Cell
from cli.render.document import VERBOSE, Block, Deferred, Document, Table, columns, fields
from cli.selection import describe_chosen, split_list
from cli.sources.source import AuthorizedOperations, ReadResult, Source
from cli.verbs.describe.classic_streams import (
    ClassicStreamsGroup,
    application,
    streams_remarks,
    thread_data,
    threads_table,
)
from cli.verbs.describe.members import member_data, members_table, topology_data, topology_tables
from cli.verbs.describe.offsets import (
    PLAIN,
    OffsetsView,
    all_totals,
    group_totals,
    lag_time_remarks,
    lagging,
    offset_data,
    offsets_table,
    total_tables,
    unsubscribed_remarks,
)
from cli.verbs.describe.options import STATE_TABLE, DescribeOptions, DescribeSelection
from cli.verbs.describe.roles import unknown_leaders, with_unknown_leaders, without_partitions
from cli.verbs.watch import show_read
from groups.classic_streams import changelog_names, is_classic_streams
from groups.counts import counted, first_names
from groups.lag import NextRecords, PartitionLag, partition_lags, topics_with_offsets, unread_offsets
from groups.model import Group, GroupState, GroupType, Problem, Topic, each_commit
from groups.transactions import pending_remedy, pending_text


class DescribeMode(Enum):
    """The table to show; the JSON document contains the same facts."""

    OFFSETS = "offsets"
    MEMBERS = "members"
    STATE = "state"
    MIGRATION = "migration"


def describe_groups(
    selection: DescribeSelection,
    options: DescribeOptions,
    source: ClustersOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """Show the selected groups, once or repeatedly. UsageError if the options are about different tables."""
    shown = {
        DescribeMode.OFFSETS: options.offsets,
        DescribeMode.MEMBERS: options.members,
        DescribeMode.STATE: STATE_TABLE in (selection.states or ()),
        DescribeMode.MIGRATION: options.migration,
    }
    modes = [mode for mode, is_given in shown.items() if is_given] or [DescribeMode.OFFSETS]
    if len(modes) > 1:
        raise UsageError("--members, --offsets, --state and --migration show different tables; give one")
    (mode,) = modes
    of_offsets = options.lag_time or options.last_commit or options.totals or options.only_with_lag
    if mode is not DescribeMode.OFFSETS and of_offsets:
        about = "--lag-time, --last-commit, --totals and --only-with-lag are about offsets"
        raise UsageError(f"{about}; leave --{mode.value} out")
    states = [state for state in selection.states or () if state != STATE_TABLE]
    selection = replace(selection, states=states)

    def read_document(groups: Source) -> Document:
        described = describe_chosen(groups, selection, offsets=mode is DescribeMode.OFFSETS)
        described = replace(described, items=with_unknown_leaders(groups, described.items))
        if mode is DescribeMode.OFFSETS:
            document = _read_offsets(groups, described, options, split_list(selection.topics))
        else:
            shown, problems = described.items, described.problems
            if mode is DescribeMode.MIGRATION:
                shown = groups.with_leaders(shown)
            topics: Mapping[str, Topic] = {}
            if mode is DescribeMode.MEMBERS:
                topics, unread = _changelogs(groups, shown)
                problems += unread
            if mode is DescribeMode.MEMBERS and options.verbose:
                read = groups.with_topology_nodes(shown)
                shown, problems = read.items, problems + read.problems
            document = describe_document(shown, topics, mode, verbose=options.verbose, problems=problems)
        if options.authorized_operations:
            authorized = groups.authorized_operations(described.items)
            document = with_operations(document, described.items, authorized)
        return replace(document, more="" if options.verbose else VERBOSE)

    show_read(read_document, source, output, repeat)


def _changelogs(source: Source, groups: Sequence[Group]) -> tuple[dict[str, Topic], tuple[Problem, ...]]:
    """The changelogs of classic Streams groups with their ends: their names need the list of all topics."""
    applications = [group for group in groups if is_classic_streams(group)]
    if not applications:
        return {}, ()
    listed = source.topics(None, end_offsets=False)
    names = [topic.name for topic in listed.items]
    changelogs = {topic for group in applications for topic in changelog_names(group, names)}
    if not changelogs:
        return {}, listed.problems
    read = source.topics(changelogs, end_offsets=True)
    return {topic.name: topic for topic in read.items}, listed.problems + read.problems


def _read_offsets(
    source: Source, described: ReadResult[Group], options: DescribeOptions, only_topics: Sequence[str]
) -> Document:
    """The document of groups with their committed offsets, limited to `only_topics` if any are named."""
    groups, only = described.items, frozenset(only_topics)
    if only:
        groups = tuple(
            replace(
                group,
                offsets=group.offsets
                and {topic: group.offsets[topic] for topic in group.offsets if topic in only},
            )
            for group in groups
        )
    names = topics_with_offsets(groups)
    read = source.topics(
        names & only if only else names, end_offsets=True, start_offsets=options.lag_time or options.verbose
    )
    topics = {topic.name: topic for topic in read.items}
    problems, remarks = described.problems + read.problems, tuple[str, ...]()
    records: NextRecords | None = None
    if options.last_commit:
        timed = source.with_commit_times(groups)
        groups, problems = timed.items, problems + timed.problems
        remarks += _missing_commit_times(groups, any_problem=bool(timed.problems))
    if options.lag_time:
        unread = source.next_records(unread_offsets(partition_lags(group, topics) for group in groups))
        records, problems = unread.records, problems + unread.problems
        remarks += () if unread.remark is None else (unread.remark,)
    chosen = fields(options, "last_commit", "totals", "only_with_lag", "verbose")
    chosen["partitions"] = options.offsets or options.last_commit or not options.totals
    view = OffsetsView(records=records, now_ms=time.time_ns() // 1_000_000, topics=only, **chosen)
    document = describe_document(groups, topics, DescribeMode.OFFSETS, problems=problems, view=view)
    return replace(document, remarks=document.remarks + remarks)


def _missing_commit_times(groups: Sequence[Group], *, any_problem: bool) -> tuple[str, ...]:
    """A remark on missing times of commits that no problem explains."""
    remarks = tuple(
        f"{group.id}: the last commit of a share group is not known: its offsets are in __share_group_state"
        for group in groups
        if group.type is GroupType.SHARE
    )
    without = [
        group.id
        for group in groups
        if group.type is not GroupType.SHARE
        and any(commit.timestamp is None for _, commit in each_commit(group.offsets))
    ]
    if without and not any_problem:
        names = first_names(without, 1, "groups")
        remarks += (f"{names}: the source does not show when offsets were committed",)
    return remarks


def describe_document(
    groups: Sequence[Group],
    topics: Mapping[str, Topic],
    mode: DescribeMode,
    *,
    verbose: bool = False,
    problems: tuple[Problem, ...] = (),
    view: OffsetsView = PLAIN,
) -> Document:
    """The document; `topics` have the end offsets, if they were read."""
    if mode is DescribeMode.MIGRATION:
        return _migration_document(groups, verbose=verbose, problems=problems)
    if mode is DescribeMode.OFFSETS:
        return _offsets_document(groups, topics, view, problems)
    if mode is DescribeMode.MEMBERS:
        applications = [application(group, topics) for group in groups if is_classic_streams(group)]
        threads = {one.group.id: one.threads for one in applications}
        blocks: list[Block] = [members_table(groups, threads, verbose=verbose)]
        if any(threads.values()):
            blocks.append(threads_table(applications))
        if verbose and any(group.topology for group in groups):
            blocks += topology_tables(groups)
    else:
        applications = []
        blocks = [_state_table(groups, verbose=verbose)]
    data = Deferred(lambda: {"groups": [group_data(group, None, topics=topics) for group in groups]})
    of_streams = streams_remarks(applications, time.time_ns() // 1_000_000)
    remarks = (*_state_remarks(groups), *unknown_leaders(groups), *of_streams)
    return Document(command="describe", data=data, blocks=blocks, errors=problems, remarks=remarks)


def _offsets_document(
    groups: Sequence[Group], topics: Mapping[str, Topic], view: OffsetsView, problems: tuple[Problem, ...]
) -> Document:
    rows = {group.id: view.rows(group, topics) for group in groups}
    left_out: tuple[str, ...] = ()
    if view.only_with_lag:
        rows, unknown = lagging(rows)
        groups = [group for group in groups if group.id in rows]
        if unknown:
            left_out = (f"{counted(unknown, 'partition')} left out: their lag is not known",)

    def data() -> dict[str, object]:
        data: dict[str, object] = {"groups": [group_data(group, rows[group.id], view) for group in groups]}
        return data | ({"totals": all_totals(rows, lag_time=view.lag_time)} if view.totals else {})

    blocks: list[Block] = [offsets_table(groups, rows, view)] if view.partitions else []
    if view.totals:
        blocks += total_tables(rows, lag_time=view.lag_time)
    remarks = (
        *_state_remarks(groups),
        *without_partitions(groups),
        *left_out,
        *pending_remarks(groups, view.now_ms),
    )
    if view.totals:
        remarks += unsubscribed_remarks(rows)
    if view.lag_time:
        remarks += lag_time_remarks(rows, view.now_ms)
    return Document(command="describe", data=Deferred(data), blocks=blocks, errors=problems, remarks=remarks)


def with_operations(
    document: Document, groups: Sequence[Group], authorized: AuthorizedOperations
) -> Document:
    """The document with the authorized operations of each group: one more table, and a field of every group."""
    known = authorized.by_group

    def data() -> dict[str, object]:
        listed = {name: list(operations) for name, operations in known.items()}
        described = document.data["groups"]
        with_them = [{**one, "authorized_operations": listed.get(one["group"])} for one in described]
        return {**document.data, "groups": with_them}

    rows = [(group.id, ", ".join(known[group.id]) if group.id in known else None) for group in groups]
    table = Table(columns=columns("GROUP", "AUTHORIZED-OPERATIONS"), rows=rows)
    remarks = document.remarks
    if any(group.id not in known for group in groups) and not authorized.problems:
        remarks += (
            "authorized operations are only known of a live cluster, and of brokers from Kafka 2.3 on",
        )
    blocks, errors = [*document.blocks, table], document.errors + authorized.problems
    return replace(document, data=Deferred(data), blocks=blocks, errors=errors, remarks=remarks)


def _migration_document(groups: Sequence[Group], *, verbose: bool, problems: tuple[Problem, ...]) -> Document:
    # They import assignors and numpy, which takes longer than most requests.
    from cli.verbs.describe.migration import migration_blocks, migration_data
    from migration.inspection import inspect

    inspected = [inspect(group) for group in groups]
    blocks, remarks = list(migration_blocks(inspected, verbose=verbose)), _state_remarks(groups)
    data = Deferred(
        lambda: {"groups": [group_data(seen.group, None) | migration_data(seen) for seen in inspected]}
    )
    return Document(command="describe", data=data, blocks=blocks, errors=problems, remarks=remarks)


def group_data(
    group: Group,
    offsets: Sequence[PartitionLag] | None,
    view: OffsetsView = PLAIN,
    *,
    topics: Mapping[str, Topic] | None = None,
) -> dict[str, object]:
    """A group of the JSON document; offsets are null if they were not requested. `topics` may have changelogs."""
    epochs = ("generation",) if group.type is GroupType.CLASSIC else ("group_epoch", "assignment_epoch")
    data: dict[str, object] = {
        "group": group.id,
        "type": group.type.value,
        **fields(group, "protocol_type", "protocol"),
        "state": group.state.value,
        "coordinator": group.coordinator and fields(group.coordinator, "id", "host", "port"),
        **fields(group, *epochs),
    }
    if group.type is GroupType.STREAMS:
        data["topology"] = topology_data(group.topology)
    if not group.shares_partitions:
        data["leader"] = group.leader
    data["members"] = [member_data(group, member) for member in group.members]
    if is_classic_streams(group):
        data["members"] = list(_with_threads(group, application(group, topics or {})))
    data["offsets"] = None if offsets is None else [offset_data(row, view, group) for row in offsets]
    if offsets is not None and view.totals:
        data["totals"] = group_totals(group, offsets, lag_time=view.lag_time)
    return data


def _with_threads(group: Group, described: ClassicStreamsGroup) -> Iterator[dict[str, object]]:
    for thread in described.threads:
        lags = described.lags.get(thread.member.id, {})
        yield {**member_data(group, thread.member), "streams": thread_data(thread, lags)}


_KINDS = {GroupType.SHARE: "Share", GroupType.STREAMS: "Streams"}


def _state_remarks(groups: Sequence[Group]) -> tuple[str, ...]:
    """The remarks of Kafka's tools on the states of groups that are not stable."""
    remarks = []
    for group in groups:
        named = f"{_KINDS.get(group.type, 'Consumer')} group '{group.id}'"
        if group.state is GroupState.EMPTY:
            remarks.append(f"{named} has no active members.")
        elif group.state is GroupState.NOT_READY:
            remarks.append(
                f"Warning: {named} is not ready: most likely a source topic of its topology is missing."
            )
        elif group.state not in (GroupState.STABLE, GroupState.UNKNOWN, GroupState.DEAD):
            remarks.append(f"Warning: {named} is rebalancing.")
    return tuple(remarks)


def pending_remarks(groups: Sequence[Group], now_ms: int) -> tuple[str, ...]:
    return tuple(
        f"{group.id}: {pending_text(group.pending, now_ms)} {pending_remedy(group.pending)}"
        for group in groups
        if group.pending is not None and group.pending.partitions
    )


def _state_table(groups: Sequence[Group], *, verbose: bool) -> Table:
    epochs = ["#GROUP-EPOCH", "#TARGET-ASSIGNMENT-EPOCH"] if verbose else []
    led = not all(group.shares_partitions for group in groups)
    names = ["GROUP", "COORDINATOR", "ASSIGNOR", "STATE", *epochs, "##MEMBERS"]
    names += ["PROTOCOL-TYPE", "LEADER"] if led else []

    def row(group: Group) -> Sequence[Cell]:
        node = group.coordinator
        coordinator = None if node is None else f"{node.host}:{node.port} ({node.id})"
        numbers = (group.group_epoch, group.assignment_epoch) if verbose else ()
        state, count = group.state.value, len(group.members)
        more = (group.protocol_type or None, group.elected) if led else ()
        return group.id, coordinator, group.protocol or None, state, *numbers, count, *more

    return Table(columns=columns(*names), rows=[row(group) for group in groups])
