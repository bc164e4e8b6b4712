"""Groups, plans and looks for the tests of gates."""

from collections.abc import Sequence
from dataclasses import replace

from groups.model import (
    Client,
    Cluster,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Subscription,
    Topic,
)
from migration.clients import parse_clients
from migration.gate.judge import judge_gate
from migration.gate.observation import GateObservation, GateResult
from migration.model import Destination, Plan, PlannedMember
from migration.plan import case_of, make_plan
from migration.rules.case import PlanRequest

CLUSTER = Cluster(id="c1", kafka="4.3", features={"group.version": 1})
TOPIC = "orders"
EACH = 2
"""Partitions of a member."""
CLASSIC, CONSUMER = MemberProtocol.CLASSIC, MemberProtocol.CONSUMER


def member(name: str, run: int = 1, *, protocol: MemberProtocol = CLASSIC, index: int = 0) -> Member:
    """A member in its run-th life: each has its own id."""
    owned = {TOPIC: tuple(range(index * EACH, index * EACH + EACH))}
    fields = {"target": owned, "epoch": 5} if protocol is CONSUMER else {}
    return Member(
        id=f"{name}-{run}",
        client=Client(id=name, host=f"/10.0.0.{index}"),
        protocol=protocol,
        subscription=Subscription(topics=(TOPIC,)),
        owned=owned,
        **fields,  # type: ignore[arg-type]
    )


def classic(*runs: int, protocol: str = "range", **fields: object) -> Group:
    """A classic group of m1, m2, …, each in that life; 0 is away."""
    members = tuple(member(f"m{index + 1}", run, index=index) for index, run in enumerate(runs) if run)
    members = _shared_out(members, len(runs))
    group = Group(
        id="payments",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE if members else GroupState.EMPTY,
        protocol_type="consumer",
        protocol=protocol if members else None,
        members=members,
    )
    return replace(group, **fields)  # type: ignore[arg-type]


def consumer(*lives: tuple[int, MemberProtocol], protocol: str = "range", **fields: object) -> Group:
    """A consumer group of m1, m2, …: each's life and what it speaks."""
    members = tuple(
        replace(
            member(f"m{index + 1}", run, protocol=protocol_of, index=index),
            target=member("x", index=index).owned,
            epoch=5,
        )
        for index, (run, protocol_of) in enumerate(lives)
    )
    group = Group(
        id="payments",
        type=GroupType.CONSUMER,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol=protocol,
        group_epoch=5,
        assignment_epoch=5,
        members=members,
    )
    return replace(group, **fields)  # type: ignore[arg-type]


def _shared_out(members: Sequence[Member], size: int) -> tuple[Member, ...]:
    """With everything owned, by those who are there."""
    if not members:
        return ()
    owned: dict[str, list[int]] = {one.id: [] for one in members}
    for number in range(size * EACH):
        owned[members[number // EACH % len(members)].id].append(number)
    return tuple(replace(one, owned={TOPIC: tuple(owned[one.id])}) for one in members)


def plan_for(group: Group, to: Destination, *clients: str, concurrency: int = 1) -> Plan:
    topics = (Topic(name=TOPIC, partitions=EACH * len(group.members)),)
    declared = parse_clients(clients or ["java:4.1.0"])
    request = PlanRequest(destination=to, declared=declared, concurrency=concurrency)
    return make_plan(case_of(request, group, CLUSTER, topics=topics))


def ids(group: Group) -> tuple[PlannedMember, ...]:
    return tuple(PlannedMember.of(one) for one in group.members)


def ask(
    plan: Plan,
    step: int,
    group: Group | None,
    *,
    began: Group | None = None,
    round: int | None = None,
    cluster: Cluster = CLUSTER,
    partitions: dict[str, int] | None = None,
    was_open: bool = False,
    accept_drift: bool = False,
) -> GateResult:
    """What the gate of a step says; the first step began with the plan's baseline."""
    began_with = ids(began) if began else plan.baseline.members if step <= 1 and plan.baseline else None
    observed = GateObservation(
        plan=plan,
        position=step - 1,
        group=group,
        cluster=cluster,
        partitions=dict(plan.baseline.partitions if plan.baseline else {})
        if partitions is None
        else partitions,
        began_with=began_with,
        round=round,
        was_open=was_open,
    )
    return judge_gate(observed, accept_drift=accept_drift)


def waiting(result: GateResult) -> list[str]:
    return [one.label for one in result.waiting_for]
