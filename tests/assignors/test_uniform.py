"""The broker's assignors: what is unknown outside the JVM (test_oracle.py has the rest)."""

from dataclasses import replace
from uuid import UUID

import pytest

from assignors.assignor import Side
from assignors.broker.targets import homogeneous
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find

UNIFORM = find("uniform", Side.BROKER)
ORDERS, BILLS = (
    TopicSpec(name=name, partitions=4, id=UUID(int=number << 64))
    for number, name in enumerate(("orders", "bills"), 1)
)


def _group(*members: MemberSpec, topics: tuple[TopicSpec, ...] = (ORDERS, BILLS)) -> DenseGroup:
    return DenseGroup.of(GroupSpec(topics=topics, members=members))


def _member(name: str, *topics: str) -> MemberSpec:
    return MemberSpec(id=name, topics=topics)


def test_one_regular_expression_makes_a_group_heterogeneous() -> None:
    by_regex = replace(_member("a", "orders"), by_regex=("orders",))
    assert not homogeneous(_group(by_regex, _member("b", "orders")))
    assert not homogeneous(_group(by_regex, replace(by_regex, id="b")))


def test_topics_without_ids_are_undetermined_unless_alone() -> None:
    unknown, both = replace(ORDERS, id=None), _member("a", "orders", "bills")
    (undetermined,) = UNIFORM.assign(_group(both, topics=(unknown, BILLS))).undetermined
    assert undetermined.subject == "orders"
    assert UNIFORM.assign(_group(_member("a", "orders"), topics=(unknown,))).undetermined == ()


def test_results_that_depend_on_the_version_of_java_are_undetermined() -> None:
    # Twelve numbers: a copied set of Java 17 has 32 places, that of Java 21 has 16, where 16 follows 0.
    wide = TopicSpec(name="wide", partitions=17, id=UUID(int=1))
    crowded = MemberSpec(id="a", topics=("wide",), owned=Claim(partitions={"wide": [*range(11), 16]}))
    result = UNIFORM.assign(_group(crowded, _member("b", "wide"), topics=(wide,)))
    assert result.assignment.named()["a"]["wide"] == list(range(9))
    assert [undetermined.subject for undetermined in result.undetermined] == ["wide-8", "wide-16"]


@pytest.mark.parametrize("assignor", ["range", "uniform"])
def test_without_members_there_is_no_map(assignor: str) -> None:
    result = find(assignor, Side.BROKER).assign(_group())
    assert result.map_order is not None
    assert (result.assignment.named(), result.map_order()) == ({}, [])
