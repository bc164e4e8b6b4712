"""Offsets of share groups on a real broker, compared with kafka-share-groups on the same state."""

from pathlib import Path

import pytest

from tests.cli.offset_rig import OffsetRig, after
from tests.cli.stories import Story
from tests.kafka.columns import Row, parse
from tests.kafka.members import Members, fresh_name
from tests.kafka.tool_host import SHARE_GROUPS
from tests.kafka.wait import wait_until

pytestmark = pytest.mark.kafka

Figures = dict[tuple[str, str], tuple[str, str, str]]
"""Leader epoch, start offset and lag, as the tool prints them, by topic and partition."""


@pytest.fixture(scope="module")
def topic(kafka_rig: OffsetRig) -> str:
    """Three partitions: 10 records, 6 of which 2 are gone, none."""
    return kafka_rig.topic([10, 6, 0], deleted={1: 2})


def tool(rig: OffsetRig, *args: str) -> list[Row]:
    done = rig.tools.ask(rig.broker, SHARE_GROUPS, *args)
    assert done.returncode == 0, done.stdout + done.stderr
    return parse(done.stdout)


def made(rig: OffsetRig, topic: str) -> str:
    """A share group that starts at the earliest offsets: a reset by the tool makes it."""
    group = fresh_name("shared")
    tool(rig, "--reset-offsets", "--execute", "--group", group, "--topic", topic, "--to-earliest")
    return group


def reported(rig: OffsetRig, group: str) -> Figures:
    return {
        (row["TOPIC"], row["PARTITION"]): (row["LEADER-EPOCH"], row["START-OFFSET"], row["LAG"])
        for row in tool(rig, "--describe", "--verbose", "--group", group)
    }


def ours(rig: OffsetRig, group: str) -> Figures:
    answer = rig.ours("describe", group, "--verbose", output="csv").succeeded()
    names = ("LEADER-EPOCH", "CURRENT-OFFSET", "LAG")
    return {
        (row["TOPIC"], row["PARTITION"]): tuple(row[name] or "-" for name in names)  # type: ignore[misc]
        for row in answer.rows
    }


@pytest.mark.parametrize(
    "scenario",
    [
        "--to-earliest",
        "--to-latest",
        "--to-datetime 2026-01-01T00:03:30.000",
        "--to-datetime 2030-01-01T00:00:00.000",
    ],
)
def test_a_reset_sets_what_the_tool_sets(rig: OffsetRig, topic: str, scenario: str) -> None:
    one, other = made(rig, topic), made(rig, topic)
    rows = tool(rig, "--reset-offsets", "--execute", "--group", other, "--all-topics", *scenario.split())
    expected = {(one, row["TOPIC"], int(row["PARTITION"])): int(row["NEW-OFFSET"]) for row in rows}
    shown = rig.ours(f"offsets reset {one} --all-topics {scenario}").succeeded()
    assert after(shown) == expected
    done = rig.ours(f"offsets reset {one} --all-topics {scenario} --execute --yes").succeeded()
    assert "are delivered, including those that it has acknowledged" in done.stderr
    assert {row["applied"] for row in done.document["groups"][0]["offsets"]} == {True}
    assert ours(rig, one) == reported(rig, one) == reported(rig, other)


def test_share_groups_have_the_recorded_answers(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    story = Story(rig, orders=topic, refunds=rig.topic([1]), file=str(tmp_path / "offsets.csv"))
    story.names["shared"] = group = made(rig, topic)
    story.group("reader", {0: 7})
    for scenario in ("--to-offset 3", "--shift-by 2", "--to-current", "--to-group {reader}"):
        story.tell(f"offsets reset {{shared}} --topic {{orders}} {scenario} --execute --yes")
    rig.kohort.quick(
        "offsets export", group, "-b", rig.broker.bootstrap, "--file", story.names["file"]
    ).succeeded()
    story.tell("offsets import {file} {shared} --execute --yes")
    story.name("new")
    reset = "offsets reset {new} --topic {orders} --to-earliest"
    story.tell(reset)
    story.tell(f"{reset} --type share --execute --yes")
    assert ours(rig, story.names["new"]) == reported(rig, story.names["new"])
    story.tell("offsets reset {reader} --topic {orders} --to-earliest --type share")
    story.tell("offsets reset {shared} --topic {refunds} --to-earliest --execute --yes")
    story.tell("offsets delete {shared} --topic {orders}:0 --execute --yes")
    story.tell("offsets delete {shared} --topic {orders} --execute --yes")
    assert ours(rig, group) == reported(rig, group)
    story.tell("offsets delete {shared} --topic {orders}")
    story.tell("offsets clone {reader} {shared} --execute --yes")
    story.tell("offsets delete {shared} --all-topics --execute --yes")
    assert reported(rig, group) == {}
    story.tell("delete {shared} --execute --yes")
    story.is_as_recorded("offsets/share.txt")


def test_a_group_with_members_stays_as_it_is(rig: OffsetRig, members: Members, topic: str) -> None:
    group, plain = fresh_name("shared"), rig.group({(topic, 0): 3})
    member = members.share(rig.broker, group, [topic])

    def delivers() -> bool:
        reply = rig.ours("describe", group)
        return reply.status == 0 and len(reply.document["groups"][0]["offsets"]) == 3

    def assigned() -> bool:
        rows = tool(rig, "--describe", "--members", "--group", group)
        return [row["ASSIGNMENT"] for row in rows] == [f"{topic}:0,1,2"]

    wait_until(delivers, "the share group has partitions")
    wait_until(assigned, "the tool shows its member with all of them")
    assert ours(rig, group) == reported(rig, group)
    (one,) = rig.ours("describe --members", group).document["groups"][0]["members"]
    assert (one["owned"], one["subscription"]["topics"]) == ({topic: [0, 1, 2]}, [topic])
    refusal = (
        f"{group}: 1 active member (Stable): {one['id']} at /127.0.0.1; stop them, then try again "
        f"(--wait-empty 60s waits for them to leave); dead ones: kohort members remove {group} --all"
    )
    words = f"--topic {topic} --execute --yes"
    rig.ours(f"offsets reset {group} --to-earliest {words}").assert_said(4, refusal)
    rig.ours(f"offsets delete {group} {words}").assert_said(4, refusal)
    matched = rig.ours(
        f"offsets reset --match ^({group}|{plain})$ --to-latest {words} --wait-empty 5s"
    ).succeeded()
    assert [row["group"] for row in matched.document["groups"]] == [plain]
    assert "waiting for" not in matched.stderr  # what is left out is not waited for
    assert f"{group} is skipped: it is a share group; name it, or add --type share" in matched.stderr
    asked = rig.ours(f"offsets reset --match ^({group}|{plain})$ --type share --to-latest --topic {topic}")
    asked.assert_said(4, refusal)
    member.stop()
