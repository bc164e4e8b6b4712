"""The broker's uniform assignor: which algorithm it takes, and what nobody outside the JVM can know."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from assignors.assignor import Side
from assignors.broker.targets import homogeneous
from assignors.errors import AssignorFailedError
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find

UNIFORM = find("uniform", Side.BROKER)
ORDERS, BILLS = (
    TopicSpec(name=name, partitions=4, id=UUID(int=number << 64))
    for number, name in enumerate(("orders", "bills"), 1)
)


def _group(*members: MemberSpec) -> DenseGroup:
    return DenseGroup.of(GroupSpec(topics=(ORDERS, BILLS), members=members))


def _member(name: str, *topics: str) -> MemberSpec:
    return MemberSpec(id=name, topics=topics)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ((_member("a", "orders", "bills"), _member("b", "bills", "orders")), True),
        ((_member("a", "orders"), _member("b", "bills")), False),
        ((_member("a", "orders"), _member("b")), False),
        ((_member("a"), _member("b")), True),
        ((_member("a", "orders", "missing"), _member("b", "orders", "missing")), True),
        ((_member("a", "orders", "missing"), _member("b", "orders")), False),
    ],
)
def test_homogeneous_is_by_name_and_counts_missing_topics(
    members: tuple[MemberSpec, ...], expected: bool
) -> None:
    assert homogeneous(_group(*members)) is expected


def test_one_regular_expression_makes_a_group_heterogeneous() -> None:
    by_regex = replace(_member("a", "orders"), by_regex=("orders",))
    assert not homogeneous(_group(by_regex, _member("b", "orders")))
    assert not homogeneous(_group(by_regex, replace(by_regex, id="b")))


def test_topics_without_ids_are_undetermined() -> None:
    spec = GroupSpec(topics=(replace(ORDERS, id=None), BILLS), members=(_member("a", "orders", "bills"),))
    result = UNIFORM.assign(DenseGroup.of(spec))
    assert [undetermined.subject for undetermined in result.undetermined] == ["orders"]


def test_the_only_topic_needs_no_id() -> None:
    spec = GroupSpec(topics=(replace(ORDERS, id=None),), members=(_member("a", "orders"),))
    assert UNIFORM.assign(DenseGroup.of(spec)).undetermined == ()


def test_what_hangs_on_the_version_of_java_is_undetermined() -> None:
    """Twelve numbers: a copied set of Java 17 has 32 places, that of Java 21 has 16, where 16 follows 0."""
    wide = TopicSpec(name="wide", partitions=17, id=UUID(int=1))
    crowded = MemberSpec(id="a", topics=("wide",), owned=Claim(partitions={"wide": [*range(11), 16]}))
    result = UNIFORM.assign(DenseGroup.of(GroupSpec(topics=(wide,), members=(crowded, _member("b", "wide")))))
    assert result.assignment.named()["a"]["wide"] == list(range(9))
    assert [undetermined.subject for undetermined in result.undetermined] == ["wide-8", "wide-16"]


def test_a_target_beyond_the_partitions_fails_as_java_s_array_does() -> None:
    beyond = MemberSpec(id="a", topics=("orders",), owned=Claim(partitions={"orders": [0, 9]}))
    with pytest.raises(AssignorFailedError, match="Index 9 out of bounds for length 4"):
        UNIFORM.assign(_group(beyond, _member("b", "bills")))


def test_nobody_gets_anything_in_an_empty_group() -> None:
    assert UNIFORM.assign(_group()).assignment.named() == {}
