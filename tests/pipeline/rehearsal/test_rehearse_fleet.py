"""Every group of the sample, planned and rehearsed: as one by one, in which order, and under other settings."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from migration.model import Destination
from pipeline.audit.judge import AuditSettings
from pipeline.audit.run import Snapshots, audit
from pipeline.audit.work import work_of_file
from pipeline.rehearsal.play import FIGURES, TABLES, RehearsalSettings, Variation, plan_rows, play_part
from pipeline.rehearsal.run import ORDER, rehearse_fleet
from tests.cli.command import Answer, Kohort
from tests.cli.conftest import kohort as kohort

PLANNED = AuditSettings(destinations=(Destination.CONSUMER,))
DISABLED = {"group.consumer.migration.policy": "disabled"}
"""Brokers that do not convert a group online, which every plan does: it is unsafe."""


@pytest.fixture
def snapshot(kohort: Kohort, tmp_path: Path) -> Path:
    file = tmp_path / "snapshots" / "a.yaml"
    file.parent.mkdir()
    assert kohort.quick("demo", tmp_path / "sample").status == 0
    assert kohort.quick("snapshot --embedded", tmp_path / "sample", "--file", file).status == 0
    return file


def rehearsed_again(kohort: Kohort, commands: list[str], plan: Path) -> Answer:
    """Both commands of a failure, as they are pasted into a shell, with a separate plan file."""
    planning, rehearsing = map(shlex.split, commands)
    assert planning[-2:] == [">", "PLAN.yaml"]
    plan.write_text(kohort.quick(*planning[1:-2]).succeeded().stdout)
    words = [str(plan) if word == "PLAN.yaml" else word for word in rehearsing[1:]]
    return kohort.quick(*words, "--output", "json")


def test_every_group_of_the_sample(
    spark: SparkSession, kohort: Kohort, snapshot: Path, tmp_path: Path
) -> None:
    (snapshot.parent / "b.yaml").write_text("groups: [")
    snapshots = Snapshots(paths=(str(snapshot.parent),))
    run = rehearse_fleet(spark, snapshots, RehearsalSettings(planned=PLANNED), out=str(tmp_path / "out"))
    assert set(run.paths) == set(TABLES)
    assert [Path(row["file"]).name for row in run.quarantined] == ["b.yaml"]
    judged = audit(spark, [snapshots], PLANNED).audit.collect()
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
    for name, _ in FIGURES[:-1]:
        # The document of one rehearsal has each round's figures to a tenth.
        least, most = (sum(round_[name] for round_ in rounds) + way * 0.05 * len(rounds) for way in (-1, 1))
        assert least <= first[name] <= most, name
    assert round(sum(round_["gate_open_after_s"] for round_ in rounds), 1) == first["duration_s"]


def test_every_seed_is_carried_out_as_migrate_does_it(
    spark: SparkSession, kohort: Kohort, snapshot: Path, tmp_path: Path
) -> None:
    group = frozenset({"billing"})
    terms = RehearsalSettings(planned=PLANNED, seeds=range(1, 5), groups=group, as_migrate=True)
    run = rehearse_fleet(spark, Snapshots(paths=(str(snapshot),)), terms)
    (row,) = run.rehearsals
    assert (row["verdict"], row["seeds"], row["why"]) == ("safe", 4, [])
    plan = kohort.quick("plan billing --to consumer --output json --embedded", tmp_path / "sample")
    (tmp_path / "plan.json").write_text(plan.stdout)
    words = "--as-migrate --seeds 4 --output json --embedded"
    alone = kohort.quick("rehearse", tmp_path / "plan.json", *words.split(), tmp_path / "sample").document
    ends = {(one["end"], one["rule"]): one["runs"] for one in alone["as_migrate"]["ends"]}
    assert {(one["end"], one["rule"]): one["runs"] for one in run.ends} == ends


def test_every_seed_under_every_setting(
    spark: SparkSession, kohort: Kohort, snapshot: Path, tmp_path: Path
) -> None:
    variations = (Variation(), Variation(concurrency=3, bounce_s=10.0), Variation(settings=DISABLED))
    terms = RehearsalSettings(
        planned=PLANNED, seeds=range(3, 6), variations=variations, groups=frozenset({"billing", "legacy-etl"})
    )
    run = rehearse_fleet(spark, Snapshots(paths=(str(snapshot),)), terms, out=str(tmp_path / "out"))
    usual, together, disabled = (
        {row["group"]: row for row in run.rehearsals if row["settings"] == variation.text}
        for variation in variations
    )
    assert [set(outcome) for outcome in (usual, together, disabled)] == [{"billing", "legacy-etl"}] * 3
    assert [outcome["billing"]["rounds"] for outcome in (usual, together)] == [3, 2]
    assert together["billing"]["duration_s"] < usual["billing"]["duration_s"] / 2
    assert {outcome["legacy-etl"]["verdict"] for outcome in (usual, together, disabled)} == {"blocked"}
    runs = spark.read.parquet(run.paths["runs"]).collect()
    for rows in (usual, together, disabled):
        row = rows["billing"]
        seeds = [entry for entry in runs if entry["settings"] == row["settings"]]
        assert sorted(seed["seed"] for seed in seeds) == list(terms.seeds)
        for name, _ in FIGURES:
            values = sorted(seed[name] for seed in seeds)
            assert (row[f"{name}_median"], row[name]) == (values[1], values[-1]), name
    assert [disabled["billing"][name] for name in ("seeds", "unsafe", "unsafe_seed")] == [3, 3, 3]
    # What failed is played again by its commands, with the snapshot or with the table alone.
    (shown,) = run.failures
    assert "online upgrade is disabled" in " ".join(shown["story"])
    failure = _first(spark, run.paths["failures"])
    assert (failure["seed"], failure["why"]) == (3, disabled["billing"]["why"])
    (tmp_path / "sent.yaml").write_text(failure["snapshot"])
    elsewhere = [
        command.replace(str(snapshot), str(tmp_path / "sent.yaml")) for command in failure["commands"]
    ]
    for commands in (failure["commands"], elsewhere):
        again = rehearsed_again(kohort, commands, tmp_path / "PLAN.yaml")
        assert again.status == 1
        assert [violation["reason"] for violation in again.document["unsafe"]] == failure["why"]
        assert again.document["story"] == failure["story"]


def _first(spark: SparkSession, path: str) -> Mapping[str, Any]:
    row = spark.read.parquet(path).orderBy("seed").first()
    assert row is not None
    return row.asDict()


def test_an_exception_of_a_group_is_a_row(snapshot: Path) -> None:
    def played(planned: AuditSettings) -> Iterator[dict[str, Any]]:
        for work in work_of_file(str(snapshot), {}):
            for row in plan_rows(work, RehearsalSettings(planned=planned), 1) if "chunk" in work else ():
                runs = [] if "unplayed" in row else play_part(row)
                yield from (result["run"] for result in runs)
                yield from [row["unplayed"]] if "unplayed" in row else []

    seen, rows = list(played(PLANNED)), list(played(replace(PLANNED, bounce_s=nan)))
    threw = {row["group"]: row["why"] for row in rows if row["verdict"] == "threw"}
    assert len(rows) == len(seen)
    assert 0 < len(threw) < len(seen)
    assert all("Error: " in why for (why,) in threw.values())
