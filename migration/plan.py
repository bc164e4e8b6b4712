"""Making a plan: judge the group, and if nothing blocks, lay out the steps."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.model import Cluster, Group, Topic
from migration.clients import ToldClients, clients_of
from migration.model import Destination, Level, Plan
from migration.paths import choose_path, has_arrived
from migration.rules import Case, judge

DEFAULT_BOUNCE_S = 30.0
"""A container's stop, its start and the join: what rolling restarts are usually given. Measure yours."""


def make_plan(
    group: Group,
    cluster: Cluster,
    destination: Destination,
    told: ToldClients,
    *,
    concurrency: int = 1,
    bounce_s: float = DEFAULT_BOUNCE_S,
    topics: Sequence[Topic] = (),
) -> Plan:
    """A plan for a group. A blocked plan has no steps: none would be safe.

    `concurrency` members are restarted together, each for `bounce_s` seconds. `topics` are all topics of the
    cluster; none where the source does not know them.
    """
    case = Case(
        group=group,
        cluster=cluster,
        destination=destination,
        clients=clients_of(group, told),
        topics={topic.name: topic for topic in topics} or None,
    )
    findings = () if has_arrived(case) else judge(case)
    blocked = any(finding.level is Level.BLOCKER for finding in findings)
    return Plan(
        group=group.id,
        origin=describe_protocol(group),
        destination=destination,
        clients=tuple(sorted({client.library.name for client in case.clients.values() if client.library})),
        findings=findings,
        steps=() if blocked else choose_path(case),
        concurrency=concurrency,
        bounce_s=bounce_s,
    )


def describe_protocol(group: Group) -> str:
    """Where a group stands, in words: `classic (range)`."""
    return f"{group.type.value} ({group.protocol})" if group.protocol else group.type.value
