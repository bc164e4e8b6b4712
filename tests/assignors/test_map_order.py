"""Topics that share a bin of a map, as the maps that the broker's assignors make have them."""

from __future__ import annotations

from uuid import UUID

import pytest

from assignors.assignor import Side
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find

# As ids 1, 17 and 33 share a bin of 16.
NUMBERS = {"bills": 1, "dues": 17, "orders": 33, "fees": 2}
TOPICS = tuple(TopicSpec(name=name, partitions=2, id=UUID(int=number)) for name, number in NUMBERS.items())
UNIFORM = find("uniform", Side.BROKER)
SHARING = ("bills", "dues", "orders")


def orders(assignor: str, *members: MemberSpec) -> list[list[str]]:
    group = DenseGroup.of(GroupSpec(topics=TOPICS, members=members))
    result = find(assignor, Side.BROKER).assign(group)
    assert result.map_order is not None
    return [[TOPICS[topic].name for topic in order] for order in result.map_order()]


def member(name: str, topics: tuple[str, ...], *owned: str) -> MemberSpec:
    return MemberSpec(id=name, topics=topics, owned=Claim(partitions=dict.fromkeys(owned, (0, 1))))


def test_a_map_that_the_range_assignor_fills_has_them_in_the_order_of_the_set_of_names() -> None:
    # By String.hashCode the name dues has bin 0, orders and bills share bin 10.
    assert orders("range", member("a", ("orders", "dues", "bills"))) == [["dues", "orders", "bills"]]
    assert orders("range", member("a", ("bills", "dues", "orders"))) == [["dues", "bills", "orders"]]


def test_what_the_uniform_assignor_adds_comes_first_the_latest_before_the_others() -> None:
    assert orders("uniform", member("a", SHARING)) == [["orders", "bills", "dues"]]
    assert orders("uniform", member("a", SHARING, "bills")) == [["orders", "dues", "bills"]]


def test_what_was_there_keeps_its_order() -> None:
    assert orders("uniform", member("a", SHARING, "dues", "orders", "bills")) == [["dues", "orders", "bills"]]


def test_members_that_subscribe_to_different_topics_get_them_in_the_order_of_ids() -> None:
    fees = member("b", ("fees",))
    assert orders("uniform", member("a", SHARING), fees) == [["orders", "dues", "bills"], ["fees"]]


@pytest.mark.parametrize(("partitions", "first"), [(1, "new"), (2, "one")])
def test_the_second_partition_of_a_new_topic_can_make_the_map_longer(partitions: int, first: str) -> None:
    # The copy of a map of three topics has room for three: 1 and 5 share a bin of 4. The fourth topic comes first in
    # its bin; whoever asks for it again makes the map longer, and each has a bin of its own.
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
