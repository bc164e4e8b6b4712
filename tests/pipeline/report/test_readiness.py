"""An audit in numbers."""

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from pipeline.audit.schemas import AUDIT
from pipeline.report.measure import MOST_CANDIDATES, MOST_REASONS, numbers_of
from pipeline.report.numbers import Candidate
from tests.cli.verbs.fleet.test_report_page import history_page
from tests.pipeline.report.tables import rows_as

MADE = datetime(2026, 4, 1, tzinfo=UTC)


def _finding(rule: str, level: str, message: str) -> dict[str, Any]:
    return {
        "rule": rule, "level": level, "message": message, "remedy": "", "source": "", "member": None, "members": [],
    }  # fmt: skip


def _group(group: str, verdict: str, destination: str = "consumer", **more: Any) -> dict[str, Any]:
    return {"source": "s.yaml", "group": group, "destination": destination, "verdict": verdict} | more


ROWS = [
    _group("b", "blocked", blocked_by=["regex"], findings=[_finding("regex", "blocker", "of b")]),
    _group(
        "a",
        "blocked",
        blocked_by=["library", "regex"],
        warned_by=["static"],
        findings=[_finding("library", "blocker", "old"), _finding("regex", "blocker", "of a")],
    ),
    _group("c", "warnings", warned_by=["static"], findings=[_finding("static", "warning", "of c")], rank=2),
    _group("d", "ready", rank=1, cluster="k", path="rolling", restarts=3, moved=4, gain_s=2.5, risk=0.25),
    _group("f", "unknown"),
    _group("e", "ready", arrived=True, blocked_by=["never counted"]),
    _group("d", "ready", destination="cooperative", rank=1),
]


def test_verdicts_reasons_and_order(spark: SparkSession) -> None:
    consumer, cooperative = numbers_of({"audit": rows_as(spark, AUDIT, ROWS)}, made=MADE).readiness
    assert (cooperative.destination, cooperative.groups, cooperative.verdicts) == (
        "cooperative",
        1,
        (1, 0, 0, 0),
    )
    assert cooperative.reasons == ()
    assert (consumer.destination, consumer.groups, consumer.arrived) == ("consumer", 6, 1)
    assert consumer.verdicts == (1, 1, 2, 1)
    assert [(reason.rule, reason.level, reason.groups) for reason in consumer.reasons] == [
        ("regex", "blocker", 2),
        ("library", "blocker", 1),
        ("static", "warning", 2),
    ]
    assert [(reason.example, reason.message) for reason in consumer.reasons] == [
        ("a", "of a"),
        ("a", "old"),
        ("a", ""),
    ]
    assert [candidate.group for candidate in consumer.first] == ["d", "c"]
    assert consumer.first[0] == Candidate(
        rank=1, group="d", source="s.yaml", cluster="k", verdict="ready", path="rolling", restarts=3, moved=4,
        gain_s=2.5, risk=0.25,
    )  # fmt: skip


def test_an_audit_of_nothing(spark: SparkSession) -> None:
    numbers = numbers_of({"audit": rows_as(spark, AUDIT, [])}, made=MADE)
    assert numbers.readiness == ()
    assert numbers.totals is None


def test_a_big_fleet_has_no_more_numbers(spark: SparkSession) -> None:
    rules = [f"rule-{number}" for number in range(2 * MOST_REASONS)]
    rows = [_group(f"g{number}", "blocked", blocked_by=rules) for number in range(50)]
    rows += [_group(f"r{number}", "ready", rank=number + 1) for number in range(2 * MOST_CANDIDATES)]
    numbers = numbers_of({"audit": rows_as(spark, AUDIT, rows)}, made=MADE)
    (readiness,) = numbers.readiness
    assert len(readiness.reasons) == MOST_REASONS
    assert [candidate.rank for candidate in readiness.first] == list(range(1, MOST_CANDIDATES + 1))
    assert "By reason" in history_page(numbers)
