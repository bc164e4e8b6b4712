"""The input of an assignor for a group, as it is and after hypothetical changes."""

from __future__ import annotations

import pytest

from assignors.assignor import Leader, Side
from assignors.model import Partitions, Undetermined
from assignors.rebalance import Procedure
from assignors.registry import find
from groups.group_spec import (
    PLACED_LATER,
    WhatIf,
    ask,
    change_group,
    change_topics,
    topic_specs,
    unknown_names,
)
from groups.model import Group, GroupState, GroupType, Member, Subscription, Topic
from tests.groups.facts import classic, member, topics

TOPICS = {name: Topic(name=name, partitions=3) for name in ("a", "b")}
OWNED = {"a": (0, 1), "b": (2,)}


def claimed(
    assignor: str, procedure: Procedure, resubscribed: bool = False
) -> tuple[Partitions, Partitions | None]:
    """Owned partitions and user data of a member that has partitions of `a` and `b` and now wants only `a`."""
    member = Member(id="m", subscription=Subscription(topics=("a",)), owned=OWNED)
    group = Group(id="g", type=GroupType.CLASSIC, state=GroupState.STABLE, members=(member,))
    side = Side.BROKER if procedure is Procedure.CONSUMER else Side.CLIENT
    eager = {"m"} if procedure is Procedure.EAGER else ()
    question = ask(group, TOPICS, find(assignor, side, Leader.JAVA), eager, {"m"} if resubscribed else ())
    (asked,) = question.spec.members
    return asked.owned.partitions, None if asked.user_data is None else asked.user_data.partitions


@pytest.mark.parametrize(
    ("assignor", "procedure", "resubscribed", "expected"),
    [
        ("cooperative-sticky", Procedure.COOPERATIVE, True, ({"a": (0, 1)}, None)),
        ("cooperative-sticky", Procedure.COOPERATIVE, False, (OWNED, None)),
        ("sticky", Procedure.EAGER, False, ({}, OWNED)),
        ("cooperative-sticky", Procedure.EAGER, False, ({}, None)),
        ("uniform", Procedure.CONSUMER, False, (OWNED, None)),
    ],
)
def test_what_a_member_claims(
    assignor: str, procedure: Procedure, resubscribed: bool, expected: tuple[Partitions, Partitions | None]
) -> None:
    assert claimed(assignor, procedure, resubscribed) == expected


def marked(*subscriptions: Subscription) -> bool:
    """Whether the broker's assignor gets that the regexes make the subscriptions unequal."""
    members = tuple(
        Member(id=f"m{i}", subscription=subscription, owned={})
        for i, subscription in enumerate(subscriptions)
    )
    group = Group(id="g", type=GroupType.CONSUMER, state=GroupState.STABLE, members=members)
    question = ask(group, TOPICS, find("uniform", Side.BROKER))
    return any(member.by_regex for member in question.spec.members)


def test_one_regex_for_all_is_equal_and_any_other_use_is_not() -> None:
    by_regex, other, both = (
        Subscription(regex="a"),
        Subscription(regex="[ab]"),
        Subscription(topics=("a",), regex="a"),
    )
    assert not marked(by_regex, by_regex)
    assert not marked(Subscription(topics=("a",)), Subscription(topics=("b",)))
    assert marked(by_regex, other)
    assert marked(by_regex, Subscription(topics=("a",)))
    assert marked(both, both)
    assert marked(Subscription(regex="nothing"), by_regex)


@pytest.mark.parametrize(
    ("partitions", "racks", "expected", "later"),
    [
        # Where all partitions are in all racks a new one will be too.
        (3, {0: ("a", "b"), 1: ("b", "a")}, (("a", "b"), ("b", "a"), ("a", "b")), ()),
        # Elsewhere a new one is taken to be placed like those before it, and that is said.
        (4, {0: ("a",), 1: ("b",)}, (("a",), ("b",), ("a",), ("b",)), (2, 3)),
        # A partition without replicas in a known rack is not a new one.
        (2, {0: ("a",), 1: ()}, (("a",), ()), ()),
        (2, None, None, ()),
    ],
    ids=["everywhere", "elsewhere", "in no known rack", "unknown"],
)
def test_racks_of_partitions(
    partitions: int,
    racks: dict[int, tuple[str, ...]] | None,
    expected: tuple[tuple[str, ...], ...] | None,
    later: tuple[int, ...],
) -> None:
    notes: list[Undetermined] = []
    (spec,) = topic_specs([Topic(name="t", partitions=partitions, racks=racks)], notes)
    assert spec.racks == expected
    assert notes == [Undetermined(subject=f"t-{number}", why=PLACED_LATER) for number in later]


GROUP = classic(
    [
        member("a", {"t": [0]}, rack="r1"),
        member("b", {"t": [1]}, rack="r2", instance="seat"),
        member("c", {"u": [0]}, ["u"]),
    ]
)


def ids(what_if: WhatIf) -> list[str]:
    return [one.id for one in change_group(GROUP, what_if).members]


def test_a_failed_rack_takes_its_members_and_replicas() -> None:
    what_if = WhatIf(fail_rack=frozenset({"r2"}))
    assert ids(what_if) == ["a", "c"]
    before = {"t": Topic(name="t", partitions=2, racks={0: ("r1", "r2"), 1: ("r2",)})}
    assert change_topics(before, what_if)["t"].racks == {0: ("r1",), 1: ()}


def test_changes_combine() -> None:
    what_if = WhatIf(
        remove=frozenset({"c"}), add=1, subscribe={"a": ("u",), "added-1": ("t", "u")}, rack={"added-1": "r9"}
    )
    a, b, added = change_group(GROUP, what_if).members
    assert (a.subscription and a.subscription.topics) == ("u",)
    assert b == GROUP.members[1]
    assert (added.subscription and added.subscription.topics, added.rack) == (("t", "u"), "r9")


def test_topics_grow_and_appear_but_do_not_shrink() -> None:
    changed = change_topics(topics(t=3), WhatIf(topic_partitions={"t": 5, "new": 2}))
    assert {name: topic.partitions for name, topic in changed.items()} == {"t": 5, "new": 2}
    with pytest.raises(ValueError, match="t has 3 partitions, and Kafka cannot remove any"):
        change_topics(topics(t=3), WhatIf(topic_partitions={"t": 2}))


def test_strangers_are_named() -> None:
    what_if = WhatIf(add=1, remove=frozenset({"x"}), rack={"added-1": "r", "added-2": "r"})
    assert unknown_names(what_if, [GROUP]) == ["added-2", "x"]
