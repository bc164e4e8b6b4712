"""Topics, and who reads each."""

from collections import defaultdict
from typing import NamedTuple

from cli.verbs.top.grid import Grid
from cli.verbs.top.group_tables import longest_cell
from cli.verbs.top.screens.base import TableScreen
from cli.verbs.top.sight import Sight
from cli.verbs.top.tables import grid_of
from groups.counts import counted
from groups.lag import PartitionLag, total_lag


class _TopicReads(NamedTuple):
    name: str
    by_group: dict[str, list[PartitionLag]]

    @property
    def rows(self) -> list[PartitionLag]:
        return [row for listed in self.by_group.values() for row in listed]


class TopicsScreen(TableScreen):
    """Of the groups that have been read so far."""

    @property
    def title_parts(self) -> list[str]:
        sight = self.app.sight
        unread = len(sight.listings) - len(sight.groups)
        return [
            counted(self.grid.shown, "topic"),
            *([f"{counted(unread, 'group')} still to be read"] if unread else []),
        ]

    def draw(self, sight: Sight) -> None:
        reads: dict[str, dict[str, list[PartitionLag]]] = defaultdict(lambda: defaultdict(list))
        for name, seen in sight.groups.items():
            for row in seen.polled.rows():
                reads[row.topic][name].append(row)
        topics = [_TopicReads(name, by_group) for name, by_group in sorted(reads.items())]
        table = grid_of(
            topics,
            lambda topic: topic.name,
            ("TOPIC", lambda topic: topic.name),
            ("##GROUPS", lambda topic: len(topic.by_group)),
            ("##PARTITIONS", lambda topic: len({row.partition for row in topic.rows})),
            ("#LAG", lambda topic: total_lag(row.lag for row in topic.rows)),
            ("#LAG-TIME", lambda topic: longest_cell(topic.rows)),
            ("READ-BY", lambda topic: ", ".join(sorted(topic.by_group))),
        )
        self.grid.show(table)

    def empty_text(self, sight: Sight) -> str:
        return "No group reads a topic." if sight.at_ms is not None else "Reading …"

    def on_grid_opened(self, event: Grid.Opened) -> None:
        self.app.open_screen("topic", event.key)
