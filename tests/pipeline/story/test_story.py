"""The history of a real broker's log says what a script caused, exactly, and counts what Kafka's own tool counts."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row

from pipeline.history import HistoryRun
from tests.coordinator.store.real_log import segments_of
from tests.kafka.tool_host import DUMP_LOG, ToolHost
from tests.pipeline.story.conftest import Story

pytestmark = pytest.mark.kafka

Rows = Callable[[str], list["Row"]]
RECORD = re.compile(
    r"\| offset: (\d+) \w+: (-?\d+) keySize: (-?\d+) valueSize: (-?\d+) .*? headerKeys: \[\] (.*)"
)
KEY_AND_PAYLOAD = re.compile(r"key: (\{.*\}) payload: (.*)")
MARK = re.compile(r"endTxnMarker: (\w+) coordinatorEpoch: \d+")
OFFSET_COMMITS = (0, 1)


def test_every_rebalance_is_found_with_its_cause(story: Story, rows: Rows) -> None:
    names, result = story.notes.ids, defaultdict(list)
    for row in _in_order(rows("rebalances")):
        result[row.group].append(
            (
                row.protocol,
                row.cause,
                (row.members_before, row.members),
                sorted(names[member] for member in row.joined),
                sorted(names[member] for member in row.left),
            )
        )
    caused = {
        group: [
            (row.protocol, row.cause, (row.members_before, row.members), sorted(row.joined), sorted(row.left))
            for row in caused
        ]
        for group, caused in story.notes.rebalances.items()
        if caused
    }
    # What proves an expiry depends on the moment of the crash; tests/incidents has the rule.
    for group, acts in caused.items():
        for number, (named, act) in enumerate(zip(result[group], acts, strict=True)):
            if named[1] == "unknown" and act[1] == "expiry":
                result[group][number] = (named[0], act[1], *named[2:])
    assert result == caused


def test_times_are_those_of_the_script(story: Story, rows: Rows) -> None:
    result = defaultdict(list)
    for row in _in_order(rows("rebalances")):
        result[row.group].append(row)
    checked = 0
    for group, caused in story.notes.rebalances.items():
        for row, act in zip(result[group], caused, strict=True):
            assert row.end is not None, row
            assert act.began_ms <= _ms(row.start or row.end) <= _ms(row.end) <= act.rested_ms, (row, act)
            checked += act.began_ms > 0
    assert checked > 30


def test_epochs_follow_one_another_where_the_log_is_whole(story: Story, rows: Rows) -> None:
    skipped = defaultdict(list)
    for row in _in_order(rows("rebalances")):
        skipped[row.group].append(row.skipped)
    veterans = {group for group in skipped if group.endswith("veteran")}
    assert {group: skipped[group][0] for group in veterans} == dict.fromkeys(veterans, None)
    assert veterans == {"classic-veteran", "consumer-veteran"}
    assert {(group, gap) for group, gaps in skipped.items() for gap in gaps if gap} == set()


def test_the_last_owners_are_those_that_the_clients_reported(story: Story, rows: Rows) -> None:
    held: dict[str, dict[str, dict[str, list[int]]]] = {group: {} for group in story.notes.owned}
    for row in sorted(rows("ownership"), key=lambda row: (row.group, row.topic, row.topic_partition)):
        if row.until is None:
            assert row.member is not None, row
            mine = held[row.group].setdefault(story.notes.ids[row.member], {})
            mine.setdefault(row.topic, []).append(row.topic_partition)
    assert held == story.notes.owned


def test_spans_of_a_partition_follow_one_another(rows: Rows) -> None:
    spans = defaultdict(list)
    for row in rows("ownership"):
        spans[row.group, row.topic, row.topic_partition].append((row.since, row.until))
    for partition, parts in spans.items():
        in_order = sorted(parts, key=lambda span: span[0])
        for (_, until), (since, _) in pairwise(in_order):
            assert until is not None, partition
            assert until <= since, partition
    assert len(spans) > 50


def test_commits_are_counted(story: Story, rows: Rows) -> None:
    notes = {(note.group, note.topic, note.partition): note for note in story.notes.committed}
    result = {(row.group, row.topic, row.topic_partition): row for row in rows("commits")}
    for key, note in notes.items():
        row = result[key]
        assert (row.commits, row.resets, row.deleted, row.first_offset, row.last_offset) == (
            note.commits, note.resets, note.deleted, note.first, note.last,
        ), key  # fmt: skip
    assert not {group for group, _, _ in result} & set(story.notes.aborted)
    assert result["compacted-commits", "payments", 0].commits == 1


def test_groups_are_of_their_types(story: Story, rows: Rows) -> None:
    last = {row.group: row for row in sorted(rows("groups"), key=lambda row: row.day)}
    result = {group: last[group].type for group, kind in story.notes.types.items() if kind is not None}
    assert result == {group: kind for group, kind in story.notes.types.items() if kind is not None}
    assert {"classic", "consumer", "share"} <= set(result.values())
    assert last["migrated"].migration == "consumer"
    assert last["eager"].migration == "classic"
    assert last["share"].migration is None


def test_compacted_records_are_not_invented(story: Story, rows: Rows) -> None:
    offsets = defaultdict(set)
    for row in rows("events"):
        offsets[row.source].add(row.offset)
    for partition, closed in story.notes.compacted.items():
        assert len([offset for offset in offsets[partition] if offset < closed]) < closed, partition
        whole = sorted(offset for offset in offsets[partition] if offset >= closed)
        assert whole == list(range(whole[0], whole[-1] + 1)), partition
    assert story.notes.erased
    result = {row.group for table in ("rebalances", "ownership") for row in rows(table)}
    assert not result & set(story.notes.erased)


def test_records_are_those_of_kafkas_tool_one_by_one(
    story: Story, history: HistoryRun, rows: Rows, tools: ToolHost
) -> None:
    dumped = list(_dumped(story.data, tools))
    events = sorted(rows("events"), key=lambda row: (row.source, row.offset))
    assert [_event_fields(row) for row in events] == sorted(
        dumped, key=lambda result: (result["source"], result["offset"])
    )
    assert history.by_key_version == Counter(result["key_version"] for result in dumped)
    assert history.records == len(dumped)
    assert (history.quarantined, history.quarantined_total) == ((), 0)


def _dumped(data: Path, tools: ToolHost) -> Iterator[dict[str, Any]]:
    for segment in segments_of(data):
        said = tools.run(DUMP_LOG, "--offsets-decoder", "--files", str(segment))
        assert said.returncode == 0, said.stderr
        for line in said.stdout.splitlines():
            if line.startswith("| "):
                yield {"source": segment.parent.name, **_of_tool(line)}


def _of_tool(line: str) -> dict[str, Any]:
    record = RECORD.fullmatch(line)
    assert record is not None, line
    offset, timestamp, key_size, value_size, content = record.groups()
    result: dict[str, Any] = {"offset": int(offset), "time": int(timestamp), "key_version": None}
    mark = MARK.fullmatch(content)
    if mark is not None:
        return {**result, "kind": mark[1].lower(), "tombstone": False}
    parts = KEY_AND_PAYLOAD.fullmatch(content)
    assert parts is not None, line
    key = json.loads(parts[1])
    result |= {"key_version": int(key["type"]), "tombstone": int(value_size) < 0}
    if result["key_version"] not in OFFSET_COMMITS:
        sizes = {"key_size": int(key_size), "value_size": max(int(value_size), 0)}
        return {**result, **sizes, "group": key["data"].get("groupId", key["data"].get("group"))}
    result |= {name: key["data"][name] for name in ("group", "topic", "partition")}
    if result["tombstone"]:
        return result
    payload = json.loads(parts[2])
    names = ("offset", "leaderEpoch", "metadata", "commitTimestamp")
    return {
        **result,
        "value_version": int(payload["version"]),
        "committed": [payload["data"].get(name) for name in names],
    }


def _event_fields(row: Row) -> dict[str, Any]:
    result: dict[str, Any] = {
        "source": row.source, "offset": row.offset, "time": _ms(row.time), "key_version": row.key_version,
        "tombstone": row.tombstone,
    }  # fmt: skip
    if row.key_version is None:
        return {**result, "kind": row.kind}
    result["group"] = row.group
    if row.key_version not in OFFSET_COMMITS:
        return {**result, "key_size": len(row.key), "value_size": len(row.value or b"")}
    result |= {"topic": row.topic, "partition": row.topic_partition}
    if row.tombstone:
        return result
    epoch = -1 if row.leader_epoch is None else row.leader_epoch
    committed = [row.committed, epoch, row.metadata, _ms(row.commit_time)]
    return {**result, "value_version": row.value_version, "committed": committed}


def _in_order(rows: list[Row]) -> list[Row]:
    """A group's by what makes them follow one another: a group that is born again counts from the beginning."""
    return sorted(rows, key=lambda row: (row.group, row.start or row.end, row.epoch))


def _ms(time: datetime) -> int:
    """ms since 1970 of a time that Spark gives in this process's time zone, without saying so."""
    return round(time.astimezone(UTC).timestamp() * 1000)
