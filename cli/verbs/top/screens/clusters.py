"""The list of groups of several clusters. The application looks at the cluster of the group under the cursor, which is
the one that keys and commands are about."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cli.verbs.top.grid import Grid
from cli.verbs.top.group_rows import GROUP_COLUMNS, HEALTH, GroupRows
from cli.verbs.top.screens.groups import GroupsScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridColumn, GridRow, GridTable
from groups.counts import counted
from groups.listing import Problem

SEPARATOR = "\0"  # In a key, between the names of the cluster and the group: neither contains it


class ClustersScreen(GroupsScreen):
    health = HEALTH + 1

    def __init__(self, searched: str | None) -> None:
        """`searched`: a group whose rows are shown first."""
        super().__init__()
        self._searched = searched
        self._tables: dict[str, GroupRows] = {}

    @property
    def sights(self) -> Sequence[Sight]:
        return list(self.app.sights.values())

    def group_of(self, key: str) -> str:
        return key.partition(SEPARATOR)[2]

    @property
    def title_parts(self) -> list[str]:
        return [counted(len(self.app.sights), "cluster"), *super().title_parts]

    def on_mount(self) -> None:
        if self._searched is not None:
            self.filter(self._searched)

    def on_screen_resume(self) -> None:
        if self.app.sight.past_ms is not None:
            self.app.poller.look_at(None)  # The past is that of one cluster

    def wanted(self) -> Focus:
        place = self.app.source.place
        keys = (key.partition(SEPARATOR) for key in self.grid.visible_keys)
        return Focus(visible=tuple(group for name, _, group in keys if place and name == place.name))

    def table(self, sight: Sight) -> GridTable:  # noqa: ARG002  (that of one of the clusters)
        rows = [row for name, sight in self.app.sights.items() for row in self._rows_of(name, sight)]
        return GridTable(columns=(GridColumn("CLUSTER", least_width=8), *GROUP_COLUMNS), rows=rows)

    def _rows_of(self, cluster: str, sight: Sight) -> Iterator[GridRow]:
        for row in self._tables.setdefault(cluster, GroupRows()).table(sight).rows:
            yield GridRow(
                f"{cluster}{SEPARATOR}{row.key}",
                (cluster, *row.cells),
                {column + 1: role for column, role in row.roles.items()},
                {column + 1: value for column, value in row.sorts.items()},
                {**row.facets, "cluster": cluster},
            )

    def _head(self, sight: Sight) -> None:
        """With the problems of all clusters."""
        problems = tuple(_problems(self.app.sights))
        super()._head(replace(sight, failure="", failing_ms=None, problems=problems))

    def on_grid_moved(self) -> None:
        if self.app.screen is self and self.grid.key is not None:
            self.app.turn_to(self.grid.key.partition(SEPARATOR)[0])

    def on_grid_opened(self, event: Grid.Opened) -> None:
        self.app.turn_to(event.key.partition(SEPARATOR)[0])


def _problems(sights: Mapping[str, Sight]) -> Iterator[Problem]:
    for name, sight in sights.items():
        if sight.failure:
            yield Problem(subject=name, message=sight.failure)
        yield from (replace(problem, subject=f"{name}: {problem.subject}") for problem in sight.problems)
