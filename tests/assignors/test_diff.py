"""Counting what moves, by hand."""

import pytest

from assignors.diff import balance, member_diffs, minimum_moved, topic_balance
from assignors.model import GroupSpec, MemberSpec, TopicSpec

Owners = dict[str, dict[str, tuple[int, ...]]]
BEFORE: Owners = {"a": {"t": (0, 1, 2)}, "b": {"t": (3,)}, "gone": {"t": (4,)}}
AFTER: Owners = {"a": {"t": (0, 1)}, "b": {"t": (2, 3)}, "new": {"t": (4, 5)}}


def spec(partitions: int, *members: tuple[str, ...]) -> GroupSpec:
    names = sorted({topic for topics in members for topic in topics})
    return GroupSpec(
        topics=tuple(TopicSpec(name=name, partitions=partitions) for name in names),
        members=tuple(MemberSpec(id=f"m{i}", topics=topics) for i, topics in enumerate(members)),
    )


def test_every_member_keeps_gains_and_loses() -> None:
    a, b, new, gone = member_diffs(BEFORE, AFTER)
    assert (a.id, a.kept, a.gained, a.lost) == ("a", {"t": (0, 1)}, {}, {"t": (2,)})
    assert (b.kept, b.gained, b.lost) == ({"t": (3,)}, {"t": (2,)}, {})
    assert (new.id, new.before, new.gained) == ("new", {}, {"t": (4, 5)})
    assert (gone.id, gone.after, gone.lost) == ("gone", {}, {"t": (4,)})


@pytest.mark.parametrize(
    ("group", "before", "fewest"),
    [
        (spec(4, ("t",), ("t",)), {"m0": {"t": (0, 1)}, "m1": {"t": (2, 3)}}, 0),
        (spec(4, ("t",), ("t",)), {"m0": {"t": (0, 1, 2, 3)}}, 2),
        (spec(5, ("t",), ("t",)), {"m0": {"t": (0, 1, 2, 3, 4)}}, 2),
        (spec(5, ("t",), ("t",)), {"m0": {"t": (0, 1, 2)}, "m1": {"t": (3,)}, "gone": {"t": (4,)}}, 1),
        (spec(2, ("t",), ("u",)), {"m0": {"u": (0, 1)}, "m1": {"t": (0, 1)}}, 4),
        (spec(2, ("t",), ("t", "u")), {}, None),
    ],
)
def test_the_fewest_moves(group: GroupSpec, before: Owners, fewest: int | None) -> None:
    assert minimum_moved(group, before) == fewest


def test_balance_is_over_members_and_per_topic_over_subscribers() -> None:
    assignment: Owners = {"m0": {"t": (0, 1, 2)}, "m1": {"t": (3,)}, "m2": {}}
    spread = balance(assignment)
    assert (spread.least, spread.most, spread.spread) == (0, 3, 3)
    assert spread.standard_deviation == pytest.approx(1.2472, abs=1e-4)
    per_topic = topic_balance(spec(4, ("t",), ("t",), ("u",)), assignment)
    assert (per_topic["t"].least, per_topic["t"].most) == (1, 3)
    assert balance({}).spread == 0
