"""What an assignor is asked about a group."""

from __future__ import annotations

import pytest

from assignors.assignor import Leader, Side
from assignors.model import Partitions, Undetermined
from assignors.rebalance import Procedure
from assignors.registry import find
from groups.group_spec import PLACED_LATER, ask, topic_specs
from groups.model import Group, GroupState, GroupType, Member, Subscription, Topic

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
    """A cooperative one gives up what it no longer wants, but only as it resubscribes; an eager one everything."""
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
