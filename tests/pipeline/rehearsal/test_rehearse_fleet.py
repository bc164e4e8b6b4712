"""Every group of the sample, planned and rehearsed: as one by one, and in which order."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from pathlib import Path

from pyspark.sql import SparkSession

from cli.errors import ExitStatus
from cli.verbs.fleet.rehearse import status_of
from migration.model import Destination
from pipeline.audit import AuditSettings, Snapshots, audit
from pipeline.rehearsal import Terms, rehearse_fleet
from pipeline.rehearsal.run import ORDER
from pipeline.rehearsal.schemas import FIGURES
from tests.cli.command import Kohort
from tests.cli.conftest import kohort as kohort


def test_every_group_of_the_sample(spark: SparkSession, kohort: Kohort, tmp_path: Path) -> None:
    directory = tmp_path / "snapshots"
    directory.mkdir()
    assert kohort.quick("demo", tmp_path / "sample").status == 0
    assert kohort.quick("snapshot --embedded", tmp_path / "sample", "-o", directory / "a.yaml").status == 0
    (directory / "b.yaml").write_text("groups: [")
    planned = AuditSettings(destinations=(Destination.CONSUMER,))
    run = rehearse_fleet(
        spark, Snapshots(paths=(str(directory),)), Terms(planned=planned), out=str(tmp_path / "out")
    )
    assert [Path(row["file"]).name for row in run.quarantined] == ["b.yaml"]
    judged = audit(spark, [Snapshots(paths=(str(directory),))], planned).audit.collect()
    assert {row["group"] for row in run.rehearsals} == {row["group"] for row in judged}
    blocked = {row["group"]: row["blocked_by"] for row in judged if row["verdict"] == "blocked"}
    assert {row["group"]: row["why"] for row in run.rehearsals if row["verdict"] == "blocked"} == blocked
    safe = [row for row in run.rehearsals if row["verdict"] == "safe"]
    assert [row["rank"] for row in safe] == list(range(1, len(safe) + 1))
    assert len(safe) > 2
    assert sorted(safe, key=lambda row: [row[name] for name in ORDER]) == safe
    assert all(row["rank"] is None for row in run.rehearsals if row["verdict"] != "safe")
    # As one by one.
    first = safe[0]
    plan = kohort.quick(
        f"plan {first['group']} --to consumer --embedded", tmp_path / "sample", "--output", "json"
    )
    (tmp_path / "plan.json").write_text(plan.stdout)
    alone = kohort.quick(
        "rehearse", tmp_path / "plan.json", "--embedded", tmp_path / "sample", "--output", "json"
    )
    assert alone.status == 0
    rounds = alone.document["rounds"]
    assert len(rounds) == first["rounds"]
    for name in FIGURES:
        # The document of one rehearsal has each round's figures to a tenth.
        least, most = (sum(each[name] for each in rounds) + way * 0.05 * len(rounds) for way in (-1, 1))
        assert least <= first[name] <= most, name
    assert round(sum(each["gate_open_after_s"] for each in rounds), 1) == first["duration_s"]


def test_a_group_whose_code_throws_is_a_row_and_ends_nothing(
    spark: SparkSession, kohort: Kohort, tmp_path: Path
) -> None:
    assert kohort.quick("demo", tmp_path / "sample").status == 0
    saved = tmp_path / "a.yaml"
    assert kohort.quick("snapshot --embedded", tmp_path / "sample", "-o", saved).status == 0
    whole = AuditSettings(destinations=(Destination.CONSUMER,))
    seen = rehearse_fleet(spark, Snapshots(paths=(str(saved),)), Terms(planned=whole)).rehearsals
    poisoned = Terms(planned=replace(whole, bounce_s=nan))
    run = rehearse_fleet(spark, Snapshots(paths=(str(saved),)), poisoned)
    threw = {row["group"]: row["why"] for row in run.rehearsals if row["verdict"] == "threw"}
    assert len(run.rehearsals) == len(seen)
    assert 0 < len(threw) < len(seen)
    assert all("Error: " in why for (why,) in threw.values())
    assert status_of(run) is ExitStatus.FALSE
    assert run.quarantined == []
