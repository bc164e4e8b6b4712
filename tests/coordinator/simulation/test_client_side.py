"""Members of the consumer protocol that assign by themselves (KIP-848 "Client Side Mode")."""

from __future__ import annotations

from coordinator.consumer.outputs import TopicPartition
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Close, MemberScript, Scenario, Start

SCRIPT = MemberScript(protocol="consumer", local_assignors=("range",), topics=("orders",))
SCENARIO = Scenario(
    name="client side",
    topics={"orders": 5},
    settings={"group.consumer.client.assignors.enable": "true"},
    members={"a": SCRIPT, "b": SCRIPT, "c": SCRIPT},
    events=(
        Start(at=0, member="a"),
        Start(at=10, member="b"),
        Start(at=20, member="c"),
        Close(at=40, member="a"),
    ),
    until_s=70,
)


def test_a_member_assigns_for_the_group() -> None:
    result = run(SCENARIO, 1)
    assert result.violations == ()
    owned = [partition for partitions in result.final.values() for partition in partitions]
    assert sorted(owned) == [TopicPartition("orders", number) for number in range(5)]
    assert sorted(len(partitions) for partitions in result.final.values()) == [2, 3]
    assert any("InstallAssignment" in entry.what for entry in result.story)
