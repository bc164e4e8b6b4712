"""On a cluster of processes that share nothing but the files, the tables are those of one process."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from coordinator.simulation.scenario import Variant
from pipeline.audit.run import Snapshots
from pipeline.history import Logs, run_history
from pipeline.rehearsal.play import RehearsalSettings, Variation
from pipeline.rehearsal.run import rehearse_fleet
from pipeline.session import PACKAGES
from pipeline.simulation.play import RunOptions
from pipeline.simulation.run import simulate
from pipeline.store import read
from pipeline.tables.schemas import TABLES
from tests.cli.command import Kohort
from tests.cli.conftest import kohort as kohort
from tests.coordinator.store.real_log import RealLog
from tests.pipeline.processes import ROOT, Program
from tests.pipeline.rehearsal.test_rehearse_fleet import DISABLED, PLANNED
from tests.pipeline.rehearsal.test_rehearse_fleet import snapshot as snapshot
from tests.pipeline.simulation.test_simulate import RULE, case
from tests.pipeline.standalone import Standalone, standalone

START = """
import json, os, pipeline
from pipeline.session import SessionSettings, session

def whereabouts(batches):
    import os, pipeline
    import pyarrow as pa
    for batch in batches:
        yield pa.RecordBatch.from_pylist([{"file": pipeline.__file__, "cwd": os.getcwd()}])

"""
SEEDS = range(1, 9)
RESTLESS = {"heartbeat.interval.ms": "10"}
"""Members are hardly ever without a heartbeat that waits for its answer: some seeds are unsafe, and some are not."""
VARIATIONS: list[dict[str, Any]] = [{}, {"concurrency": 2}, {"settings": RESTLESS}, {"settings": DISABLED}]
DRIVERS = {
    "history": """
from pipeline.history import Logs, run_history
def work(spark, data):
    seen = spark.range(0, 8, 1, 8).mapInArrow(whereabouts, "file string, cwd string").distinct().collect()
    run = run_history(spark, Logs(paths=(data,)), "tables")
    return {"driver": pipeline.__file__, "workers": [row.asDict() for row in seen], "records": run.records,
            "by_key_version": {str(key): count for key, count in run.by_key_version.items()},
            "quarantined": run.quarantined_total}
""",
    "rehearsals": """
from migration.model import Destination
from pipeline.audit.judge import AuditSettings
from pipeline.audit.run import Snapshots
from pipeline.rehearsal.play import RehearsalSettings, Variation
from pipeline.rehearsal.run import rehearse_fleet
def work(spark, snapshot, variations):
    settings = RehearsalSettings(
        planned=AuditSettings(destinations=(Destination.CONSUMER,)), seeds=range(1, 9),
        variations=tuple(Variation(**variation) for variation in variations))
    done = rehearse_fleet(spark, Snapshots(paths=(snapshot,)), settings, out="tables")
    return {"paths": done.paths, "rehearsals": done.rehearsals, "failures": done.failures}
""",
    "simulations": """
from coordinator.simulation.scenario import Variant
from coordinator.simulation.seeds import always
from coordinator.simulation.scenario_file import shipped_scenario
from pipeline.simulation.play import RunOptions, SimulationCase
from pipeline.simulation.run import simulate
def work(spark, rule):
    cases = [
        SimulationCase(called=name, name=name, scenario_of=always(shipped_scenario(name)), variant=variant,
                     settings={"session.timeout.ms": "12000"})
        for name in ("repeated-requests", "standard") for variant in (Variant.COOPERATIVE, Variant.CONSUMER)
    ]
    done = simulate(spark, cases, range(1, 17), RunOptions(break_rule=rule), out="tables")
    return {"paths": done.paths, "verdicts": done.verdicts, "failures": done.failures}
""",
}
Far = Callable[..., tuple[dict[str, Any], Path]]


@pytest.fixture(scope="module")
def cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with standalone(tmp_path_factory.mktemp("standalone")) as running:
        yield running


@pytest.fixture
def far(cluster: Standalone, tmp_path: Path) -> Far:
    site = tmp_path / "installed"
    for package in (*PACKAGES, "cli"):
        shutil.copytree(ROOT / package, site / package, ignore=shutil.ignore_patterns("__pycache__"))

    def answer(name: str, **arguments: Any) -> tuple[dict[str, Any], Path]:
        settings = f"SessionSettings(master={cluster.master!r}, conf={cluster.conf()!r}, input_bytes=0)"
        end = f"with session({settings}) as spark:\n    print(json.dumps(work(spark, **{arguments!r})))\n"
        before = cluster.executors()
        program = Program(
            tmp_path / "driver", START + DRIVERS[name] + end, variables={"PYTHONPATH": str(site)}
        )
        try:
            ended = program.end(timeout_s=600)
            assert (ended.status, ended.stderr) == (0, "")
            program.wait_gone()
        finally:
            program.kill()
        assert cluster.executors() == before + 2
        assert not list(program.temporary.iterdir())
        return json.loads(ended.stdout), program.work

    return answer


def assert_same_tables(spark: SparkSession, theirs: Mapping[str, str], ours: Mapping[str, str]) -> None:
    for name in ours:
        far, near = (spark.read.parquet(paths[name]) for paths in (theirs, ours))
        assertSchemaEqual(far.schema, near.schema)
        assertDataFrameEqual(far, near)


@pytest.mark.kafka
def test_history_on_a_cluster_is_that_of_one_process(
    cluster: Standalone, far: Far, real_log: RealLog, spark: SparkSession, tmp_path: Path
) -> None:
    answer, work = far("history", data=str(real_log.data))
    assert answer["driver"].startswith(str(tmp_path / "installed"))
    # Workers have the packages that the driver sent, and work in separate directories.
    works = tuple(map(str, cluster.work))
    assert {worker["cwd"].startswith(works) for worker in answer["workers"]} == {True}
    assert {"kohort.zip" in worker["file"] for worker in answer["workers"]} == {True}
    near = run_history(spark, Logs(paths=(str(real_log.data),)), str(tmp_path / "near"))
    assert answer["records"] == near.records > 500
    assert answer["by_key_version"] == {str(key): count for key, count in near.by_key_version.items()}
    assert answer["quarantined"] == near.quarantined_total
    for name in TABLES:
        theirs, ours = (read(spark, out, name) for out in (str(work / "tables"), near.out))
        assertSchemaEqual(theirs.schema, ours.schema)
        assertDataFrameEqual(theirs, ours)


def test_rehearsals_on_a_cluster_are_those_of_one_process(
    far: Far, spark: SparkSession, kohort: Kohort, snapshot: Path, tmp_path: Path
) -> None:
    answer, _ = far("rehearsals", snapshot=str(snapshot), variations=VARIATIONS)
    variations = tuple(Variation(**variation) for variation in VARIATIONS)
    settings = RehearsalSettings(planned=PLANNED, seeds=SEEDS, variations=variations)
    near = rehearse_fleet(spark, Snapshots(paths=(str(snapshot),)), settings, out=str(tmp_path / "near"))
    assert (answer["rehearsals"], answer["failures"]) == (list(near.rehearsals), list(near.failures))
    assert_same_tables(spark, answer["paths"], near.paths)
    runs = spark.read.parquet(answer["paths"]["runs"]).where("group = 'billing'")
    verdicts = {(row["settings"], row["seed"]): row["verdict"] for row in runs.collect()}
    assert len(verdicts) == len(variations) * len(SEEDS)
    assert {verdicts[Variation(settings=RESTLESS).text, seed] for seed in SEEDS} == {"safe", "unsafe"}


def test_simulations_on_a_cluster_are_those_of_one_process(
    far: Far, spark: SparkSession, tmp_path: Path
) -> None:
    answer, _ = far("simulations", rule=RULE)
    cases = [
        case(name, variant, session_timeout_ms="12000")
        for name in ("repeated-requests", "standard")
        for variant in (Variant.COOPERATIVE, Variant.CONSUMER)
    ]
    near = simulate(spark, cases, range(1, 17), RunOptions(break_rule=RULE), out=str(tmp_path / "near"))
    assert (answer["verdicts"], answer["failures"]) == (dict(near.verdicts), list(near.failures))
    assert_same_tables(spark, answer["paths"], near.paths)
    assert answer["failures"][0]["verdict"] == "fallen"
