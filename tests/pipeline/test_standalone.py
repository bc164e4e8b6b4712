"""On a cluster of processes that share nothing but the files, the tables are those of one process."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pipeline.history import Logs, run_history
from pipeline.session import PACKAGES
from pipeline.store import read
from pipeline.tables.schemas import TABLES
from tests.coordinator.store.real_log import RealLog
from tests.pipeline.processes import ROOT, Program
from tests.pipeline.standalone import Standalone, standalone
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]

DRIVER = """
import json
import pipeline
from pipeline.history import Logs, run_history
from pipeline.session import SessionSettings, session

def whereabouts(batches):
    import os
    import pyarrow as pa
    import pipeline
    for batch in batches:
        yield pa.RecordBatch.from_pylist([{{"file": pipeline.__file__, "cwd": os.getcwd()}}])

with session(SessionSettings(master={master!r}, conf={conf!r}, input_bytes=0)) as spark:
    seen = spark.range(0, 8, 1, 8).mapInArrow(whereabouts, "file string, cwd string").distinct().collect()
    run = run_history(spark, Logs(paths=({data!r},)), "tables")
    print(json.dumps({{
        "driver": pipeline.__file__,
        "workers": [row.asDict() for row in seen],
        "records": run.records,
        "by_key_version": {{str(key): count for key, count in run.by_key_version.items()}},
        "quarantined": run.quarantined_total,
    }}))
"""


@pytest.fixture(scope="module")
def cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """Give a cluster, where Spark can be had."""
    with standalone(tmp_path_factory.mktemp("standalone")) as running:
        yield running


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a directory with the packages as an installation has them: next to each other, no checkout around them."""
    site = tmp_path_factory.mktemp("installed")
    for package in (*PACKAGES, "cli"):
        shutil.copytree(ROOT / package, site / package, ignore=shutil.ignore_patterns("__pycache__"))
    return site


def test_history_on_a_cluster_is_that_of_one_process(
    cluster: Standalone, installed: Path, real_log: RealLog, spark: SparkSession, tmp_path: Path
) -> None:
    source = DRIVER.format(master=cluster.master, conf=cluster.conf(), data=str(real_log.data))
    program = Program(tmp_path / "driver", source, variables={"PYTHONPATH": str(installed)})
    try:
        ended = program.end(timeout_s=600)
        assert (ended.status, ended.stderr) == (0, "")
        far: dict[str, Any] = json.loads(ended.stdout)
        program.wait_gone()
    finally:
        program.kill()
    assert far["driver"].startswith(str(installed))
    assert cluster.executors() == 2
    # Workers have the packages that the driver sent, and work in separate directories.
    works = tuple(str(work) for work in cluster.work)
    assert {worker["cwd"].startswith(works) for worker in far["workers"]} == {True}
    assert {"kohort.zip" in worker["file"] for worker in far["workers"]} == {True}
    assert program.left_behind()[0] == str(program.work / "tables")
    assert not list(program.temporary.iterdir())

    near = run_history(spark, Logs(paths=(str(real_log.data),)), str(tmp_path / "near"))
    assert far["records"] == near.records > 500
    assert far["by_key_version"] == {str(key): count for key, count in near.by_key_version.items()}
    assert far["quarantined"] == near.quarantined_total
    for name in TABLES:
        theirs, ours = (read(spark, out, name) for out in (str(program.work / "tables"), near.out))
        assertSchemaEqual(theirs.schema, ours.schema)
        assertDataFrameEqual(theirs, ours)
