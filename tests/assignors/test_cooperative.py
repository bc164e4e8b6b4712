"""Rules of the cooperative-sticky assignor beyond those of the sticky one."""

from __future__ import annotations

from dataclasses import replace

from assignors.java import cooperative_sticky as cooperative
from assignors.model import NO_GENERATION, Claim, DenseGroup, GroupSpec
from tests.assignors.sticky_groups import cooperative_member, group, topics


def assigned(spec: GroupSpec) -> dict[str, dict[str, list[int]]]:
    return cooperative.assign(DenseGroup.of(spec)).assignment.named()


def test_what_changes_hands_is_withheld_for_one_rebalance() -> None:
    a, b = cooperative_member("a", "t", {"t": [0, 1]}), cooperative_member("b", "t")
    assert assigned(group(topics(t=2), a, b)) == {"a": {"t": [0]}, "b": {}}
    revoked = replace(a, owned=Claim(partitions={"t": [0]}, generation=2))
    assert assigned(group(topics(t=2), revoked, b)) == {"a": {"t": [0]}, "b": {"t": [1]}}


def test_what_changes_hands_is_withheld_with_different_subscriptions_too() -> None:
    a = cooperative_member("a", "t u", {"t": [0, 1], "u": [0, 1]})
    b = cooperative_member("b", "t")
    assert assigned(group(topics(t=2, u=2), a, b)) == {"a": {"u": [0, 1]}, "b": {}}


def test_a_partition_claimed_twice_in_one_generation_is_withheld() -> None:
    spec = group(
        topics(t=2), cooperative_member("a", "t", {"t": [0]}), cooperative_member("b", "t", {"t": [0]})
    )
    assert assigned(spec) == {"a": {}, "b": {"t": [1]}}


def test_a_stale_claim_withholds_only_with_different_subscriptions() -> None:
    a = cooperative_member("a", "t", {"t": [0]}, generation=1)
    b = cooperative_member("b", "t", generation=2)
    c = cooperative_member("c", "t", {"t": [0]}, generation=2)
    # Cut from nobody: the stale claim lost before anything was cut.
    assert assigned(group(topics(t=3), a, b, c)) == {"a": {"t": [1]}, "b": {"t": [2]}, "c": {"t": [0]}}


def test_without_a_generation_in_the_subscription_the_one_in_the_user_data_counts() -> None:
    a = cooperative_member("a", "t", {"t": [0]}, generation=NO_GENERATION)
    b = cooperative_member("b", "t", {"t": [0]}, generation=3)
    spec = group(topics(t=2), b, replace(a, user_data=Claim(generation=4)))
    # The map has a first: b, of generation 3, beats the -1 that a's subscription says.
    assert assigned(spec) == {"a": {"t": [1]}, "b": {"t": [0]}}
