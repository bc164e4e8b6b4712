"""Plans with a bridge leader, played: the bridge comes first, leads, and leaves when the group is converted."""

from dataclasses import replace

import pytest

from groups.model import Group, UserData
from migration.model import Plan
from migration.rehearsal.plan_run import places
from tests.migration.cases import CONSUMER
from tests.migration.rehearsal.groups import classic_group, planned


def carrying(leader: str | None, *, static: bool = False) -> Group:
    """A group of librdkafka on cooperative-sticky, whose leader, `m1` or another one, writes user data. No new id
    comes before that of m2."""
    group = classic_group("librdkafka:2.16.0", "cooperative-sticky", static=static)
    members = tuple(replace(member, user_data=UserData(assignment=b"d")) for member in group.members)
    leads = next((member.id for member in members if member.client.id == leader), None)
    return replace(group, members=members, leader=leads)


def in_map_order(group: Group) -> Group:
    """The same, its members listed as the broker's map has them, so that a plan knows their order."""
    by_name = {member.client.id: member for member in group.members}
    return replace(group, members=tuple(by_name[name] for name in ("m2", "m1", "m3")))


def steps(of: Plan) -> list[str]:
    return [step.id for step in of.steps]


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_bridge_leads_the_group_over(seed: int) -> None:
    group = carrying("m2")
    scene = planned(group, CONSUMER)
    played = scene.rehearse(seed, with_story=True)
    assert played.unsafe == ()
    assert [(round_.step, round_.round) for round_ in played.rounds] == list(places(scene.plan))
    # It comes; the leader goes, comes, and gets something; the first member goes and comes, and the bridge leaves.
    assert [round_.costs.rebalances for round_ in played.rounds[:3]] == [1, 3, 3]
    assert played.rounds[0].costs.moved == 0
    assert {round_.costs.read_twice for round_ in played.rounds} == {0}
    said = [line for line in played.story if "kohort-bridge  " in line]
    assert sum("lead: the bridge leads, and no assignment carries user data" in line for line in said) >= 1
    assert sum("converted: the group has been converted and is Stable" in line for line in said) == 1
    assert not any("onPartitionsAssigned: orders" in line for line in said)
    assert "GROUP_ID_NOT_FOUND" not in {refusal.error for refusal in played.refusals}


def test_without_the_bridge_the_first_member_is_refused() -> None:
    """Also in a group that is so young that no assignment carries user data yet: the restart brings it."""
    scene = planned(carrying("m2"), CONSUMER)
    of = scene.plan
    at_once = [replace(step, strays=()) for step in of.steps if step.id in ("first-member", "other-members")]
    played = replace(scene, plan=replace(of, steps=tuple(at_once))).rehearse(with_story=True)
    assert "GROUP_ID_NOT_FOUND" in {refusal.error for refusal in played.refusals}
    assert "the gate of step 1 does not open" in played.unsafe[0]
    assert len(played.rounds) == 1


@pytest.mark.parametrize("leader", ["m1", "m2", None])
@pytest.mark.parametrize("static", [False, True])
def test_the_plan_and_every_rollback_are_safe_under_each_leader(leader: str | None, static: bool) -> None:
    scene = planned(carrying(leader, static=static), CONSUMER)
    assert ("leader-back" in steps(scene.plan)) == (static and leader is not None)
    assert scene.rehearse().unsafe == ()
    for position in places(scene.plan):
        played = scene.rehearse(stop_at=position)
        assert played.unsafe == (), position
        assert played.back is not None
        assert played.back.arrived


def test_a_follower_that_no_bridge_comes_before_is_restarted_first() -> None:
    """By the plan, where the group's order is known; else when the bridge asks for it."""
    known, asked = planned(in_map_order(carrying("m1")), CONSUMER), planned(carrying("m1"), CONSUMER)
    assert steps(known.plan) == ["start-bridge", "make-way", "bridge-leads", "first-member", "other-members"]
    assert known.plan.steps[1].rounds == (("m2",),)
    assert "make-way" not in steps(asked.plan)
    for scene in (known, asked):
        played = scene.rehearse(with_story=True)
        assert played.unsafe == ()
        assert any("m2-00000000-0000-4000-8000-000000000002 precedes" in line for line in played.story)
