"""What screens of one subject have: a summary, and one or several tables of it."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from cli.render.cells import safe_text
from cli.render.lines import Line, folded
from cli.verbs.top.group_summary import Sentence
from cli.verbs.top.roles import RoleLines
from cli.verbs.top.screens.base import TableScreen
from cli.verbs.top.sight import Sight
from cli.verbs.top.tables import GridTable, GridView


class Tab(NamedTuple):
    """A table of a screen, the key that shows it, and what the help says of it."""

    name: str
    key: str
    tooltip: str
    opens: bool = True  # Whether Enter on a row opens something


def tab_bindings(tabs: Sequence[Tab]) -> Iterator[BindingType]:
    for tab in tabs:
        yield Binding(tab.key, f"table('{tab.name}')", tab.name.capitalize(), tooltip=tab.tooltip)
    if len(tabs) > 1:
        yield Binding("tab", "next_table(1)", "Next table", show=False, key_display="Tab")
        yield Binding("shift+tab", "next_table(-1)", "Table before", show=False, key_display="Shift-Tab")


class TabLine(Static):
    """The names of the tables with their keys; a click shows one."""

    class Chosen(Message):
        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, tabs: Sequence[Tab]) -> None:
        super().__init__(id="tabs")
        self._texts = [f" {tab.key} {tab.name} " for tab in tabs]

    def show(self, number: int) -> None:
        styled = (
            Content.styled(text, "reverse" if n == number else "") for n, text in enumerate(self._texts)
        )
        self.update(Content(" ").join(styled))

    def on_click(self, event: events.Click) -> None:
        ends = accumulate(len(text) + 1 for text in self._texts)
        number = next((n for n, end in enumerate(ends) if event.x < end), None)
        if number is not None:
            self.post_message(self.Chosen(number))


class SubjectScreen(TableScreen):
    """Subclasses say what the summary and the tables are."""

    DEFAULT_CSS = """
    SubjectScreen #summary { max-height: 35%; padding: 0 1; }
    SubjectScreen #tabs { height: 1; color: $text-muted; }
    """
    hint = "words of any column, topic:orders, -without"
    tabs: ClassVar[Sequence[Tab]] = (Tab("", "", "", opens=False),)

    def __init__(self) -> None:
        super().__init__()
        self.tab = self.tabs[0]

    def above(self) -> list[Widget]:
        return [RoleLines(id="summary"), *([TabLine(self.tabs)] if len(self.tabs) > 1 else [])]

    def sentences(self, sight: Sight) -> Iterator[Sentence]:
        """The summary, with the roles of its sentences."""
        raise NotImplementedError

    def summary(self, sight: Sight, width: int) -> list[Line]:
        return [line for text, role in self.sentences(sight) for line in folded(safe_text(text), width, role)]

    def table(self, sight: Sight) -> GridTable:
        """Of the tab that is shown."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.grid.opens = self.tab.opens

    def draw(self, sight: Sight) -> None:
        self.grid.show(self.table(sight))
        self.query_one("#summary", RoleLines).show(self.summary(sight, max(self.size.width - 2, 20)))
        if len(self.tabs) > 1:
            self.query_one(TabLine).show(self.tabs.index(self.tab))

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        self.action_table(self.tabs[event.number].name)

    def action_table(self, name: str) -> None:
        self.tab = next(tab for tab in self.tabs if tab.name == name)
        self.grid.opens = self.tab.opens
        self.grid.look(GridView(words=self.grid.view.words))
        self.refresh_bindings()
        self.show_sight(self.app.sight)

    def action_next_table(self, by: int) -> None:
        position = self.tabs.index(self.tab) + by
        self.action_table(self.tabs[position % len(self.tabs)].name)

    def on_resize(self) -> None:
        if self.is_mounted:
            self.show_sight(self.app.sight)
