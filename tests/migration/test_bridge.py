"""What the bridge decides, of groups as a broker lists them: in the order of its map."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groups.model import Client, Group, GroupState, GroupType, Member
from groups.succession import succession
from migration.bridge import Move, next_step, objection
from migration.paths.path import BRIDGE

# One letter each: the bin of a map of 16 is the letter's code modulo 16, so "p" comes before "a", "b" and "c".
FIRST, A, B, C = "p", "a", "b", "c"


def member(member_id: str, client_id: str = "app") -> Member:
    return Member(id=member_id, instance=None, client=Client(id=client_id))


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


PLAIN = group(member(A), member(B))
IN_FRONT = group(member(FIRST, BRIDGE), member(A), member(B))
BEHIND = group(member(A), member(B), member(C, BRIDGE))


def test_it_joins_a_stable_classic_group_whose_assignor_is_known() -> None:
    assert objection(PLAIN) is None
    assert objection(replace(PLAIN, protocol="sticky")) is None


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (replace(PLAIN, type=GroupType.CONSUMER), "type consumer"),
        (replace(PLAIN, members=()), "no members"),
        (replace(PLAIN, protocol_type="connect"), "protocol type is connect"),
        (IN_FRONT, "a bridge is there already"),
        (replace(PLAIN, state=GroupState.PREPARING_REBALANCE), "come to rest"),
        (replace(PLAIN, protocol="homemade"), "homemade"),
    ],
)
def test_it_joins_no_other_and_says_why(found: Group, reason: str) -> None:
    assert reason in (objection(found) or "")


def test_in_front_of_the_followers_it_waits_for_the_leader_alone() -> None:
    step = next_step(IN_FRONT, FIRST, tries_left=3)
    assert (step.move, step.restart) == (Move.RESTART, (A,))


def test_behind_another_it_draws_a_new_id_while_it_may() -> None:
    assert next_step(BEHIND, C, tries_left=1).move is Move.REJOIN


def test_without_tries_left_those_ahead_restart_after_the_leader() -> None:
    step = next_step(BEHIND, C, tries_left=0)
    assert (step.move, step.restart) == (Move.RESTART, (A, B))


def test_once_all_that_were_to_restart_have_gone_it_leads() -> None:
    step = next_step(BEHIND, C, tries_left=0)
    stayed = tuple(each for each in BEHIND.members if each.id not in step.restart)
    found = succession(replace(BEHIND, members=stayed))
    assert found is not None
    assert found.leader == C


def test_it_leads_until_the_group_is_converted() -> None:
    led = replace(BEHIND, leader=C)
    assert next_step(led, C, tries_left=0).move is Move.LEAD
    assert next_step(replace(led, type=GroupType.CONSUMER), C, tries_left=0).move is Move.LEAVE


def test_in_a_rebalance_or_under_an_unknown_leader_it_waits() -> None:
    moving = replace(BEHIND, state=GroupState.COMPLETING_REBALANCE)
    assert next_step(moving, C, tries_left=3).move is Move.WAIT
    assert next_step(replace(BEHIND, leader=None), C, tries_left=3).move is Move.WAIT


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (PLAIN, "no member of the group"),
        (group(*BEHIND.members, member("d", BRIDGE)), "another bridge"),
        (group(member(C, BRIDGE), leader=C), "all other members"),
    ],
)
def test_it_leaves_when_something_is_not_as_expected(found: Group, reason: str) -> None:
    step = next_step(found, C, tries_left=3)
    assert step.move is Move.LEAVE
    assert reason in step.why
