"""The list of groups."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from cli.render.fit import without_middle
from cli.render.lines import Role, cut
from cli.verbs.top.grid import Grid
from cli.verbs.top.group_rows import HEALTH, GroupRows, finding_line
from cli.verbs.top.options import option_words
from cli.verbs.top.roles import RoleLines
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridRow, GridTable
from groups.counts import counted, first_names
from groups.listing import Cause

LONG_WORD = 24
MOST_OF_SELECTION = 24  # Columns in the head: the time stays visible


class GroupsScreen(ActingScreen):
    CSS = "#finding { height: 2; padding: 0 1; background: $boost; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "problems", "Problems", tooltip="Only groups with a problem, or all")
    ]
    health = HEALTH  # The position of this column
    hint = "words, state:empty, type:share, topic:orders, -without"

    def __init__(self) -> None:
        super().__init__()
        self._rows = GroupRows()
        self._problems = 0

    @property
    def sights(self) -> Sequence[Sight]:
        """Of the clusters whose groups are listed."""
        return [self.app.sight]

    def group_of(self, key: str) -> str:
        """The group of a row, in its cluster."""
        return key

    @property
    def group_key(self) -> str | None:
        """The group under the cursor."""
        return None if self.grid.key is None else self.group_of(self.grid.key)

    def below(self) -> list[Widget]:
        return [RoleLines(id="finding")]

    def wanted(self) -> Focus:
        return Focus(visible=tuple(self.grid.visible_keys))

    def draw(self, sight: Sight) -> None:
        table = self.table(sight)
        self._problems = sum(map(self._has_problem, table.rows))
        self.grid.show(table)

    def table(self, sight: Sight) -> GridTable:
        return self._rows.table(sight)

    def _has_problem(self, row: GridRow) -> bool:
        return row.roles.get(self.health) in (Role.WARNING, Role.BAD)

    def on_grid_moved(self) -> None:
        room = (
            2 * self.app.size.width - LONG_WORD
        )  # Two lines, of which a word that does not fit takes a part
        line = finding_line(self.app.sight, self.group_key)
        self.query_one("#finding", RoleLines).show([cut(line, room)])

    @property
    def title_parts(self) -> list[str]:
        shown, count = self.grid.shown, sum(len(sight.listings) for sight in self.sights)
        unread = count - sum(len(sight.groups) for sight in self.sights)
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
        absent = [
            {problem.subject for problem in sight.problems if problem.cause is Cause.ABSENT}
            for sight in self.sights
        ]
        names = sorted(set.intersection(*absent))
        return f"no group {first_names(names)}" if names else ""

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
        self.grid.look(replace(view, only=None if view.only else self._has_problem))

    def on_grid_opened(self, event: Grid.Opened) -> None:
        self.app.open_screen("group", self.group_of(event.key))
