"""On a standalone cluster of two workers the tables are those of one machine, and a failing seed replays here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from coordinator.simulation.run import run
from coordinator.simulation.scenario import Variant
from coordinator.simulation.shipped import shipped_scenario
from coordinator.simulation.variants import with_settings
from pipeline.simulation import RunOptions, simulate
from pipeline.simulation.schemas import TABLES
from tests.pipeline.simulation.test_simulate import RULE, case
from tests.pipeline.standalone import Standalone, answer_of, standalone
from tests.support.long import LONG

pytestmark = LONG

DRIVER = """
import json
from coordinator.simulation.scenario import Variant
from coordinator.simulation.seeds import always
from coordinator.simulation.variants import with_settings
from coordinator.simulation.shipped import shipped_scenario
from pipeline.session import SessionSettings, session
from pipeline.simulation import Case, RunOptions, simulate

cases = [
    Case(called=name, name=name, scenario_of=always(shipped_scenario(name)), variant=variant,
         settings={{"session.timeout.ms": "12000"}})
    for name in ("repeated-requests", "standard")
    for variant in (Variant.COOPERATIVE, Variant.CONSUMER)
]
with session(SessionSettings(master={master!r}, conf={conf!r}, input_bytes=0)) as spark:
    done = simulate(spark, cases, range(1, 17), RunOptions(break_rule={rule!r}), out="tables")
    print(json.dumps({{"paths": done.paths, "verdicts": done.verdicts, "failures": done.failures}}))
"""


@pytest.fixture(scope="module")
def cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """Give a cluster, where Spark can be had."""
    with standalone(tmp_path_factory.mktemp("standalone")) as running:
        yield running


def test_a_cluster_plays_what_one_machine_plays(
    cluster: Standalone, spark: SparkSession, tmp_path: Path
) -> None:
    far = answer_of(DRIVER.format(master=cluster.master, conf=cluster.conf(), rule=RULE), tmp_path)
    assert cluster.executors() == 2

    cases = [
        case(name, variant, session_timeout_ms="12000")
        for name in ("repeated-requests", "standard")
        for variant in (Variant.COOPERATIVE, Variant.CONSUMER)
    ]
    near = simulate(spark, cases, range(1, 17), RunOptions(break_rule=RULE), out=str(tmp_path / "near"))
    assert (far["verdicts"], far["failures"]) == (dict(near.verdicts), list(near.failures))
    for name in TABLES:
        theirs, ours = (spark.read.parquet(paths[name]) for paths in (far["paths"], near.paths))
        assertSchemaEqual(theirs.schema, ours.schema)
        assertDataFrameEqual(theirs, ours)

    # What a worker found falls here, too.
    worst = far["failures"][0]
    assert worst["verdict"] == "fallen"
    again = run(
        with_settings(shipped_scenario(worst["scenario"]), {"session.timeout.ms": "12000"}),
        worst["seed"],
        variant=Variant(worst["protocol"]),
        break_rule=RULE,
    )
    assert (worst["invariant"], worst["message"]) in {
        (each.invariant, each.message) for each in again.violations
    }
