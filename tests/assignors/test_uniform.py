"""The broker's uniform assignor: which algorithm it uses, and what is unknown outside the JVM.

Topics that share a bin of a map, as the maps that the broker's assignors make have them.
"""

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


def test_results_that_depend_on_the_version_of_java_are_undetermined() -> None:
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


def test_an_empty_group_gets_no_assignment() -> None:
    assert UNIFORM.assign(_group()).assignment.named() == {}


# As ids 1, 17 and 33 share a bin of 16.
NUMBERS = {"bills": 1, "dues": 17, "orders": 33, "fees": 2}
TOPICS = tuple(TopicSpec(name=name, partitions=2, id=UUID(int=number)) for name, number in NUMBERS.items())
SHARING = ("bills", "dues", "orders")


def orders(assignor: str, *members: MemberSpec) -> list[list[str]]:
    group = DenseGroup.of(GroupSpec(topics=TOPICS, members=members))
    result = find(assignor, Side.BROKER).assign(group)
    assert result.map_order is not None
    return [[TOPICS[topic].name for topic in order] for order in result.map_order()]


def member(name: str, topics: tuple[str, ...], *owned: str) -> MemberSpec:
    return MemberSpec(id=name, topics=topics, owned=Claim(partitions=dict.fromkeys(owned, (0, 1))))


def test_range_fills_a_map_in_the_order_of_the_set_of_names() -> None:
    # By String.hashCode the name dues has bin 0, orders and bills share bin 10.
    assert orders("range", member("a", ("orders", "dues", "bills"))) == [["dues", "orders", "bills"]]
    assert orders("range", member("a", ("bills", "dues", "orders"))) == [["dues", "bills", "orders"]]


def test_topics_that_uniform_adds_are_first_the_latest_before_others() -> None:
    assert orders("uniform", member("a", SHARING)) == [["orders", "bills", "dues"]]
    assert orders("uniform", member("a", SHARING, "bills")) == [["orders", "dues", "bills"]]


def test_existing_topics_keep_their_order() -> None:
    assert orders("uniform", member("a", SHARING, "dues", "orders", "bills")) == [["dues", "orders", "bills"]]


def test_different_subscriptions_are_filled_in_the_order_of_ids() -> None:
    fees = member("b", ("fees",))
    assert orders("uniform", member("a", SHARING), fees) == [["orders", "dues", "bills"], ["fees"]]


@pytest.mark.parametrize(("partitions", "first"), [(1, "new"), (2, "one")])
def test_the_second_partition_of_a_new_topic_can_make_the_map_longer(partitions: int, first: str) -> None:
    # The copy of a map of three topics has room for three: 1 and 5 share a bin of 4. The fourth topic comes first in
    # its bin; the next lookup of it makes the map longer, and each has a separate bin.
    numbers = {"one": 1, "two": 2, "three": 3, "new": 5}
    topics = tuple(TopicSpec(name=n, partitions=partitions, id=UUID(int=i)) for n, i in numbers.items())
    owned = Claim(partitions={name: range(partitions) for name in ("one", "two", "three")})
    alone = MemberSpec(id="a", topics=tuple(numbers), owned=owned)
    idle = MemberSpec(id="b", topics=())
    for members in ((alone,), (alone, idle)):
        result = UNIFORM.assign(DenseGroup.of(GroupSpec(topics=topics, members=members)))
        assert result.map_order is not None
        assert topics[result.map_order()[0][0]].name == first


@pytest.mark.parametrize("assignor", ["range", "uniform"])
def test_without_members_there_is_no_map(assignor: str) -> None:
    assert orders(assignor) == []
