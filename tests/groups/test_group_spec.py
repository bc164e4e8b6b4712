"""The input of an assignor for a group, as it is and after hypothetical changes: golden/dry-run/inputs.txt."""

from collections.abc import Iterator

import pytest

from assignors.assignor import Leader, Side
from assignors.model import Undetermined
from assignors.registry import find
from groups.group_spec import WhatIf, ask, change_group, change_topics, topic_specs, unknown_names
from groups.model import Group, GroupState, GroupType, Member, Subscription, Topic
from tests.groups.facts import classic, member, topics
from tests.support.golden import assert_recorded

TOPICS = {name: Topic(name=name, partitions=3) for name in ("a", "b")}
GROUP = classic(
    [
        member("a", {"t": [0]}, rack="r1"),
        member("b", {"t": [1]}, rack="r2", instance="seat"),
        member("c", {"u": [0]}, ["u"]),
    ]
)


def inputs() -> Iterator[tuple[str, object]]:
    """What members claim, whether regexes make subscriptions unequal, and the racks of partitions."""
    one = member("m", {"a": [0, 1], "b": [2]}, ["a"])
    for assignor, side, eager, resubscribed in (
        ("cooperative-sticky", Side.CLIENT, False, True),
        ("cooperative-sticky", Side.CLIENT, False, False),
        ("cooperative-sticky", Side.CLIENT, True, False),
        ("sticky", Side.CLIENT, True, False),
        ("uniform", Side.BROKER, False, False),
    ):
        ids = {"m"} if eager else set[str](), {"m"} if resubscribed else set[str]()
        question = ask(classic([one], assignor), TOPICS, find(assignor, side, Leader.JAVA), *ids)
        yield f"{assignor}, eager {eager}, resubscribed {resubscribed}", question.spec.members
    by_regex, both = Subscription(regex="a"), Subscription(topics=("a",), regex="a")
    a, b, other, nothing = (
        Subscription(topics=("a",)),
        Subscription(topics=("b",)),
        Subscription(regex="[ab]"),
        Subscription(regex="no"),
    )
    for pair in (
        (by_regex, by_regex),
        (a, b),
        (by_regex, other),
        (by_regex, a),
        (both, both),
        (nothing, by_regex),
    ):
        members = tuple(Member(id=f"m{at}", subscription=one, owned={}) for at, one in enumerate(pair))
        group = Group(id="g", type=GroupType.CONSUMER, state=GroupState.STABLE, members=members)
        asked = ask(group, TOPICS, find("uniform", Side.BROKER)).spec.members
        yield f"{pair}", [(spec.topics, spec.by_regex) for spec in asked]
    for partitions, racks in (
        (3, {0: ("a", "b"), 1: ("b", "a")}),
        (4, {0: ("a",), 1: ("b",)}),
        (2, {0: ("a",), 1: ()}),
        (2, None),
    ):
        notes: list[Undetermined] = []
        (spec,) = topic_specs([Topic(name="t", partitions=partitions, racks=racks)], notes)
        yield f"{partitions} partitions, racks {racks}", (spec.racks, notes)
    for about, what_if in {
        "no change": WhatIf(),
        "members leave and join": WhatIf(remove=frozenset({"a", "seat"}), add=2),
        "a rack fails": WhatIf(fail_rack=frozenset({"r2"})),
        "all at once": WhatIf(
            remove=frozenset({"c"}),
            add=1,
            subscribe={"a": ("u",), "added-1": ("t", "u")},
            rack={"added-1": "r9"},
        ),
    }.items():
        members = change_group(GROUP, what_if).members
        yield about, [(one.id, one.subscription, one.owned, one.rack) for one in members]


def test_each_input_is_as_recorded() -> None:
    assert_recorded("dry-run/inputs.txt", {about: repr(value) for about, value in inputs()})


def test_topics_grow_and_appear_but_do_not_shrink() -> None:
    changed = change_topics(topics(t=3), WhatIf(topic_partitions={"t": 5, "new": 2}))
    assert {name: topic.partitions for name, topic in changed.items()} == {"t": 5, "new": 2}
    with pytest.raises(ValueError, match="t has 3 partitions, and Kafka cannot remove any"):
        change_topics(topics(t=3), WhatIf(topic_partitions={"t": 2}))
    before = {"t": Topic(name="t", partitions=2, racks={0: ("r1", "r2"), 1: ("r2",)})}
    assert change_topics(before, WhatIf(fail_rack=frozenset({"r2"})))["t"].racks == {0: ("r1",), 1: ()}


def test_strangers_are_named() -> None:
    what_if = WhatIf(add=1, remove=frozenset({"x"}), rack={"added-1": "r", "added-2": "r"})
    assert unknown_names(what_if, [GROUP]) == ["added-2", "x"]
