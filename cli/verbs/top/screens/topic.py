"""A topic, and who reads it."""

from typing import ClassVar

from textual.binding import BindingType

from cli.render.lines import Line
from cli.verbs.top.grid import Grid
from cli.verbs.top.group_tables import place_of
from cli.verbs.top.screens.subject import SubjectScreen, Tab, tab_bindings
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridTable
from cli.verbs.top.topic_tables import TopicReaders, partitions_of_topic, readers_table, topic_lines

TABS = (
    Tab("by group", "b", "The groups that read it"),
    Tab("partitions", "o", "Offsets, lag and owners"),
)


class TopicScreen(SubjectScreen):
    BINDINGS: ClassVar[list[BindingType]] = [*tab_bindings(TABS)]
    tabs = TABS

    def __init__(self, topic: str) -> None:
        super().__init__()
        self.topic = topic
        self._readers = TopicReaders(topic)

    def wanted(self) -> Focus:
        return Focus(visible=tuple(reader.group for reader in self._readers.of(self.app.sight)))

    @property
    def title_parts(self) -> list[str]:
        return [f"topic {self.topic}"]

    def summary(self, sight: Sight, width: int) -> list[Line]:
        return topic_lines(sight, self.topic, self._readers.of(sight), width)

    def table(self, sight: Sight) -> GridTable:
        readers = self._readers.of(sight)
        return readers_table(readers) if self.tab.name == "by group" else partitions_of_topic(readers)

    def empty_text(self, sight: Sight) -> str:
        return "No group that was read so far reads it." if sight.at_ms is not None else "Reading …"

    def on_grid_opened(self, event: Grid.Opened) -> None:
        if self.tab.name == "by group":
            self.app.open_screen("group", event.key)
        else:
            group, number = place_of(event.key)
            self.app.open_screen("partition", group, self.topic, str(number))
