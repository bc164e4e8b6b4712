"""Making a plan: check all rules, and if nothing blocks the migration, lay out the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from groups.model import Cluster, Group, GroupType, Topic
from migration.access import Access
from migration.bridge import BRIDGE
from migration.clients import clients_of, with_configs, with_configured_assignors
from migration.expectation import forecast
from migration.model import Baseline, Plan
from migration.paths.choose import choose_path, has_arrived
from migration.paths.path import PathContext, planned_members
from migration.rules.assignors import lists_are_known
from migration.rules.case import Case, PlanRequest
from migration.rules.catalog import judge


def case_of(
    request: PlanRequest,
    group: Group,
    cluster: Cluster,
    *,
    topics: Sequence[Topic] = (),
    access: Access | None = None,
    settings: Mapping[str, str] | None = None,
) -> Case:
    """The input of the rules. `topics` are the topics that the members want, or all topics; empty if the source
    does not know them. `access` are the permissions of the cluster's authorizer, `settings` the group's own
    settings."""
    # A bridge from an earlier plan leaves again.
    bridges = {member.id for member in group.members if member.client.id == BRIDGE}
    found = clients_of(group, with_configs(request.declared, request.configs))
    clients = {member: client for member, client in found.items() if member not in bridges}
    return Case(
        group=with_configured_assignors(group, clients, request.configs),
        cluster=cluster,
        request=request,
        clients=clients,
        topics={topic.name: topic for topic in topics} or None,
        access=access,
        settings=settings or {},
    )


def make_plan(case: Case) -> Plan:
    """The plan of a case. A blocked plan has no steps: none would be safe."""
    request = case.request
    plan = Plan(
        group=case.group.id,
        origin=describe_protocol(case.group),
        destination=case.destination,
        clients=tuple(sorted(case.libraries)),
        findings=tuple(lists_are_known(case)) if has_arrived(case) else judge(case),
        steps=(),
        baseline=baseline_of(case),
        concurrency=request.concurrency,
        bounce_s=request.bounce_s,
    )
    if plan.has_blocker:
        return plan
    path = choose_path(PathContext(case=case))
    plan = replace(plan, steps=path.steps, path=path.name, alternatives=path.alternatives)
    if not request.with_costs:
        return plan
    topics, most = case.topics or {}, request.most_rounds
    foreseen = forecast(case, path.steps, topics=topics, bounce_s=request.bounce_s, most_rounds=most)
    return replace(plan, steps=foreseen.steps, settled_groups=foreseen.settled_groups)


def baseline_of(case: Case) -> Baseline:
    group, names, topics = case.group, set[str](), case.topics or {}
    for member in group.members:
        names |= {*(member.owned or ()), *(member.target or ())}
        names |= {*member.subscription.topics} if member.subscription else set()
    return Baseline(
        cluster=case.cluster.id,
        type=group.type,
        state=group.state,
        protocol=group.protocol,
        epoch=epoch_of(group),
        members=planned_members(case),
        topics=tuple(sorted(names)),
        partitions={name: topics[name].partitions for name in sorted(names) if name in topics},
    )


def epoch_of(group: Group) -> int | None:
    """Its generation or group epoch, whose count continues when a group is converted; None if unknown."""
    return group.generation if group.type is GroupType.CLASSIC else group.group_epoch


def describe_protocol(group: Group) -> str:
    """A group's type and assignor: `classic (range)`."""
    return f"{group.type.value} ({group.protocol})" if group.protocol else group.type.value
