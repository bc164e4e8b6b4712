"""Groups, plans and looks for the tests of gates."""

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
EACH = 2  # Partitions of a member
CLASSIC, CONSUMER = MemberProtocol.CLASSIC, MemberProtocol.CONSUMER


def member(name: str, run: int = 1, *, protocol: MemberProtocol = CLASSIC, index: int = 0) -> Member:
    """A member in its run-th life: each has its own id."""
    return Member(
        id=f"{name}-{run}",
        client=Client(id=name, host=f"/10.0.0.{index}"),
        protocol=protocol,
        subscription=Subscription(topics=(TOPIC,)),
        owned={TOPIC: tuple(range(index * EACH, index * EACH + EACH))},
    )


def classic(*runs: int, protocol: str = "range") -> Group:
    """A classic group of m1, m2, …, each in that life; 0 is away, and others own its partitions."""
    members = [member(f"m{index + 1}", run, index=index) for index, run in enumerate(runs) if run]
    owned: dict[str, list[int]] = {one.id: [] for one in members}
    for number in range(len(runs) * EACH if members else 0):
        owned[members[number // EACH % len(members)].id].append(number)
    return Group(
        id="payments",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE if members else GroupState.EMPTY,
        protocol_type="consumer",
        protocol=protocol if members else None,
        members=tuple(replace(one, owned={TOPIC: tuple(owned[one.id])}) for one in members),
    )


def consumer(*lives: tuple[int, MemberProtocol]) -> Group:
    """A consumer group of m1, m2, …: each's life and what it speaks."""
    members = [
        member(f"m{index + 1}", run, protocol=protocol, index=index)
        for index, (run, protocol) in enumerate(lives)
    ]
    return replace(
        classic(protocol="range"),
        type=GroupType.CONSUMER,
        state=GroupState.STABLE,
        protocol="range",
        group_epoch=5,
        assignment_epoch=5,
        members=tuple(replace(one, target=one.owned, epoch=5) for one in members),
    )


def plan_for(group: Group, to: Destination, *clients: str, concurrency: int = 1) -> Plan:
    topics = (Topic(name=TOPIC, partitions=EACH * len(group.members)),)
    declared = parse_clients(clients or ["java:4.1.0"])
    request = PlanRequest(destination=to, declared=declared, concurrency=concurrency)
    return make_plan(case_of(request, group, CLUSTER, topics=topics))


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
    baseline = plan.baseline
    began_with = baseline.members if step <= 1 and baseline else None
    if began is not None:
        began_with = tuple(map(PlannedMember.of, began.members))
    if partitions is None:
        partitions = dict(baseline.partitions if baseline else {})
    observed = GateObservation(
        plan=plan,
        position=step - 1,
        group=group,
        cluster=cluster,
        partitions=partitions,
        began_with=began_with,
        round=round,
        was_open=was_open,
    )
    return judge_gate(observed, accept_drift=accept_drift)


def waiting(result: GateResult) -> list[str]:
    return [one.label for one in result.waiting_for]
