"""One group: its members, topics, partitions and findings, the owners over time, and its events as they come."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from cli.render.cells import cell_text, safe_text
from cli.render.lines import Line, Piece, Role, folded
from cli.verbs.diagnose.action import finding_with_evidence
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
from cli.verbs.top.ownership import Lanes, has_moved, lanes_of
from cli.verbs.top.roles import RoleLines
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.screens.subject import SubjectScreen, Tab, tab_bindings
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridTable
from cli.verbs.top.words import change
from groups.model import TopicPartition

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
    "findings": "A verdict needs two readings.",
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
        return [RoleLines(id="lanes"), RoleLines(id="events")]

    def partition_on_screen(self) -> TopicPartition | None:
        return (
            place_of(self.grid.key) if self.tab.name == "partitions" and self.grid.key is not None else None
        )

    def wanted(self) -> Focus:
        return Focus(opened=self.group)

    @property
    def title_parts(self) -> list[str]:
        return [f"group {cell_text(self.group, 'GROUP')}"]

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
        if self.tab.name == FINDINGS and sight.past_ms is not None:
            return "There is no verdict of the past; w explains what happened."
        return EMPTY[self.tab.name]

    def draw(self, sight: Sight) -> None:
        super().draw(sight)
        self._draw_lanes(sight)
        self._draw_events(sight)

    def on_grid_moved(self) -> None:
        self._draw_events(self.app.sight)

    def _draw_events(self, sight: Sight) -> None:
        """The events; of the tab of findings, the one under the cursor."""
        widget = self.query_one("#events", RoleLines)
        widget.set_class(self.tab.name == FINDINGS, "tall")
        finding = (
            findings_of(sight, self.group).get(self.grid.key or "") if self.tab.name == FINDINGS else None
        )
        if finding is not None:
            widget.show(finding_lines(finding))
        else:
            widget.show(self._events(sight, max(widget.size.width - 2, 20), max(widget.size.height, 1)))

    def _end_ms(self, sight: Sight) -> int | None:
        """Until when the owners are known; None: not at all."""
        watched = sight.watched.groups.get(self.group)
        return None if sight.log_of != self.group else sight.past_ms if watched is None else watched.at_ms

    def _lanes(self, sight: Sight) -> Lanes | None:
        end_ms = self._end_ms(sight)
        marks = max(self.size.width - 50, 24)
        return None if end_ms is None else lanes_of(sight.owners, end_ms, min(marks, WIDEST))

    def _draw_lanes(self, sight: Sight) -> None:
        """During a rebalance, and for a while after it, if there is room."""
        widget, group = self.query_one("#lanes", RoleLines), group_on_screen(sight, self.group)
        has_room = self.size.height >= TALL and self.tab.name not in (FINDINGS, LANES)
        lanes, end_ms = None, self._end_ms(sight)
        is_moving = group is not None and group.state not in SETTLED
        if has_room and end_ms is not None and (is_moving or has_moved(sight.owners, end_ms - RECENT_MS)):
            lanes = lanes_of(sight.owners, end_ms, max(self.size.width - 30, 24))
        widget.display = lanes is not None
        if lanes is not None:
            legend = folded(safe_text(lanes.legend()), max(self.size.width - 2, 20), Role.FAINT)
            widget.show([*legend, *lanes.lines(MOST_LANES)])

    def _events(self, sight: Sight, width: int, most: int) -> list[Line]:
        if not (log := sight.events_of(self.group)):
            since = "since this screen was opened" if sight.past_ms is None else "is known before this moment"
            return [(Piece(f"No event {since}.", Role.FAINT),)]
        lines: list[Line] = []
        newest = log[-most:]
        for event in reversed(newest):
            time = f"{time_text(event.at_ms, newest[0].at_ms, newest[-1].at_ms)}  "
            (first,), *more = folded(safe_text(time + event.text), width, indent=len(time))
            if lines and len(lines) + 1 + len(more) > most:
                break
            lines = [(Piece(time, Role.FAINT), Piece(first.text[len(time) :])), *more, *lines]
        return lines

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "remove" and self.tab.name != "members":
            return False
        return super().check_action(action, parameters)

    def action_remove(self) -> None:
        if self.grid.key is not None:
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
                if (finding := findings_of(self.app.sight, self.group).get(event.key)) is not None:
                    names = finding.members or filter(None, [finding.member])
                    members = [f"Members: {text}"] if (text := ", ".join(names)) else []
                    item = finding_with_evidence(finding, *members, source=finding.source)
                    self.app.show_blocks(f"finding of {self.group}", [item])
