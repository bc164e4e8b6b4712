"""`kohort fleet simulate` from the command line to its tables, its page and its status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.render.output_format import OutputFormat
from cli.verbs.fleet.simulate import request_of, simulation_report
from coordinator.simulation.scenario import Variant
from pipeline.simulation import SimulationRun
from tests.cli.command import Kohort
from tests.cli.render.rendered import rendered
from tests.cli.schemas import faults
from tests.pipeline.conftest import spark as spark


@pytest.mark.usefixtures("spark")
def test_scenarios_are_played_under_every_combination(kohort: Kohort, tmp_path: Path) -> None:
    page, numbers = tmp_path / "report.html", tmp_path / "report.json"
    answer = kohort.quick(
        "fleet simulate scale-out --seeds 3 --seed 4 --protocol all --vary group.initial.rebalance.delay.ms=0,3000",
        *("--out", tmp_path / "tables", "--report", page, "--report", numbers, "--output", "json"),
    ).succeeded(stderr="")
    document = answer.document
    assert faults(document) == []
    assert (document["runs"], document["verdicts"]["held"], document["first_seed"]) == (18, 18, 4)
    assert [(row["protocol"], row["settings"].partition("=")[2]) for row in document["costs"]] == [
        (protocol, delay) for protocol in ("eager", "cooperative", "consumer") for delay in ("0", "3000")
    ]
    assert {Path(path).parent.name for path in document["tables"].values()} == set(document["tables"])
    assert json.loads(numbers.read_text())["costs"] == document["costs"]
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "Records read twice" in page.read_text()


@pytest.mark.usefixtures("spark")
def test_a_failed_run_is_listed_with_its_command(kohort: Kohort) -> None:
    line = "fleet simulate two-bounces --break two-bounces --seeds 2"
    answer = kohort.quick(line)
    assert answer.status == 1
    assert "2 of 2 runs broke an invariant" in answer.stderr
    assert "kohort simulate two-bounces --seed 2 --break two-bounces --story" in answer.stdout
    document = kohort.quick(line, "--output", "json").document
    assert faults(document) == []
    assert document["verdicts"]["fallen"] == 2


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ("no-such-scenario", "no scenario"),
        ("scale-out --vary session.timeout.ms", "NAME=VALUE"),
        ("scale-out --vary session.timeout.ms=2000", "heartbeat"),
        ("scale-out --vary loss=0,0.1 --vary loss=0.2", "given twice"),
        ("scale-out --break no-such-rule", "there is no rule"),
        ("scale-out --report no-such-directory/page.html", "does not exist"),
    ],
)
def test_an_invalid_request_is_refused_before_spark_starts(kohort: Kohort, words: str, reported: str) -> None:
    kohort.quick("fleet simulate", *words.split()).assert_refused(reported, status=2)


def test_a_page_escapes_what_somebody_else_chose() -> None:
    head = {"scenario": "<b>x</b>", "protocol": "eager", "libraries": "java", "settings": "a=<i>"}
    failure = {
        **head, "seed": 3, "verdict": "fallen", "invariant": "I1", "at_s": 1.0, "message": "<script>", "known": None,
        "story": ["<img>"], "command": "kohort simulate '<b>'", "file": None,
    }  # fmt: skip
    run = SimulationRun(
        verdicts={"held": 0, "known": 0, "fallen": 1, "stopped": 0, "threw": 0},
        costs=[],
        spans=[{**head, "figure": "rebalances", "up_to": None, "seeds": 1}],
        failures=[failure],
        paths={},
    )
    request = request_of(
        ["crash"], (Variant.EAGER,), [], first=3, count=1, limit=None, break_rule=None, out=None, reports=()
    )
    page = rendered(simulation_report(request, run), OutputFormat.HTML)
    assert not [tag for tag in ("<b>x", "<i>", "<script", "<img") if tag in page]
    assert "&lt;script&gt;" in page
