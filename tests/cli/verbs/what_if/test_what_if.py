"""What `kohort what-if` prints, whole, about a past that is simulated, and what it refuses."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import pytest

from cli.errors import ExitStatus
from cli.output import render
from cli.render.output_format import OutputFormat
from cli.verbs.what_if.action import GroupWhatIf, WhatIfAnswer, status_of
from cli.verbs.what_if.view import what_if_document
from coordinator.simulation.alternatives import AS_IT_WAS, WhatIfAlternative, combinations
from coordinator.simulation.calibration import calibration_of
from coordinator.simulation.scenario import Variant
from coordinator.simulation.what_if import WhatIfCost, play
from groups.listing import Problem
from tests.cli.command import Kohort
from tests.cli.schemas import faults
from tests.coordinator.simulation.test_from_history import recorded
from tests.support.golden import assert_recorded


@cache
def answer(kind: str = "range", *, agrees: bool = True) -> WhatIfAnswer:
    """A week of figures in seconds; without `agrees`, most of what happened is missing in the simulation."""
    past = recorded(kind, "crashes").past
    if not agrees:
        scenario = replace(past.scenario, events=past.scenario.events[:6])
        past = replace(past, scenario=scenario, spreads_s=past.spreads_s[:6])
    alternatives = combinations(protocols=[Variant.COOPERATIVE, Variant.CONSUMER])
    simulated, *others = play(past, (AS_IT_WAS, *alternatives), range(1, 4), 1)
    group = GroupWhatIf(
        group="payments",
        past=past,
        observed=WhatIfCost(**asdict(past.observed), unread_s=610.5, read_twice=None),
        simulated=simulated,
        calibration=calibration_of(past, simulated),
        alternatives=tuple(others),
        same=(WhatIfAlternative(protocol=Variant.EAGER),),
    )
    return WhatIfAnswer(
        source="/var/lib/kafka/data",
        since=past.since,
        until=past.until,
        seeds=3,
        groups=(group,),
        unplayed=(),
        problems=(),
    )


def printed(result: WhatIfAnswer, output: OutputFormat) -> str:
    stream = io.StringIO()
    render(what_if_document(result, output), output, stream)
    if output is OutputFormat.JSON:
        assert faults(json.loads(stream.getvalue())) == []
        return json.dumps(json.loads(stream.getvalue()), indent=1)
    return stream.getvalue().partition("<main>")[2] or stream.getvalue()


@pytest.mark.parametrize("output", ["table", "csv", "markdown", "json", "html"])
def test_each_format_shows_the_same_answer(output: str) -> None:
    form = OutputFormat(output)
    answers = {"agrees": printed(answer(), form)}
    if output == "table":
        answers["disagrees"] = printed(answer(agrees=False), form)
    assert_recorded(f"what-if/{output}.txt", answers)


def test_the_exit_status_shows_whether_to_trust_the_figures() -> None:
    assert status_of(answer()) is ExitStatus.DONE
    assert status_of(answer(agrees=False)) is ExitStatus.FALSE
    unplayed = replace(answer(), unplayed=(Problem(subject="other", message="has no rebalance"),))
    assert what_if_document(unplayed, OutputFormat.JSON).errors == unplayed.unplayed


REFUSED = [
    ("", "name an alternative"),
    ("--protocol cooperativ", "did you mean cooperative?"),
    ("--protocol share", "there is no protocol 'share', only consumer, cooperative, eager"),
    ("--set session.timeout.ms=5000", "heartbeat.interval.ms must be less than"),
    ("--assume session.timeout.ms=2000 --static", "as it was: heartbeat.interval.ms must be less than"),
    ("--protocol cooperative --assignor range --set a=b", "--set a: there is no setting"),
    ("--set session.timeout.ms", "--set session.timeout.ms: expected NAME=VALUE"),
    ("--set session.timeout.ms=soon", "session.timeout.ms must be a number"),
    ("--static --assume nothing=1", "--assume nothing: there is no setting"),
    ("--static --assume heartbeat.interval.ms=x", "--assume: heartbeat.interval.ms must be a number"),
    ("--assignor mine", "have no assignor mine"),
    (" ".join(f"--set session.timeout.ms={number}" for number in range(100, 170)), "at most 64"),
    ("--static --since 1h --until 2h", "is not before"),
    ("audit --static", "audit: no rebalance in this part of its log"),
    ("legacy-etl --static", "it uses the assignor com.example.WeightedAssignor, which Kohort does not have"),
    ("nope --static", "nope: no record of it in"),
    ("billing audit --assignor uniform", "billing: uniform: members of the classic protocol have no"),
]


@pytest.mark.parametrize(("words", "reason"), REFUSED, ids=[words[:40] for words, _ in REFUSED])
def test_a_question_that_cannot_be_played_is_refused(
    kohort: Kohort, sample: Path, words: str, reason: str
) -> None:
    names_group = words[:1].isalpha()
    question = f"what-if {words if names_group else f'billing {words}'} --embedded {sample}"
    kohort.quick(question).assert_refused(reason, status=3 if names_group else 2)


def test_the_past_of_a_data_directory_is_played(kohort: Kohort, sample: Path) -> None:
    question = f"what-if checkout --embedded {sample} --static --seeds 2 --jobs 1 --output json"
    (group,) = kohort.quick(question).document["groups"]
    assert group["observed"]["rebalances"] > 0
    assert [alternative["name"] for alternative in group["alternatives"]] == ["static"]
