"""An audit's tables and sums, which Spark computes; the order of migration, and the results of Java's own engine."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from migration.model import Destination
from pipeline.audit.java_regexes import matched
from pipeline.audit.judge import UNRANKED, AuditSettings
from pipeline.audit.run import CAN_MIGRATE, Snapshots, audit, ranked
from pipeline.audit.schemas import AUDIT, AUDIT_REGEXES
from pipeline.store import NotATableStore
from tests.pipeline.audit.test_as_planned import CONSUMER, MEMBER, OF_JAVA, snapshot
from tests.pipeline.report.tables import rows_as


def test_the_summary_is_of_the_table(spark: SparkSession, fleet: Path) -> None:
    run = audit(spark, [Snapshots(paths=(str(fleet),))])
    assertSchemaEqual(run.audit.schema, AUDIT, ignoreNullable=True)
    assertSchemaEqual(run.regexes.schema, AUDIT_REGEXES, ignoreNullable=True)
    rows = [row.asDict(recursive=True) for row in run.audit.collect()]
    assert run.groups == len({(row["source"], row["group"]) for row in rows})
    assert (len(run.quarantined), run.quarantined_total) == (3, 3)
    for to in (destination.value for destination in (Destination.COOPERATIVE, Destination.CONSUMER)):
        mine = [row for row in rows if row["destination"] == to]
        outcomes = [
            "arrived" if row["arrived"] and row["verdict"] in CAN_MIGRATE else row["verdict"] for row in mine
        ]
        assert run.verdicts[to] == {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
        rules = [rule for row in mine for rule in row["blocked_by"]]
        assert run.blocked_by[to] == {rule: rules.count(rule) for rule in set(rules)}
        in_order = sorted((row for row in mine if row["rank"] is not None), key=lambda row: row["rank"])
        assert [group.group for group in run.first[to]] == [row["group"] for row in in_order]
        assert [row["rank"] for row in in_order] == list(range(1, len(in_order) + 1))
        scores = [row["score"] for row in in_order if row["score"] is not None]
        assert len(scores) > 2
        assert scores == sorted(scores, reverse=True)
        assert all(row["verdict"] in CAN_MIGRATE and not row["arrived"] for row in in_order)


def test_javas_own_engine_agrees_on_what_a_consumer_matches(spark: SparkSession, fleet: Path) -> None:
    run = audit(spark, [Snapshots(paths=(str(fleet / "sample.yaml"),))], OF_JAVA)
    for row in (rows := run.regexes.where("library = 'java'").collect()):
        assert row["java_valid"] == (row["client_reason"] is None)
        assert (row["java_topics"], row["java_gained"]) == (row["client_topics"], row["gained"])
    assert any(row["java_gained"] for row in rows)
    assert {row["java_valid"] for row in rows} == {True, False}
    (row,) = run.regexes.where("group = 'audit' and pattern = '^audit-.*'").collect()
    assert (row["members"] > 0, row["library"], row["client_topics"]) == (True, None, None)
    assert (row["broker_topics"], row["java_topics"], row["java_gained"], row["java_lost"]) == (2, 2, [], [])


def test_javas_own_engine_matches_whole_names(spark: SparkSession) -> None:
    names = ["orders", "orders-eu", "order", "a.b", "__consumer_offsets", "x)y"]
    expected: dict[str, tuple[bool, list[str] | None]] = {
        "orders": (True, ["orders"]),
        "order|orders": (True, ["order", "orders"]),
        "orders.*": (True, ["orders", "orders-eu"]),
        "orders(?!-eu).*": (True, ["orders"]),
        "(?x) orders  # all of them": (True, ["orders"]),
        "\\Qa.b": (True, ["a.b"]),
        "\\Qx)y": (True, ["x)y"]),
        ".*__.*": (True, None),
        "nothing": (True, None),
        "(?<=x)y|[": (False, None),
        "a)|(?:b": (False, None),
        "*": (False, None),
    }
    patterns = spark.createDataFrame([("s", text) for text in expected], "source string, pattern string")
    topics = spark.createDataFrame(
        [("s", name) for name in names] + [("t", "order")], "source string, name string"
    )
    rows = matched(patterns, topics).collect()
    assert {
        row["pattern"]: (row["java_valid"], row["java_names"] and sorted(row["java_names"])) for row in rows
    } == expected


def order_of(spark: SparkSession, *groups: dict[str, Any]) -> list[tuple[Any, ...]]:
    rows = [{"source": "s", "destination": "consumer", "verdict": "ready"} | group for group in groups]
    table = ranked(rows_as(spark, UNRANKED, rows)).orderBy("destination", "rank", "group")
    return [(row["group"], row["risk"], row["score"], row["rank"]) for row in table.collect()]


def test_groups_are_ranked_by_gain_against_risk(spark: SparkSession) -> None:
    warned = {"verdict": "warnings", "warned_by": ["a", "b"]}
    assert order_of(
        spark,
        {"group": "risky", "gain_s": 90.0, "without_owner_s": 9.0, **warned},
        {"group": "cheap", "gain_s": 10.0, "without_owner_s": 0.0},
        {"group": "costly", "gain_s": 10.0, "without_owner_s": 99.0},
        {"group": "worse", "gain_s": -5.0, "without_owner_s": 0.0},
        {"group": "untold", "gain_s": None, "without_owner_s": None},
        {"group": "blocked", "gain_s": 1000.0, "verdict": "blocked", "blocked_by": ["a"]},
        {"group": "there", "gain_s": 0.0, "arrived": True},
        {"group": "unknown", "gain_s": 1000.0, "verdict": "unknown", "blocked_by": ["a"]},
    ) == [
        ("blocked", None, None, None),
        ("there", None, None, None),
        ("unknown", None, None, None),
        ("cheap", 1.0, 10.0, 1),
        ("risky", 30.0, 3.0, 2),
        ("costly", 100.0, 0.1, 3),
        ("worse", 1.0, -5.0, 4),
        ("untold", None, None, 5),
    ]
    same = {"gain_s": 1.0, "without_owner_s": 0.0}
    order = order_of(
        spark,
        {"group": "b", **same},
        {"group": "a", **same},
        {"group": "a", "source": "r", **same},
        {"group": "a", "destination": "cooperative", **same},
    )
    assert [(group, rank) for group, _, _, rank in order] == [("a", 1), ("a", 2), ("b", 3), ("a", 1)]


def test_an_empty_fleet_has_an_empty_audit(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    run = audit(spark, [Snapshots(paths=(str(tmp_path),))], CONSUMER, out=str(tmp_path / "out"))
    assert (run.groups, run.verdicts, run.first) == (0, {"consumer": {}}, {"consumer": ()})
    assert (run.audit.count(), run.regexes.count(), run.quarantined_total) == (0, 0, 0)


def test_an_audit_replaces_its_own_tables_and_no_others(spark: SparkSession, tmp_path: Path) -> None:
    fleet, out = tmp_path / "fleet", tmp_path / "out"
    fleet.mkdir()
    member: dict[str, object] = {**MEMBER, "subscription": {"topics": ["t"]}, "owned": {"t": [0]}}
    snapshot(fleet / "a.json", {"t": {"partitions": 1}}, {"first": [member]})

    def audited(path: Path, into: Path = out, settings: AuditSettings = CONSUMER) -> Any:
        return audit(spark, [Snapshots(paths=(str(path),))], settings, out=str(into))

    rows = audited(fleet).audit.collect()
    assert [row["group"] for row in rows] == ["first"]
    assertDataFrameEqual(spark.read.schema(AUDIT).parquet(audited(fleet).paths["audit"]), rows)
    assert sorted(path.name for path in out.iterdir()) == [
        "audit",
        "audit.json",
        "audit_regexes",
        "quarantine",
    ]
    assert [path.name for path in (out / "audit").iterdir()] == ["run=2"]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        audited(fleet / "nowhere")
    assert spark.read.parquet(str(out / "audit")).count() == 1
    with pytest.raises(NotATableStore, match=r"no tables of an audit, but a\.json"):
        audited(fleet, fleet)
    (out / "audit.json").write_text("[]")
    with pytest.raises(NotATableStore, match=r"audit\.json is not what an audit writes"):
        audited(fleet)
