"""Groups to rehearse with."""

from dataclasses import replace
from uuid import UUID

from groups.model import Group, Subscription, Topic
from migration.model import Destination, Plan
from tests.migration.cases import group_of, plan

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
    """The plan of the group."""
    return plan(group, to, topics=["orders"], **options)  # type: ignore[arg-type]
