"""The cost of a member's restart to its group, now and at the destination. The difference is the gain of a migration.

One member represents all: the median by the number of its partitions. It is stopped and started again with its
current list of assignors; the walk is the same as for a plan's steps. At the destination, members are assumed to own
the partitions that the dry run of the destination's assignor gives them.

There are two costs: a partition has no owner for a while, and its consumption is interrupted at all. All members of
an eager group revoke everything, and get it back in less time than a member of the consumer protocol needs to learn
of one partition; but every partition is interrupted twice. So each interruption counts as `RESUME_S` seconds more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assignors.assignor import Side
from groups.dry_run import BROKERS_DEFAULT, DryRun
from groups.model import Group, GroupType, MemberProtocol, Topic
from migration.expectation import forecast
from migration.model import Destination, Step
from migration.paths.path import PathContext
from migration.rollout import Rollout, RoundAction, Start
from migration.rules.case import Case
from migration.walk import partitions_of

COOPERATIVE = "cooperative-sticky"
RESUME_S = 1.0
"""Seconds lost for a partition that is revoked and assigned again at once: the application finishes and commits the
last batch, then fetches the position and the first records, for which a fetch may wait half a second.
"""


def destinations_assignor(case: Case) -> tuple[str, Side]:
    """The assignor of the group at its destination, and the side that computes it."""
    if case.destination is Destination.COOPERATIVE:
        return COOPERATIVE, Side.CLIENT
    if case.group.type is GroupType.CONSUMER:
        return case.group.protocol or BROKERS_DEFAULT, Side.BROKER
    return PathContext(case=case).remote_assignor or BROKERS_DEFAULT, Side.BROKER


def restart_now_s(case: Case, *, topics: Mapping[str, Topic], bounce_s: float) -> float | None:
    """Partition-seconds lost per restart of a member of the group as it is; None if it cannot be computed."""
    return _cost(case, topics, bounce_s) if case.group.members else None


def restart_then_s(
    case: Case, run: DryRun | None, *, topics: Mapping[str, Topic], bounce_s: float
) -> float | None:
    """The same at the destination; also None if the group does not settle there in the dry run `run`."""
    if not case.group.members or run is None or not run.rests or run.failure is not None:
        return None
    return _cost(replace(case, group=_arrived(case, run)), topics, bounce_s)


def _cost(case: Case, topics: Mapping[str, Topic], bounce_s: float) -> float | None:
    group = case.group
    members = sorted(group.members, key=lambda member: partitions_of(group, member))
    member = members[len(members) // 2]
    if member.protocol is None:
        return None
    if member.protocol is MemberProtocol.CONSUMER:
        start = Start(protocol=MemberProtocol.CONSUMER, remote_assignor=group.protocol)
    else:
        listed = member.protocols or ((group.protocol,) if group.protocol else ())
        if not listed:
            return None
        start = Start(protocol=MemberProtocol.CLASSIC, assignors=listed)
    rollout = Rollout(action=RoundAction.RESTART, rounds=((member.id,),), start=start)
    step = Step(title="", actions=(), rollout=rollout)
    foreseen = forecast(case, [step], topics=topics, bounce_s=bounce_s)
    if foreseen.steps[0].expectation is None:
        return None
    waits = [wait for settled in foreseen.settled_groups for wait in settled.waits]
    return round(sum(wait.total_s + wait.partitions * RESUME_S for wait in waits), 1)


def _arrived(case: Case, run: DryRun) -> Group:
    """The settled group at its destination, with the assignments of the dry run."""
    assigned = {
        member: {topic: tuple(numbers) for topic, numbers in partitions.items()}
        for member, partitions in run.rebalances[-1].assignment.items()
    }
    protocol = MemberProtocol.CONSUMER if case.destination is Destination.CONSUMER else MemberProtocol.CLASSIC
    members = tuple(
        replace(
            member,
            protocol=protocol,
            protocols=(run.assignor,) if protocol is MemberProtocol.CLASSIC else None,
            owned=assigned.get(member.id, {}),
            target=assigned.get(member.id, {}),
        )
        for member in case.group.members
    )
    kind = GroupType.CONSUMER if protocol is MemberProtocol.CONSUMER else GroupType.CLASSIC
    return replace(case.group, type=kind, protocol=run.assignor, members=members)
