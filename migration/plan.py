"""Making a plan: judge the group, and if nothing blocks, lay out the steps."""

from __future__ import annotations

from coordinator.model import Cluster, Group
from migration.clients import ToldClients, clients_of
from migration.model import Destination, Level, Plan
from migration.paths import choose_path, has_arrived
from migration.rules import Case, judge


def make_plan(group: Group, cluster: Cluster, destination: Destination, told: ToldClients) -> Plan:
    """A plan for a group. A blocked plan has no steps: none would be safe."""
    case = Case(group=group, cluster=cluster, destination=destination, clients=clients_of(group, told))
    findings = () if has_arrived(case) else judge(case)
    blocked = any(finding.level is Level.BLOCKER for finding in findings)
    return Plan(
        group=group.id,
        origin=describe_protocol(group),
        destination=destination,
        clients=tuple(sorted({client.library.name for client in case.clients.values() if client.library})),
        findings=findings,
        steps=() if blocked else choose_path(case),
    )


def describe_protocol(group: Group) -> str:
    """Where a group stands, in words: `classic (range)`."""
    return f"{group.type.value} ({group.protocol})" if group.protocol else group.type.value
