"""`kohort diagnose` of recordings, logs and the sample."""

import json
import re
from pathlib import Path
from uuid import UUID

from cli.verbs.watch.recording import Header, Recorder, header_document, observation_document
from cli.verbs.watch.state import WatchObservation
from coordinator.engine.records import OffsetRecord, StoredOffset
from groups.model import Group, GroupState
from tests.cli.command import Answer, Kohort
from tests.cli.coordinator_log import PARTITION, pairs
from tests.cli.coordinator_log import START_MS as LOG_START_MS
from tests.coordinator.store.logs import Written
from tests.groups.diagnosis.groups import START_MS, group, member, topics
from tests.support.golden import assert_recorded
from wire.uuids import format_uuid

SETTLED = group(member("a", (0, 1, 2)), member("b", (3, 4, 5)))
MOVING = group(
    member("a", (0, 1, 2, 3, 4, 5), target={"orders": (0, 1, 2)}),
    member("b", (), target={"orders": (3, 4, 5)}),
    state=GroupState.RECONCILING,
)
OLD, NEW = UUID(int=5), UUID(int=6)


def whole(answer: Answer) -> str:
    return f"{answer.stdout}{answer.stderr}status {answer.status}"


def record(file: Path, *groups: Group | None) -> Path:
    """A look every five seconds."""
    recorder = Recorder.create(file, force=True)
    recorder.write(header_document(Header(at_ms=START_MS, groups=("payments",), source="s", every_ms=5_000)))
    for position, seen in enumerate(groups):
        at_ms = START_MS + 5_000 * position
        groups_at = {"payments": seen}
        look = WatchObservation(asked_ms=at_ms, at_ms=at_ms, groups=groups_at, topics=topics(orders=6))
        recorder.write(observation_document(look))
    recorder.close()
    return file


def test_recordings_have_the_recorded_diagnoses(kohort: Kohort, tmp_path: Path) -> None:
    stuck = record(tmp_path / "stuck.jsonl", SETTLED, *[MOVING] * 5)
    lines = {
        "--output json": stuck,
        "payments": stuck,
        "": record(tmp_path / "healthy.jsonl", SETTLED, MOVING, SETTLED, SETTLED),
        "--output csv": record(tmp_path / "gone.jsonl", SETTLED, None),
        "--all-groups": stuck,
        "-b localhost:9092": stuck,
    }
    answers = {
        f"{line} {file.name}": kohort.quick(f"diagnose {line} --replay", file) for line, file in lines.items()
    }
    assert_recorded("diagnose/recordings.txt", {about: whole(answer) for about, answer in answers.items()})


def test_the_sample_fleet_is_healthy(kohort: Kohort, sample: Path) -> None:
    answer = kohort.quick("diagnose --all-groups --output json --embedded", sample).succeeded()
    groups = answer.document["groups"]
    assert {row["group"]: row["findings"] for row in groups if row["verdict"] != "ok"} == {}
    assert all(row["not_checked"] for row in groups)
    text = kohort.quick("diagnose --all-groups --embedded", sample).succeeded().stdout
    assert text == "No problems found in 10 groups (20 rules not checked; --verbose shows them).\n"
    verbose = kohort.quick("diagnose --all-groups --verbose --embedded", sample).succeeded()
    assert "not checked: rebalance-stuck" in verbose.stderr
    assert "--verbose" not in verbose.stdout


def test_the_topic_id_of_a_commit_proves_that_a_topic_is_new(kohort: Kohort, tmp_path: Path) -> None:
    log = Written()
    for name, topic_id in (("stale", OLD), ("healthy", NEW), ("unknown", None)):
        value = StoredOffset(offset=7, leader_epoch=0, metadata="", commit_ms=LOG_START_MS, topic_id=topic_id)
        offset = OffsetRecord(group=name, topic="orders", partition=0, value=value)
        log.batch(pairs(offset), timestamp=LOG_START_MS)
    log.save(tmp_path / PARTITION)
    file = tmp_path / "topics.yaml"
    file.write_text(f"orders: {{id: {format_uuid(NEW)}, partitions: 1}}\n")
    answer = kohort.quick("diagnose --all-groups --output csv --log-dir", tmp_path, "--topics", file)
    (row,) = answer.rows
    assert (row["GROUP"], row["RULE"], row["LEVEL"]) == ("stale", "topic-recreated", "error")
    assert (answer.status, row["EVIDENCE"]) == (1, "partitions orders-0")


def test_the_same_findings_of_many_groups_are_shown_once(kohort: Kohort, tmp_path: Path) -> None:
    topics = ["orders"] * 21 + ["payments"] * 20
    groups = {
        f"g{n:02}": {"type": "classic", "state": "Empty", "offsets": {topic: {0: {"offset": n}}}}
        for n, topic in enumerate(topics)
    }
    file, ends = tmp_path / "fleet.json", {"partitions": 1, "end_offsets": {0: 90}}
    file.write_text(json.dumps({"kohort": 1, "topics": dict.fromkeys(topics, ends), "groups": groups}))
    text = kohort.quick("diagnose --all-groups --snapshot", file).succeeded().stdout
    assert re.search(r"(?m)^g00 and 20 more +warning +0 +1 +stopped$", text)
    assert "\ng00, g01, g02 and 18 more groups: 1 warning each; shown for the first," in text
    assert text.count("WARNING stopped") == 1 + 20
    whole = kohort.quick("diagnose --all-groups --verbose --snapshot", file).succeeded().stdout
    assert whole.count("WARNING stopped") == whole.count(": 1 warning\n") == len(groups)
    listed = kohort.quick("diagnose --all-groups -o json --snapshot", file).succeeded().document["groups"]
    assert [(row["group"], len(row["findings"])) for row in listed] == [(name, 1) for name in groups]
