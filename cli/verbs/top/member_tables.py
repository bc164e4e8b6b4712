"""A member of a group: what is said of it, and what it owns, gains and gives up."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cli.render.cells import safe_text
from cli.render.lines import Line, Role, folded
from cli.verbs.describe.migration import waits_text
from cli.verbs.describe.roles import RoleColumns
from cli.verbs.top.group_summary import doing_text, group_on_screen
from cli.verbs.top.group_tables import (
    lag_time,
    leads_text,
    place_key,
    rate_cell,
    rates_of,
    sparkline,
    tasks_of,
)
from cli.verbs.top.sight import SeenGroup, Sight
from cli.verbs.top.tables import GridTable, grid_of
from cli.verbs.watch.events import Place, owners_of
from groups.lag import PartitionLag
from groups.model import Group, GroupType, Member, each_partition
from groups.streams import Tasks, TasksOfKind
from groups.waits import labels_of
from migration.clients import version_text
from migration.inspection import InspectedMember, inspect


def member_on_screen(sight: Sight, group: str, member: str) -> InspectedMember | None:
    """None: it is not a member now."""
    known = group_on_screen(sight, group)
    return (
        None
        if known is None
        else next((one for one in inspect(known).members if one.member.id == member), None)
    )


def member_lines(sight: Sight, group: str, member: str, width: int) -> list[Line]:
    known, one = group_on_screen(sight, group), member_on_screen(sight, group, member)
    if known is None or one is None:
        is_read = group in sight.groups or known is not None
        when = "now" if sight.past_ms is None else "then"
        return folded(
            f"{safe_text(member)} is not a member {when}." if is_read else "Reading the group …", width
        )
    sentences = [*_sentences(known, one)]
    return [line for text, role in sentences for line in folded(safe_text(text), width, role)]


def _sentences(group: Group, one: InspectedMember) -> Iterator[tuple[str, Role]]:
    member = one.member
    yield f"id {member.id}", Role.PLAIN
    names = [
        f"instance {member.instance}" if member.instance else "",
        f"client {member.client.id or 'not known'}",
    ]
    names += [f"host {member.client.address or 'not known'}", f"rack {member.rack}" if member.rack else ""]
    yield "  ".join(filter(None, names)), Role.PLAIN
    yield "  ".join(_protocol_words(group, one)), Role.PLAIN
    if member.subscription is not None:
        topics, regex = ", ".join(sorted(member.subscription.topics)), member.subscription.regex
        yield "reads " + "; ".join(filter(None, [topics, f"regex {regex}" if regex else ""])), Role.PLAIN
    if one.waits:
        yield doing_text(waits_text(one, labels_of(group)) or ""), Role.WARNING
    if member.is_away:
        yield "It is static and away: its partitions wait for it until its session expires.", Role.WARNING
    if member.unreadable is not None:
        yield f"What it sent cannot be read: {member.unreadable}", Role.BAD
    streams = tasks_of(group).get(member.id)
    if streams is not None:
        words = [
            ("process", streams.process),
            ("endpoint", streams.endpoint),
            ("topology epoch", streams.topology_epoch),
        ]
        tags = ", ".join(f"{key}={value}" for key, value in sorted(streams.client_tags.items()))
        shown = [f"{name} {value}" for name, value in [*words, ("tags", tags)] if value not in (None, "")]
        yield "  ".join(shown), Role.PLAIN
    roles = RoleColumns.of([group], verbose=True)
    cells = zip(roles.headings, roles.cells(group, member), strict=True)
    if shown_cells := [
        f"{name.strip('#').lower()} {cell}" for name, cell in cells if cell is not None and name != "LEADS"
    ]:
        yield "  ".join(shown_cells), Role.PLAIN


def _protocol_words(group: Group, one: InspectedMember) -> Iterator[str]:
    epoch = "generation" if group.type is GroupType.CLASSIC else "epoch"
    if one.member.protocol is not None:
        yield f"{one.member.protocol.value} protocol"
    if one.epoch is not None:
        ahead = f" of {group.group_epoch}" if group.group_epoch not in (None, one.epoch) else ""
        yield f"{epoch} {one.epoch}{ahead}"
    library, version = one.client.library, one.client.version
    if library is not None:
        inferred = " (inferred)" if one.client.is_inferred else ""
        yield f"{library.name}{f' {version_text(version)}' if version else ''}{inferred}"
    if one.assignors:
        yield f"assignors {', '.join(one.assignors)}{'' if one.all_assignors else ', …'}"
    if (leads := leads_text(one)) is not None:
        yield {"leads": "leads the group", "next": "leads next"}.get(
            leads, f"leads as number {leads} from now"
        )


class _Holding(NamedTuple):
    place: Place
    status: str
    row: PartitionLag | None


def member_table(sight: Sight, group: str, member: str) -> GridTable:
    """Its partitions, or its tasks."""
    known, one = group_on_screen(sight, group), member_on_screen(sight, group, member)
    seen = sight.groups.get(group)
    streams = tasks_of(known).get(member) if known is not None else None
    if streams is not None and (streams.tasks is not None or streams.target_tasks is not None):
        return _tasks_table(streams.tasks or Tasks(), streams.target_tasks)
    holdings = _holdings(known, one.member, seen) if known is not None and one is not None else ()
    samples = seen.samples if seen else {}
    return grid_of(
        holdings,
        lambda one: place_key(*one.place),
        ("TOPIC", lambda one: one.place[0]),
        ("#PARTITION", lambda one: one.place[1]),
        ("OWNED", lambda one: one.status),
        ("#LAG", lambda one: one.row and one.row.lag),
        ("#LAG-TIME", lambda one: one.row and lag_time(one.row)),
        ("#READ/S", lambda one: rate_cell(rates_of(samples.get(one.place, ()))[0])),
        ("#WRITTEN/S", lambda one: rate_cell(rates_of(samples.get(one.place, ()))[1])),
        ("TREND", lambda one: sparkline(samples.get(one.place, ()))),
        ("#COMMITTED", lambda one: one.row and one.row.committed),
        ("#LOG-END", lambda one: one.row and one.row.end),
    )


def _holdings(group: Group, member: Member, seen: SeenGroup | None) -> list[_Holding]:
    """What it owns, and what it gets from others."""
    rows = {(row.topic, row.partition): row for row in (seen.polled.rows if seen else ())}
    labels, owners = labels_of(group), owners_of(group)
    owned, target = set(each_partition(member.owned)), set(each_partition(member.target))
    holdings = []
    for place in sorted(owned | target):
        others = ", ".join(labels.get(name, name) for name in owners.get(place, ()))
        status = "yes"
        if place not in owned:
            status = f"next, from {others}" if others else "next: it is free"
        elif member.target is not None and place not in target:
            status = "to be revoked"
        holdings.append(_Holding(place, status, rows.get(place)))
    return holdings


class _Task(NamedTuple):
    kind: str
    subtopology: str
    partition: int
    status: str


def _tasks_table(tasks: Tasks, target: Tasks | None) -> GridTable:
    runs = dict.fromkeys(_tasks(tasks), "yes")
    if target is not None:
        wanted = set(_tasks(target))
        runs = {task: "yes" if task in wanted else "to be closed" for task in runs}
        runs |= dict.fromkeys(wanted - runs.keys(), "next")
    rows: Sequence[_Task] = [_Task(*task, status) for task, status in sorted(runs.items())]
    return grid_of(
        rows,
        lambda one: f"{one.kind} {one.subtopology}_{one.partition}",
        ("TASK", lambda one: f"{one.subtopology}_{one.partition}"),
        ("KIND", lambda one: one.kind),
        ("OWNED", lambda one: one.status),
    )


def _tasks(tasks: Tasks) -> Iterator[tuple[str, str, int]]:
    kinds: tuple[tuple[str, TasksOfKind], ...] = (
        ("active", tasks.active),
        ("standby", tasks.standby),
        ("warmup", tasks.warmup),
    )
    for kind, of_kind in kinds:
        yield from ((kind, name, number) for name, numbers in of_kind.items() for number in numbers)
