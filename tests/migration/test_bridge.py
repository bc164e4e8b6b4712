"""What the bridge decides, of groups as a broker lists them: in the order of its map."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groups.model import Client, Group, GroupState, GroupType, Member, UserData
from groups.succession import succession
from migration.bridge import (
    BRIDGE,
    LONGEST_WAIT_MS,
    NO_TOPIC,
    REJOINS,
    STEADY_MS,
    BridgeProgress,
    Move,
    RestartMode,
    bridge_plan,
    comes_first,
    objection,
    subscribed_to,
    unsettled,
)

# One letter each: the bin of a map of 16 is the letter's code modulo 16, so "p" comes before "a", "b" and "c".
FIRST, A, B, C = "p", "a", "b", "c"
WRITTEN, NONE = UserData(assignment=b"data"), UserData()


def member(member_id: str, client_id: str = "app", *, instance: str | None = None) -> Member:
    return Member(id=member_id, instance=instance, client=Client(id=client_id), user_data=WRITTEN)


def group(*members: Member, leader: str | None = A) -> Group:
    return Group(
        id="g",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol="cooperative-sticky",
        leader=leader,
        members=members,
    )


def led(state: Group, leader: str) -> Group:
    """With assignments of this leader: a bridge writes no user data."""
    return replace(
        state, leader=leader, members=tuple(replace(peer, user_data=NONE) for peer in state.members)
    )


def restarts(state: Group) -> list[tuple[str, RestartMode]] | None:
    asked = bridge_plan(state).restart
    return None if asked is None else [(restart.member, restart.mode) for restart in asked]


PLAIN = group(member(A), member(B))
IN_FRONT = group(member(FIRST, BRIDGE), member(A), member(B))
BEHIND = group(member(A), member(B), member(C, BRIDGE))
BEHIND_THE_FIRST = group(member(FIRST), member(A), member(C, BRIDGE))
"""In the way is a member that no id comes before."""


def test_it_joins_a_stable_classic_group_whose_assignor_is_known() -> None:
    assert objection(PLAIN) is None
    assert objection(replace(PLAIN, protocol="sticky")) is None


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (replace(PLAIN, type=GroupType.CONSUMER), "type consumer"),
        (replace(PLAIN, members=()), "no members"),
        (replace(PLAIN, protocol_type="connect"), "protocol type is connect"),
        (IN_FRONT, "the group already has a bridge"),
        (replace(PLAIN, protocol="homemade"), "homemade"),
        (led(PLAIN, A), "no bridge is needed"),
    ],
)
def test_it_joins_no_other_and_says_why(state: Group, reason: str) -> None:
    assert reason in (objection(state) or "")


def test_it_joins_no_group_that_rebalances() -> None:
    assert unsettled(PLAIN) is None
    assert "PreparingRebalance" in (unsettled(replace(PLAIN, state=GroupState.PREPARING_REBALANCE)) or "")


def test_it_subscribes_to_a_topic_only_where_a_leader_needs_one() -> None:
    assert subscribed_to("sticky") == ()
    assert subscribed_to("cooperative-sticky") == (NO_TOPIC,)


def test_the_leader_alone_is_restarted_where_an_id_may_come_first() -> None:
    assert restarts(PLAIN) == [(A, RestartMode.RESTART)]
    bridge = bridge_plan(PLAIN)
    assert (bridge.leader, bridge.places, bridge.bins, bridge.with_user_data) == (A, 2, 16, 2)


def test_a_follower_in_the_first_bin_is_restarted_before_the_leader() -> None:
    assert restarts(group(member(FIRST), member(A))) == [
        (FIRST, RestartMode.RESTART),
        (A, RestartMode.RESTART),
    ]
    two = group(member(FIRST), member("0"), member(A))
    assert restarts(two) == [
        (FIRST, RestartMode.RESTART),
        ("0", RestartMode.RESTART),
        (A, RestartMode.RESTART),
    ]


def test_a_static_leader_is_stopped_and_a_static_follower_is_restarted() -> None:
    static = group(member(FIRST, instance="s1"), member(A, instance="s2"))
    assert restarts(static) == [(FIRST, RestartMode.RESTART), (A, RestartMode.STOP)]


def test_of_the_only_member_any_bridge_is_the_follower() -> None:
    alone = group(member(A))
    assert restarts(alone) == [(A, RestartMode.RESTART)]
    assert comes_first(alone, C)


def test_the_members_to_restart_are_unknown_without_the_leader() -> None:
    assert restarts(replace(PLAIN, leader=None)) is None
    assert bridge_plan(replace(PLAIN, leader=None)).why


def test_an_id_comes_first_as_the_broker_would_have_it() -> None:
    assert [name for name in "pqacz" if comes_first(PLAIN, name)] == ["p", "q", "a"]
    # Where no id does, each is as good.
    assert comes_first(group(member(FIRST), member(A)), C)


def test_a_place_is_that_of_the_map_that_the_bridge_makes_grow() -> None:
    """The thirteenth member doubles a map of 16: q moves from bin 1 to bin 17, behind b to m of 0 to 13."""
    twelve = group(*(member(name) for name in "abcdefghijkl"), leader="a")
    assert not comes_first(twelve, "q")  # 17 of 32, and b is in 2
    assert comes_first(twelve, "A")  # 65 is in 1 of both


def test_next_in_line_it_asks_for_a_restart_of_the_leader() -> None:
    step = BridgeProgress(0).next_step(IN_FRONT, FIRST, 0)
    assert step.move is Move.RESTART
    assert [restart.member for restart in step.restart] == [A]


def test_it_asks_for_nothing_until_the_group_stays_unchanged() -> None:
    """A cooperative group is Stable between two rebalances too, and a member that is stopped then cannot leave."""
    crossing = BridgeProgress()
    later = replace(IN_FRONT, generation=9)
    seen = [(0, IN_FRONT), (STEADY_MS - 1, IN_FRONT), (STEADY_MS, later), (2 * STEADY_MS - 1, later)]
    assert {crossing.next_step(state, FIRST, at_ms).move for at_ms, state in seen} == {Move.WAIT}
    assert crossing.next_step(later, FIRST, 2 * STEADY_MS).move is Move.RESTART


def test_once_those_to_restart_have_gone_it_leads() -> None:
    step = BridgeProgress(0).next_step(BEHIND_THE_FIRST, C, 0)
    gone = {restart.member for restart in step.restart}
    assert step.move is Move.RESTART
    stayed = tuple(peer for peer in BEHIND_THE_FIRST.members if peer.id not in gone)
    prediction = succession(replace(BEHIND_THE_FIRST, members=stayed))
    assert prediction is not None
    assert prediction.leader == C


def test_behind_another_it_draws_a_new_id_a_few_times() -> None:
    crossing = BridgeProgress(0)
    moves = [crossing.next_step(BEHIND, C, 0).move for _ in range(REJOINS + 1)]
    assert moves == [Move.REJOIN] * REJOINS + [Move.RESTART]
    # Once a member was restarted, there is another order to find a place in.
    other = group(member(A), member(B), member(C, BRIDGE), member("d"))
    assert crossing.next_step(other, C, 0).move is Move.REJOIN


def test_where_no_id_comes_first_it_asks_for_a_restart_at_once() -> None:
    step = BridgeProgress(0).next_step(BEHIND_THE_FIRST, C, 0)
    assert [restart.member for restart in step.restart] == [FIRST, A]


def test_it_leads_until_the_converted_group_is_stable() -> None:
    crossing, leading = BridgeProgress(0), led(BEHIND, C)
    converting = replace(leading, type=GroupType.CONSUMER, state=GroupState.RECONCILING)
    assert crossing.next_step(leading, C, 0).move is Move.LEAD
    assert crossing.next_step(converting, C, 1).move is Move.WAIT
    assert crossing.next_step(leading, C, 2).move is Move.LEAD  # the first member failed
    assert crossing.next_step(replace(converting, state=GroupState.STABLE), C, 3).move is Move.CONVERTED


def test_a_conversion_may_begin_as_soon_as_it_is_shown_to_lead() -> None:
    crossing, leading = BridgeProgress(), led(BEHIND, C)
    assert crossing.next_step(leading, C, 0).move is Move.WAIT
    converted = replace(leading, type=GroupType.CONSUMER, state=GroupState.STABLE)
    assert crossing.next_step(converted, C, 1).move is Move.CONVERTED


def test_it_does_not_lead_while_user_data_is_shown() -> None:
    assert BridgeProgress(0).next_step(replace(BEHIND, leader=C), C, 0).move is Move.WAIT


def test_no_conversion_between_two_cooperative_rebalances() -> None:
    crossing, leading = BridgeProgress(0), led(BEHIND, C)
    assert crossing.next_step(leading, C, 0, withheld=2).move is Move.WAIT
    assert crossing.next_step(leading, C, 1).move is Move.LEAD


def test_in_a_rebalance_under_an_unknown_leader_and_alone_it_waits() -> None:
    for state in (
        replace(BEHIND, state=GroupState.COMPLETING_REBALANCE),
        replace(BEHIND, leader=None),
        group(member(C, BRIDGE), leader=C),
        None,  # converted between the list of groups and its description
    ):
        assert BridgeProgress(0).next_step(state, C, 0).move is Move.WAIT


def test_it_waits_no_longer_than_a_rebalance_may_take() -> None:
    crossing = BridgeProgress(0)
    moving = replace(BEHIND, state=GroupState.PREPARING_REBALANCE)
    assert crossing.next_step(moving, C, 0).move is Move.WAIT
    assert crossing.next_step(moving, C, LONGEST_WAIT_MS - 1).move is Move.WAIT
    assert crossing.next_step(IN_FRONT, FIRST, LONGEST_WAIT_MS).move is Move.RESTART
    assert crossing.next_step(moving, C, LONGEST_WAIT_MS + 1).move is Move.WAIT  # its own wait
    assert crossing.next_step(moving, C, 2 * LONGEST_WAIT_MS + 1).move is Move.LEAVE


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (PLAIN, "no longer a member of the group"),
        (group(*BEHIND.members, member("d", BRIDGE)), "another bridge"),
        (replace(BEHIND, type=GroupType.CONSUMER), "did not lead it"),
    ],
)
def test_it_leaves_when_something_is_not_as_expected(state: Group, reason: str) -> None:
    step = BridgeProgress(0).next_step(state, C, 0)
    assert step.move is Move.LEAVE
    assert reason in step.why
