"""Scenarios that tests share, and what they violate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coordinator.faults import ChangeTopic, CoordinatorFault, FailCoordinator
from coordinator.simulation.run import run
from coordinator.simulation.scenario import (
    Close,
    Commit,
    Direction,
    EnforceRebalance,
    Freeze,
    Kill,
    ListenerScript,
    MemberScript,
    NetworkFaults,
    NetworkPartition,
    Pause,
    Restart,
    Scenario,
    Start,
    Subscribe,
)
from coordinator.simulation.scenario_file import parse_scenario


def violated(text: str, *seeds: int) -> set[tuple[str, str]]:
    """The invariants that a scenario file violates, each with the known flaw; from seed 1 if none is named."""
    scenario = parse_scenario(Path("scenario.yaml"), text)
    results = [run(scenario, seed, with_story=False) for seed in seeds or (1,)]
    return {(violation.invariant, violation.known) for result in results for violation in result.violations}


PLAIN = MemberScript(
    topics=("orders", "payments"),
    config={
        "max.poll.interval.ms": "20000",
        "session.timeout.ms": "15000",
        "metadata.max.age.ms": "20000",
        "auto.commit.interval.ms": "1000",
    },
)
SLOW = MemberScript(
    topics=("orders", "payments"),
    config=PLAIN.config,
    listener={
        "assigned": ListenerScript(takes_s=1.5),
        "revoked": ListenerScript(takes_s=2),
        "lost": ListenerScript(takes_s=0.5),
    },
)
STATIC = MemberScript(topics=("orders",), config=PLAIN.config, instance="c")

STORM = Scenario(
    name="storm",
    topics={"orders": 6, "payments": 3},
    settings={"group.min.session.timeout.ms": "1000", "group.consumer.migration.policy": "bidirectional"},
    members={"a": PLAIN, "b": SLOW, "c": STATIC, "d": PLAIN},
    events=(
        Start(at=0, member="a"),
        Start(at=1, member="b"),
        Start(at=10, member="c"),
        FailCoordinator(at=20, fault=CoordinatorFault.CRASH, for_s=2),
        Commit(at=22, member="a"),
        Start(at=23, member="d"),
        Pause(at=30, member="a", for_s=30),
        EnforceRebalance(at=35, member="b"),
        FailCoordinator(at=45, fault=CoordinatorFault.MOVE, for_s=1),
        Restart(at=50, member="c", script=STATIC, after_s=3),
        ChangeTopic(at=60, topic="orders", partitions=8),
        Freeze(at=65, member="d", for_s=25),
        Subscribe(at=70, member="b", topics=("orders",)),
        FailCoordinator(at=80, fault=CoordinatorFault.ZOMBIE, for_s=10),
        Kill(at=95, member="b"),
        ChangeTopic(at=100, topic="payments", delete=True),
        ChangeTopic(at=110, topic="payments", create=2),
        Start(at=115, member="b"),
        Close(at=120, member="a"),
    ),
    faults=NetworkFaults(
        loss=0.01,
        duplicate=0.01,
        reorder=True,
        delay_ms=(1, 80),
        partitions=(
            NetworkPartition(members=("a",), start_s=12, end_s=18),
            NetworkPartition(members=("b",), start_s=40, end_s=60, direction=Direction.ANSWERS),
        ),
    ),
    until_s=140,
)
"""Everything at once, under any protocol."""

_RANGE = MemberScript(
    topics=("orders",), assignors=("range",), listener={"revoked": ListenerScript(takes_s=1)}
)

TWO_BOUNCES = Scenario(
    name="two bounces",
    topics={"orders": 4},
    members={"a": _RANGE, "b": _RANGE, "c": _RANGE},
    events=(
        Start(at=0, member="b"),
        Start(at=1, member="c"),
        Restart(
            at=20, member="c", script=replace(_RANGE, assignors=("cooperative-sticky", "range")), after_s=1
        ),
        Start(at=60, member="a"),
    ),
    until_s=80,
)
"""The first bounce of KIP-429's upgrade has reached one member of two when a third one comes."""

DUPLICATES = Scenario(
    name="duplicates",
    topics={"orders": 12},
    settings={"group.consumer.assignment.interval.ms": "0"},
    members=dict.fromkeys("abcdef", MemberScript(topics=("orders",))),
    events=tuple(Start(at=2 * number, member=name) for number, name in enumerate("abcdef")),
    faults=NetworkFaults(duplicate=0.5, delay_ms=(1, 80)),
    until_s=20,
)
"""Members come one after the other, and half of all requests are handled twice."""

_UPGRADED = replace(PLAIN, protocol="consumer")
_COOPERATIVE = replace(PLAIN, assignors=("cooperative-sticky",))

MIXED = replace(
    STORM,
    name="mixed",
    members={"a": PLAIN, "b": replace(SLOW, assignors=("range",)), "c": STATIC, "d": _UPGRADED},
    events=(
        Start(at=0, member="a"),
        Start(at=1, member="b"),
        Start(at=10, member="c"),
        FailCoordinator(at=20, fault=CoordinatorFault.CRASH, for_s=2),
        Start(at=25, member="d"),
        Restart(at=30, member="a", script=_UPGRADED),
        FailCoordinator(at=33, fault=CoordinatorFault.CRASH, for_s=1),
        Pause(at=35, member="b", for_s=25),
        Restart(at=45, member="c", script=replace(STATIC, protocol="consumer"), after_s=2),
        FailCoordinator(at=50, fault=CoordinatorFault.MOVE, for_s=1),
        Freeze(at=60, member="d", for_s=20),
        Restart(at=85, member="a", script=PLAIN),
        Close(at=95, member="d"),
        Restart(at=100, member="c", script=STATIC, after_s=1),
        ChangeTopic(at=110, topic="orders", partitions=9),
        Start(at=120, member="d"),
        Kill(at=125, member="b"),
    ),
)
"""Eager members are upgraded one by one, and go back, while much goes wrong."""

MIXED_COOPERATIVE = replace(
    MIXED,
    name="mixed cooperative",
    members={
        "a": _COOPERATIVE,
        "b": replace(SLOW, assignors=("cooperative-sticky",)),
        "c": STATIC,
        "d": _UPGRADED,
    },
)
