"""A member of a group: what is known of it, and what it owns, gains and gives up."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType

from cli.render.lines import Role
from cli.verbs.describe.members import tasks_text
from cli.verbs.describe.migration import waits_text
from cli.verbs.describe.roles import RoleColumns
from cli.verbs.top.grid import Grid
from cli.verbs.top.group_summary import Sentence, doing_text, group_on_screen
from cli.verbs.top.group_tables import (
    lag_time,
    leads_text,
    place_key,
    place_of,
    rate_cell,
    rates_of,
    sparkline,
    tasks_of,
)
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.screens.subject import SubjectScreen, Tab
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridTable, grid_of
from cli.verbs.top.words import change
from cli.verbs.watch.events import Place, owners_of
from groups.lag import PartitionLag
from groups.model import Group, GroupType, each_partition
from groups.streams import StreamsMember
from groups.waits import labels_of
from migration.clients import version_text
from migration.inspection import InspectedMember, inspect


class MemberScreen(SubjectScreen, ActingScreen):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("K", "remove", "Remove member", show=False)]
    tabs = (Tab("", "", ""),)

    def __init__(self, group: str, member: str) -> None:
        super().__init__()
        self.group, self.member = group, member

    def partition_on_screen(self) -> Place | None:
        return None if self.grid.key is None else place_of(self.grid.key)

    def wanted(self) -> Focus:
        return Focus(opened=self.group)

    @property
    def title_parts(self) -> list[str]:
        group = group_on_screen(self.app.sight, self.group)
        labels = {} if group is None else labels_of(group)
        return [f"member {labels.get(self.member, self.member)} of {self.group}"]

    def empty_text(self, sight: Sight) -> str:
        group = group_on_screen(sight, self.group)
        is_member = group is not None and any(one.id == self.member for one in group.members)
        return "It owns no partitions." if is_member else ""

    def _inspected(self, group: Group | None) -> InspectedMember | None:
        """None: it is not a member now."""
        members = () if group is None else inspect(group).members
        return next((one for one in members if one.member.id == self.member), None)

    def sentences(self, sight: Sight) -> Iterator[Sentence]:
        group = group_on_screen(sight, self.group)
        one = self._inspected(group)
        if group is None or one is None:
            when = "now" if sight.past_ms is None else "then"
            is_read = group is not None or self.group in sight.groups
            yield (f"{self.member} is not a member {when}." if is_read else "Reading the group …"), Role.PLAIN
            return
        member = one.member
        yield f"id {member.id}", Role.PLAIN
        names = ("instance", member.instance), ("client", member.client.id), ("host", member.client.address)
        yield _words(*names, ("rack", member.rack)), Role.PLAIN
        yield "  ".join(_protocol_words(group, one)), Role.PLAIN
        if member.subscription is not None:
            topics, regex = ", ".join(sorted(member.subscription.topics)), member.subscription.regex
            yield "reads " + "; ".join(filter(None, [topics, f"regex {regex}" if regex else ""])), Role.PLAIN
        if one.waits:
            yield doing_text(waits_text(one, labels_of(group)) or ""), Role.WARNING
        if member.unreadable is not None:
            yield f"What it sent cannot be read: {member.unreadable}", Role.BAD
        if (streams := tasks_of(group).get(member.id)) is not None:
            yield from _streams_sentences(streams)
        roles = RoleColumns.of([group], verbose=True)
        cells = zip(roles.headings, roles.cells(group, member), strict=True)
        if words := _words(*((name.strip("#").lower(), cell) for name, cell in cells if name != "LEADS")):
            yield words, Role.PLAIN

    def table(self, sight: Sight) -> GridTable:
        """The partitions that it owns, and those that it gets from others."""
        seen = sight.groups.get(self.group)
        samples = seen.samples if seen else {}
        return grid_of(
            self._holdings(sight),
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

    def _holdings(self, sight: Sight) -> "Iterator[_Holding]":
        group, seen = group_on_screen(sight, self.group), sight.groups.get(self.group)
        one = self._inspected(group)
        if group is None or one is None:
            return
        rows = {(row.topic, row.partition): row for row in (seen.polled.rows() if seen else ())}
        labels, owners = labels_of(group), owners_of(group)
        owned, target = set(each_partition(one.member.owned)), set(each_partition(one.member.target))
        for place in sorted(owned | target):
            others = ", ".join(labels.get(name, name) for name in owners.get(place, ()))
            status = "yes"
            if place not in owned:
                status = f"next, from {others}" if others else "next: it is free"
            elif one.member.target is not None and place not in target:
                status = "to be revoked"
            yield _Holding(place, status, rows.get(place))

    def action_remove(self) -> None:
        self.app.run_command(change("members remove", self.group, "--member", self.member))

    def on_grid_opened(self, event: Grid.Opened) -> None:
        topic, number = place_of(event.key)
        self.app.open_screen("partition", self.group, topic, str(number))


class _Holding(NamedTuple):
    place: Place
    status: str
    row: PartitionLag | None


def _words(*facts: tuple[str, object]) -> str:
    """`client a  host 10.0.0.1`: those that are known."""
    return "  ".join(f"{name} {value}" for name, value in facts if value not in (None, ""))


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


def _streams_sentences(streams: StreamsMember) -> Iterator[Sentence]:
    tags = ", ".join(f"{key}={value}" for key, value in sorted(streams.client_tags.items()))
    places = ("process", streams.process), ("endpoint", streams.endpoint), ("tags", tags)
    yield _words(*places, ("topology epoch", streams.topology_epoch)), Role.PLAIN
    if tasks := tasks_text(streams.tasks):
        yield f"tasks {tasks}", Role.PLAIN
    if streams.target_tasks not in (None, streams.tasks):
        yield f"must run {tasks_text(streams.target_tasks) or 'none'}", Role.WARNING
