"""One group: its members, topics, partitions and findings, the owners over time, and its events as they come."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cli.render.cells import safe_text
from cli.verbs.top.group_summary import summary_lines
from cli.verbs.top.group_tables import (
    findings_table,
    members_table,
    partitions_table,
    topics_table,
)
from cli.verbs.top.roles import Lines
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridTable
from cli.verbs.top.words import change
from cli.verbs.watch.event_text import clock_text

TABLES: dict[str, tuple[str, Callable[[Sight, str], GridTable]]] = {
    "members": ("m", members_table),
    "by topic": ("b", topics_table),
    "partitions": ("o", partitions_table),
    "findings": ("f", findings_table),
}
EVENTS = 6  # Lines of events below the table


class GroupScreen(ActingScreen):
    CSS = """
    #summary { height: auto; max-height: 6; padding: 0 1; }
    #tabs { height: 1; color: $text-muted; }
    #events { height: 20%; min-height: 4; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"table('{name}')", name.capitalize()) for name, (key, _) in TABLES.items()),
        Binding("K", "remove", "Remove member", show=False),
    ]

    def __init__(self, group: str) -> None:
        super().__init__()
        self.group = group
        self.table = "members"

    def above(self) -> list[Widget]:
        return [Lines(id="summary"), Static(id="tabs")]

    def below(self) -> list[Widget]:
        return [Static(id="events", markup=False)]

    def wanted(self) -> Focus:
        return Focus(opened=self.group)

    @property
    def title_parts(self) -> list[str]:
        return [f"group {self.group}"]

    def draw(self, sight: Sight) -> None:
        self.grid.show(TABLES[self.table][1](sight, self.group))
        width = max(self.size.width - 2, 20)
        self.query_one("#summary", Lines).show(summary_lines(sight, self.group, width))
        self.query_one("#tabs", Static).update(self._tabs())
        lines = [
            f"{clock_text(line.at_ms)}  {safe_text(line.text)}"
            for line in sight.events_of(self.group)[-EVENTS:]
        ]
        self.query_one("#events", Static).update("\n".join(lines) or "No event since this screen was opened.")

    def _tabs(self) -> Content:
        shown = (
            (f" {key} {name} ", "reverse" if name == self.table else "") for name, (key, _) in TABLES.items()
        )
        return Content(" ").join(Content.styled(text, style) for text, style in shown)

    def action_remove(self) -> None:
        if self.table == "members" and self.grid.key is not None:
            self.app.run_command(change("members remove", self.group, "--member", self.grid.key))

    def action_table(self, name: str) -> None:
        self.table = name
        self.grid.look(type(self.grid.view)())
        self.draw(self.app.sight)
