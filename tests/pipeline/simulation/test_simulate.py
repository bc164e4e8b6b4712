"""Seeds as rows: the figures of `kohort simulate`, and a row for whatever a seed does."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.scenario_file import parse_scenario, shipped_scenario
from coordinator.simulation.seeds import always, costs_of, median_and_worst
from pipeline.simulation.play import FIGURES, SPREAD, TABLES, RunOptions, SimulationCase, play_row
from pipeline.simulation.run import simulate
from pipeline.store import NotATableStore
from tests.cli.command import Kohort
from tests.cli.conftest import kohort as kohort

POISON = 5
SEEDS = range(3, 9)


def case(name: str, variant: Variant = Variant.AS_WRITTEN, **settings: str) -> SimulationCase:
    return SimulationCase(
        called=name,
        name=name,
        scenario_of=always(shipped_scenario(name)),
        variant=variant,
        settings={key.replace("_", "."): value for key, value in settings.items()},
    )


def poisoned(seed: int) -> Scenario:
    """One seed of which is a scenario that no file could have."""
    scenario = shipped_scenario("scale-out")
    if seed == POISON:
        member = replace(scenario.members["a"], config={"session.timeout.ms": "soon"})
        return replace(scenario, members={**scenario.members, "a": member})
    return scenario


def rows(spark: SparkSession, path: str) -> list[dict[str, Any]]:
    return [
        row.asDict() for row in spark.read.parquet(path).orderBy("protocol", "settings", "seed").collect()
    ]


def test_a_row_is_what_the_seed_is_on_one_machine(spark: SparkSession, tmp_path: Path) -> None:
    slow, quick = {"heartbeat_interval_ms": "5000"}, {"heartbeat_interval_ms": "1000"}
    cases = [
        case("crash", variant, **settings)
        for variant in (Variant.COOPERATIVE, Variant.CONSUMER)
        for settings in (slow, quick)
    ]
    done = simulate(spark, cases, SEEDS, out=str(tmp_path))
    assert set(done.paths) == set(TABLES)
    runs = rows(spark, done.paths["runs"])
    assert len(runs) == len(cases) * len(SEEDS) == done.verdicts["held"]
    for entry in cases:
        mine = [
            row for row in runs if (row["protocol"], row["settings"]) == (entry.variant.value, entry.setting)
        ]
        assert [row["seed"] for row in mine] == list(SEEDS)
        scenario = shipped_scenario("crash")
        scenario = _with_interval(scenario, entry.settings["heartbeat.interval.ms"], entry.variant)
        costs = [costs_of(run(scenario, seed, variant=entry.variant)) for seed in SEEDS]
        for name, _ in FIGURES:
            assert [row[name] for row in mine] == [getattr(one, name) for one in costs], name
        (result,) = [
            row
            for row in done.costs
            if (row["protocol"], row["settings"]) == (entry.variant.value, entry.setting)
        ]
        middle, worst = median_and_worst(costs)
        for name, _ in FIGURES:
            assert result[f"{name}_median"] == getattr(middle, name), name
            assert result[f"{name}_worst"] == getattr(worst, name), name
    for figure in SPREAD:
        assert sum(row["seeds"] for row in done.spans if row["figure"] == figure) == len(runs)
    # Who is asked more often learns of a change sooner.
    of_consumers = {
        row["settings"]: row["without_owner_s_median"] for row in done.costs if row["protocol"] == "consumer"
    }
    assert of_consumers["heartbeat.interval.ms=1000"] != of_consumers["heartbeat.interval.ms=5000"]


def _with_interval(scenario: Scenario, interval: str, variant: Variant) -> Scenario:
    """Written by hand: what a file would say."""
    if variant is Variant.CONSUMER:
        name = "group.consumer.heartbeat.interval.ms"
        lowest = {"group.consumer.min.heartbeat.interval.ms": interval}
        return replace(scenario, settings={**scenario.settings, **lowest, name: interval})
    members = {
        name: replace(script, config={**script.config, "heartbeat.interval.ms": interval})
        for name, script in scenario.members.items()
    }
    return replace(scenario, members=members)


def test_an_exception_of_a_seed_is_a_row() -> None:
    bad = SimulationCase(called="bad.yaml", name="bad", scenario_of=poisoned, settings={})
    played = [play_row(bad, seed, RunOptions()) for seed in SEEDS]
    assert [row["run"]["verdict"] for row in played if row["failure"] is None] == ["held"] * (len(SEEDS) - 1)
    (failure,) = (row["failure"] for row in played if row["failure"] is not None)
    assert (failure["seed"], failure["verdict"]) == (POISON, "threw")
    assert failure["command"] == f"kohort simulate bad.yaml --seed {POISON} --story"
    assert "session.timeout.ms" in failure["message"]
    assert failure["story"][-1].partition(":")[0].endswith(".py")


def test_a_stopped_seed_is_reported() -> None:
    failure = play_row(case("scale-out"), 1, RunOptions(limit=50))["failure"]
    assert failure["verdict"] == "stopped"
    assert failure["command"] == "kohort simulate scale-out --seed 1 --limit 50 --story"
    assert failure["message"] == "stopped after 50 steps, before its end"


def test_a_known_weakness_has_its_own_verdict() -> None:
    seeds = range(1, 5)
    ours = {seed: run(shipped_scenario("standard"), seed, with_story=False).violations for seed in seeds}
    known = {seed for seed, faults in ours.items() if faults and all(violation.known for violation in faults)}
    played = {seed: play_row(case("standard"), seed, RunOptions()) for seed in seeds}
    assert {seed for seed, row in played.items() if row["run"]["verdict"] == "known"} == known != set()
    assert all(played[seed]["failure"]["known"] and "story" not in played[seed]["failure"] for seed in known)


def test_a_broken_rule_is_found_again_on_one_machine(
    spark: SparkSession, kohort: Kohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = simulate(
        spark,
        [case("standard", Variant.CONSUMER, session_timeout_ms="12000")],
        range(1, 17),
        RunOptions(break_rule=RULE),
    )
    assert 0 < done.verdicts["fallen"] < 16
    for failure in done.failures[:2]:
        again = _again(kohort, failure["command"])
        assert (failure["invariant"], failure["message"]) in again
    failure = done.failures[0]
    scenario = parse_scenario(Path("sent.yaml"), failure["file"])
    played = run(scenario, failure["seed"], variant=Variant.CONSUMER, break_rule=RULE)
    assert failure["message"] in {violation.message for violation in played.violations}
    assert failure["story"]
    sound = run(scenario, failure["seed"], variant=Variant.CONSUMER)
    assert not [violation for violation in sound.violations if not violation.known]


RULE = "append-before-answer"


def _again(kohort: Kohort, command: str) -> set[tuple[str, str]]:
    program, *words = shlex.split(command)
    assert program == "kohort"
    answer = kohort.quick(*words, "--output", "json")
    assert answer.status == 1
    document: Mapping[str, Any] = answer.document
    return {(violation["invariant"], violation["message"]) for violation in document["runs"][0]["violations"]}


def test_tables_of_somebody_else_stay(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(NotATableStore, match="no tables of a simulation"):
        simulate(spark, [case("scale-out")], range(1, 2), out=str(tmp_path))


def test_a_second_simulation_replaces_the_first(spark: SparkSession, tmp_path: Path) -> None:
    for seeds in (range(1, 4), range(7, 9)):
        done = simulate(spark, [case("scale-out")], seeds, out=str(tmp_path))
        assert [row["seed"] for row in rows(spark, done.paths["runs"])] == list(seeds)
        assert [path.name for path in (tmp_path / "runs").iterdir()] == [Path(done.paths["runs"]).name]
