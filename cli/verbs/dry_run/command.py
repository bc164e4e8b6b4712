"""`kohort dry-run`."""

from enum import Enum
from pathlib import Path
from typing import Annotated

from cli.options import OutputOptions, SelectionOptions, SourceOptions, option
from cli.verbs.dry_run.options import HypotheticalOptions, StreamsOptions


class SideOption(Enum):
    CLIENT = "client"
    BROKER = "broker"


class LeaderOption(Enum):
    JAVA = "java"
    LIBRDKAFKA = "librdkafka"


def dry_run(
    *,
    selection: SelectionOptions,
    assignor: Annotated[
        str | None, option("--assignor", "Assignor; by default the one in use.", "NAME")
    ] = None,
    side: Annotated[
        SideOption | None,
        option("--side", "Where the assignor runs; by default as usual for the group's type."),
    ] = None,
    leader: Annotated[
        LeaderOption | None, option("--leader", "Client library of the leader; by default the inferred one.")
    ] = None,
    compare: Annotated[bool, option("--compare", "Compare all assignors.")] = False,
    changes: HypotheticalOptions,
    streams: StreamsOptions,
    svg: Annotated[
        Path | None, option("--svg", "Draw ownership before and after; one group, one assignor.", "FILE")
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Show the assignment that a rebalance would make now.

    Kohort computes it as Kafka's own assignor would. Nothing is changed.

    \b
    Examples:
      kohort dry-run billing --add 1
      kohort dry-run billing --compare
    """
    from assignors.assignor import Leader, Side
    from cli.output import emit
    from cli.progress import Spinner
    from cli.selection import describe_chosen, opened
    from cli.verbs.dry_run.action import carry_out, dry_run_document, what_if_of
    from cli.verbs.dry_run.ownership import write_ownership
    from cli.verbs.dry_run.tasks import streams_request, topics_of
    from groups.dry_run import DryRunRequest

    what_if = what_if_of(changes)
    request = DryRunRequest(
        assignor=assignor,
        side=Side(side.value) if side else None,
        leader=Leader(leader.value) if leader else None,
        what_if=what_if,
        streams=streams_request(streams),
    )
    with opened(source) as groups:
        described = describe_chosen(groups, selection, offsets=False)
        topics = topics_of(groups, described.items, what_if)
    named = bool(selection.groups)
    with Spinner("computing assignments"):
        runs, failures = carry_out(described.items, topics.items, request, side_by_side=compare, named=named)
    write_ownership(svg, runs)
    problems = (*described.problems, *topics.problems, *failures)
    emit(dry_run_document(runs, problems, side_by_side=compare), output)
