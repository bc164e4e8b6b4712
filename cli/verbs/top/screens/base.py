"""What all screens with a table have: a line about the source, the table, its filter, and the keys at the bottom."""

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, Input, Static

from cli.render.cells import safe_text
from cli.verbs.top.grid import Grid
from cli.verbs.top.host import Host
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import filter_words
from groups.times import format_moment

FILTER_HINT = "words of the name, -without; / again to type, Esc to clear"


class TableScreen(Screen[None]):
    """Subclasses say what the table, the summary and the focus are."""

    app: Host
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("escape", "back", "Back"),
    ]
    hint = FILTER_HINT

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield from self.above()
        yield Grid(id="grid")
        yield from self.below()
        yield Input(id="filter", placeholder=self.hint, compact=True)
        yield Footer()

    def above(self) -> list[Widget]:
        """Widgets between the head and the table."""
        return []

    def below(self) -> list[Widget]:
        return []

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    def on_mount(self) -> None:
        self.grid.focus()
        self.show_sight(self.app.sight)

    def on_screen_resume(self) -> None:
        self.app.focus_on(self.wanted())
        self.show_sight(self.app.sight)

    def wanted(self) -> Focus:
        """What this screen needs from the poller."""
        return Focus()

    def show_sight(self, sight: Sight) -> None:
        self.draw(sight)
        self._head(sight)

    def draw(self, sight: Sight) -> None:
        raise NotImplementedError

    @property
    def title_parts(self) -> list[str]:
        """What the head says after the source."""
        return []

    def _head(self, sight: Sight) -> None:
        head = self.query_one("#head", Static)
        head.set_class(bool(sight.failure), "failing")
        head.set_class(sight.past_ms is not None, "past")
        if sight.failure:
            since = "" if sight.failing_ms is None else f" since {format_moment(sight.failing_ms)}"
            text = f"no answer{since}: {sight.failure}"
        elif sight.at_ms is None:
            text = "reading the list of groups"
        else:
            moment = format_moment(sight.at_ms if sight.past_ms is None else sight.past_ms)
            text = "  ".join([*self.title_parts, moment if sight.past_ms is None else f"THE PAST: {moment}"])
        paused = "  PAUSED" if self.app.poller.is_paused else ""
        head.update(safe_text(f"{sight.source}  {text}{paused}"))

    # The filter

    def on_grid_moved(self) -> None:
        self.app.focus_on(self.wanted())
        self._head(self.app.sight)

    def action_filter(self) -> None:
        entry = self.query_one("#filter", Input)
        entry.add_class("open")
        entry.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.grid.look(replace(self.grid.view, words=filter_words(event.value)))

    def on_input_submitted(self) -> None:
        self.grid.focus()

    def action_back(self) -> None:
        """Clear the filter; without one, to the screen before."""
        entry = self.query_one("#filter", Input)
        if entry.value or entry.has_class("open"):
            entry.value = ""
            entry.remove_class("open")
            self.grid.focus()
        elif len(self.app.screen_stack) > 2:
            self.app.pop_screen()
