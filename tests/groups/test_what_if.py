"""What-ifs change a group and its topics, and nothing else."""

import pytest

from groups.group_spec import WhatIf, change_group, change_topics, unknown_names
from groups.model import Topic
from tests.groups.facts import classic, member, topics

GROUP = classic(
    [
        member("a", {"t": [0]}, rack="r1"),
        member("b", {"t": [1]}, rack="r2", instance="seat"),
        member("c", {"u": [0]}, ["u"]),
    ]
)


def ids(what_if: WhatIf) -> list[str]:
    return [one.id for one in change_group(GROUP, what_if).members]


def test_nothing_changes_without_a_change() -> None:
    assert change_group(GROUP, WhatIf()) == GROUP


def test_members_go_by_member_or_instance_id() -> None:
    assert ids(WhatIf(remove=frozenset({"a"}))) == ["b", "c"]
    assert ids(WhatIf(remove=frozenset({"seat"}))) == ["a", "c"]


def test_added_members_come_last_and_subscribe_as_most_do() -> None:
    added = change_group(GROUP, WhatIf(add=2)).members[3:]
    assert [one.id for one in added] == ["added-1", "added-2"]
    assert all(one.subscription == GROUP.members[0].subscription and one.owned == {} for one in added)


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
