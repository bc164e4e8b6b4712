"""`kohort delete` and `kohort offsets delete` on a real broker, compared with kafka-consumer-groups."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.cli.offset_rig import OffsetRig
from tests.cli.stories import Story
from tests.kafka.columns import parse
from tests.kafka.connect import join_connect_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.wait import wait_until


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    return session_rig.topic([5, 5, 5])


def names(rig: OffsetRig, prefix: str) -> list[str]:
    return [row["group"] for row in rig.ours("list --match", f"^{prefix}").document["groups"]]


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


@pytest.mark.kafka
def test_every_type_of_group_goes_once_it_is_empty(rig: OffsetRig, members: Members, topic: str) -> None:
    groups = {kind: fresh_name(kind) for kind in ("consumer", "share", "streams")}
    started = [
        members.confluent(rig.broker, groups["consumer"], [topic], group_protocol="consumer"),
        members.share(rig.broker, groups["share"], [topic]),
        members.streams(rig.broker, groups["streams"], [topic]),
    ]
    _wait_members(rig, groups.values(), present=True)
    active = rig.ours("delete", *groups.values(), "--execute", "--yes")
    assert active.status == 4
    assert [group["type"] for group in active.document["groups"]] == list(groups)
    assert [group["applicable"] for group in active.document["groups"]] == [False, False, False]
    for member in started:
        member.stop()
    _wait_members(rig, groups.values(), present=False)
    rig.ours("delete", *groups.values(), "--execute", "--yes").succeeded()
    assert [name for group in groups.values() for name in names(rig, group)] == []


def test_a_worker_group_of_connect_is_known_by_its_members(rig: OffsetRig) -> None:
    group = fresh_name("connect")
    join_connect_group(rig.broker, group)
    rig.ours("delete", group).assert_said(4, "1 active member")


def _wait_members(rig: OffsetRig, groups: Iterable[str], *, present: bool) -> None:
    listed = list(groups)

    def settled() -> bool:
        reported = rig.ours("describe", *listed, "--state").document["groups"]
        states = [group["state"] for group in reported]
        return len(reported) == len(listed) and all((state != "Empty") == present for state in states)

    wait_until(settled, f"members of {listed} are {'there' if present else 'gone'}")


def test_offsets_of_a_topic_are_deleted_as_the_tool_deletes_them(rig: OffsetRig, topic: str) -> None:
    other = rig.topic([1])
    ours, theirs = (rig.group({(topic, 0): 1, (topic, 2): 3, (other, 0): 1}) for _ in range(2))
    words = ["offsets", "delete", ours, "--topic", topic]
    shown = rig.ours(*words, output="csv")
    assert [(row["TOPIC"], row["PARTITION"], row["CURRENT-OFFSET"]) for row in shown.rows] == [
        (topic, "0", "1"),
        (topic, "2", "3"),
    ]
    done = rig.ours(*words, "--execute", "--yes")
    assert (done.status, done.document["executed"]) == (0, True)
    tool = rig.tool("--delete-offsets", "--group", theirs, "--topic", topic)
    assert {row["STATUS"] for row in parse(tool.stdout.partition("\n\n")[2])} == {"Successful"}
    assert rig.committed(ours) == rig.committed(theirs) == {(other, 0): 1}
