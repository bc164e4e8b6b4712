"""`kohort offsets reset` on a real broker, compared with kafka-consumer-groups on the same state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cli.errors import UsageError
from cli.sources.writer import writer_of
from groups.model import Group, GroupState, GroupType, Problem
from groups.offsets.model import OffsetChange, Positions
from groups.offsets.plan import plan_reset
from groups.offsets.scenarios import ToCurrent, ToOffset
from tests.cli.offset_rig import OffsetRig, after
from tests.cli.sources.live_source import admin_only
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from wire.client.connection import Connection
from wire.messages.definition import Api


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    """Four partitions: 20 records, 20 of which 5 are gone, 10, none."""
    return session_rig.topic([20, 20, 10, 0], deleted={1: 5})


ENDS: dict[str, tuple[int, ...]] = {
    "--to-earliest": (0, 5, 0, 0),
    "--to-latest": (20, 20, 10, 0),
    "--to-current": (3, 12, 10, 0),
    "--to-offset 7": (7, 7, 7, 0),
    "--to-offset 15": (15, 15, 10, 0),
    "--to-offset 2": (2, 5, 2, 0),
    "--to-offset -3": (0, 5, 0, 0),
    "--to-datetime 2026-01-01T00:07:30.000": (8, 8, 8, 0),
    "--to-datetime 2026-01-01T00:07:00.000": (7, 7, 7, 0),
    "--to-datetime 2026-01-01T01:07:00.000+01:00": (7, 7, 7, 0),
    "--to-datetime 2026-01-01T00:08:00.000Z": (8, 8, 8, 0),
    "--to-datetime 2027-01-01T00:00:00.000": (20, 20, 10, 0),
    "--to-datetime 1970-01-01T00:00:00.000": (0, 5, 0, 0),
    # Kafka's tool fails there: a broker takes a negative time for something else.
    "--to-datetime 1969-12-31T23:59:59.999": (0, 5, 0, 0),
    "--by-duration P9000D": (0, 5, 0, 0),
    "--by-duration -P1D": (20, 20, 10, 0),
    "--shift-by 4": (7, 16, 10),
    "--shift-by -4": (0, 8, 6),
    "--shift-by 100": (20, 20, 10),
    "--shift-by -100": (0, 5, 0),
    "--shift-by 0": (3, 12, 10),
}
"""The new offsets of a group at 3, 12 and 10, in as many partitions. `tests/cli/dropin` compares with Kafka's tool."""


@pytest.mark.parametrize(("scenario", "ends"), ENDS.items(), ids=ENDS)
def test_where_a_scenario_ends(rig: OffsetRig, topic: str, scenario: str, ends: tuple[int, ...]) -> None:
    before = {(topic, 0): 3, (topic, 1): 12, (topic, 2): 10}
    group = rig.group(before)
    scope = f"{topic}:{','.join(map(str, range(len(ends))))}"
    wanted = {(group, topic, number): offset for number, offset in enumerate(ends)}
    # What was shown is what is set.
    for consent, applied in ([], None), (["--execute", "--yes"], True):
        assert rig.committed(group) == before
        answer = rig.ours(f"offsets reset {group} --topic {scope} {scenario}", *consent).succeeded()
        assert (after(answer), answer.document["executed"]) == (wanted, bool(applied))
        assert {row["applied"] for row in answer.document["groups"][0]["offsets"]} == {applied}
    assert {(group, *place): offset for place, offset in rig.committed(group).items()} == wanted


def test_what_was_never_committed_cannot_be_shifted(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 3})
    words = ["offsets", "reset", group, "--topic", f"{topic}:0,1,2", "--shift-by", "1", "--execute", "--yes"]
    answer = rig.ours(*words)
    assert answer.status == 3
    assert answer.stderr == (
        "kohort: nothing was changed\n"
        f"kohort: {group}, {topic}-1, {topic}-2: nothing is committed, so there is nothing to shift\n"
    )
    # As with Kafka's tool nothing at all is set then.
    assert not answer.document["executed"]
    assert rig.committed(group) == {(topic, 0): 3}


def test_committed_offsets_outside_the_log_stay_with_to_current(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 500, (topic, 1): 1})
    words = ["--topic", f"{topic}:0,1", "--to-current"]
    assert rig.previewed(group, *words) == rig.reported("--group", group, *words)
    assert rig.previewed(group, *words)[group, topic, 0] == 500


def test_the_table_says_what_was_brought_into_the_log(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 3})
    answer = rig.ours("offsets reset", group, "--topic", topic, "--to-offset", "15", output="csv")
    names = ("CURRENT-OFFSET", "NEW-OFFSET", "LAG", "NEW-LAG", "REMARK")
    assert [tuple(row[name] for name in names) for row in answer.rows] == [
        ("3", "15", "17", "5", ""),
        ("", "15", "", "5", ""),
        ("", "10", "", "0", "15 is beyond the end"),
        ("", "0", "", "0", "15 is beyond the end"),
    ]  # fmt: skip
    early = rig.ours("offsets reset", group, "--topic", f"{topic}:1", "--to-offset", "0", output="csv")
    assert [(row["NEW-OFFSET"], row["REMARK"]) for row in early.rows] == [("5", "0 is before the earliest")]


def test_a_group_that_does_not_exist_is_made(rig: OffsetRig, topic: str) -> None:
    group = fresh_name("new")
    words = ["--topic", f"{topic}:0", "--to-latest"]
    shown = rig.ours("offsets reset", group, *words)
    assert (shown.status, shown.document["groups"][0]["exists"]) == (0, False)
    assert f"{group}: no such group; committing offsets creates a classic group" in shown.stderr
    assert rig.ours("offsets reset", group, *words, "--execute", "--yes").status == 0
    assert rig.committed(group) == {(topic, 0): 20}


def test_an_active_group_is_refused_and_its_members_named(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 3})
    reset = f"offsets reset {group} --topic {topic} --to-latest"
    with rig.joined(group, topic) as member:
        for consent in ([], ["--execute", "--yes"]):
            answer = rig.ours(reset, *consent)
            answer.assert_said(4, f"{group}: 1 active member (Stable): {member} at /127.0.0.1; stop them")
            (reported,) = answer.document["groups"]
            assert (reported["applicable"], reported["members"]) == (False, [member])
            assert not answer.document["executed"]
        assert rig.committed(group)[topic, 0] == 3
    # Its last member gone, the group is Empty.
    answer = rig.ours(reset, "--execute", "--yes")
    assert (answer.status, rig.committed(group)[topic, 0]) == (0, 20)


def test_several_groups_where_one_is_active(rig: OffsetRig, topic: str) -> None:
    prefix = fresh_name("several")
    groups = [rig.group({(topic, 0): 3, (topic, 1): 7}, f"{prefix}-{letter}") for letter in "abc"]
    line = f"offsets reset --match ^{prefix} --all-topics --to-earliest"
    with rig.joined(groups[1], topic):
        answer = rig.ours(f"{line} --execute --yes")
        preview, outcome = rig.ours(line, output="csv"), rig.ours(f"{line} --execute --yes", output="csv")
        table = rig.ours(f"{line} --execute --yes", output="table")
    assert answer.status == preview.status == outcome.status == table.status == 4
    marks = [(groups[0], "yes"), (groups[1], "no"), (groups[2], "yes")]
    assert sorted({(row["GROUP"], row["APPLICABLE"]) for row in preview.rows}) == marks
    assert sorted({(row["GROUP"], row["APPLIED"]) for row in outcome.rows}) == marks
    words = [line.split() for line in table.stdout.splitlines()]
    assert words[0][-1] == "APPLICABLE"
    assert sorted({(row[0], row[-1]) for row in words[1:]}) == marks
    assert [group["applicable"] for group in answer.document["groups"]] == [True, False, True]
    assert f"set 2 offsets of {groups[0]}; 2 offsets of {groups[2]}" in answer.stderr
    for group in (groups[0], groups[2]):
        assert rig.committed(group) == {(topic, 0): 0, (topic, 1): 5}
    assert rig.committed(groups[1])[topic, 0] == 3


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (["--topic", "no-such-topic"], "no-such-topic: no such topic"),
        (["--topic", "TOPIC:9"], "TOPIC-9: no such partition; TOPIC has 4, 0 to 3"),
        (["--topic", "TOPIC:0,9,7"], "TOPIC-7: no such partition; TOPIC has 4, 0 to 3"),
    ],
)
def test_unknown_partitions_are_named_and_nothing_is_set(
    rig: OffsetRig, topic: str, scope: list[str], said: str
) -> None:
    group = rig.group({(topic, 0): 3})
    words = [word.replace("TOPIC", topic) for word in scope]
    answer = rig.ours("offsets reset", group, *words, "--to-latest", "--execute", "--yes")
    answer.assert_said(3, said.replace("TOPIC", topic))
    assert rig.committed(group) == {(topic, 0): 3}


def test_to_group_takes_the_other_groups_place(rig: OffsetRig, topic: str) -> None:
    other = rig.group({(topic, 0): 9, (topic, 1): 1})
    group = rig.group({(topic, 0): 3, (topic, 2): 4})
    answer = rig.ours("offsets reset", group, "--to-group", other, "--execute", "--yes").succeeded()
    assert [row["remark"] for row in answer.document["groups"][0]["offsets"]] == [
        None,
        "1 is before the earliest",
    ]
    assert rig.committed(group) == {(topic, 0): 9, (topic, 1): 5, (topic, 2): 4}
    missing = rig.ours("offsets reset", group, "--to-group", fresh_name("none"))
    assert (missing.status, missing.stdout) == (3, "")


def test_where_a_file_ends(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    groups = [rig.group({(topic, 0): 3}, fresh_name(name)) for name in ("a", "b")]
    single, several = tmp_path / "single.csv", tmp_path / "several.csv"
    single.write_text(f"{topic},0,8\n{topic},1,2\n{topic},2,99\n")
    several.write_text(f"{groups[0]},{topic},0,8\n{groups[1]},{topic},1,1\n{groups[1]},{topic},2,5\n")
    ends = {(groups[0], topic, 0): 8, (groups[0], topic, 1): 5, (groups[0], topic, 2): 10}
    assert rig.previewed(groups[0], "--from-file", str(single)) == ends
    ends = {(groups[0], topic, 0): 8, (groups[1], topic, 1): 5, (groups[1], topic, 2): 5}
    assert rig.previewed(*groups, "--from-file", str(several)) == ends


def test_a_file_for_one_group_is_not_for_two(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "single.csv"
    file.write_text(f"{topic},0,8\n")
    groups = [rig.group({(topic, 0): 3}) for _ in range(2)]
    rig.ours("offsets reset", *groups, "--from-file", str(file)).assert_refused("the file names no groups")


def test_a_large_group_is_set_in_one_request(rig: OffsetRig, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 partitions: one OffsetCommit, and ListOffsets and OffsetFetch of all of them at once."""
    topic = fresh_name("wide")
    create_topics(rig.broker, {topic: 1000})
    group = rig.group({(topic, number): 0 for number in range(1000)})
    words = ["offsets", "reset", group, "--all-topics", "--to-latest"]
    # The broker shows leaders before it is one of them all.
    wait_until(lambda: rig.ours(*words).status == 0, "1,000 leaders", timeout_s=150, every_s=1)
    asked: Counter[str] = Counter()
    ask = Connection.ask

    def counting(self: Connection, api: Api, messages: Sequence[Any], *more: Any) -> Any:
        asked[api.name] += len(messages)
        return ask(self, api, messages, *more)

    monkeypatch.setattr(Connection, "ask", counting)
    answer = rig.ours(*words, "--execute", "--yes").succeeded()
    assert len(after(answer)) == 1000
    assert asked["OffsetCommit"] == 1
    assert asked.total() < 15


def test_many_groups_at_once(rig: OffsetRig, topic: str) -> None:
    prefix = fresh_name("many")
    groups = [rig.group({(topic, 0): 3, (topic, 1): 6}, f"{prefix}-{number}") for number in range(7)]
    words = ["--match", f"^{prefix}-", "--execute", "--yes"]
    done = rig.ours("offsets reset --all-topics --to-latest", *words)
    assert (done.status, done.stderr) == (0, "kohort: set 14 offsets of 7 groups\n")
    assert all(rig.committed(group) == {(topic, 0): 20, (topic, 1): 20} for group in groups)
    gone = rig.ours("delete", *words)
    assert (gone.status, gone.stderr) == (0, "kohort: deleted 7 groups\n")


def test_a_group_of_the_consumer_protocol(rig: OffsetRig, members: Members, topic: str) -> None:
    """Refused while a member is there; once it is Empty its next member begins where it was set to."""
    group = fresh_name("modern")
    places = {topic: [0, 1, 2, 3]}
    member = members.confluent(
        rig.broker, group, [topic], group_protocol="consumer", enable_auto_commit="false"
    )
    member.wait_assignment(places)
    words = ["offsets", "reset", group, "--topic", topic, "--to-offset", "7", "--execute", "--yes"]
    refused = rig.ours(*words)
    assert (refused.status, refused.document["groups"][0]["type"]) == (4, "consumer")
    member.stop()
    wait_until(
        lambda: rig.ours("describe", group, "--state").document["groups"][0]["state"] == "Empty",
        "an empty group",
    )
    assert rig.ours(*words).status == 0
    assert rig.committed(group) == {(topic, 0): 7, (topic, 1): 7, (topic, 2): 7, (topic, 3): 0}


def test_where_only_the_admin_client_can_log_in(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 3})
    changes = [
        OffsetChange(topic=name, partition=number, before=None, after=5, earliest=0, end=20)
        for name, number in ((topic, 0), (topic, 1), ("no-such-topic", 0))
    ]
    with admin_only(rig.broker) as source:
        writer = writer_of(source)
        reported = writer.commit({group: changes})[group]
        with pytest.raises(UsageError, match=r"use Kafka's own tools"):
            writer.delete_offsets({group: [(topic, 0)]})
    assert (reported[topic, 0], reported[topic, 1]) == (None, None)
    unknown = reported["no-such-topic", 0]
    assert unknown is not None
    assert (unknown.refused, unknown.message) == (True, "Unknown topic or partition (UNKNOWN_TOPIC_OR_PART)")
    assert rig.committed(group) == {(topic, 0): 5, (topic, 1): 5}


def test_unreadable_committed_offsets_are_not_missing_ones(topic: str) -> None:
    """To-current would go to the end."""
    group = Group(id="g", type=GroupType.CLASSIC, state=GroupState.EMPTY)
    problem = Problem(subject="g", message="GROUP_AUTHORIZATION_FAILED")
    plan = plan_reset(group, ToCurrent(), [(topic, 0)], Positions(end={(topic, 0): 9}), problems=[problem])
    assert not plan.applicable


def test_a_partition_without_a_leader_stops_its_group(topic: str) -> None:
    positions = Positions(end={(topic, 0): 9}, earliest={(topic, 0): 0}, unread={(topic, 1): "no leader"})
    group = Group(id="g", type=GroupType.CLASSIC, state=GroupState.EMPTY, offsets={})
    plan = plan_reset(group, ToOffset(3), [(topic, 0), (topic, 1)], positions)
    assert [change.after for change in plan.changes] == [3]
    assert plan.problems == (Problem(subject=f"g, {topic}-1", message="no leader"),)
    assert not plan.applicable
