"""On a standalone cluster of two workers the tables are those of one machine, and a failing seed replays here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pipeline.audit import Snapshots
from pipeline.rehearsal import RehearsalSettings, Variation, rehearse_fleet
from pipeline.rehearsal.schemas import TABLES
from tests.cli.command import Kohort
from tests.cli.conftest import kohort as kohort
from tests.pipeline.rehearsal.test_rehearse_fleet import DISABLED, PLANNED, rehearsed_again
from tests.pipeline.rehearsal.test_rehearse_fleet import snapshot as snapshot
from tests.pipeline.standalone import Standalone, answer_of, standalone
from tests.support.long import LONG

pytestmark = LONG

SEEDS = range(1, 9)
RESTLESS = {"heartbeat.interval.ms": "10"}
"""Members are hardly ever without a heartbeat that waits for its answer: some seeds are unsafe, and some are not."""
VARIATIONS: list[dict[str, Any]] = [{}, {"concurrency": 2}, {"settings": RESTLESS}, {"settings": DISABLED}]
DRIVER = """
import json
from migration.model import Destination
from pipeline.audit import AuditSettings, Snapshots
from pipeline.rehearsal import RehearsalTerms, Variation, rehearse_fleet
from pipeline.session import SessionSettings, session

terms = RehearsalTerms(
    planned=AuditSettings(destinations=(Destination.CONSUMER,)),
    seeds=range(1, 9),
    variations=tuple(Variation(**each) for each in {variations!r}),
)
with session(SessionSettings(master={master!r}, conf={conf!r}, input_bytes=0)) as spark:
    done = rehearse_fleet(spark, Snapshots(paths=({snapshot!r},)), terms, out="tables")
    print(json.dumps({{"paths": done.paths, "rehearsals": done.rehearsals, "failures": done.failures}}))
"""


@pytest.fixture(scope="module")
def cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """Give a cluster, where Spark can be had."""
    with standalone(tmp_path_factory.mktemp("standalone")) as running:
        yield running


def test_a_cluster_rehearses_what_one_machine_rehearses(
    cluster: Standalone, spark: SparkSession, kohort: Kohort, snapshot: Path, tmp_path: Path
) -> None:
    driver = DRIVER.format(
        master=cluster.master,
        conf=cluster.conf(),
        snapshot=str(snapshot),
        variations=VARIATIONS,
    )
    far = answer_of(driver, tmp_path)
    assert cluster.executors() == 2

    variations = tuple(Variation(**each) for each in VARIATIONS)
    terms = RehearsalSettings(planned=PLANNED, seeds=SEEDS, variations=variations)
    near = rehearse_fleet(spark, Snapshots(paths=(str(snapshot),)), terms, out=str(tmp_path / "near"))
    assert (far["rehearsals"], far["failures"]) == (list(near.rehearsals), list(near.failures))
    for name in TABLES:
        theirs, ours = (spark.read.parquet(paths[name]) for paths in (far["paths"], near.paths))
        assertSchemaEqual(theirs.schema, ours.schema)
        assertDataFrameEqual(theirs, ours)

    # What workers found is found by the commands on one machine, seed for seed.
    runs = spark.read.parquet(far["paths"]["runs"]).where("group = 'billing'")
    verdicts = {(row["settings"], row["seed"]): row["verdict"] for row in runs.collect()}
    assert len(verdicts) == len(variations) * len(SEEDS)
    of_restless = {verdicts[Variation(settings=RESTLESS).text, seed] for seed in SEEDS}
    assert of_restless == {"safe", "unsafe"}
    failures = spark.read.parquet(far["paths"]["failures"]).where("group = 'billing'").collect()
    assert {(row["settings"], row["seed"]) for row in failures} == {
        place for place, verdict in verdicts.items() if verdict != "safe"
    }
    for row in failures:
        again = rehearsed_again(kohort, row["commands"], tmp_path / "PLAN.yaml")
        assert again.status == 1
        assert [each["reason"] for each in again.document["unsafe"]] == row["why"]
        assert again.document["story"] == row["story"]
