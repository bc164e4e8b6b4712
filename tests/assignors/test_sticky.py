"""Cases that random groups seldom contain (test_oracle.py), and the partitions that cooperative-sticky withholds."""

from dataclasses import replace

import pytest

from assignors.errors import AssignorFailedError, AssignorHangsError
from assignors.java import sticky
from assignors.model import NO_GENERATION, Claim, DenseGroup, GroupSpec, MemberSpec
from tests.assignors.groups import group, sticky_member, topics


def assigned(spec: GroupSpec) -> dict[str, dict[str, list[int]]]:
    return sticky.assign(DenseGroup.of(spec)).assignment.named()


def test_a_partition_returns_to_an_older_claimant_without_subscription() -> None:
    spec = group(
        topics(t=6, u=1),
        sticky_member("a", "t", {"t": [0, 1, 2, 3, 4, 5]}, since=5),
        sticky_member("b", "u", {"t": [1]}, since=4),
        sticky_member("c", "t u", {}, since=5),
    )
    assert assigned(spec) == {"a": {"t": [3, 4, 5]}, "b": {"t": [1], "u": [0]}, "c": {"t": [0, 2]}}


def test_a_claim_beyond_the_count_is_kept_and_later_ones_reassigned() -> None:
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


def test_a_group_without_members_gets_nothing() -> None:
    assert assigned(group(topics(t=3))) == {}


def test_claims_of_deleted_topics_only_give_nothing() -> None:
    spec = group((), sticky_member("a", "t", {"t": [0]}), sticky_member("b", "t"))
    assert assigned(spec) == {"a": {}, "b": {}}


def test_java_never_returns_where_claimant_and_subscriber_take_turns() -> None:
    spec = group(
        topics(t003=1, t006=1, t001=18, t007=25, t004=25),
        sticky_member("c1", "t004", {}),
        sticky_member("BBAa", "t001 t007", {"t001": [14, 17]}),
        sticky_member("BBBB", "t001", {"t004": [5, 19, 20]}, since=NO_GENERATION),
        sticky_member("AaBB", "t006 t003 t004", {"t004": [22, 23, 24]}),
        sticky_member("c0", "t001 t007", {"t001": [4, 5, 11, 12, 13, 15, 16]}),
    )
    with pytest.raises(AssignorHangsError, match="the assignor never ends"):
        assigned(spec)


def test_a_moving_partition_is_withheld_for_one_rebalance() -> None:
    a = MemberSpec(id="a", topics=("t",), owned=Claim(partitions={"t": [0, 1]}, generation=1))
    b = MemberSpec(id="b", topics=("t",), owned=Claim(generation=1))

    def given(*members: MemberSpec) -> dict[str, dict[str, list[int]]]:
        return sticky.assign_cooperatively(DenseGroup.of(group(topics(t=2), *members))).assignment.named()

    assert given(a, b) == {"a": {"t": [0]}, "b": {}}
    revoked = replace(a, owned=Claim(partitions={"t": [0]}, generation=2))
    assert given(revoked, b) == {"a": {"t": [0]}, "b": {"t": [1]}}
