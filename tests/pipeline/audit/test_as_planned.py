"""What an audit says of a group is what `kohort plan`, `dry-run` and `validate-regex` say of it; without Spark."""

import json
from pathlib import Path
from typing import Any

import pytest

from migration.clients import parse_clients
from migration.model import Destination
from pipeline.audit.judge import AuditSettings
from tests.cli.command import Kohort
from tests.pipeline.audit.conftest import Judged, judged

CONSUMER = AuditSettings(destinations=(Destination.CONSUMER,))
REGEXES = ("orders.*", "orders-(?!eu).*", "or(ders", ".*[a-c].*")
OF_JAVA = AuditSettings(
    destinations=(Destination.CONSUMER,),
    declared=parse_clients(["java:4.3.1"]),
    regexes=REGEXES,
    with_costs=False,
)
"""A fleet of Java clients that subscribe by regexes."""
FINDING = ("rule", "level", "member", "message", "remedy", "source")
MEMBER = {"id": "m", "client": {"library": "java", "version": "4.3.1"}, "protocols": ["range"]}


@pytest.fixture(scope="module")
def rows(fleet: Path) -> Judged:
    return judged(fleet, AuditSettings())


@pytest.fixture(scope="module")
def declared(fleet: Path) -> Judged:
    return judged(fleet / "sample.yaml", OF_JAVA)


def planned(kohort: Kohort, row: dict[str, Any], *options: str) -> dict[str, Any]:
    line = ("plan", row["group"], "--to", row["destination"], "--snapshot", row["source"])
    answer = kohort.quick(*line, *options, "--output", "json")
    assert answer.status in (0, 1), answer.stderr
    return answer.document


def test_findings_are_those_of_a_plan(kohort: Kohort, rows: Judged) -> None:
    assert len(rows["audit"]) > 40
    for row in rows["audit"]:
        plan = planned(kohort, row)
        assert row["verdict"] == plan["verdict"], row
        of_row, of_plan = (
            [[finding[name] for name in FINDING] for finding in result["findings"]] for result in (row, plan)
        )
        assert of_row == of_plan, row
        members = [members for step in plan["steps"] for members in step["rounds"]]
        assert row.get("restarts") == (sum(map(len, members)) if plan["steps"] else None)


def test_a_dry_run_is_that_of_the_command(kohort: Kohort, rows: Judged) -> None:
    compared = 0
    for row in rows["audit"]:
        run = row.get("dry_run")
        if run is None or not row["members"]:
            continue
        known = row["libraries"] in (["java"], ["librdkafka"])
        leader = ["--leader", row["libraries"][0]] if known else []
        answer = kohort.quick(
            "dry-run", row["group"], "--assignor", run["assignor"], "--side", run["side"],
            "--snapshot", row["source"], *leader, "--output", "json",
        )  # fmt: skip
        (result,) = answer.document["groups"]
        assert run["moved"] == sum(rebalance["moved"] for rebalance in result["rebalances"]), row
        assert run["rebalances"] == len(result["rebalances"])
        assert run["minimum_moved"] == result["minimum_moved"]
        compared += 1
    assert compared > 15


def test_declared_clients_count_for_every_group(kohort: Kohort, declared: Judged) -> None:
    options = [word for regex in REGEXES for word in ("--regex", regex)]
    for row in declared["audit"]:
        plan = planned(kohort, row, "--client", "java:4.3.1", *options)
        assert [finding["message"] for finding in row["findings"]] == [
            finding["message"] for finding in plan["findings"]
        ]
        assert row["verdict"] == plan["verdict"]
    assert {(row["verdict"], row["arrived"]) for row in declared["audit"]} == {
        ("blocked", False),
        ("warnings", False),
        ("ready", True),
    }


def test_regexes_are_judged_as_the_command_does(kohort: Kohort, declared: Judged, fleet: Path) -> None:
    of_java = [row for row in declared["regex"] if row["library"] == "java"]
    assert {row["pattern"] for row in of_java} == {*REGEXES}
    for row in {row["pattern"]: row for row in of_java}.values():
        answer = kohort.quick(
            "validate-regex", row["pattern"], "--from", "java", "--snapshot", fleet / "sample.yaml",
            "--output", "json",
        )  # fmt: skip
        (said,) = answer.document["patterns"]
        assert (row["valid"], row["reason"]) == (said["valid"], said["reason"])
        assert (row["gained"], row["lost"]) == (said["topics"]["gained"], said["topics"]["lost"])
        assert row["rewritten"] == said["rewrite"]


def test_other_files_are_quarantined(rows: Judged) -> None:
    assert {Path(row["file"]).name: row["reason"] for row in rows["quarantined"]} == {
        "broken.yaml": "line 5: groups.g.members[0].id: is missing",
        "bytes.yaml": "not a text file in UTF-8 (byte 9)",
        "other.json": "line 1: kohort: missing: this is not a snapshot; `kohort snapshot` writes one",
    }


def snapshot(file: Path, topics: dict[str, Any], groups: dict[str, list[dict[str, object]]]) -> None:
    of_groups = {
        name: {"state": "Stable", "protocol_type": "consumer", "protocol": "range", "members": members}
        for name, members in groups.items()
    }
    tree = {"kohort": 1, "topics": topics, "groups": of_groups}
    file.write_text(json.dumps(tree, ensure_ascii=False, indent=1))


def test_one_group_does_not_end_the_audit_of_the_others(tmp_path: Path) -> None:
    owned = {"subscription": {"topics": ["t"]}, "owned": {"t": [0]}}
    snapshot(
        tmp_path / "a.json",
        {"t": {"partitions": 2, "racks": {"0": ["a"]}}, "huge": {"partitions": 2**31 - 1}},
        {
            "zahlungen-für-Łódź-😀": [{**MEMBER, **owned}],
            "huge": [{**MEMBER, "subscription": {"topics": ["huge"]}, "owned": {"huge": [0]}}],
            "two-owners": [{**MEMBER, **owned, "id": name} for name in "ab"],
            "twice": [{**MEMBER, **owned, "owned": {"t": [1, 1]}}],
        },
    )
    odd = {"odd": [{**MEMBER, **owned, "subscription": {"regex": ".*"}}]}
    snapshot(tmp_path / "b.json", {"no name!": {"partitions": 1}, "t": {"partitions": 1}}, odd)
    rows = judged(tmp_path, CONSUMER)
    assert {row["group"] for row in rows["audit"]} == {"zahlungen-für-Łódź-😀", "two-owners"}
    reasons = " | ".join(row["reason"] for row in rows["quarantined"])
    for reason in (
        "the group huge cannot be judged: ",
        "2,147,483,647 partitions",
        "the group odd cannot be judged: ValueError: 'no name!' is not a valid topic name",
        "topics.t.racks: partition 1 is missing, so the racks of this topic are not used",
        "groups.twice.members[0].owned.t: a number is listed twice: 1; list it once (member 'm')",
    ):
        assert reason in reasons
