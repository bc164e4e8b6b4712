"""`kohort plan`."""

from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.options import ClustersOptions, OutputOptions, SelectionOptions, option
from cli.verbs.plan.options import ClientOptions


class To(Enum):
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"
    EAGER = "eager"
    CLASSIC = "classic"
    GENERIC = "generic"


def plan(
    *,
    invocation: typer.Context,
    selection: SelectionOptions,
    to: Annotated[To, option("--to", "Target protocol; generic means classic.")],
    clients: ClientOptions,
    offline: Annotated[
        bool, option("--offline", "Plan to stop all members before any starts on the new protocol.")
    ] = False,
    reverse: Annotated[
        bool,
        option("--reverse", "Restart members from the last name to the first, as a StatefulSet does."),
    ] = False,
    assignor: Annotated[
        str | None,
        option(
            "--assignor",
            "Assignor with --to eager or classic; by default one that the members list, or range.",
            "NAME",
        ),
    ] = None,
    framework: Annotated[
        list[str] | None,
        option(
            "--framework", "Framework of the members: spring-kafka, parallel-consumer, kafkaflow, …", "NAME"
        ),
    ] = None,
    rehearse: Annotated[
        bool,
        option("--rehearse", "Rehearse the plan in a simulation of the group; an unsafe plan is blocked."),
    ] = False,
    seeds: Annotated[
        int, option("--seeds", "Number of seeds with --rehearse.", "N", min=1, max=1_000_000)
    ] = 10,
    svg: Annotated[
        Path | None, option("--svg", "Draw the group round by round as SVG; one plan only.", "FILE")
    ] = None,
    output_dir: Annotated[
        Path | None,
        option("--output-dir", "Write the plan of each group to a file in DIR.", "DIR"),
    ] = None,
    verbose: Annotated[
        bool, option("--verbose", "Show notes, costs, risks and other paths too; ids in full.")
    ] = False,
    source: ClustersOptions,
    output: OutputOptions,
) -> None:
    """Plan a migration: blockers, steps, checks, rollback.

    For several groups, shows a table of verdicts. Exit status: 0 all plans are ready, 1 a plan is blocked or unknown.

    \b
    Examples:
      kohort plan billing --to cooperative --client java:3.7.0
      kohort plan --all-groups --to consumer
      kohort plan --all-groups --to consumer --output-dir PLANS
    """
    from cli.clusters import emit_answer
    from cli.render.output_format import FOR_PROGRAMS
    from cli.verbs.plan import action
    from migration.commands import PLAN_FILE
    from migration.model import Destination
    from migration.rules.case import PlanRequest

    request = PlanRequest(
        destination=Destination("classic" if to is To.GENERIC else to.value),
        offline=offline,
        reverse=reverse,
        assignor=action.assignor_of(assignor, to.value),
        frameworks=action.frameworks_of(framework or ()),
        with_costs=output.output in FOR_PROGRAMS or output_dir is not None,
        **action.client_settings(clients),
    )
    action.check_clusters(source, selection, svg)
    again = action.repeated_command(
        invocation, without=("output", "svg", "verbose"), with_options=("--output", "yaml")
    )
    answer = partial(
        action.answer_about,
        selection=selection,
        request=request,
        seeds=seeds if rehearse else 0,
        output_dir=output_dir,
        is_one=not source.clusters,
        svg=svg,
        write=f"{again} > {PLAN_FILE}",
        output=output,
        verbose=verbose,
    )
    emit_answer(answer, source, output)
