"""Making a plan: check all rules, and if nothing blocks the migration, lay out the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from groups.model import Cluster, Group, GroupType, Member, Topic
from migration.access import Access
from migration.bridge import BRIDGE
from migration.client_config import ClientConfig
from migration.clients import (
    DeclaredClients,
    MemberClient,
    clients_of,
    with_configs,
    with_configured_assignors,
)
from migration.commands import ClusterOptions
from migration.expectation import forecast
from migration.model import Baseline, Destination, Plan, PlanVerdict
from migration.paths.choose import choose_path, has_arrived
from migration.paths.path import PathContext, planned_members
from migration.rules.assignors import lists_are_known
from migration.rules.case import Case
from migration.rules.catalog import judge

DEFAULT_BOUNCE_S = 30.0
"""A usual allowance for a container's stop, its start and the join. Measure your own."""


def case_of(
    group: Group,
    cluster: Cluster,
    destination: Destination,
    declared: DeclaredClients,
    *,
    topics: Sequence[Topic] = (),
    assignor: str | None = None,
    regexes: Sequence[str] = (),
    configs: Sequence[ClientConfig] = (),
    access: Access | None = None,
    settings: Mapping[str, str] | None = None,
    frameworks: Sequence[str] = (),
    offline: bool = False,
) -> Case:
    """The input of the rules.

    `topics` are the topics that the members want, or all topics; empty if the source does not know them. `assignor`
    is the assignor for a rollback; None: the likeliest. `regexes` are the declared regexes of the members, `configs`
    their configuration files, `access` the permissions of the cluster's authorizer, `settings` the group's own
    settings, `frameworks` the declared frameworks of the members. `offline` requests a plan that stops all members,
    even if an online plan is possible.
    """
    clients = _clients_to_migrate(group, clients_of(group, with_configs(declared, configs)))
    return Case(
        group=with_configured_assignors(group, clients, configs),
        cluster=cluster,
        destination=destination,
        clients=clients,
        topics={topic.name: topic for topic in topics} or None,
        regexes=tuple(regexes),
        configs=tuple(configs),
        access=access,
        settings=settings or {},
        assignor=assignor,
        frameworks=tuple(frameworks),
        offline=offline,
    )


def make_plan(
    case: Case,
    *,
    concurrency: int = 1,
    bounce_s: float = DEFAULT_BOUNCE_S,
    connection: ClusterOptions | None = None,
    with_costs: bool = True,
    most_rounds: int | None = None,
) -> Plan:
    """The plan of a case. A blocked plan has no steps: none would be safe.

    `concurrency` members are restarted together, which takes `bounce_s` seconds. The commands of the plan reach the
    cluster through `connection`. The costs of the steps are most of the work: without `with_costs` they are left out,
    and with `most_rounds` they are computed from that many rounds of each step.
    """
    findings = tuple(lists_are_known(case)) if has_arrived(case) else judge(case)
    plan = Plan(
        group=case.group.id,
        origin=describe_protocol(case.group),
        destination=case.destination,
        clients=tuple(sorted({client.library.name for client in case.clients.values() if client.library})),
        findings=findings,
        steps=(),
        baseline=baseline_of(case),
        concurrency=concurrency,
        bounce_s=bounce_s,
    )
    if plan.verdict is PlanVerdict.BLOCKED:
        return plan
    context = PathContext(case=case, concurrency=concurrency, connection=connection or ClusterOptions())
    path = choose_path(context)
    if not with_costs:
        return replace(plan, steps=path.steps, path=path.name, alternatives=path.alternatives)
    foreseen = forecast(
        case, path.steps, topics=case.topics or {}, bounce_s=bounce_s, most_rounds=most_rounds
    )
    return replace(
        plan,
        steps=foreseen.steps,
        settled_groups=foreseen.settled_groups,
        path=path.name,
        alternatives=path.alternatives,
    )


def _clients_to_migrate(
    group: Group, clients: Mapping[str | None, MemberClient]
) -> dict[str | None, MemberClient]:
    """The clients of the members to migrate, without a bridge from an earlier plan, which leaves again."""
    bridges = {member.id for member in group.members if member.client.id == BRIDGE}
    return {member: client for member, client in clients.items() if member not in bridges}


def baseline_of(case: Case) -> Baseline:
    """The group as it is now, to be recorded in the plan."""
    group = case.group
    wanted = {
        topic
        for member in group.members
        for topics in (member.owned or {}, member.target or {}, _subscribed(member))
        for topic in topics
    }
    return Baseline(
        cluster=case.cluster.id,
        type=group.type,
        state=group.state,
        protocol=group.protocol,
        epoch=epoch_of(group),
        members=planned_members(case),
        topics=tuple(sorted(wanted)),
        partitions={name: case.topics[name].partitions for name in sorted(wanted) if name in case.topics}
        if case.topics
        else {},
    )


def epoch_of(group: Group) -> int | None:
    """Its generation or group epoch, whose count continues when a group is converted; None if unknown."""
    return group.generation if group.type is GroupType.CLASSIC else group.group_epoch


def _subscribed(member: Member) -> tuple[str, ...]:
    return member.subscription.topics if member.subscription else ()


def describe_protocol(group: Group) -> str:
    """A group's type and assignor: `classic (range)`."""
    return f"{group.type.value} ({group.protocol})" if group.protocol else group.type.value
