"""`kohort plan`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, SelectionOptions, SourceOptions

CLIENTS_PANEL = "What the members run"


class To(Enum):
    """`--to`."""

    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"
    EAGER = "eager"
    CLASSIC = "classic"
    GENERIC = "generic"


def plan(
    *,
    invocation: typer.Context,
    selection: SelectionOptions,
    to: Annotated[To, typer.Option("--to", help="Where it is to go; generic is classic.")],
    client: Annotated[
        list[str] | None,
        typer.Option(
            "--client",
            metavar="[MEMBER=]LIBRARY[:VERSION]",
            help="The client library of all members, or of one (its id, instance id or client id): "
            "java, librdkafka, franz-go, …",
            rich_help_panel=CLIENTS_PANEL,
        ),
    ] = None,
    clients: Annotated[
        Path | None,
        typer.Option(
            "--clients",
            metavar="FILE",
            help="The same for many members: MEMBER: LIBRARY[:VERSION] in YAML or JSON, or CSV.",
            rich_help_panel=CLIENTS_PANEL,
        ),
    ] = None,
    client_config: Annotated[
        list[str] | None,
        typer.Option(
            "--client-config",
            metavar="[MEMBER|LIBRARY=]FILE",
            help="The members' configuration: a Java or librdkafka properties file, YAML or JSON.",
            rich_help_panel=CLIENTS_PANEL,
        ),
    ] = None,
    regex: Annotated[
        list[str] | None,
        typer.Option(
            "--regex",
            metavar="REGEX",
            help="A regex that the members subscribe to: a classic group does not show it.",
            rich_help_panel=CLIENTS_PANEL,
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, help="Members that are restarted together.")
    ] = 1,
    bounce_seconds: Annotated[
        float,
        typer.Option(
            "--bounce-seconds",
            metavar="S",
            min=0,
            max=86_400,
            help="How long a restart keeps a member away; 30 is usual for a container. Measure yours.",
        ),
    ] = 30.0,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Plan to stop all members before any starts on the new protocol."),
    ] = False,
    assignor: Annotated[
        str | None,
        typer.Option(
            "--assignor",
            metavar="NAME",
            help="With --to eager or classic: the assignor the group is to use; range unless its members say more.",
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw the course of the group, round by round; one plan."),
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Plan a migration: what speaks against it, and the steps with their checks and ways back.

    Of several groups (or with --match or --all-groups), a table of verdicts. Exits with 1 when a plan is blocked.
    """
    from cli.opening import opened
    from cli.output import emit
    from cli.render.output_format import FOR_PROGRAMS
    from cli.verbs.plan.action import (
        Wish,
        assignor_of,
        bounce_of,
        configs_of,
        connection_of,
        document_of,
        plan_groups,
        status_of,
        told_of,
    )
    from cli.verbs.plan.typed_command import typed_again
    from migration.commands import PLAN_FILE
    from migration.model import Destination

    told = told_of(client or (), clients)
    wish = Wish(
        destination=Destination("classic" if to is To.GENERIC else to.value),
        told=told,
        regexes=tuple(regex or ()),
        configs=configs_of(client_config or ()),
        offline=offline,
        concurrency=concurrency,
        bounce_s=bounce_of(bounce_seconds),
        assignor=assignor_of(assignor, to.value),
        connection=connection_of(source),
        with_costs=output.output in FOR_PROGRAMS,
    )
    with opened(source) as groups:
        plans, problems = plan_groups(groups, selection, wish)
    if svg is not None:
        from cli.verbs.plan.timeline import write_timeline

        write_timeline(svg, plans)
    write = f"{typed_again(invocation, without=('output', 'svg'), with_options=('--output', 'yaml'))} > {PLAN_FILE}"
    emit(document_of(plans, problems, selection, write), output, status_of(plans))
