"""The cluster: its version and features, and how its groups are spread over the coordinators."""

from collections import Counter, defaultdict

from textual.widget import Widget
from textual.widgets import Static

from cli.render.cells import safe_text
from cli.verbs.top.group_rows import health_of
from cli.verbs.top.screens.base import TableScreen
from cli.verbs.top.sight import Sight
from cli.verbs.top.tables import GridColumn, GridRow, GridTable
from groups.diagnosis.diagnose import Health
from groups.lag import total_lag

COORDINATOR_COLUMNS = (
    GridColumn("COORDINATOR", least_width=20),
    GridColumn("GROUPS", is_number=True),
    GridColumn("MEMBERS", is_number=True),
    GridColumn("LAG", is_number=True, least_width=9),
    GridColumn("WITH-ERRORS", is_number=True),
)


class ClusterScreen(TableScreen):
    CSS = "#facts { height: auto; padding: 0 1; }"

    def above(self) -> list[Widget]:
        return [Static(id="facts", markup=False)]

    @property
    def title_parts(self) -> list[str]:
        return ["cluster"]

    def draw(self, sight: Sight) -> None:
        groups: dict[str, list[str]] = defaultdict(list)
        for name, seen in sight.groups.items():
            node = seen.polled.group.coordinator if seen.polled.group else None
            groups["not known" if node is None else f"{node.host}:{node.port} (id {node.id})"].append(name)
        rows = []
        for coordinator, names in sorted(groups.items()):
            seen_groups = [sight.groups[name] for name in names]
            members = sum(len(seen.polled.group.members) for seen in seen_groups if seen.polled.group)
            lag = total_lag(row.lag for seen in seen_groups for row in seen.polled.rows)
            errors = sum(health_of(seen) is Health.ERROR for seen in seen_groups)
            rows.append(GridRow(coordinator, (coordinator, len(names), members, lag, errors)))
        self.grid.show(GridTable(columns=COORDINATOR_COLUMNS, rows=rows))
        self.query_one("#facts", Static).update("\n".join(map(safe_text, _facts(sight))))


def _facts(sight: Sight) -> list[str]:
    cluster = sight.cluster
    types = Counter(listing.type.value for listing in sight.listings.values())
    lines = ["  ".join(f"{count:,} {kind}" for kind, count in sorted(types.items())) or "no groups"]
    if cluster is not None:
        features = ", ".join(f"{name}={level}" for name, level in sorted(cluster.features.items()))
        lines.insert(0, f"Cluster {cluster.id or 'without a known id'}, Kafka {cluster.kafka or 'not known'}")
        lines.append(features or "features are not known")
    return lines
