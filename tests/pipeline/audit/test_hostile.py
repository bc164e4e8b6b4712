"""Files that no one would write by hand, and directories of other programs."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from migration.model import Destination
from pipeline.audit import AuditSettings, Snapshots, audit
from pipeline.audit.run import read_table
from pipeline.store import NotATableStore

SETTINGS = AuditSettings(destinations=(Destination.CONSUMER,))
MEMBER = {"id": "m", "client": {"library": "java", "version": "4.3.1"}, "protocols": ["range"]}


def snapshot(file: Path, topics: dict[str, int], groups: dict[str, list[dict[str, object]]]) -> None:
    """Write a snapshot of settled classic groups."""
    tree = {
        "kohort": 1,
        "topics": {name: {"partitions": count} for name, count in topics.items()},
        "groups": {
            name: {"state": "Stable", "protocol_type": "consumer", "protocol": "range", "members": members}
            for name, members in groups.items()
        },
    }
    file.write_text(json.dumps(tree, ensure_ascii=False))


def test_one_group_does_not_end_the_audit_of_the_others(spark: SparkSession, tmp_path: Path) -> None:
    owned = {"t": [0]}
    snapshot(
        tmp_path / "a.json",
        {"t": 1, "huge": 2**31 - 1},
        {
            "zahlungen-für-Łódź-😀": [{**MEMBER, "subscription": {"topics": ["t"]}, "owned": owned}],
            "huge": [{**MEMBER, "subscription": {"topics": ["huge"]}, "owned": {"huge": [0]}}],
            "two-owners": [
                {**MEMBER, "id": name, "subscription": {"topics": ["t"]}, "owned": owned} for name in "ab"
            ],
        },
    )
    snapshot(
        tmp_path / "b.json",
        {"no name!": 1, "t": 1},
        {"odd": [{**MEMBER, "subscription": {"regex": ".*"}, "owned": owned}]},
    )
    run = audit(spark, [Snapshots(paths=(str(tmp_path),))], SETTINGS)
    assert {row["group"] for row in run.audit.collect()} == {"zahlungen-für-Łódź-😀", "two-owners"}
    result = {Path(each.file).name: each.reason for each in run.quarantined}
    assert result["a.json"].startswith("the group huge cannot be judged: ")
    assert "2,147,483,647 partitions" in result["a.json"]
    assert (
        "the group odd cannot be judged: ValueError: 'no name!' is not a valid topic name" in result["b.json"]
    )


def test_an_unreadable_group_does_not_end_the_audit_of_the_rest(spark: SparkSession, tmp_path: Path) -> None:
    wanted = {"subscription": {"topics": ["t"]}, "owned": {"t": [0]}}
    file = tmp_path / "a.json"
    snapshot(
        file,
        {"t": 2},
        {
            "good": [{**MEMBER, **wanted}],
            "bad": [{**MEMBER, **wanted, "id": "twice", "owned": {"t": [1, 1]}}],
        },
    )
    tree = json.loads(file.read_text())
    tree["topics"]["t"]["racks"] = {"0": ["a"]}
    file.write_text(json.dumps(tree, indent=1))
    run = audit(spark, [Snapshots(paths=(str(tmp_path),))], SETTINGS)
    assert {row["group"] for row in run.audit.collect()} == {"good"}
    racks, bad = sorted((each.reason for each in run.quarantined), key=lambda reason: "groups" in reason)
    assert "topics.t.racks: partition 1 is missing, so the racks of this topic are not used" in racks
    assert bad.startswith("line ")
    assert bad.endswith(
        "groups.bad.members[0].owned.t: a number is listed twice: 1; list it once (member 'twice')"
    )


def test_an_empty_fleet_has_an_empty_audit(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    run = audit(spark, [Snapshots(paths=(str(tmp_path),))], SETTINGS, out=str(tmp_path / "out"))
    assert (run.groups, run.verdicts, run.first) == (0, {"consumer": {}}, {"consumer": ()})
    assert (run.audit.count(), run.regexes.count(), run.quarantined_total) == (0, 0, 0)


def test_an_audit_replaces_its_own_tables_and_no_others(spark: SparkSession, tmp_path: Path) -> None:
    fleet, out = tmp_path / "fleet", tmp_path / "out"
    fleet.mkdir()
    wanted = {"subscription": {"topics": ["t"]}, "owned": {"t": [0]}}
    snapshot(fleet / "a.json", {"t": 1}, {"first": [{**MEMBER, **wanted}]})
    first = audit(spark, [Snapshots(paths=(str(fleet),))], SETTINGS, out=str(out))
    rows = first.audit.collect()
    assert [row["group"] for row in rows] == ["first"]
    again = audit(spark, [Snapshots(paths=(str(fleet),))], SETTINGS, out=str(out))
    assertDataFrameEqual(read_table(spark, "audit", again.paths["audit"]), rows)
    assert sorted(path.name for path in out.iterdir()) == [
        "audit",
        "audit.json",
        "audit_regexes",
        "quarantine",
    ]
    assert [path.name for path in (out / "audit").iterdir()] == ["run=2"]

    with pytest.raises(FileNotFoundError, match="nowhere"):
        audit(spark, [Snapshots(paths=(str(fleet / "nowhere"),))], SETTINGS, out=str(out))
    assert spark.read.parquet(str(out / "audit")).count() == 1

    with pytest.raises(NotATableStore, match=r"no tables of an audit, but a\.json"):
        audit(spark, [Snapshots(paths=(str(fleet),))], SETTINGS, out=str(fleet))
    (out / "audit.json").write_text("[]")
    with pytest.raises(NotATableStore, match=r"audit\.json is not what an audit writes"):
        audit(spark, [Snapshots(paths=(str(fleet),))], SETTINGS, out=str(out))
