"""Whole runs: the same from the same seed, and their results."""

from __future__ import annotations

from coordinator.consumer.outputs import CallbackKind, TopicPartition
from coordinator.faults import CoordinatorFault, FailCoordinator
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Close, Kill, MemberScript, NetworkFaults, Scenario, Start

COOPERATIVE = MemberScript(topics=("orders",), assignors=("cooperative-sticky",))
SCALING = Scenario(
    name="scaling",
    topics={"orders": 6},
    members={"a": COOPERATIVE, "b": COOPERATIVE, "c": COOPERATIVE},
    events=(
        Start(at=0, member="a"),
        Start(at=10, member="b"),
        Start(at=10.5, member="c"),
        FailCoordinator(at=25, fault=CoordinatorFault.CRASH, for_s=2),
        Close(at=40, member="a"),
        Kill(at=50, member="b"),
    ),
    faults=NetworkFaults(loss=0.02, duplicate=0.02, reorder=True, delay_ms=(1, 80)),
)


def test_the_same_seed_gives_the_same_run() -> None:
    assert run(SCALING, 7) == run(SCALING, 7)
    assert run(SCALING, 7).story != run(SCALING, 8).story


def test_the_last_member_has_everything() -> None:
    result = run(SCALING, 1)
    assert result.final == {"c": frozenset(TopicPartition("orders", each) for each in range(6))}
    assert result.callbacks[0].kind is CallbackKind.ASSIGNED
    assert result.violations == ()
