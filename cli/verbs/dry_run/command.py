"""`kohort dry-run`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, SelectionOptions, SourceOptions


class SideOption(Enum):
    """`--side`."""

    CLIENT = "client"
    BROKER = "broker"


class LeaderOption(Enum):
    """`--leader`."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"


def dry_run(
    *,
    selection: SelectionOptions,
    assignor: Annotated[
        str | None,
        typer.Option("--assignor", metavar="NAME", help="The assignor; by default the one in use."),
    ] = None,
    side: Annotated[
        SideOption | None,
        typer.Option("--side", help="Who computes; by default whoever does for groups of this type."),
    ] = None,
    leader: Annotated[
        LeaderOption | None,
        typer.Option("--leader", help="The leader's library; by default what the members' seems to be."),
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Show all assignors side by side.")] = False,
    add: Annotated[int, typer.Option("--add", metavar="N", min=0, help="As if N members joined.")] = 0,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            "--remove", metavar="MEMBER", help="As if this member left (member, instance or client id)."
        ),
    ] = None,
    subscribe: Annotated[
        list[str] | None,
        typer.Option("--subscribe", metavar="MEMBER=TOPIC,…", help="As if this member wanted these topics."),
    ] = None,
    topic_partitions: Annotated[
        list[str] | None,
        typer.Option("--topic-partitions", metavar="TOPIC=N", help="As if this topic had N partitions."),
    ] = None,
    rack: Annotated[
        list[str] | None,
        typer.Option("--rack", metavar="MEMBER=RACK", help="As if this member were in this rack."),
    ] = None,
    fail_rack: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-rack", metavar="RACK", help="As if this rack, its members and replicas, were gone."
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="FILE", help="Draw ownership before and after; one group, one assignor."
        ),
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Show what a rebalance would do now: the very assignment that Kafka would compute."""
    from assignors.assignor import Leader, Side
    from cli.opening import opened
    from cli.output import emit
    from cli.selection import describe_chosen
    from cli.verbs.dry_run.action import carry_out, what_if_of
    from cli.verbs.dry_run.ownership import write_ownership
    from cli.verbs.dry_run.view import dry_run_document
    from groups.dry_run import Request
    from groups.group_spec import wanted_topics

    what_if = what_if_of(
        add=add,
        remove=remove or (),
        subscribe=subscribe or (),
        topic_partitions=topic_partitions or (),
        rack=rack or (),
        fail_rack=fail_rack or (),
    )
    request = Request(
        assignor=assignor,
        side=Side(side.value) if side else None,
        leader=Leader(leader.value) if leader else None,
        what_if=what_if,
    )
    with opened(source) as groups:
        described = describe_chosen(groups, selection, offsets=False)
        topics = groups.topics(wanted_topics(described.items, what_if), end_offsets=False)
    by_name = {topic.name: topic for topic in topics.items}
    named = bool(selection.groups)
    runs, failures = carry_out(described.items, by_name, request, side_by_side=compare, named=named)
    if svg is not None:
        write_ownership(svg, runs)
    problems = (*described.problems, *topics.problems, *failures)
    emit(dry_run_document(runs, problems, side_by_side=compare), output)
