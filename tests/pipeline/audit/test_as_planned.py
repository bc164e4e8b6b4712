"""What an audit says of a group is what `kohort plan`, `dry-run` and `validate-regex` say of it."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertSchemaEqual

from migration.clients import parse_clients
from migration.model import Destination
from pipeline.audit import AuditRun, AuditSettings, Snapshots, audit
from pipeline.audit.schemas import AUDIT, AUDIT_REGEXES
from tests.cli.command import Kohort

DESTINATIONS = ("cooperative", "consumer")
REGEXES = ("orders.*", "orders-(?!eu).*", "or(ders", ".*[a-c].*")


@pytest.fixture(scope="module")
def run(spark: SparkSession, fleet: Path) -> AuditRun:
    """Audit the fleet without declared clients."""
    return audit(spark, [Snapshots(paths=(str(fleet),))])


@pytest.fixture(scope="module")
def rows(run: AuditRun) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Give the audit's rows by file, group and destination."""
    return {
        (row["source"], row["group"], row["destination"]): row.asDict(recursive=True)
        for row in run.audit.collect()
    }


def planned(kohort: Kohort, file: str, group: str, to: str, *options: str) -> dict[str, Any]:
    """Give what `kohort plan` says of one group."""
    answer = kohort.quick("plan", group, "--to", to, "--snapshot", file, *options, "--output", "json")
    assert answer.status in (0, 1), answer.stderr
    return answer.document


def test_the_tables_have_their_schemas(run: AuditRun) -> None:
    assertSchemaEqual(run.audit.schema, AUDIT, ignoreNullable=True)
    assertSchemaEqual(run.regexes.schema, AUDIT_REGEXES, ignoreNullable=True)


def test_findings_are_those_of_a_plan(
    kohort: Kohort, rows: dict[tuple[str, str, str], dict[str, Any]]
) -> None:
    assert len(rows) > 40
    for (file, group, to), row in rows.items():
        plan = planned(kohort, file, group, to)
        assert row["verdict"] == plan["verdict"], (file, group, to)
        found = [
            (each["rule"], each["level"], each["member"], each["message"], each["remedy"], each["source"])
            for each in row["findings"]
        ]
        result = [
            (each["rule"], each["level"], each["member"], each["message"], each["remedy"], each["source"])
            for each in plan["findings"]
        ]
        assert found == result, (file, group, to)
        assert row["restarts"] == (
            sum(len(members) for step in plan["steps"] for members in step["rounds"])
            if plan["steps"]
            else None
        )


def test_a_dry_run_is_that_of_the_command(
    kohort: Kohort, rows: dict[tuple[str, str, str], dict[str, Any]]
) -> None:
    compared = 0
    for (file, group, to), row in rows.items():
        run = row["dry_run"]
        if run is None or not row["members"]:
            continue
        known = row["libraries"] in (["java"], ["librdkafka"])
        leader = ["--leader", row["libraries"][0]] if known else []
        answer = kohort.quick(
            "dry-run", group, "--assignor", run["assignor"], "--side", run["side"], "--snapshot", file, *leader,
            "--output", "json",
        )  # fmt: skip
        (result,) = answer.document["groups"]
        assert run["moved"] == sum(each["moved"] for each in result["rebalances"]), (file, group, to)
        assert run["rebalances"] == len(result["rebalances"])
        assert run["minimum_moved"] == result["minimum_moved"]
        compared += 1
    assert compared > 15


@pytest.fixture(scope="module")
def result(spark: SparkSession, fleet: Path) -> AuditRun:
    """Audit the sample as a fleet of Java clients that subscribe by regexes."""
    settings = AuditSettings(
        destinations=(Destination.CONSUMER,),
        declared=parse_clients(["java:4.3.1"]),
        regexes=REGEXES,
        with_costs=False,
    )
    return audit(spark, [Snapshots(paths=(str(fleet / "sample.yaml"),))], settings)


def test_declared_clients_count_for_every_group(kohort: Kohort, result: AuditRun) -> None:
    options = [word for regex in REGEXES for word in ("--regex", regex)]
    outcomes = set()
    for row in result.audit.collect():
        plan = planned(kohort, row["source"], row["group"], "consumer", "--client", "java:4.3.1", *options)
        assert [each["message"] for each in row["findings"]] == [each["message"] for each in plan["findings"]]
        assert row["verdict"] == plan["verdict"]
        assert (row["rank"] is None, row["gain_s"]) == (row["verdict"] == "blocked" or row["arrived"], None)
        outcomes.add((row["verdict"], row["arrived"]))
    assert outcomes == {("blocked", False), ("warnings", False), ("ready", True)}


def test_regexes_are_judged_as_the_command_does(kohort: Kohort, result: AuditRun, fleet: Path) -> None:
    found = result.regexes.where("library = 'java'").collect()
    assert {row["pattern"] for row in found} == {*REGEXES}
    for row in found:
        answer = kohort.quick(
            "validate-regex", row["pattern"], "--from", "java", "--snapshot", fleet / "sample.yaml",
            "--output", "json",
        )  # fmt: skip
        (said,) = answer.document["patterns"]
        assert (row["valid"], row["reason"]) == (said["valid"], said["reason"])
        for column in ("gained", "lost"):
            assert row[column] == said["topics"][column], row["pattern"]
        assert row["rewritten"] == said["rewrite"]
        # Java's own engine agrees with ours on what a consumer matches now.
        assert row["java_valid"] == (row["client_reason"] is None)
        assert row["java_topics"] == row["client_topics"]
        assert row["java_gained"] == row["gained"]
    assert any(row["java_gained"] for row in found)
    assert {row["java_valid"] for row in found} == {True, False}


def test_the_regexes_of_a_consumer_group_are_the_brokers(result: AuditRun) -> None:
    found = {row["pattern"]: row for row in result.regexes.where("group = 'audit'").collect()}
    own = found["^audit-.*"]
    assert (own["members"] > 0, own["library"], own["client_topics"]) == (True, None, None)
    assert (own["broker_topics"], own["java_topics"], own["java_gained"], own["java_lost"]) == (2, 2, [], [])


def test_other_files_are_quarantined(run: AuditRun, fleet: Path) -> None:
    result = {Path(each.file).name: each.reason for each in run.quarantined}
    assert result == {
        "broken.yaml": "line 5: groups.g.members[0].id: is missing",
        "bytes.yaml": "not a text file in UTF-8 (byte 9)",
        "other.json": "line 1: kohort: missing: this is not a snapshot; `kohort snapshot` writes one",
    }
    assert run.quarantined_total == 3


def test_the_summary_is_of_the_table(run: AuditRun, rows: dict[tuple[str, str, str], dict[str, Any]]) -> None:
    assert run.groups == len({(file, group) for file, group, _ in rows})
    for to in DESTINATIONS:
        mine = [row for row in rows.values() if row["destination"] == to]
        outcomes = [
            "arrived" if row["arrived"] and row["verdict"] != "blocked" else row["verdict"] for row in mine
        ]
        assert run.verdicts[to] == {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
        rules = [rule for row in mine for rule in row["blocked_by"]]
        assert run.blocked_by[to] == {rule: rules.count(rule) for rule in set(rules)}
        ranked = sorted((row for row in mine if row["rank"] is not None), key=lambda row: row["rank"])
        assert [each.group for each in run.first[to]] == [row["group"] for row in ranked]
        assert [row["rank"] for row in ranked] == list(range(1, len(ranked) + 1))
        scores = [row["score"] for row in ranked if row["score"] is not None]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) > 2
        assert all(row["verdict"] != "blocked" and not row["arrived"] for row in ranked)
