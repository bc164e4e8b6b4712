"""Streams groups on a real broker, compared with kafka-streams-groups: two equal applications, one for each tool."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.cli.command import Answer
from tests.cli.offset_rig import OffsetRig, after
from tests.kafka.columns import Row, parse
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members, fresh_name
from tests.kafka.tool_host import STREAMS_GROUPS
from tests.kafka.wait import wait_until

pytestmark = pytest.mark.kafka

RECORDS = [9, 4]  # Of the input topic, by partition; all of one value
VALUES = "abcdef"  # Records more in partition 0, so that each partition of the repartition topic gets some


@dataclass(frozen=True, kw_only=True)
class Applications:
    """Two that have read everything and were stopped, and observations of ours while it ran."""

    rig: OffsetRig
    topic: str
    ours: str
    theirs: str
    tool_offsets: list[Row]
    tool_members: list[Row]
    offsets: Answer
    members: Answer
    table: Answer
    refused: list[Answer]


def tool(rig: OffsetRig, *args: str) -> list[Row]:
    done = rig.tools.ask(rig.broker, STREAMS_GROUPS, *args)
    assert done.returncode == 0, done.stdout + done.stderr
    return parse(done.stdout)


@pytest.fixture(scope="module")
def apps(
    kafka_rig: OffsetRig, kafka_jars: Path, java_host: JavaHost, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Applications]:
    rig, members = kafka_rig, Members(java_host, kafka_jars, tmp_path_factory.mktemp("streams"))
    topic = rig.topic(RECORDS)
    producer = Producer({"bootstrap.servers": rig.broker.bootstrap, "log_level": 0})
    for value in VALUES:
        producer.produce(topic, value.encode(), partition=0)
    assert producer.flush(30) == 0
    names = [fresh_name("app"), fresh_name("app")]
    options: dict[str, Any] = {"counts": True, "commit_interval_ms": 100, "application_server": "h1:8080"}
    started = [members.streams(rig.broker, name, [topic], **options) for name in names]

    def read_all() -> bool:
        reported = [rig.ours("describe", name) for name in names]
        if any(answer.status for answer in reported):
            return False
        rows = [row for answer in reported for row in answer.document["groups"][0]["offsets"]]
        return len(rows) == 8 and {row["lag"] for row in rows} == {0}

    wait_until(read_all, "both applications have read everything")
    ours, theirs = names
    running = {
        "tool_offsets": tool(rig, "--describe", "--verbose", "--group", ours),
        "tool_members": tool(rig, "--describe", "--members", "--verbose", "--group", ours),
        "offsets": rig.ours("describe", ours),
        "members": rig.ours("describe", ours, "--members"),
        "table": rig.ours("describe", ours, "--members", "--verbose", output="csv"),
        "refused": [
            rig.ours(f"offsets reset {ours} --all-topics --to-earliest --execute --yes"),
            rig.ours(f"offsets delete {ours} --topic {topic} --execute --yes"),
            rig.ours(f"delete {ours} --delete-all-internal-topics --execute --yes"),
        ],
    }
    for member in started:
        member.stop()

    def empty() -> bool:
        reported = rig.ours("describe --state", *names).document["groups"]
        return [group["state"] for group in reported] == ["Empty", "Empty"]

    wait_until(empty, "both applications are stopped")
    yield Applications(rig=rig, topic=topic, ours=ours, theirs=theirs, **running)  # type: ignore[arg-type]
    members.end()


def places(name: str, rows: list[Row]) -> set[tuple[str, ...]]:
    """Rows of a table of offsets, with internal topics without the name of their application."""
    names = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "OFFSET-LAG")
    return {tuple(row[column].removeprefix(name) for column in names) for row in rows}


def test_offsets_and_tasks_are_those_of_the_tool(apps: Applications) -> None:
    (group,) = apps.offsets.document["groups"]
    figures = ("topic", "partition", "committed", "end", "lag")
    shown = {
        tuple(str(row[figure]).removeprefix(apps.ours) for figure in figures) for row in group["offsets"]
    }
    assert shown == places(apps.ours, apps.tool_offsets)
    (described,) = apps.members.document["groups"]
    (member,) = described["members"]
    (row,) = apps.tool_members
    assert row["ASSIGNMENTS"] == "ACTIVE: 0:[0,1]; 1:[0,1]; TARGET-ACTIVE: 0:[0,1]; 1:[0,1];"
    assert member["tasks"] == {"active": {"0": [0, 1], "1": [0, 1]}, "standby": {}, "warmup": {}}
    assert member["target_tasks"] == member["tasks"]
    assert (member["id"], member["process"]) == (row["MEMBER"], row["PROCESS"])
    assert str(member["topology_epoch"]) == row["TOPOLOGY-EPOCH"]
    assert member["endpoint"] == "h1:8080"
    internal = f"{apps.ours}-counts-repartition", f"{apps.ours}-counts-changelog"
    assert member["owned"] == {internal[0]: [0, 1], apps.topic: [0, 1]}
    none: dict[str, Any] = {"changelogs": [], "nodes": None}
    first = {"source_topics": [apps.topic], "repartition_sinks": [internal[0]], "repartition_sources": []}
    second = {"source_topics": [], "repartition_sinks": [], "repartition_sources": [internal[0]]}
    assert described["topology"]["subtopologies"] == [
        {**none, "id": "0", **first}, {**none, "id": "1", **second, "changelogs": [internal[1]]},
    ]  # fmt: skip
    assert "ACTIVE: 0:[0,1]; 1:[0,1]" in apps.table.stdout


def test_while_it_runs_nothing_is_changed(apps: Applications) -> None:
    reset, offsets, group = apps.refused
    member = apps.members.document["groups"][0]["members"][0]["id"]
    reset.assert_said(4, f"{apps.ours}: 1 active member (Stable): {member} at /127.0.0.1; stop them")
    offsets.assert_said(4, f"{apps.ours}, {apps.topic}: {member} at /127.0.0.1 subscribes to it")
    group.assert_said(4, f"{apps.ours}: 1 active member (Stable)")
    assert [
        internal_topic["deleted"] for internal_topic in group.document["groups"][0]["internal_topics"]
    ] == [None, None]


def test_from_a_reset_to_the_end_as_by_the_tool(apps: Applications, tmp_path: Path) -> None:
    rig, topic, ours, theirs = apps.rig, apps.topic, apps.ours, apps.theirs
    every = {(topic, number) for number in range(len(RECORDS))}
    # Input topics only, as all of them.
    for scenario in ("--to-earliest", "--to-latest", "--to-offset 3", "--shift-by -2", "--to-current",
                     "--to-datetime 2026-01-01T00:02:30.000", "--by-duration P9000D"):  # fmt: skip
        reported = tool(
            rig, "--reset-offsets", "--dry-run", "--group", theirs, "--all-input-topics", *scenario.split()
        )
        shown = rig.ours(f"offsets reset {ours} --all-topics {scenario}").succeeded()
        assert {key[1:]: offset for key, offset in after(shown).items()} == {
            (row["TOPIC"], int(row["PARTITION"])): int(row["NEW-OFFSET"]) for row in reported
        }
        assert {key[1:] for key in after(shown)} == every
    changelog, repartition = f"{ours}-counts-changelog", f"{ours}-counts-repartition"
    assert f"{ours}: its internal topics are kept: {changelog}, {repartition}." in shown.stderr
    # Wrong names change nothing.
    reset = f"offsets reset {ours} --to-earliest --execute --yes"
    other = rig.topic([1])
    rig.ours(f"{reset} --topic {other}").assert_said(
        3, f"{ours}, {other}: its topology does not read this topic"
    )
    rig.ours(f"{reset} --all-topics --delete-internal-topic {topic}").assert_said(
        2, f"{topic}: not an internal topic of these groups; theirs: {changelog}, {repartition}"
    )
    assert rig.committed(ours)[topic, 0] == RECORDS[0] + len(VALUES)
    # A file sets offsets of input topics, and takes them.
    file = tmp_path / "groups.yaml"

    def applied(changes: dict[str, object]) -> Answer:
        file.write_text(json.dumps({"kohort": 1, "groups": {ours: changes}}))
        return rig.ours("apply", file, "--execute", "--yes")

    committed = rig.committed(ours)[topic, 1]
    applied({"offsets": {other: 0, topic: 0}}).assert_said(3, "its topology does not read this topic")
    applied({"offsets": {topic: {"0": 3, "1": "none"}}}).succeeded()
    assert {key: at for key, at in rig.committed(ours).items() if key[0] == topic} == {(topic, 0): 3}
    back = applied({"offsets": {topic: {"0": "latest", "1": committed}}}).succeeded()
    assert f"{ours}: its internal topics are kept" in back.stderr
    # Some offsets are deleted, others set, and one internal topic goes.
    done = rig.ours(f"offsets delete {ours} --topic {topic}:1 --execute --yes").succeeded()
    assert done.document["groups"][0]["offsets"][0]["deleted"] is True
    tool(rig, "--delete-offsets", "--group", theirs, "--input-topic", f"{topic}:1")
    done = rig.ours(f"{reset} --all-topics --delete-internal-topic {repartition}").succeeded()
    assert f"set 1 offset of {ours}; deleted 1 internal topic" in done.stderr
    tool(rig, "--reset-offsets", "--execute", "--group", theirs, "--to-earliest", "--all-input-topics",
         "--delete-internal-topic", f"{theirs}-counts-repartition")  # fmt: skip
    # Those of a deleted topic go with it, some time later.
    for app in (ours, theirs):
        assert {key: at for key, at in rig.committed(app).items() if key[0] == topic} == {(topic, 0): 0}
    wait_until(
        lambda: all(topics_of(rig, app) == [f"{app}-counts-changelog"] for app in (ours, theirs)),
        "the repartition topics are gone",
    )
    again = rig.ours(f"{reset} --all-topics --delete-internal-topic {repartition}")
    again.assert_said(3, f"{ours}, {repartition}: no such topic")
    assert again.document["executed"] is False
    # The group goes, and the rest of its topics.
    done = rig.ours(f"delete {ours} --delete-all-internal-topics --execute --yes").succeeded()
    (row,) = done.document["groups"]
    assert (row["deleted"], row["internal_topics"]) == (
        True,
        [{"topic": changelog, "kind": "changelog", "deleted": True}],
    )
    wait_until(lambda: not topics_of(rig, ours), "the internal topics are gone")
    rig.ours("describe", ours).assert_said(3, "no such group")


def topics_of(rig: OffsetRig, app: str) -> list[str]:
    """Internal topics that the cluster has."""
    return sorted(name for name in rig.admin.list_topics(timeout=10).topics if name.startswith(f"{app}-"))
