"""`kohort fleet follow`: tables that a stream keeps up to date, from the command line."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.verbs.fleet.follow import FollowedRun, followed_document, followed_line
from pipeline.sources.cluster import BOOTSTRAP, offsets_topic
from tests.cli.schemas import faults
from tests.coordinator.store.real_log_story import ORDERS, commit
from tests.kafka.broker import Broker
from tests.pipeline.conftest import spark as spark
from tests.pipeline.live.conftest import live_spark as live_spark
from tests.pipeline.live.conftest import old_broker as old_broker
from tests.pipeline.live.conftest import source_jars as source_jars
from tests.pipeline.live.tables import not_held_back
from tests.pipeline.processes import Program
from tests.support.long import LONG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMAND = "import sys; from cli.app import main; sys.argv = {words!r}; main()"


def seen(*, added: int | None, quarantined: int = 0) -> FollowedRun:
    return FollowedRun(
        at_ms=0, out="s3a://fleet/tables", records=1200, added=1, rebalances=7, rebalances_added=added,
        quarantined=quarantined,
    )  # fmt: skip


def test_a_run_is_a_line() -> None:
    start = "1970-01-01T00:00:00.000Z  1 new record, 1,200 in all; 7 rebalances"
    assert followed_line(seen(added=None)) == start
    assert followed_line(seen(added=0)) == start
    assert followed_line(seen(added=3, quarantined=2)) == f"{start} (3 new); 2 in quarantine"


def test_a_run_is_a_document_of_the_schema() -> None:
    for added in (None, 3):
        text = followed_document(seen(added=added))
        assert "\n" not in text
        assert faults(json.loads(text)) == []


@LONG
@pytest.mark.kafka
def test_tables_follow_a_cluster_until_ctrl_c(
    live_spark: SparkSession, old_broker: Broker, tmp_path: Path
) -> None:
    topic = offsets_topic(live_spark, {BOOTSTRAP: old_broker.bootstrap})
    new, _ = not_held_back(topic, "comes-meanwhile")
    out = tmp_path / "tables"
    words = ["kohort", "fleet", "follow", "-b", old_broker.bootstrap, "--out", str(out), "--output", "json"]

    first = Program(tmp_path / "first", COMMAND.format(words=[*words, "--once"])).end()
    assert (first.status, first.stderr) == (0, "")
    (line,) = map(json.loads, first.stdout.splitlines())
    assert faults(line) == []
    assert line["added"] == line["records"] > 500

    program = Program(
        tmp_path / "second", COMMAND.format(words=[*words, "--every", "1"]), command=(sys.executable,)
    )
    try:
        commit(old_broker, new, ORDERS, {0: 1})
        program.wait_for('"added"')
        program.press(signal.SIGINT)
        second = program.end()
        program.wait_gone()
    finally:
        program.kill()
    assert (second.status, second.stderr) == (0, "")
    reported = [json.loads(line) for line in second.stdout.splitlines()]
    assert reported[-1]["records"] == line["records"] + sum(row["added"] for row in reported)
    assert not list(program.temporary.iterdir())
