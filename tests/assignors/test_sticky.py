"""Rules of the sticky assignor, one by one, and those of cooperative-sticky beyond them."""

from dataclasses import replace

import pytest

from assignors.errors import AssignorFailedError, AssignorHangsError
from assignors.java import cooperative_sticky as cooperative
from assignors.java import sticky
from assignors.model import NO_GENERATION, Claim, DenseGroup, GroupSpec, TopicSpec
from tests.assignors.groups import cooperative_member, group, sticky_member, topics


def assigned(spec: GroupSpec) -> dict[str, dict[str, list[int]]]:
    return sticky.assign(DenseGroup.of(spec)).assignment.named()


def test_nobody_owns_anything_round_the_members_by_id() -> None:
    spec = group(topics(b=2, a=3), sticky_member("z", "a b"), sticky_member("y", "b a"))
    assert assigned(spec) == {"y": {"a": [0, 2], "b": [1]}, "z": {"a": [1], "b": [0]}}


def test_members_keep_what_they_own() -> None:
    spec = group(topics(t=4), sticky_member("a", "t", {"t": [1, 2]}), sticky_member("b", "t", {"t": [0, 3]}))
    assert assigned(spec) == {"a": {"t": [1, 2]}, "b": {"t": [0, 3]}}


def test_a_later_generation_wins_a_disputed_partition() -> None:
    spec = group(
        topics(t=2),
        sticky_member("a", "t", {"t": [0]}, since=3),
        sticky_member("b", "t", {"t": [0]}, since=4),
    )
    assert assigned(spec) == {"a": {"t": [1]}, "b": {"t": [0]}}


def test_claims_of_one_generation_invalidate_each_other() -> None:
    spec = group(
        topics(t=3),
        sticky_member("a", "t", {"t": [2, 1]}),
        sticky_member("b", "t", {"t": [2]}),
        sticky_member("c", "t", {"t": [0]}),
    )
    assert assigned(spec) == {"a": {"t": [1]}, "b": {"t": [2]}, "c": {"t": [0]}}


def test_a_rival_is_judged_by_the_generation_in_its_subscription() -> None:
    older = sticky_member("a", "t", {"t": [0]}, since=9, sent=2)
    newer = sticky_member("b", "t", {"t": [0]}, since=3)
    assert assigned(group(topics(t=2), older, newer)) == {"a": {"t": [1]}, "b": {"t": [0]}}


def test_user_data_without_generation_loses_against_any() -> None:
    old = sticky_member("a", "t", {"t": [0]}, since=NO_GENERATION)
    new = sticky_member("b", "t", {"t": [0]}, since=0)
    assert assigned(group(topics(t=2), old, new)) == {"a": {"t": [1]}, "b": {"t": [0]}}


def test_an_empty_subscription_goes_unnoticed_if_the_map_has_it_first() -> None:
    spec = group(topics(t=2), sticky_member("b", "t"), sticky_member("a", ""))
    assert assigned(spec) == {"a": {"t": [0]}, "b": {"t": [1]}}


def test_an_empty_subscription_is_noticed_later_in_the_map() -> None:
    spec = group(topics(t=2), sticky_member("a", "t"), sticky_member("b", ""))
    assert assigned(spec) == {"a": {"t": [0, 1]}, "b": {}}


def test_topics_that_do_not_exist_make_subscriptions_differ() -> None:
    # Of what they own, the general algorithm takes the lowest partition from the overloaded, the other the highest.
    owners = sticky_member("a", "t", {"t": [0, 1, 2, 3]}), sticky_member("b", "t", {})
    assert assigned(group(topics(t=4), *owners)) == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    a, b = owners
    differing = group(topics(t=4), replace(a, topics=("t", "gone")), b)
    assert assigned(differing) == {"a": {"t": [2, 3]}, "b": {"t": [0, 1]}}


def test_too_much_is_given_up_by_highest_number_then_last_topic() -> None:
    spec = group(
        topics(a=2, b=2), sticky_member("x", "a b", {"a": [0, 1], "b": [0, 1]}), sticky_member("y", "a b")
    )
    assert assigned(spec) == {"x": {"a": [0], "b": [0]}, "y": {"a": [1], "b": [1]}}


def test_a_partition_returns_to_an_older_claimant_without_subscription() -> None:
    spec = group(
        topics(t=6, u=1),
        sticky_member("a", "t", {"t": [0, 1, 2, 3, 4, 5]}, since=5),
        sticky_member("b", "u", {"t": [1]}, since=4),
        sticky_member("c", "t u", {}, since=5),
    )
    assert assigned(spec) == {"a": {"t": [3, 4, 5]}, "b": {"t": [1], "u": [0]}, "c": {"t": [0, 2]}}


def test_a_claim_beyond_the_count_is_kept_and_all_behind_it_is_given_again() -> None:
    spec = group(
        topics(t=2, u=2),
        sticky_member("a", "t u", {"t": [2], "u": [0]}),
        sticky_member("b", "t u", {"t": [0]}),
    )
    with pytest.raises(AssignorFailedError, match=r"^No more unfilled consumers to be assigned\.$"):
        assigned(spec)


def test_java_fails_on_an_older_claimant_without_topics() -> None:
    spec = group(
        topics(t=4),
        sticky_member("a", "t", {"t": [0, 1, 2, 3]}, since=5),
        sticky_member("b", "t", {}, since=5),
        sticky_member("c", "", {"t": [0]}, since=4),
    )
    with pytest.raises(AssignorFailedError, match=r'^Cannot invoke "java\.util\.List\.size\(\)"'):
        assigned(spec)


def test_instance_ids_do_not_matter() -> None:
    spec = group(topics(t=3), sticky_member("a", "t"), sticky_member("b", "t"))
    static = replace(spec, members=(spec.members[0], replace(spec.members[1], instance="0")))
    assert assigned(static) == assigned(spec)


def test_partitions_go_to_members_in_their_racks_if_that_can_matter() -> None:
    racks = (("x",), ("y",), ("x",), ("y",))
    a, b = sticky_member("a", "t"), sticky_member("b", "t")
    spec = GroupSpec(
        topics=(TopicSpec(name="t", partitions=4, racks=racks),),
        members=(replace(a, rack="y"), replace(b, rack="x")),
    )
    assert assigned(spec) == {"a": {"t": [1, 3]}, "b": {"t": [0, 2]}}


def test_racks_do_not_matter_if_all_partitions_stand_in_all_of_them() -> None:
    a, b = sticky_member("a", "t"), sticky_member("b", "t")
    spec = GroupSpec(
        topics=(TopicSpec(name="t", partitions=4, racks=(("x", "y"),) * 4),),
        members=(replace(a, rack="y"), replace(b, rack="x")),
    )
    assert assigned(spec) == {"a": {"t": [0, 2]}, "b": {"t": [1, 3]}}


def test_a_group_without_members_gets_nothing() -> None:
    assert assigned(group(topics(t=3))) == {}


def test_claims_of_topics_that_are_all_gone_give_nothing() -> None:
    assert assigned(group((), sticky_member("a", "t", {"t": [0]}), sticky_member("b", "t"))) == {
        "a": {},
        "b": {},
    }


def test_java_never_returns_where_claimant_and_subscriber_take_turns() -> None:
    spec = group(
        topics(t003=1, t006=1, t001=18, t007=25, t004=25),
        sticky_member("c1", "t004", {}),
        sticky_member("BBAa", "t001 t007", {"t001": [14, 17]}),
        sticky_member("BBBB", "t001", {"t004": [5, 19, 20]}, since=NO_GENERATION),
        sticky_member("AaBB", "t006 t003 t004", {"t004": [22, 23, 24]}),
        sticky_member("c0", "t001 t007", {"t001": [4, 5, 11, 12, 13, 15, 16]}),
    )
    with pytest.raises(AssignorHangsError, match="never comes to an end"):
        assigned(spec)


def cooperatively_assigned(spec: GroupSpec) -> dict[str, dict[str, list[int]]]:
    return cooperative.assign(DenseGroup.of(spec)).assignment.named()


def test_what_changes_hands_is_withheld_for_one_rebalance() -> None:
    a, b = cooperative_member("a", "t", {"t": [0, 1]}), cooperative_member("b", "t")
    assert cooperatively_assigned(group(topics(t=2), a, b)) == {"a": {"t": [0]}, "b": {}}
    revoked = replace(a, owned=Claim(partitions={"t": [0]}, generation=2))
    assert cooperatively_assigned(group(topics(t=2), revoked, b)) == {"a": {"t": [0]}, "b": {"t": [1]}}


def test_what_changes_hands_is_withheld_with_different_subscriptions_too() -> None:
    a = cooperative_member("a", "t u", {"t": [0, 1], "u": [0, 1]})
    b = cooperative_member("b", "t")
    assert cooperatively_assigned(group(topics(t=2, u=2), a, b)) == {"a": {"u": [0, 1]}, "b": {}}


def test_a_partition_claimed_twice_in_one_generation_is_withheld() -> None:
    spec = group(
        topics(t=2), cooperative_member("a", "t", {"t": [0]}), cooperative_member("b", "t", {"t": [0]})
    )
    assert cooperatively_assigned(spec) == {"a": {}, "b": {"t": [1]}}


def test_a_stale_claim_withholds_only_with_different_subscriptions() -> None:
    a = cooperative_member("a", "t", {"t": [0]}, generation=1)
    b = cooperative_member("b", "t", generation=2)
    c = cooperative_member("c", "t", {"t": [0]}, generation=2)
    # Cut from nobody: the stale claim lost before anything was cut.
    assert cooperatively_assigned(group(topics(t=3), a, b, c)) == {
        "a": {"t": [1]},
        "b": {"t": [2]},
        "c": {"t": [0]},
    }


def test_the_user_data_has_the_generation_that_a_subscription_lacks() -> None:
    a = cooperative_member("a", "t", {"t": [0]}, generation=NO_GENERATION)
    b = cooperative_member("b", "t", {"t": [0]}, generation=3)
    spec = group(topics(t=2), b, replace(a, user_data=Claim(generation=4)))
    # The map has a first: b, of generation 3, beats the -1 that a's subscription says.
    assert cooperatively_assigned(spec) == {"a": {"t": [1]}, "b": {"t": [0]}}
