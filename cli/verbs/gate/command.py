"""`kohort gate`."""

import re
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions, option, with_value
from cli.times import duration_parser

DEFAULT_WAIT_S = 300


with_default = partial(
    with_value,
    option="--wait",
    default=str(DEFAULT_WAIT_S),
    is_value=lambda text: re.match(r"[0-9.]|PT?[0-9]", text, re.ASCII) is not None,
)


def gate(
    *,
    plan: Annotated[
        Path,
        typer.Argument(metavar="PLAN", help="Plan file, written by `kohort plan --output yaml` or json."),
    ],
    step: Annotated[
        str | None,
        option(
            "--step",
            "Step number or id; 0 checks whether step 1 can start. By default the step after the last open gate.",
            "N",
        ),
    ] = None,
    number: Annotated[
        int | None, option("--round", "Check round K of the step, before the next round.", "K")
    ] = None,
    wait: Annotated[
        float | None,
        option(
            "--wait",
            f"Wait until the gate opens: 10m, or seconds; {DEFAULT_WAIT_S} s by default. Stop early when the group "
            "is off plan.",
            "[DURATION]",
            parser=duration_parser("s", 0, 604_800),
        ),
    ] = None,
    group: Annotated[str | None, option("--group", "Refuse a plan for any other group.", "GROUP")] = None,
    accept_changes: Annotated[
        bool,
        option(
            "--accept-changes", "Check even if topics, partitions or members changed since the plan was made."
        ),
    ] = False,
    no_notes: Annotated[
        bool,
        option(
            "--no-notes",
            "Do not write PLAN.gates, the members at each open gate that later gates compare with.",
        ),
    ] = False,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Check whether a step of a plan is complete.

    Exit status: 0 the step is complete; 1 not yet, or the group no longer follows the plan; 2 the plan
    is for another group, or the group has changed; 3 the step cannot be checked.

    \b
    Examples:
      kohort plan billing --to cooperative --output yaml > plan.yaml
      kohort gate plan.yaml --step 1 -b localhost:9092
      kohort gate plan.yaml --wait 10m
    """
    from cli.output import emit
    from cli.verbs.gate.action import GatePoller, NotesFile, gate_document, question_of
    from cli.verbs.plan.files import read_plan

    read = read_plan(plan)
    notes = NotesFile.of_plan(plan, read, is_written=not no_notes)
    step = notes.next_step(read) if step is None else step
    question = question_of(read, step, number, group=group, accept_drift=accept_changes)
    answer = GatePoller(question, source, notes).ask(wait)
    emit(gate_document(question, answer), output, answer.status)
