"""What all screens with a table have: a line about the source, the table, its filter, and the keys at the bottom."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from cli.render.cells import safe_text
from cli.verbs.top.grid import Grid
from cli.verbs.top.head import Head
from cli.verbs.top.host import Host
from cli.verbs.top.key_line import KeyLine
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import filter_words
from groups.listing import Cause, Problem
from groups.times import duration_text, format_moment

FILTER_HINT = "words of the name, -without"
MOST_PROBLEMS = 2  # Lines
AGE_MS = 5_000  # Figures that are older than this, and than three readings, are shown with their age


class TableScreen(Screen[None]):
    """Subclasses say what the table, the summary and the focus are."""

    app: Host
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("escape", "back", "Back"),
    ]
    hint = FILTER_HINT

    def compose(self) -> ComposeResult:
        yield Head(id="head")
        yield Static(id="failure", markup=False)
        yield from self.above()
        yield Grid(id="grid")
        yield from self.below()
        with Horizontal(id="filter-line"):
            yield Static("/ ", id="filter-sign")
            yield Input(id="filter", compact=True)
        yield KeyLine(self.hint)

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
        self.set_interval(1.0, self._age)

    def _age(self) -> None:
        if self.is_current:
            self._head(self.app.sight)

    def on_screen_resume(self) -> None:
        self.app.focus_on(self.wanted())
        self.show_sight(self.app.sight)

    def wanted(self) -> Focus:
        """What this screen needs from the poller."""
        return Focus()

    def show_sight(self, sight: Sight) -> None:
        self.grid.empty = self.empty_text(sight)
        self.draw(sight)
        self._head(sight)

    def draw(self, sight: Sight) -> None:
        raise NotImplementedError

    def empty_text(self, sight: Sight) -> str:
        """Why the table has no rows."""
        return "Nothing to show." if sight.at_ms is not None else "Reading …"

    @property
    def title_parts(self) -> list[str]:
        """What the screen shows: its subject first, which is shortened if it must."""
        return []

    def _head(self, sight: Sight) -> None:
        head, failure = self.query_one(Head), self.query_one("#failure", Static)
        head.set_class(bool(sight.failure), "failing")
        head.set_class(sight.past_ms is not None, "past")
        self.set_class(bool(sight.failure), "stale")
        head.subject = tuple(self.title_parts)
        head.origin = (self.app.place_text, *self._times(sight))
        text = sight.failure or _unread_text(sight.problems)
        failure.set_class(not sight.failure, "role--warning")
        failure.display = bool(text)
        failure.update(safe_text(text))

    def _times(self, sight: Sight) -> Iterator[str]:
        if sight.failure:
            since = "" if sight.failing_ms is None else f" since {format_moment(sight.failing_ms)}"
            yield f"NO ANSWER{since}"
        elif sight.past_ms is not None:
            yield f"THE PAST: {format_moment(sight.past_ms)}"
        elif (read_ms := self.read_ms(sight)) is not None:
            age_ms = self.app.now_ms() - read_ms
            is_old = age_ms > max(AGE_MS, 3000 * self.app.options.every)
            yield format_moment(read_ms) + (f" ({duration_text(age_ms)} ago)" if is_old else "")
        if self.app.activity:
            yield self.app.activity
        if self.app.poller.is_paused:
            yield "PAUSED"

    def read_ms(self, sight: Sight) -> int | None:
        """When the oldest of the figures on screen was read."""
        focus = self.wanted()
        names = focus.visible if focus.opened is None else (focus.opened,)
        return min((sight.groups[name].at_ms for name in names if name in sight.groups), default=sight.at_ms)

    # The filter

    def on_grid_moved(self) -> None:
        if self.app.screen is self:  # a table of a screen below this one moves when the terminal is resized
            self.app.focus_on(self.wanted())
        self._head(self.app.sight)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "back":
            return self.is_filtered or self is not self.app.screen_stack[1]
        return True

    @property
    def is_filtered(self) -> bool:
        return self.query_one("#filter-line").has_class("open")

    def filter(self, text: str | None = None) -> None:
        """Show the line of the filter, with this text."""
        self.query_one("#filter-line").add_class("open")
        if text is not None:
            self.query_one("#filter", Input).value = text
        self.refresh_bindings()

    def action_filter(self) -> None:
        self.filter()
        self.query_one("#filter", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.grid.look(replace(self.grid.view, words=filter_words(event.value)))

    def on_input_submitted(self) -> None:
        self.grid.focus()
        if not self.query_one("#filter", Input).value:
            self.action_back()

    def action_back(self) -> None:
        """Clear the filter; without one, to the screen before."""
        if self.is_filtered:
            self.query_one("#filter", Input).value = ""
            self.query_one("#filter-line").remove_class("open")
            self.grid.focus()
            self.refresh_bindings()
        elif len(self.app.screen_stack) > 2:
            self.app.pop_screen()


def _unread_text(problems: Sequence[Problem]) -> str:
    """What of the list could not be read."""
    lines = [
        f"{problem.subject}: {problem.message}" for problem in problems if problem.cause is not Cause.ABSENT
    ]
    others = len(lines) - MOST_PROBLEMS
    return "\n".join(lines[:MOST_PROBLEMS]) + (f"; and {others:,} more" if others > 0 else "")
