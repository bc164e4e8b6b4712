"""A topic: who reads it, and its partitions."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from textual.binding import BindingType

from cli.render.fit import short_names
from cli.render.lines import Role
from cli.verbs.top.grid import Grid
from cli.verbs.top.group_rows import health_of
from cli.verbs.top.group_summary import Sentence
from cli.verbs.top.group_tables import LABEL, lag_time, longest_cell, owner_names, place_key, place_of
from cli.verbs.top.screens.subject import SubjectScreen, Tab, tab_bindings
from cli.verbs.top.sight import Focus, SeenGroup, Sight
from cli.verbs.top.tables import GridTable, grid_of
from groups.counts import counted
from groups.lag import PartitionLag, total_lag
from groups.use import TopicUse, topic_use

TABS = (
    Tab("by group", "b", "The groups that read it"),
    Tab("partitions", "o", "Offsets, lag and owners"),
)


class Reader(NamedTuple):
    """A group that reads the topic, or did."""

    group: str
    seen: SeenGroup
    use: TopicUse
    rows: tuple[PartitionLag, ...]  # Of the topic
    owners: int  # How many members own partitions of it


class TopicScreen(SubjectScreen):
    BINDINGS: ClassVar[list[BindingType]] = [*tab_bindings(TABS)]
    tabs = TABS

    def __init__(self, topic: str) -> None:
        super().__init__()
        self.topic = topic
        self._known: dict[str, tuple[SeenGroup, Reader | None]] = {}

    def wanted(self) -> Focus:
        return Focus(visible=tuple(reader.group for reader in self._readers(self.app.sight)))

    @property
    def title_parts(self) -> list[str]:
        return [f"topic {self.topic}"]

    def empty_text(self, sight: Sight) -> str:
        return "No group that was read so far reads it." if sight.at_ms is not None else "Reading …"

    def _readers(self, sight: Sight) -> list[Reader]:
        """A group of which nothing new is known is judged once."""
        before = self._known
        self._known = {
            name: known
            if (known := before.get(name)) and known[0] is seen
            else (seen, self._reader(name, seen))
            for name, seen in sorted(sight.groups.items())
        }
        return [reader for _, reader in self._known.values() if reader is not None]

    def _reader(self, name: str, seen: SeenGroup) -> Reader | None:
        group = seen.polled.group
        use = None if group is None else topic_use(group, self.topic)
        if group is None or use is None:
            return None
        rows = tuple(row for row in seen.polled.rows() if row.topic == self.topic)
        return Reader(name, seen, use, rows, sum(self.topic in (one.owned or {}) for one in group.members))

    def sentences(self, sight: Sight) -> Iterator[Sentence]:
        readers, known = self._readers(sight), sight.topics.get(self.topic)
        logs = {row.partition: (row.log_start, row.end) for reader in readers for row in reader.rows}
        count = known.partitions if known is not None else len(logs)
        kept = [end - start for start, end in logs.values() if start is not None and end is not None]
        words = (
            [counted(count, "partition")] if count else ["no partition is known from the groups read so far"]
        )
        if kept and len(kept) == count:
            words.append(f"{sum(kept):,} offsets from the oldest record to the end")
        yield "  ".join(words), Role.PLAIN
        uses = [reader.use for reader in readers]
        now = uses.count(TopicUse.ASSIGNED) + uses.count(TopicUse.SUBSCRIBED)
        parts = [f"{counted(now, 'group')} with members that read it"]
        if only := uses.count(TopicUse.COMMITTED):
            parts.append(f"{counted(only, 'group')} with nothing but committed offsets")
        if unknown := uses.count(TopicUse.UNKNOWN):
            parts.append(f"{counted(unknown, 'group')} of which that is not known")
        yield "; ".join(parts), Role.PLAIN
        if unread := len(sight.listings.keys() - sight.groups.keys()):
            yield f"{counted(unread, 'group')} still to be read", Role.FAINT

    def table(self, sight: Sight) -> GridTable:
        readers = self._readers(sight)
        return _by_group(readers) if self.tab.name == "by group" else _partitions(readers)

    def on_grid_opened(self, event: Grid.Opened) -> None:
        if self.tab.name == "by group":
            self.app.open_screen("group", event.key)
        else:
            group, number = place_of(event.key)
            self.app.open_screen("partition", group, self.topic, str(number))


def _by_group(readers: list[Reader]) -> GridTable:
    return grid_of(
        readers,
        lambda one: one.group,
        ("GROUP", lambda one: one.group),
        ("STATE", lambda one: one.seen.polled.group.state.value if one.seen.polled.group else None),
        ("USE", lambda one: one.use.value),
        ("##MEMBERS", lambda one: one.owners),
        ("#LAG", lambda one: total_lag(row.lag for row in one.rows)),
        ("#LAG-TIME", lambda one: longest_cell(one.rows)),
        ("HEALTH", lambda one: (health := health_of(one.seen)) and health.value),
        ("##PARTITIONS", lambda one: len(one.rows)),
    )


def _partitions(readers: list[Reader]) -> GridTable:
    """A row per partition and group."""
    pairs = [(row, reader) for reader in readers for row in reader.rows]
    names = short_names((reader.group for reader in readers), LABEL)
    owners = {reader.group: owner_names(reader.seen.polled.group) for reader in readers}
    return grid_of(
        sorted(pairs, key=lambda pair: (pair[0].partition, pair[1].group)),
        lambda pair: place_key(pair[1].group, pair[0].partition),
        ("#PARTITION", lambda pair: pair[0].partition),
        ("GROUP", lambda pair: names[pair[1].group]),
        ("#LAG", lambda pair: pair[0].lag),
        ("#LAG-TIME", lambda pair: lag_time(pair[0])),
        ("OWNER", lambda pair: owners[pair[1].group].get((pair[0].topic, pair[0].partition))),
        ("#COMMITTED", lambda pair: pair[0].committed),
        ("#LOG-START", lambda pair: pair[0].log_start),
        ("#LOG-END", lambda pair: pair[0].end),
    )
