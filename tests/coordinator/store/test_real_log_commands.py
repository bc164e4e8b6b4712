"""`kohort log dump` and `kohort log verify` on what a real broker wrote, and what its cleaner left of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.coordinator.store.real_log import RealLog, segments_of
from tests.kafka.tool_host import DUMP_LOG, ToolHost

pytestmark = pytest.mark.kafka

RECORD = re.compile(
    r"\| offset: (?P<offset>\d+) \w+: (?P<timestamp>-?\d+) keySize: (?P<key_size>-?\d+) "
    r"valueSize: (?P<value_size>-?\d+) sequence: (?P<sequence>-?\d+) headerKeys: \[\] (?P<content>.*)"
)
KEY_AND_PAYLOAD = re.compile(r"key: (?P<key>\{.*\}) payload: (?P<payload>.*)")
MARK = re.compile(r"endTxnMarker: (?P<type>\w+) coordinatorEpoch: (?P<epoch>\d+)")


@pytest.fixture
def kohort(tmp_path: Path) -> Kohort:
    return Kohort(tmp_path)


@pytest.fixture(params=["whole", "compacted"])
def data(request: pytest.FixtureRequest, real_log: RealLog, compacted_log: Path) -> Path:
    """A broker's log directory."""
    return real_log.data if request.param == "whole" else compacted_log


def test_dump_says_what_kafkas_tool_says(kohort: Kohort, tools: ToolHost, data: Path) -> None:
    segments = [str(path) for path in segments_of(data)]
    said = tools.run(DUMP_LOG, "--offsets-decoder", "--files", ",".join(segments))
    assert said.returncode == 0, said.stderr
    told = [_told(line) for line in said.stdout.splitlines() if line.startswith("| ")]
    answer = kohort.quick("log", "dump", *segments, "--output", "ndjson")
    assert answer.status == 0, answer.stderr
    assert [_shown(json.loads(line)) for line in answer.stdout.splitlines()] == told


def _told(line: str) -> dict[str, Any]:
    record = RECORD.fullmatch(line)
    assert record is not None, line
    content = KEY_AND_PAYLOAD.fullmatch(record["content"])
    mark = MARK.fullmatch(record["content"])
    assert (content is None) != (mark is None), line
    numbers = ("offset", "timestamp", "key_size", "value_size", "sequence")
    return {
        # The tool says -1 for what there is not.
        **{name: None if record[name] == "-1" else int(record[name]) for name in numbers},
        "key": None if content is None else json.loads(content["key"]),
        "payload": None
        if content is None or content["payload"] == "<DELETE>"
        else json.loads(content["payload"]),
        "control": None if mark is None else {"type": mark["type"], "coordinator_epoch": int(mark["epoch"])},
    }


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    assert (record["error"], record["raw"]) == (None, None)
    names = ("offset", "timestamp", "key_size", "value_size", "sequence", "key", "payload", "control")
    return {name: record[name] for name in names}


def test_verify_has_nothing_to_say_against_it(kohort: Kohort, data: Path) -> None:
    answer = kohort.quick("log", "verify", data, "--output", "json")
    assert answer.status == 0, answer.stderr
    assert answer.document["errors"] == []
