"""Groups from logs: the same as `kohort plan --log-dir` finds, for any way of naming the directories."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from migration.model import Destination
from pipeline.audit.judge import AuditSettings
from pipeline.audit.run import AuditRun, audit
from pipeline.history import Logs
from tests.cli.command import Kohort
from tests.coordinator.store.real_log import RealLog

SETTINGS = AuditSettings(destinations=(Destination.CONSUMER,))


def verdicts(run: AuditRun) -> dict[str, tuple[Any, ...]]:
    return {
        row["group"]: (
            row["type"],
            row["protocol"],
            row["verdict"],
            [finding["message"] for finding in row["findings"]],
        )
        for row in run.audit.collect()
    }


@pytest.fixture(scope="module")
def sample(kohort: Kohort, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sample")
    answer = kohort("demo", directory)
    assert answer.status == 0, answer.stderr
    return directory


@pytest.fixture(scope="module")
def of_sample(kohort: Kohort, sample: Path) -> dict[str, tuple[Any, ...]]:
    options = ("--log-dir", sample, "--output", "json")
    listed = {group["group"]: group for group in kohort.quick("list", *options).document["groups"]}
    plans = kohort.quick("plan", "--all-groups", "--to", "consumer", *options).document["plans"]
    return {
        plan["group"]: (
            listed[plan["group"]]["type"],
            listed[plan["group"]]["protocol"],
            plan["verdict"],
            [finding["message"] for finding in plan["findings"]],
        )
        for plan in plans
    }


def test_a_real_log_is_judged_as_plan_does(spark: SparkSession, kohort: Kohort, real_log: RealLog) -> None:
    run = audit(spark, [Logs(paths=(str(real_log.data),))], SETTINGS)
    rows = {row["group"]: row for row in run.audit.collect()}
    options = ("--log-dir", real_log.data, "--output", "json")
    listed = kohort.quick("list", *options).document["groups"]
    assert {name: row["members"] for name, row in rows.items()} == {
        entry["group"]: entry["members"] for entry in listed
    }
    assert len(rows) > 20
    answer = kohort.quick("plan", "--all-groups", "--to", "consumer", *options)
    plans = {plan["group"]: plan for plan in answer.document["plans"]}
    assert plans.keys() == rows.keys()
    for name, row in rows.items():
        plan = plans[name]
        assert (row["verdict"], [finding["message"] for finding in row["findings"]]) == (
            plan["verdict"],
            [finding["message"] for finding in plan["findings"]],
        ), name
    assert {row["type"] for row in rows.values()} >= {"classic", "consumer", "share"}
    regexes = {row["group"]: row for row in run.regexes.collect()}
    assert set(regexes) == {name for name in rows if "regex" in name and rows[name]["members"]}
    for row in regexes.values():
        assert (row["valid"], row["java_valid"], row["java_topics"]) == (True, True, row["broker_topics"])


def test_the_partitions_may_be_named_one_by_one(
    spark: SparkSession, sample: Path, of_sample: dict[str, tuple[Any, ...]]
) -> None:
    partitions = sorted(map(str, sample.glob("__consumer_offsets-*")))
    assert partitions
    assert verdicts(audit(spark, [Logs(paths=tuple(partitions))], SETTINGS)) == of_sample
    assert {"billing", "fraud"} <= of_sample.keys()


def test_damaged_logs_are_quarantined_and_the_rest_is_judged(
    spark: SparkSession, sample: Path, of_sample: dict[str, tuple[Any, ...]], tmp_path: Path
) -> None:
    broken = tmp_path / "data"
    shutil.copytree(sample, broken)
    segments = [
        path for path in sorted(broken.glob("__consumer_offsets-*/*.log")) if path.stat().st_size > 200
    ]
    torn, bad = segments[0], segments[-1]
    assert torn.parent != bad.parent
    torn.write_bytes(torn.read_bytes() + b"\0" * 7)
    content = bytearray(bad.read_bytes())
    content[70] ^= 0xFF
    bad.write_bytes(content)
    run = audit(spark, [Logs(paths=(str(broken),))], SETTINGS)
    results = verdicts(run)
    assert results.keys() < of_sample.keys()
    assert all(of_sample[name] == result for name, result in results.items())
    assert {damage.file for damage in run.quarantined} >= {str(torn), str(bad)}
    assert all(damage.source == str(broken) for damage in run.quarantined)
