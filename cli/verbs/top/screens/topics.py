"""Topics, and who reads each."""

from collections import defaultdict
from typing import ClassVar

from textual.binding import Binding, BindingType

from cli.verbs.top.grid import Grid
from cli.verbs.top.screens.base import TableScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridColumn, GridRow, GridTable
from groups.counts import counted
from groups.lag import total_lag

TOPIC_COLUMNS = (
    GridColumn("TOPIC", least_width=20),
    GridColumn("GROUPS", is_number=True),
    GridColumn("LAG", is_number=True, least_width=9),
    GridColumn("READ-BY"),
)


class TopicsScreen(TableScreen):
    """Of the groups that have been read so far."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("g", "app.open('groups')", "Groups", show=False)]

    def wanted(self) -> Focus:
        return Focus()

    @property
    def title_parts(self) -> list[str]:
        sight = self.app.sight
        unread = len(sight.listings) - len(sight.groups)
        return [
            counted(self.grid.shown, "topic"),
            *([f"{counted(unread, 'group')} still to be read"] if unread else []),
        ]

    def draw(self, sight: Sight) -> None:
        lags: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
        for name, seen in sight.groups.items():
            for row in seen.polled.rows:
                lags[row.topic][name].append(row.lag)
        rows = [
            GridRow(
                topic,
                (
                    topic,
                    len(by_group),
                    total_lag(lag for listed in by_group.values() for lag in listed),
                    ", ".join(sorted(by_group)),
                ),
            )
            for topic, by_group in sorted(lags.items())
        ]
        self.grid.show(GridTable(columns=TOPIC_COLUMNS, rows=rows))

    def on_grid_opened(self, event: Grid.Opened) -> None:
        self.app.open_screen("topic", event.key)
