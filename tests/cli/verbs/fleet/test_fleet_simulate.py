"""`kohort fleet simulate`: invalid requests, and its report."""

from __future__ import annotations

import pytest

from cli.render.output_format import OutputFormat
from cli.verbs.fleet.simulate import request_of, simulation_report
from coordinator.simulation.scenario import Variant
from pipeline.simulation import SimulationRun
from tests.cli.command import Kohort
from tests.cli.render.rendered import rendered
from tests.pipeline.conftest import spark as spark


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
