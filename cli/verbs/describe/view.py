"""The document of `kohort describe`: the same facts and columns as kafka-consumer-groups, and more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from cli.counts import counted
from cli.render.cells import Cell, Duration, partitions_text
from cli.render.document import Block, Deferred, DeferredRows, Document, Table, columns
from cli.times import format_moment
from cli.verbs.describe import streams
from groups.lag import PartitionLag, longest_lag_ms, partition_lags, total_lag, with_lag_times
from groups.model import Group, GroupState, GroupType, Member, MemberProtocol, Node, Problem, Topic

if TYPE_CHECKING:
    from cli.sources.source import AuthorizedOperations


class DescribeMode(Enum):
    """Which table is shown; the data are those that the table rests on."""

    OFFSETS = "offsets"
    MEMBERS = "members"
    STATE = "state"
    MIGRATION = "migration"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsView:
    """What the table of offsets shows beside offsets and lag.

    `times` say when records were written (`cli.sources.source.RecordTimes`), where lag times are wanted: they are
    counted back from `now_ms`.
    """

    times: Mapping[tuple[str, int], Mapping[int, int | None]] | None = None
    now_ms: int = 0
    last_commit: bool = False
    totals: bool = False
    only_with_lag: bool = False
    log_start: bool = False
    topics: frozenset[str] = frozenset()
    """Only rows of these topics; empty: of all."""

    @property
    def lag_time(self) -> bool:
        """Whether there is a column of lag times."""
        return self.times is not None

    def rows(self, group: Group, topics: Mapping[str, Topic]) -> list[PartitionLag]:
        """The rows of a group, whether they lag or not."""
        rows = partition_lags(group, topics)
        if self.topics:
            rows = [row for row in rows if row.topic in self.topics]
        return rows if self.times is None else with_lag_times(rows, self.times, self.now_ms)


PLAIN = OffsetsView()


def describe_document(
    groups: Sequence[Group],
    topics: Mapping[str, Topic],
    mode: DescribeMode,
    *,
    verbose: bool,
    problems: tuple[Problem, ...],
    view: OffsetsView = PLAIN,
) -> Document:
    """`topics` give end offsets, where they were read."""
    if mode is DescribeMode.MIGRATION:
        return _migration_document(groups, verbose=verbose, problems=problems)
    if mode is DescribeMode.OFFSETS:
        return _offsets_document(groups, topics, view, verbose=verbose, problems=problems)
    if mode is DescribeMode.MEMBERS:
        blocks: list[Block] = [_members_table(groups, verbose=verbose)]
        if verbose and any(group.topology for group in groups):
            blocks += streams.topology_tables(groups)
    else:
        blocks = [_state_table(groups, verbose=verbose)]
    data = Deferred(lambda: {"groups": [group_data(group, None) for group in groups]})
    remarks = tuple(filter(None, map(remark_on, groups)))
    return Document(command="describe", data=data, blocks=blocks, errors=problems, remarks=remarks)


def _offsets_document(
    groups: Sequence[Group],
    topics: Mapping[str, Topic],
    view: OffsetsView,
    *,
    verbose: bool,
    problems: tuple[Problem, ...],
) -> Document:
    rows = {group.id: view.rows(group, topics) for group in groups}
    remarks: tuple[str, ...] = ()
    if view.only_with_lag:
        rows, unknown = lagging(rows)
        groups = [group for group in groups if group.id in rows]
        remarks = (
            ()
            if not unknown
            else (f"{unknown} partition{'' if unknown == 1 else 's'} left out: their lag is not known",)
        )

    def data() -> dict[str, Any]:
        found: dict[str, Any] = {"groups": [group_data(group, rows[group.id], view) for group in groups]}
        return found | ({"totals": all_totals(rows, lag_time=view.lag_time)} if view.totals else {})

    blocks: list[Block] = [_offsets_table(groups, rows, view, verbose=verbose)]
    if view.totals:
        blocks += total_tables(rows, lag_time=view.lag_time)
    remarks = (*filter(None, map(remark_on, groups)), *remarks)
    return Document(command="describe", data=Deferred(data), blocks=blocks, errors=problems, remarks=remarks)


def with_operations(
    document: Document, groups: Sequence[Group], authorized: AuthorizedOperations
) -> Document:
    """The document of some groups, with what the user may do with each: a table more, and a field of every group."""
    known = authorized.by_group

    def data() -> dict[str, Any]:
        found = [
            {
                **group,
                "authorized_operations": list(known[group["group"]]) if group["group"] in known else None,
            }
            for group in document.data["groups"]
        ]
        return {**document.data, "groups": found}

    rows = [(group.id, ", ".join(known[group.id]) if group.id in known else None) for group in groups]
    table = Table(columns=columns("GROUP", "AUTHORIZED-OPERATIONS"), rows=rows)
    remarks = document.remarks
    if any(group.id not in known for group in groups) and not authorized.problems:
        remarks += (
            "authorized operations are only known of a live cluster, and of brokers from Kafka 2.3 on",
        )
    return replace(
        document,
        data=Deferred(data),
        blocks=[*document.blocks, table],
        errors=document.errors + authorized.problems,
        remarks=remarks,
    )


def lagging(rows: Mapping[str, Sequence[PartitionLag]]) -> tuple[dict[str, list[PartitionLag]], int]:
    """The groups and rows that are known not to be at the end, and of how many rows the lag is not known.

    A negative lag stays: an offset committed beyond the end of the log is one that nothing can be read from.
    """
    behind = {group: [row for row in own if row.lag] for group, own in rows.items()}
    unknown = sum(row.lag is None for own in rows.values() for row in own)
    return {group: own for group, own in behind.items() if own}, unknown


def _migration_document(groups: Sequence[Group], *, verbose: bool, problems: tuple[Problem, ...]) -> Document:
    # They know of assignors, and those of numpy, which takes longer to import than most questions take.
    from cli.verbs.describe.migration import migration_blocks, migration_data
    from migration.inspection import inspect

    inspected = [inspect(group) for group in groups]
    return Document(
        command="describe",
        data=Deferred(
            lambda: {
                "groups": [{**group_data(each.group, None), **migration_data(each)} for each in inspected]
            }
        ),
        blocks=list(migration_blocks(inspected, verbose=verbose)),
        errors=problems,
        remarks=tuple(filter(None, map(remark_on, groups))),
    )


def group_data(
    group: Group, offsets: Sequence[PartitionLag] | None, view: OffsetsView = PLAIN
) -> dict[str, Any]:
    """A group of the JSON document; offsets are null when they were not asked for."""
    numbers = (
        {"generation": group.generation}
        if group.type is GroupType.CLASSIC
        else {"group_epoch": group.group_epoch, "assignment_epoch": group.assignment_epoch}
    )
    told = (
        {"totals": group_totals(offsets, lag_time=view.lag_time)}
        if offsets is not None and view.totals
        else {}
    )
    of_streams = group.type is GroupType.STREAMS
    return {
        "group": group.id,
        "type": group.type.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "state": group.state.value,
        "coordinator": _node_data(group.coordinator),
        **numbers,
        **({"topology": streams.topology_data(group.topology)} if of_streams else {}),
        "members": [_member_data(group, member) for member in group.members],
        "offsets": None if offsets is None else [_offset_data(row, view) for row in offsets],
        **told,
    }


_KINDS = {GroupType.SHARE: "Share", GroupType.STREAMS: "Streams"}


def remark_on(group: Group) -> str | None:
    """What Kafka's tools say beside the table; None when the group is at rest."""
    named = f"{_KINDS.get(group.type, 'Consumer')} group '{group.id}'"
    if group.state is GroupState.EMPTY:
        return f"{named} has no active members."
    if group.state in (GroupState.STABLE, GroupState.UNKNOWN, GroupState.DEAD):
        return None
    if group.state is GroupState.NOT_READY:
        return f"Warning: {named} is not ready: most likely a source topic of its topology is missing."
    return f"Warning: {named} is rebalancing."


def upgraded(group: Group, member: Member) -> bool | None:
    """Whether a consumer group's member speaks the consumer protocol; None where the question has no sense."""
    if group.type is not GroupType.CONSUMER or member.protocol is None:
        return None
    return member.protocol is MemberProtocol.CONSUMER


def _node_data(node: Node | None) -> dict[str, Any] | None:
    return None if node is None else {"id": node.id, "host": node.host, "port": node.port}


def _member_data(group: Group, member: Member) -> dict[str, Any]:
    wanted = member.subscription
    return {
        "id": member.id,
        "instance": member.instance,
        "client_id": member.client.id,
        "host": member.client.host,
        "rack": member.rack,
        "protocol": member.protocol and member.protocol.value,
        "upgraded": upgraded(group, member),
        "subscription": wanted and {"topics": sorted(wanted.topics), "regex": wanted.regex},
        "owned": _partitions_data(member.owned),
        "target": _partitions_data(member.target),
        "epoch": member.epoch,
        "target_epoch": group.assignment_epoch,
        **(streams.member_data(member) if group.type is GroupType.STREAMS else {}),
    }


def _offset_data(row: PartitionLag, view: OffsetsView) -> dict[str, Any]:
    data = {
        "topic": row.topic,
        "partition": row.partition,
        "committed": row.committed,
        "end": row.end,
        "lag": row.lag,
        "leader_epoch": row.leader_epoch,
        "metadata": row.metadata,
        "member": row.member and row.member.id,
    }
    if view.log_start:
        data |= {"log_start": row.log_start, "lost": row.lost}
    if view.lag_time:
        data["lag_ms"] = row.lag_ms
    if view.last_commit:
        data["last_commit_ms"] = row.last_commit_ms
    return data


def _partitions_data(partitions: Mapping[str, tuple[int, ...]] | None) -> dict[str, list[int]] | None:
    return None if partitions is None else {topic: list(partitions[topic]) for topic in sorted(partitions)}


def _offsets_table(
    groups: Sequence[Group],
    offsets: Mapping[str, Sequence[PartitionLag]],
    view: OffsetsView,
    *,
    verbose: bool,
) -> Table:
    epoch = ["#LEADER-EPOCH"] if verbose else []
    names = ["GROUP", "TOPIC", "#PARTITION", *epoch, "#CURRENT-OFFSET"]
    names += ["#LOG-START-OFFSET"] if view.log_start else []
    names += ["#LOG-END-OFFSET", "#LAG"]
    names += ["#LAG-TIME"] if view.lag_time else []
    names += ["LAST-COMMIT"] if view.last_commit else []
    more = view.lag_time or view.last_commit
    lost = view.log_start and any(row.lost for own in offsets.values() for row in own)

    def cells() -> Iterator[Sequence[Cell]]:
        for group in groups:
            for row in offsets[group.id]:
                member = row.member
                yield (
                    group.id,
                    row.topic,
                    row.partition,
                    *((row.leader_epoch,) if verbose else ()),
                    row.committed,
                    *((row.log_start,) if view.log_start else ()),
                    row.end,
                    row.lag,
                    *(_times(row, view) if more else ()),
                    None if member is None else member.id,
                    None if member is None else member.client.host,
                    None if member is None else member.client.id,
                    *((_lost_text(row),) if lost else ()),
                )

    names += ["CONSUMER-ID", "HOST", "CLIENT-ID", *(["REMARK"] if lost else [])]
    return Table(columns=columns(*names), rows=DeferredRows(lambda: list(cells())))


def _lost_text(row: PartitionLag) -> str:
    """What became of records that a group has not read; empty where all of them are kept."""
    if not row.lost:
        return ""
    return f"{counted(row.lost, 'offset')} before the log start: deleted before the group read them"


def _times(row: PartitionLag, view: OffsetsView) -> tuple[Cell, ...]:
    lag = (None if row.lag_ms is None else Duration(row.lag_ms),) if view.lag_time else ()
    if not view.last_commit:
        return lag
    return (*lag, None if row.last_commit_ms is None else format_moment(row.last_commit_ms))


def _members_table(groups: Sequence[Group], *, verbose: bool) -> Table:
    static = any(member.instance for group in groups for member in group.members)
    kinds = {upgraded(group, member) for group in groups for member in group.members}
    migrating = verbose and {True, False} <= kinds
    of_streams = any(group.members for group in groups if group.type is GroupType.STREAMS)
    names = [
        "GROUP",
        "CONSUMER-ID",
        *(["GROUP-INSTANCE-ID"] if static else []),
        "HOST",
        "CLIENT-ID",
        "##PARTITIONS",
    ]
    if verbose:
        names += ["#CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "#TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        names += ["UPGRADED"] if migrating else []
        names += ["SUBSCRIPTION"]
    names += streams.member_headings(verbose=verbose) if of_streams else []

    def row(group: Group, member: Member) -> Sequence[Cell]:
        instance = (member.instance,) if static else ()
        count = None if member.owned is None else sum(map(len, member.owned.values()))
        cells: tuple[Cell, ...] = (
            group.id,
            member.id,
            *instance,
            member.client.host,
            member.client.id,
            count,
        )
        if verbose:
            cells += (member.epoch, partitions_text(member.owned), group.assignment_epoch)
            cells += (partitions_text(member.target),)
            cells += (upgraded(group, member),) if migrating else ()
            cells += (_subscription_text(member),)
        return (*cells, *streams.member_cells(member, verbose=verbose)) if of_streams else cells

    rows = [row(group, member) for group in groups for member in group.members]
    return Table(columns=columns(*names), rows=rows)


def _subscription_text(member: Member) -> str | None:
    if member.subscription is None:
        return None
    regex = member.subscription.regex
    parts = [",".join(sorted(member.subscription.topics))] if member.subscription.topics else []
    parts += [f"regex {regex}"] if regex else []
    return "; ".join(parts) or None


def _state_table(groups: Sequence[Group], *, verbose: bool) -> Table:
    epochs = ["#GROUP-EPOCH", "#TARGET-ASSIGNMENT-EPOCH"] if verbose else []
    names = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", *epochs, "##MEMBERS"]

    def row(group: Group) -> Sequence[Cell]:
        node = group.coordinator
        coordinator = None if node is None else f"{node.host}:{node.port} ({node.id})"
        numbers = (group.group_epoch, group.assignment_epoch) if verbose else ()
        return (
            group.id,
            coordinator,
            group.protocol or None,
            group.state.value,
            *numbers,
            len(group.members),
        )

    return Table(columns=columns(*names), rows=[row(group) for group in groups])


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Of some partitions.

    Attributes:
        lag: the sum of the lags that are known, None where none is. Offsets that are committed beyond the end of the
            log count as none: they must not hide that others lag.
        unknown: how many partitions have a lag that is not known, and is not in the sum.
        longest_ms: the longest lag time that is known, None where it is of no partition that lags.
    """

    partitions: int
    lag: int | None
    unknown: int
    longest_ms: int | None

    @classmethod
    def of(cls, rows: Sequence[PartitionLag]) -> Totals:
        """Of the rows of a table of offsets."""
        return cls(
            partitions=len(rows),
            lag=total_lag(row.lag for row in rows),
            unknown=sum(row.lag is None for row in rows),
            longest_ms=longest_lag_ms(rows),
        )

    def as_data(self, *, lag_time: bool) -> dict[str, Any]:
        """Fields of the JSON document."""
        data: dict[str, Any] = {
            "partitions": self.partitions,
            "lag": self.lag,
            "lag_unknown": self.unknown,
        }
        return data | {"max_lag_ms": self.longest_ms} if lag_time else data

    def cells(self, *, lag_time: bool) -> tuple[Cell, ...]:
        """Under the headings of `_HEADINGS`."""
        longest = None if self.longest_ms is None else Duration(self.longest_ms)
        return (self.partitions, self.lag, self.unknown, *((longest,) if lag_time else ()))


_HEADINGS = ("##PARTITIONS", "#LAG", "##LAG-UNKNOWN")
_LAG_TIME = "#MAX-LAG-TIME"


def group_totals(rows: Sequence[PartitionLag], *, lag_time: bool) -> dict[str, Any]:
    """The sums of a group for the JSON document, topic by topic too."""
    topics = [
        {"topic": topic, **Totals.of(own).as_data(lag_time=lag_time)}
        for topic, own in _by_topic(rows).items()
    ]
    return {**Totals.of(rows).as_data(lag_time=lag_time), "topics": topics}


def all_totals(rows: Mapping[str, Sequence[PartitionLag]], *, lag_time: bool) -> dict[str, Any]:
    """The sums over all groups for the JSON document."""
    return {"groups": len(rows), **Totals.of(_flat(rows)).as_data(lag_time=lag_time)}


def total_tables(rows: Mapping[str, Sequence[PartitionLag]], *, lag_time: bool) -> list[Table]:
    """A table with a row per topic of each group, one with a row per group, and of several groups one over all."""
    headings = (*_HEADINGS, *((_LAG_TIME,) if lag_time else ()))
    topics, groups = [], []
    for group, own in rows.items():
        by_topic = _by_topic(own)
        topics += [
            (group, topic, *Totals.of(each).cells(lag_time=lag_time)) for topic, each in by_topic.items()
        ]
        groups.append((group, len(by_topic), *Totals.of(own).cells(lag_time=lag_time)))
    tables = [
        Table(columns=columns("GROUP", "TOPIC", *headings), rows=topics),
        Table(columns=columns("GROUP", "##TOPICS", *headings), rows=groups),
    ]
    if len(rows) > 1:
        overall = (len(rows), *Totals.of(_flat(rows)).cells(lag_time=lag_time))
        tables.append(Table(columns=columns("##GROUPS", *headings), rows=[overall]))
    return tables


def _by_topic(rows: Iterable[PartitionLag]) -> dict[str, list[PartitionLag]]:
    """By name."""
    found: dict[str, list[PartitionLag]] = {}
    for row in rows:
        found.setdefault(row.topic, []).append(row)
    return dict(sorted(found.items()))


def _flat(rows: Mapping[str, Sequence[PartitionLag]]) -> list[PartitionLag]:
    return [row for own in rows.values() for row in own]
