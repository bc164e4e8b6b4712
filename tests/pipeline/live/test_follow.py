"""A stream that is killed and continues from its checkpoint neither loses nor duplicates a record."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.testing import assertDataFrameEqual

from pipeline.decode.records import LogReader
from pipeline.history import run_history
from pipeline.sources.cluster import BOOTSTRAP, offsets_topic
from pipeline.store import read, read_catalog
from tests.coordinator.store.real_log_story import ORDERS, commit
from tests.kafka.broker import Broker
from tests.pipeline.decoded import events, live_events
from tests.pipeline.live.follower import AFTER, PUBLISH
from tests.pipeline.live.tables import comparable, not_held_back
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]
TIMEOUT_S = 400.0


def test_a_killed_stream_continues_without_loss_or_double(
    live_spark: SparkSession, old_broker: Broker, tmp_path: Path
) -> None:
    out, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
    topic = offsets_topic(live_spark, {BOOTSTRAP: old_broker.bootstrap})
    new, _ = not_held_back(topic, "since-the-kill")

    def follow(*steps: str) -> int:
        command = (sys.executable, "-m", "tests.pipeline.live.follower")
        said = subprocess.run(
            [*command, old_broker.bootstrap, str(out), str(checkpoint), *steps],
            check=False, capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        assert said.returncode in (0, -signal.SIGKILL), said.stderr
        return said.returncode

    assert follow(PUBLISH) == -signal.SIGKILL
    assert _runs(out) == 0
    commit(old_broker, new, ORDERS, {0: 1})
    assert follow(AFTER) == -signal.SIGKILL
    assert _runs(out) == 1
    assert not (checkpoint / "commits" / "0").exists()
    commit(old_broker, new, ORDERS, {0: 2})
    assert follow() == 0
    assert _runs(out) >= 2
    rows = comparable(read(live_spark, str(out), "events"))
    # The broker continues meanwhile: members and transactions expire.
    ends = f.create_map(
        *(f.lit(n) for pair in read_catalog(live_spark, str(out)).next_offsets.items() for n in pair)
    )
    until = live_events(live_spark, old_broker.bootstrap).where(f.col("offset") < ends[f.col("partition")])
    assert rows == comparable(events(until))
    assert [row.committed for row in rows if row.group == new] == [1, 2]
    whole = str(tmp_path / "whole")
    run_history(live_spark, LogReader(tasks=until, read=iter), whole)
    for table in ("rebalances", "ownership", "commits", "groups"):
        assertDataFrameEqual(read(live_spark, str(out), table), read(live_spark, whole, table))


def _runs(out: Path) -> int:
    number: int = json.loads((out / "tables.json").read_text())["run"]
    return number
