"""`kohort describe`: read groups, and show the same facts and columns as kafka-consumer-groups, and more."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum

from cli.errors import UsageError
from cli.options import ClustersOptions, OutputOptions, RepeatOptions
from cli.render.cells import Cell
from cli.render.document import VERBOSE, Block, Deferred, Document, Table, columns
from cli.render.output_format import FOR_PROGRAMS, OutputFormat
from cli.selection import describe_chosen, describe_in_parts
from cli.sources.source import AuthorizedOperations, Source
from cli.verbs.describe.classic_streams import application, streams_remarks, threads_table
from cli.verbs.describe.entries import group_data
from cli.verbs.describe.lags import offsets_document, offsets_part, read_offsets
from cli.verbs.describe.members import members_table, topology_tables
from cli.verbs.describe.offsets import PLAIN, OffsetsView
from cli.verbs.describe.options import STATE_TABLE, DescribeOptions, DescribeSelection
from cli.verbs.describe.remarks import state_remarks
from cli.verbs.describe.roles import unknown_leaders, with_unknown_leaders
from cli.verbs.watch import show_read
from groups.classic_streams import changelog_names, is_classic_streams
from groups.lag import NextRecords
from groups.model import Group, Problem, Topic


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
        if mode is DescribeMode.OFFSETS and not options.authorized_operations:
            is_sorted = output.shape is not None and bool(output.shape.sort)
            document = read_offsets(
                groups,
                describe_in_parts(groups, selection),
                options,
                selection.topics,
                whole=repeat.watch is not None
                or bool(source.clusters)
                or is_sorted
                or output.output is OutputFormat.HTML,
                of_rows=output.output in FOR_PROGRAMS,
            )
            return replace(document, more="" if options.verbose else VERBOSE)
        described = describe_chosen(groups, selection, offsets=mode is DescribeMode.OFFSETS)
        if mode is DescribeMode.OFFSETS:
            document = read_offsets(groups, [described], options, selection.topics, whole=True, of_rows=True)
        else:
            described = replace(described, items=with_unknown_leaders(groups, described.items))
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


def describe_document(
    groups: Sequence[Group],
    topics: Mapping[str, Topic],
    mode: DescribeMode,
    *,
    verbose: bool = False,
    problems: tuple[Problem, ...] = (),
    view: OffsetsView = PLAIN,
    records: NextRecords | None = None,
) -> Document:
    """The document; `topics` have the end offsets, if they were read, and `records` the first unread ones."""
    if mode is DescribeMode.MIGRATION:
        return _migration_document(groups, verbose=verbose, problems=problems)
    if mode is DescribeMode.OFFSETS:
        part = offsets_part(groups, topics, view, records or {})
        return offsets_document([replace(part, problems=problems)], view)
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
    remarks = (*state_remarks(groups), *unknown_leaders(groups), *of_streams)
    return Document(command="describe", data=data, blocks=blocks, errors=problems, remarks=remarks)


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
    blocks, remarks = list(migration_blocks(inspected, verbose=verbose)), state_remarks(groups)
    data = Deferred(
        lambda: {"groups": [group_data(seen.group, None) | migration_data(seen) for seen in inspected]}
    )
    return Document(command="describe", data=data, blocks=blocks, errors=problems, remarks=remarks)


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
