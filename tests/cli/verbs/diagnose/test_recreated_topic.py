"""A topic that was deleted and created again is proved by the id that its commits were written with."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from coordinator.engine.records import OffsetRecord, StoredOffset
from tests.cli.command import Kohort
from tests.cli.coordinator_log import PARTITION, START_MS, pairs
from tests.coordinator.store.logs import Written
from wire.uuids import format_uuid

OLD, NEW = UUID(int=5), UUID(int=6)


def test_the_topic_id_of_a_commit_proves_it(kohort: Kohort, tmp_path: Path) -> None:
    log = Written()
    for group, topic_id in (("stale", OLD), ("healthy", NEW), ("unknown", None)):
        value = StoredOffset(offset=7, leader_epoch=0, metadata="", commit_ms=START_MS, topic_id=topic_id)
        log.batch(
            pairs(OffsetRecord(group=group, topic="orders", partition=0, value=value)), timestamp=START_MS
        )
    log.save(tmp_path / PARTITION)
    topics = tmp_path / "topics.yaml"
    topics.write_text(f"orders: {{id: {format_uuid(NEW)}, partitions: 1}}\n")
    reported = kohort("diagnose --all-groups --output json --log-dir", tmp_path, "--topics", topics)
    found = {group["group"]: group["findings"] for group in reported.document["groups"]}
    assert (found["healthy"], found["unknown"]) == ([], [])
    (one,) = found["stale"]
    assert (one["rule"], one["level"], one["evidence"]) == (
        "topic-recreated",
        "error",
        {"partitions": ["orders-0"]},
    )
    assert reported.status == 1
