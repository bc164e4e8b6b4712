"""The list of groups."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from cli.verbs.top.grid import Grid
from cli.verbs.top.group_rows import groups_table, has_problem
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridView, filter_words
from groups.counts import counted
from groups.times import format_moment

if TYPE_CHECKING:
    from cli.verbs.top.app import TopApp


class GroupsScreen(Screen[None]):
    app: "TopApp"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("escape", "clear", "Back", show=False),
        Binding("e", "problems", "Problems"),
    ]

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield Grid(id="groups")
        yield Input(
            id="filter", placeholder="name  state:stable  topic:orders  type:share  -not", compact=True
        )
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Grid).focus()
        self.show_sight(self.app.sight)

    def show_sight(self, sight: Sight) -> None:
        grid = self.query_one(Grid)
        grid.show(groups_table(sight))
        self._head(sight)

    def _head(self, sight: Sight) -> None:
        head = self.query_one("#head", Static)
        head.set_class(bool(sight.failure), "failing")
        grid = self.query_one(Grid)
        if sight.at_ms is None:
            head.update(sight.failure or f"{sight.source}: reading the list of groups")
            return
        of = f"{grid.shown:,} of {counted(len(sight.listings), 'group')}"
        unread = len(sight.listings) - len(sight.groups)
        parts = [sight.source, of if grid.shown != len(sight.listings) else counted(grid.shown, "group")]
        parts += [f"{unread:,} still to be read"] if unread else []
        parts += [f"no answer: {sight.failure}"] if sight.failure else [format_moment(sight.at_ms)]
        head.update("  ".join(parts))

    def on_grid_moved(self) -> None:
        self.app.focus_on(Focus(visible=tuple(self.query_one(Grid).visible_keys)))
        self._head(self.app.sight)

    def action_filter(self) -> None:
        entry = self.query_one(Input)
        entry.add_class("open")
        entry.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        grid = self.query_one(Grid)
        view = grid.view
        grid.look(
            GridView(
                column=view.column,
                is_descending=view.is_descending,
                words=filter_words(event.value),
                only=view.only,
            )
        )

    def on_input_submitted(self) -> None:
        self.query_one(Grid).focus()

    def action_clear(self) -> None:
        entry = self.query_one(Input)
        entry.value = ""
        entry.remove_class("open")
        self.query_one(Grid).focus()

    def action_problems(self) -> None:
        grid = self.query_one(Grid)
        view = grid.view
        only = None if view.only else has_problem
        grid.look(GridView(column=view.column, is_descending=view.is_descending, words=view.words, only=only))
