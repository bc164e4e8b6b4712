"""Groups to rehearse with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from groups.model import Cluster, Group, Subscription, Topic
from migration.client_config import ClientConfig
from migration.model import Destination, Plan
from migration.rehearsal.plan_run import rehearse, simulated_for_plan
from migration.rehearsal.rehearsed import Rehearsed
from migration.rehearsal.simulated_members import FoundGroup, SimulatedMembers
from tests.migration.cases import NEW, group_of, plan

PARTITIONS = 6
TOPICS = {"orders": Topic(name="orders", partitions=PARTITIONS)}


def classic_group(client: str = "java:4.1.0", protocol: str = "range", *, static: bool = False) -> Group:
    """Three members with two of six partitions each, under ids as a broker draws them."""
    group = group_of(client, protocol)
    members = tuple(
        replace(
            one,
            id=f"{one.id}-{UUID(int=number, version=4)}",
            instance=one.id if static else None,
            subscription=Subscription(topics=("orders",)),
            protocols=(protocol,),
        )
        for number, one in enumerate(group.members, 1)
    )
    return replace(group, members=members)


def plan_of(group: Group, to: Destination, **options: bool) -> Plan:
    return plan(group, to, topics=["orders"], **options)  # type: ignore[arg-type]


@dataclass(frozen=True)
class PlannedGroup:
    """A plan, and the group that it is rehearsed with."""

    plan: Plan
    group: Group
    cluster: Cluster = NEW
    topics: Mapping[str, Topic] = field(default_factory=lambda: TOPICS)
    configs: Sequence[ClientConfig] = ()
    settings: Mapping[str, str] = field(default_factory=dict)  # Of each member, besides those of its file
    after_error: str | None = None

    @cached_property
    def found(self) -> FoundGroup:
        return FoundGroup(group=self.group, cluster=self.cluster, topics=self.topics)

    @cached_property
    def simulated(self) -> SimulatedMembers:
        members = simulated_for_plan(self.plan, self.found, self.configs)
        return replace(
            members,
            members={
                name: replace(
                    member,
                    script=replace(
                        member.script,
                        config={**member.script.config, **self.settings},
                        after_error=self.after_error,
                    ),
                )
                for name, member in members.members.items()
            },
        )

    def rehearse(self, seed: int = 1, **options: Any) -> Rehearsed:
        return rehearse(self.plan, self.found, self.simulated, seed, **options)


def planned(group: Group, to: Destination, **more: Any) -> PlannedGroup:
    return PlannedGroup(plan_of(group, to), group, **more)
