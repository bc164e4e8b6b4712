"""`kohort delete` and `kohort offsets delete` on a real broker, compared with kafka-consumer-groups."""

import pytest

from tests.cli.offset_rig import OffsetRig
from tests.cli.stories import Story
from tests.kafka.connect import join_connect_group
from tests.kafka.members import fresh_name


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    return session_rig.topic([5, 5, 5])


def test_deletions_have_the_recorded_answers(rig: OffsetRig, topic: str) -> None:
    story = Story(rig, orders=topic, refunds=rig.topic([1]))
    story.name("old")
    for letter in "abcd":
        story.names[letter] = f"{story.names['old']}-{letter}"
        story.group(letter, {0: 1, 1: 2, 2: 3})
    story.group("d", {0: 1}, topic="refunds")
    story.tell("delete --match ^{old}")
    story.tell("delete {a} {c} no-such-group --execute --yes", output="json")
    story.tell("list --match ^{old}")
    story.tell("offsets delete {b} --topic {orders}:0,2 --execute --yes")
    story.tell("offsets delete {b} --topic no-such-topic --execute --yes")
    story.tell("offsets delete no-such-group --topic {orders}")
    with story.joined("d"):
        story.tell("delete --match ^{old} --execute --yes")
        story.tell("offsets delete {d} --execute --yes --topic {orders}")
        story.tell("offsets delete {d} --execute --yes --topic {refunds}")
        tool = rig.tool("--delete", "--group", story.names["d"])
    assert "GroupNotEmptyException" in tool.stdout + tool.stderr
    story.committed("a", "b", "d")
    story.is_as_recorded("delete/groups.txt")


def test_a_worker_group_of_connect_is_known_by_its_members(rig: OffsetRig) -> None:
    group = fresh_name("connect")
    join_connect_group(rig.broker, group)
    rig.ours("delete", group).assert_said(4, "1 active member")
