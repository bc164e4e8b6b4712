"""What a consumer's process does to the figures: pauses, freezes, restarts, what is read twice, who owns what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import CallbackKind
from coordinator.simulation.consumers import NewMember, make_member
from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Event, Freeze, MemberScript, Restart, Scenario, Start, Variant

SCRIPT = MemberScript(topics=("orders",), config={"session.timeout.ms": "10000"})
TWO = Scenario(
    name="two",
    topics={"orders": 2},
    settings={"group.consumer.session.timeout.ms": "10000", "group.consumer.min.session.timeout.ms": "1000"},
    members={"a": SCRIPT, "b": SCRIPT},
    events=(Start(at=0, member="a"), Start(at=1, member="b")),
    until_s=60,
)
VARIANTS = (Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER)


def play(variant: Variant, *events: Event, **changes: object) -> RunResult:
    scenario = replace(TWO, events=(*TWO.events, *events), **changes)  # type: ignore[arg-type]
    return run(scenario, 3, variant=variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_frozen_member_is_a_zombie_until_it_hears_of_it(variant: Variant) -> None:
    result = play(variant, Freeze(at=20, member="a", for_s=25))
    overlaps = [zomby for zomby in result.zombies if zomby.member == "a"]
    assert overlaps
    assert all(overlap.other == "b" and 5 < overlap.length_s < 20 for overlap in overlaps)
    later = next(callback for callback in result.callbacks if callback.member == "a" and callback.at_s > 45)
    assert later.kind is CallbackKind.LOST
    assert not result.violations
    owned = [owner for owner in result.owners if owner.member == "a" and owner.zombie_from_s is not None]
    assert owned
    assert all(owner.zombie_from_s is not None and owner.zombie_from_s > 24 for owner in owned)


def test_prescribed_ids_are_those_of_successive_processes() -> None:
    first, second = "a-5f9c3b0e-0000-4000-8000-000000000001", "a-5f9c3b0e-0000-4000-8000-000000000002"
    scenario = replace(TWO, events=(Start(at=0, member="a"), Restart(at=20, member="a", script=SCRIPT)))
    members: list[ClientMember] = []

    def make(new: NewMember) -> ClientMember:
        members.append(make_member(new))
        return members[-1]

    ids: list[str] = []
    for until_s in (15.0, 60.0):
        run(
            replace(scenario, until_s=until_s),
            1,
            variant=Variant.EAGER,
            member_ids={"a": (first, second)},
            make=make,
        )
        ids.append(members[-1].member_id)
    assert ids == [first, second]
