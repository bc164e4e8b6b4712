"""`kohort delete` and `kohort offsets delete` on a real broker, compared with kafka-consumer-groups."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.cli.offset_rig import OffsetRig
from tests.kafka.columns import parse
from tests.kafka.connect import join_connect_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.wait import wait_until


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    return session_rig.topic([5, 5, 5])


def names(rig: OffsetRig, prefix: str) -> list[str]:
    return [row["group"] for row in rig.ours("list --match", f"^{prefix}").document["groups"]]


def test_groups_are_shown_and_then_deleted(rig: OffsetRig, topic: str) -> None:
    prefix = fresh_name("old")
    groups = [rig.group({(topic, 0): 1, (topic, 1): 2}, f"{prefix}-{letter}") for letter in "abc"]
    shown = rig.ours("delete --match", f"^{prefix}", output="csv")
    assert [(row["GROUP"], row["STATE"], row["#OFFSETS"]) for row in shown.rows] == [
        (group, "Empty", "2") for group in groups
    ]
    assert names(rig, prefix) == groups
    done = rig.ours("delete", groups[0], groups[2], "--execute", "--yes")
    assert (done.status, done.document["executed"]) == (0, True)
    assert [group["deleted"] for group in done.document["groups"]] == [True, True]
    assert names(rig, prefix) == [groups[1]]
    assert rig.committed(groups[0]) == {}


def test_active_groups_stay_and_the_others_go(rig: OffsetRig, topic: str) -> None:
    prefix = fresh_name("mixed")
    groups = [rig.group({(topic, 0): 1}, f"{prefix}-{letter}") for letter in "ab"]
    with rig.joined(groups[0], topic) as member:
        done = rig.ours(f"delete --match ^{prefix} --execute --yes")
        tool = rig.tool("--delete", "--group", groups[0])
    assert (done.status, done.document["executed"]) == (4, True)
    assert f"{groups[0]}: 1 active member (Stable): {member} at /127.0.0.1; stop them" in done.stderr
    assert f"deleted {groups[1]}" in done.stderr
    assert names(rig, prefix) == [groups[0]]
    assert "GroupNotEmptyException" in tool.stdout + tool.stderr


def test_an_unknown_group_is_named(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 1})
    done = rig.ours("delete", group, "no-such-group", "--execute", "--yes")
    done.assert_said(3, "no-such-group: no such group")
    assert names(rig, group) == []


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
    wanted = list(groups)

    def settled() -> bool:
        reported = rig.ours("describe", *wanted, "--state").document["groups"]
        states = [group["state"] for group in reported]
        return len(reported) == len(wanted) and all((state != "Empty") == present for state in states)

    wait_until(settled, f"members of {wanted} are {'there' if present else 'gone'}")


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


def test_offsets_of_some_partitions(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 1, (topic, 1): 2, (topic, 2): 3})
    assert rig.ours(f"offsets delete {group} --topic {topic}:0,2 --execute --yes").status == 0
    assert rig.committed(group) == {(topic, 1): 2}


def test_offsets_of_a_subscribed_topic_stay(rig: OffsetRig, topic: str) -> None:
    other = rig.topic([1])
    group = rig.group({(topic, 0): 1, (other, 0): 1})
    with rig.joined(group, topic) as member:
        refused = rig.ours(f"offsets delete {group} --execute --yes --topic {topic}")
        # Of another topic they go, members or not.
        assert rig.ours(f"offsets delete {group} --execute --yes --topic {other}").status == 0
    assert (refused.status, refused.document["executed"]) == (4, False)
    assert f"{group}, {topic}: {member} at /127.0.0.1 subscribes to it; stop them first" in refused.stderr
    assert (topic, 0) in rig.committed(group)
    assert (other, 0) not in rig.committed(group)


def test_a_topic_of_which_nothing_is_committed(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 1})
    done = rig.ours("offsets delete", group, "--topic", "no-such-topic", "--execute", "--yes")
    done.assert_said(3, f"{group}, no-such-topic: the group shows no committed offset there")
    unknown = rig.ours("offsets delete no-such-group --topic", topic)
    assert (unknown.status, unknown.stderr) == (3, "kohort: no-such-group: no such group\n")
