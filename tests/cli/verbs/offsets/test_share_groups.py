"""Offsets of share groups on a real broker, compared with kafka-share-groups on the same state."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.offset_rig import OffsetRig, after
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
    wanted = {(one, row["TOPIC"], int(row["PARTITION"])): int(row["NEW-OFFSET"]) for row in rows}
    shown = rig.ours(f"offsets reset {one} --all-topics {scenario}").succeeded()
    assert after(shown) == wanted
    done = rig.ours(f"offsets reset {one} --all-topics {scenario} --execute --yes").succeeded()
    assert "are delivered, including those that it has acknowledged" in done.stderr
    assert {row["applied"] for row in done.document["groups"][0]["offsets"]} == {True}
    assert ours(rig, one) == reported(rig, one) == reported(rig, other)


def test_scenarios_that_the_tool_of_4_3_does_not_have(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    group, reader = made(rig, topic), rig.group({(topic, 0): 7})
    for words, offsets in {
        "--to-offset 3": (3, 3, 0),
        "--shift-by 2": (5, 5, 0),
        "--to-current": (5, 5, 0),
        f"--to-group {reader}": (7, 5, 0),
    }.items():
        rig.ours(f"offsets reset {group} --topic {topic} {words} --execute --yes").succeeded()
        assert [start for _, start, _ in ours(rig, group).values()] == list(map(str, offsets))
    file = tmp_path / "offsets.csv"
    text = rig.kohort.quick("offsets export", group, "-b", rig.broker.bootstrap).succeeded(stderr="").stdout
    assert text == f"{topic},0,7\n{topic},1,5\n{topic},2,0\n\n"
    file.write_text(text.replace(",7\n", ",1\n"))
    rig.ours("offsets import", file, group, "--execute", "--yes").succeeded()
    assert ours(rig, group)[topic, "0"] == ("0", "1", "9")


def test_a_reset_makes_a_share_group_where_only_those_are_meant(rig: OffsetRig, topic: str) -> None:
    group, classic = fresh_name("shared"), rig.group({(topic, 0): 7})
    words = f"offsets reset {group} --topic {topic} --to-earliest"
    assert f"{group}: no such group; committing offsets creates a classic group" in rig.ours(words).stderr
    done = rig.ours(f"{words} --type share --execute --yes").succeeded()
    assert f"{group}: no such group; setting start offsets creates a share group" in done.stderr
    assert "acknowledged" not in done.stderr
    assert ours(rig, group) == reported(rig, group)
    refused = rig.ours(f"offsets reset {classic} --topic {topic} --to-earliest --type share")
    refused.assert_said(3, f"{classic}: its type is classic, not share")


def test_offsets_are_deleted_of_whole_topics(rig: OffsetRig, topic: str) -> None:
    group, second = made(rig, topic), rig.topic([1])
    tool(rig, "--reset-offsets", "--execute", "--group", group, "--topic", second, "--to-earliest")
    part = rig.ours(f"offsets delete {group} --topic {topic}:0 --execute --yes")
    part.assert_said(4, "offsets of a share group are deleted by topic")
    done = rig.ours(f"offsets delete {group} --topic {topic} --execute --yes").succeeded()
    assert [row["deleted"] for row in done.document["groups"][0]["offsets"]] == [True] * 3
    assert ours(rig, group) == reported(rig, group) == {(second, "0"): ("0", "0", "1")}
    rig.ours(f"offsets delete {group} --topic {topic}").assert_said(3, "shows no committed offset there")
    assert rig.ours(f"offsets delete {group} --all-topics --execute --yes").succeeded().status == 0
    assert reported(rig, group) == {}
    assert rig.ours(f"delete {group} --execute --yes").succeeded().status == 0


def test_a_group_with_members_stays_as_it_is(rig: OffsetRig, members: Members, topic: str) -> None:
    """Partitions that it has and does not deliver yet are shown, as by the tool."""
    group, plain = fresh_name("shared"), rig.group({(topic, 0): 3})
    member = members.share(rig.broker, group, [topic])

    def delivers() -> bool:
        found = rig.ours("describe", group)
        return found.status == 0 and len(found.document["groups"][0]["offsets"]) == 3

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
    assert [each["group"] for each in matched.document["groups"]] == [plain]
    assert "waiting for" not in matched.stderr  # what is left out is not waited for
    assert f"{group} is skipped: it is a share group; name it, or add --type share" in matched.stderr
    asked = rig.ours(f"offsets reset --match ^({group}|{plain})$ --type share --to-latest --topic {topic}")
    asked.assert_said(4, refusal)
    member.stop()


def test_a_share_group_is_no_target_of_a_clone(rig: OffsetRig, topic: str) -> None:
    group, plain = made(rig, topic), rig.group({(topic, 0): 3})
    refused = rig.ours(f"offsets clone {plain} {group} --execute --yes")
    refused.assert_said(4, f"kohort offsets reset {group} --to-group {plain} sets where it starts to deliver")
