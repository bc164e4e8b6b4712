"""The cluster: its version and features, and how its groups are spread over the coordinators."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from cli.render.lines import Role
from cli.verbs.top.grid import Grid
from cli.verbs.top.group_rows import health_of
from cli.verbs.top.group_summary import Sentence
from cli.verbs.top.screens.subject import SubjectScreen, Tab
from cli.verbs.top.sight import SeenGroup, Sight
from cli.verbs.top.tables import GridTable, grid_of
from groups.counts import counted
from groups.diagnosis.diagnose import Health
from groups.lag import total_lag
from groups.model import Node

NOT_KNOWN = "not known"


class _Coordinator(NamedTuple):
    node: Node | None  # None: of groups whose coordinator is not known
    groups: list[SeenGroup]

    @property
    def name(self) -> str:
        return NOT_KNOWN if self.node is None else f"{self.node.host}:{self.node.port}"


class ClusterScreen(SubjectScreen):
    tabs = (Tab("", "", ""),)

    @property
    def title_parts(self) -> list[str]:
        return ["cluster"]

    def empty_text(self, sight: Sight) -> str:
        return "Reading …" if sight.at_ms is None else "No broker is known from this source."

    def sentences(self, sight: Sight) -> Iterator[Sentence]:
        cluster = sight.cluster
        if cluster is not None and (cluster.id or cluster.kafka):
            yield (
                f"cluster {cluster.id or 'without a known id'}  Kafka {cluster.kafka or NOT_KNOWN}",
                Role.PLAIN,
            )
        types = Counter(listing.type.value for listing in sight.listings.values())
        yield (
            "  ".join(f"{count:,} {kind}" for kind, count in sorted(types.items())) or "no groups",
            Role.PLAIN,
        )
        if cluster is not None:
            features = ", ".join(f"{name}={level}" for name, level in sorted(cluster.features.items()))
            yield (
                (f"features {features}" if features else "Features are not known from this source."),
                Role.PLAIN,
            )
            if cluster.settings_differ:
                yield (
                    f"Brokers differ in {counted(len(cluster.settings_differ), 'setting')} of groups.",
                    Role.WARNING,
                )
        if unread := len(sight.listings.keys() - sight.groups.keys()):
            yield f"{counted(unread, 'group')} still to be read", Role.FAINT

    def table(self, sight: Sight) -> GridTable:
        brokers = sight.cluster.brokers if sight.cluster else ()
        by_id: dict[int | None, _Coordinator] = {node.id: _Coordinator(node, []) for node in brokers}
        for seen in sight.groups.values():
            node = seen.polled.group.coordinator if seen.polled.group else None
            by_id.setdefault(None if node is None else node.id, _Coordinator(node, [])).groups.append(seen)
        return grid_of(
            sorted(by_id.values(), key=lambda one: (one.node is None, one.node.id if one.node else 0)),
            lambda one: one.name,
            ("COORDINATOR", lambda one: one.name),
            ("#BROKER", lambda one: None if one.node is None else one.node.id),
            ("##GROUPS", lambda one: len(one.groups)),
            (
                "##MEMBERS",
                lambda one: sum(len(seen.polled.group.members) for seen in one.groups if seen.polled.group),
            ),
            ("#LAG", lambda one: total_lag(row.lag for seen in one.groups for row in seen.polled.rows())),
            ("##ERRORS", lambda one: sum(health_of(seen) is Health.ERROR for seen in one.groups)),
            ("RACK", lambda one: None if one.node is None else one.node.rack),
        )

    def on_grid_opened(self, event: Grid.Opened) -> None:
        if event.key != NOT_KNOWN:
            self.app.filter_groups(f"coordinator:{event.key}")
