"""`kohort plan`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, SelectionOptions, SourceOptions, option

_clients = partial(option, rich_help_panel="What the members run")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What a group does not show of its members: what they run, and how they are restarted."""

    client: Annotated[
        list[str] | None,
        _clients(
            "--client",
            "The client library of all members, or of one (its id, instance id or client id): "
            "java, librdkafka, franz-go, …",
            "[MEMBER=]LIBRARY[:VERSION]",
        ),
    ] = None
    clients: Annotated[
        Path | None,
        _clients(
            "--clients",
            "The same for many members: MEMBER: LIBRARY[:VERSION] in YAML or JSON, or CSV.",
            "FILE",
        ),
    ] = None
    client_config: Annotated[
        list[str] | None,
        _clients(
            "--client-config",
            "The members' configuration: a Java or librdkafka properties file, YAML or JSON.",
            "[MEMBER|LIBRARY=]FILE",
        ),
    ] = None
    regex: Annotated[
        list[str] | None,
        _clients(
            "--regex", "A regex that the members subscribe to: a classic group does not show it.", "REGEX"
        ),
    ] = None
    concurrency: Annotated[
        int, option("--concurrency", "Members that are restarted together.", "N", min=1)
    ] = 1
    bounce_seconds: Annotated[
        float,
        option(
            "--bounce-seconds",
            "How long a restart keeps a member away; 30 is usual for a container. Measure yours.",
            "S",
            min=0,
            max=86_400,
        ),
    ] = 30.0


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
    to: Annotated[To, option("--to", "Where it is to go; generic is classic.")],
    clients: ClientOptions,
    offline: Annotated[
        bool, option("--offline", "Plan to stop all members before any starts on the new protocol.")
    ] = False,
    assignor: Annotated[
        str | None,
        option(
            "--assignor",
            "With --to eager or classic: the assignor the group is to use; range unless its members say more.",
            "NAME",
        ),
    ] = None,
    svg: Annotated[
        Path | None, option("--svg", "Draw the course of the group, round by round; one plan.", "FILE")
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
        PlanRequest,
        assignor_of,
        connection_of,
        document_of,
        plan_groups,
        status_of,
        typed_again,
        what_clients_are,
    )
    from migration.commands import PLAN_FILE
    from migration.model import Destination

    request = PlanRequest(
        destination=Destination("classic" if to is To.GENERIC else to.value),
        offline=offline,
        assignor=assignor_of(assignor, to.value),
        connection=connection_of(source),
        with_costs=output.output in FOR_PROGRAMS,
        **what_clients_are(clients),
    )
    with opened(source) as groups:
        plans, problems = plan_groups(groups, selection, request)
    if svg is not None:
        from cli.verbs.plan.timeline import write_timeline

        write_timeline(svg, plans)
    write = f"{typed_again(invocation, without=('output', 'svg'), with_options=('--output', 'yaml'))} > {PLAN_FILE}"
    emit(document_of(plans, problems, selection, write), output, status_of(plans))
