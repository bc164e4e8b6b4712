"""Answers of `kohort why` about scripted groups, without reading a log."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from cli.output import render
from cli.render.output_format import OutputFormat
from cli.verbs.why.answer import WhyAnswer, explain
from cli.verbs.why.view import why_document
from tests.cli.schemas import faults
from tests.cli.verbs.fleet.numbers import HOSTILE
from tests.groups.history.courses import (
    START,
    ScriptedGroup,
    quiet_night,
    rolling_deployment,
    storm_of_crashes,
    us,
)

SINCE = START + timedelta(minutes=10)
COMPACTED = START + timedelta(hours=1, minutes=3)
CRASHED = START + timedelta(hours=1, seconds=40)
REBALANCING = START + timedelta(hours=1, seconds=46.8)
Script = Callable[[], ScriptedGroup]


def _crashed(name: str) -> ScriptedGroup:
    group = ScriptedGroup(name, partitions=3).come(name, "worker-2").wait(1200)
    return group.expire(name).wait(9).come(name).wait(600)


SCRIPTS: dict[str, tuple[Script, datetime]] = {
    "storm": (storm_of_crashes, START),
    "rolling": (rolling_deployment, START),
    "quiet": (quiet_night, START),
    "hostile": (lambda: _crashed(HOSTILE), START),
    "compacted": (storm_of_crashes, COMPACTED),
}


def answer(*names: str, at: datetime | None = None) -> WhyAnswer:
    """The answer about scripted groups, without reading a log."""
    explanations, until = [], us(START + timedelta(hours=5))
    for name in names:
        script, complete = SCRIPTS[name]
        group = script()
        at_ms = None if at is None else us(at) // 1000
        course = replace(group.course(complete), group=name if len(names) > 1 else group.name)
        explanations.append(explain(course, us(SINCE) // 1000, group.now // 1000, at_ms))
        until = group.now
    return WhyAnswer(
        source="/var/lib/kafka/data",
        since=us(SINCE),
        until=until,
        explanations=tuple(explanations),
        problems=(),
    )


def printed(result: WhyAnswer, output: OutputFormat, *, verbose: bool = False) -> str:
    stream = io.StringIO()
    document = why_document(result, verbose=verbose, output=output)
    render(document, output, stream)
    if output is OutputFormat.JSON:
        assert faults(json.loads(stream.getvalue())) == []
        return json.dumps(json.loads(stream.getvalue()), indent=1, ensure_ascii=False)
    return stream.getvalue()
