"""The list of groups."""

import shlex
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from cli.render.fit import without_middle
from cli.verbs.top.grid import Grid
from cli.verbs.top.group_rows import GroupRows, finding_line, has_problem
from cli.verbs.top.options import option_words
from cli.verbs.top.roles import RoleLines
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.sight import Focus, Sight
from groups.counts import counted, first_names
from groups.listing import Cause

MOST_OF_SELECTION = 24  # Columns in the head: the time stays visible


class GroupsScreen(ActingScreen):
    CSS = "#finding { height: 2; padding: 0 1; background: $boost; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "problems", "Problems", tooltip="Only groups with a problem, or all")
    ]
    hint = "words, state:empty, type:share, topic:orders, -without"

    def __init__(self) -> None:
        super().__init__()
        self._rows = GroupRows()
        self._problems = 0

    def below(self) -> list[Widget]:
        return [RoleLines(id="finding")]

    def wanted(self) -> Focus:
        return Focus(visible=tuple(self.grid.visible_keys))

    def draw(self, sight: Sight) -> None:
        table = self._rows.table(sight)
        self._problems = sum(map(has_problem, table.rows))
        self.grid.show(table)

    def on_grid_moved(self) -> None:
        self.query_one("#finding", RoleLines).show([finding_line(self.app.sight, self.grid.key)])

    @property
    def title_parts(self) -> list[str]:
        sight = self.app.sight
        shown, count = self.grid.shown, len(sight.listings)
        unread = count - len(sight.groups)
        of = counted(count, "group") if shown == count else f"{shown:,} of {counted(count, 'group')}"
        return [
            of,
            *([f"{self._problems:,} with problems"] if self._problems else []),
            *(without_middle(text, MOST_OF_SELECTION, 8) for text in (self._selected, self._absent) if text),
            *([f"{unread:,} still to be read"] if unread else []),
        ]

    @property
    def _selected(self) -> str:
        """The options that limit the list; empty: none."""
        return shlex.join(option_words(replace(self.app.options.selection, groups=None)))

    @property
    def _absent(self) -> str:
        """The groups that are named and do not exist; empty: none."""
        absent = [problem.subject for problem in self.app.sight.problems if problem.cause is Cause.ABSENT]
        return f"no group {first_names(absent)}" if absent else ""

    def empty_text(self, sight: Sight) -> str:
        if sight.at_ms is None:
            return "Reading the list of groups …"
        if self.grid.view.only is not None:
            return "No group has a problem; e shows all groups."
        if self._selected:
            return f"No group passes {self._selected}."
        if sight.past_ms is not None and not self._absent:
            return "What is recorded shows no group at that time. ] goes forth, l returns to the present."
        return f"There is {self._absent or 'no group'}."

    def action_problems(self) -> None:
        view = self.grid.view
        self.grid.look(replace(view, only=None if view.only else has_problem))

    def on_grid_opened(self, event: Grid.Opened) -> None:
        self.app.open_screen("group", event.key)
