"""One group: its members, topics, partitions and findings, the owners over time, and its events as they come."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from cli.render.cells import safe_text
from cli.render.lines import Line, Piece, Role, folded
from cli.verbs.top.grid import WIDEST, Grid
from cli.verbs.top.group_summary import SETTLED, group_on_screen, summary_lines
from cli.verbs.top.group_tables import (
    finding_lines,
    findings_are_known,
    findings_of,
    findings_table,
    members_table,
    partitions_table,
    place_of,
    time_text,
    topics_table,
)
from cli.verbs.top.ownership import Lanes, lanes_of
from cli.verbs.top.roles import Lines
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.screens.subject import SubjectScreen, Tab, tab_bindings
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridTable
from cli.verbs.top.words import change

TABLES: Mapping[str, Callable[[Sight, str], GridTable]] = {
    "members": members_table,
    "by topic": topics_table,
    "partitions": partitions_table,
    "findings": findings_table,
}
TABS = (
    Tab("members", "m", "Members, and who waits"),
    Tab("by topic", "b", "Lag and rates by topic"),
    Tab("partitions", "o", "Offsets, lag and owners"),
    Tab("findings", "f", "Problems and remedies"),
    Tab("owners over time", "v", "Who owned what, and when", opens=False),
)
EMPTY = {
    "members": "It has no members.",
    "by topic": "It reads no topic, and has no committed offsets.",
    "partitions": "It owns no partitions, and has no committed offsets.",
    "findings": "A verdict needs two readings of the present.",
    "owners over time": "Who owns what is not known.",
}
FINDINGS, LANES = "findings", "owners over time"
TALL = 32  # Rows of a terminal that has room for lanes during a rebalance
MOST_LANES = 8
RECENT_MS = 120_000  # How long lanes stay after a rebalance


class GroupScreen(SubjectScreen, ActingScreen):
    DEFAULT_CSS = """
    GroupScreen #lanes { padding: 0 1; border-top: solid $panel; }
    GroupScreen #events { height: 20%; min-height: 4; padding: 0 1; border-top: solid $panel; }
    GroupScreen #events.tall { height: 50%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *tab_bindings(TABS),
        Binding("K", "remove", "Remove member", show=False),
    ]
    tabs = TABS

    def __init__(self, group: str) -> None:
        super().__init__()
        self.group = group

    def below(self) -> list[Widget]:
        return [Lines(id="lanes"), Lines(id="events")]

    def wanted(self) -> Focus:
        return Focus(opened=self.group)

    @property
    def title_parts(self) -> list[str]:
        return [f"group {self.group}"]

    def summary(self, sight: Sight, width: int) -> list[Line]:
        """On the tabs whose own text is longer, the state alone."""
        lines = summary_lines(sight, self.group, width)
        if self.tab.name == FINDINGS:
            return lines[:1]
        lanes = self._lanes(sight) if self.tab.name == LANES else None
        return lines if lanes is None else [*lines[:1], *folded(safe_text(lanes.legend()), width, Role.FAINT)]

    def table(self, sight: Sight) -> GridTable:
        if self.tab.name != LANES:
            return TABLES[self.tab.name](sight, self.group)
        lanes = self._lanes(sight)
        return GridTable(columns=(), rows=()) if lanes is None else lanes.table()

    def empty_text(self, sight: Sight) -> str:
        group = group_on_screen(sight, self.group)
        if group is None:
            return ""  # The summary says why
        if self.tab.name == FINDINGS and sight.past_ms is None and findings_are_known(sight, self.group):
            return "No problem found so far."
        return EMPTY[self.tab.name]

    def draw(self, sight: Sight) -> None:
        super().draw(sight)
        self._draw_lanes(sight)
        self._draw_events(sight)

    def on_grid_moved(self) -> None:
        self._draw_events(self.app.sight)

    def _draw_events(self, sight: Sight) -> None:
        """The events; of the tab of findings, the one under the cursor."""
        widget = self.query_one("#events", Lines)
        widget.set_class(self.tab.name == FINDINGS, "tall")
        finding = (
            findings_of(sight, self.group).get(self.grid.key or "") if self.tab.name == FINDINGS else None
        )
        if finding is not None:
            widget.show(finding_lines(finding))
        else:
            widget.show(self._events(sight, max(widget.size.width - 2, 20), max(widget.size.height, 1)))

    def _lanes(self, sight: Sight) -> Lanes | None:
        watched = sight.watched.groups.get(self.group)
        end_ms = sight.past_ms if watched is None else watched.at_ms
        if sight.log_of != self.group or end_ms is None:
            return None
        return lanes_of(sight.owners, end_ms, min(max(self.size.width - 50, 24), WIDEST))

    def _draw_lanes(self, sight: Sight) -> None:
        """During a rebalance, and for a while after it, if there is room."""
        widget, lanes = self.query_one("#lanes", Lines), self._lanes(sight)
        group = group_on_screen(sight, self.group)
        is_shown = (
            lanes is not None
            and group is not None
            and self.tab.name != LANES
            and self.size.height >= TALL
            and (group.state not in SETTLED or lanes.moved_since(lanes.end_ms - RECENT_MS))
        )
        widget.display = is_shown
        if lanes is not None and is_shown:
            legend = folded(safe_text(lanes.legend()), max(self.size.width - 2, 20), Role.FAINT)
            widget.show([*legend, *lanes.lines(MOST_LANES)])

    def _events(self, sight: Sight, width: int, most: int) -> list[Line]:
        if not (log := sight.events_of(self.group)):
            since = "since this screen was opened" if sight.past_ms is None else "is known before this moment"
            return [(Piece(f"No event {since}.", Role.FAINT),)]
        lines: list[Line] = []
        for event in (newest := log[-most:]):
            time = f"{time_text(event.at_ms, newest[0].at_ms, newest[-1].at_ms)}  "
            (first,), *more = folded(safe_text(time + event.text), width, indent=len(time))
            lines += [(Piece(time, Role.FAINT), Piece(first.text[len(time) :])), *more]
        return lines[-most:]

    def action_remove(self) -> None:
        if self.tab.name == "members" and self.grid.key is not None:
            self.app.run_command(change("members remove", self.group, "--member", self.grid.key))

    def on_grid_opened(self, event: Grid.Opened) -> None:
        match self.tab.name:
            case "members":
                self.app.open_screen("member", self.group, event.key)
            case "by topic":
                self.app.open_screen("topic", event.key)
            case "partitions":
                topic, number = place_of(event.key)
                self.app.open_screen("partition", self.group, topic, str(number))
            case "findings":
                self.app.open_screen("finding", self.group, event.key)
