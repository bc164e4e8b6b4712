"""Cases that random groups seldom contain (test_oracle.py)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignors.errors import AssignorFailedError, AssignorHangsError
from assignors.java import sticky
from assignors.java.sticky_different_subscriptions import balance_score
from assignors.model import NO_GENERATION, Claim, DenseGroup, GroupSpec
from assignors.sticky_user_data import read_claim, write_claim
from tests.assignors.groups import group, sticky_member, topics
from tests.support.long import cases

INT32, GENERATION = st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**31 - 1)


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


def test_java_fails_on_an_older_claimant_without_topics() -> None:
    spec = group(
        topics(t=4),
        sticky_member("a", "t", {"t": [0, 1, 2, 3]}, since=5),
        sticky_member("b", "t", {}, since=5),
        sticky_member("c", "", {"t": [0]}, since=4),
    )
    with pytest.raises(AssignorFailedError, match=r'^Cannot invoke "java\.util\.List\.size\(\)"'):
        assigned(spec)


def test_groups_without_members_or_topics_get_nothing() -> None:
    assert assigned(group(topics(t=3))) == {}
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


def test_the_balance_score_overflows_like_javas_int() -> None:
    assert balance_score(np.array([5, 1, 3])) == 4 + 2 + 2
    assert balance_score(np.array([0, 2**31])) == -(2**31)


@given(st.binary(max_size=40), st.dictionaries(st.text(max_size=9), st.lists(INT32, max_size=5)), GENERATION)
@settings(max_examples=cases("KOHORT_FUZZ_CASES", 100, many=20_000))
def test_any_user_data_are_read(data: bytes, partitions: dict[str, list[int]], generation: int) -> None:
    """That Java reads broken ones alike: `cases.garble`."""
    written = write_claim(Claim(partitions=partitions, generation=generation))
    named = {topic: tuple(numbers) for topic, numbers in partitions.items()}
    assert read_claim(written + data) == Claim(partitions=named, generation=generation)
    for end in range(len(written)):
        read_claim(written[:end] + data)
    assert read_claim(written[:-5]).generation == NO_GENERATION
