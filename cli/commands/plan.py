"""`kohort plan`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions


class To(Enum):
    """`--to`."""

    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


def plan(
    *,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The group to migrate.")],
    to: Annotated[To, typer.Option("--to", help="Where it is to go.")],
    client: Annotated[
        list[str] | None,
        typer.Option(
            "--client",
            metavar="[MEMBER=]LIBRARY[:VERSION]",
            help="The client library of all members, or of one: java, librdkafka, franz-go, …",
        ),
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Plan a migration: what speaks against it, and the steps with their checks and ways back.

    Exits with 1 when the plan is blocked.
    """
    from cli.cluster.choose import open_source
    from cli.errors import CommandError, ExitStatus, UsageError
    from cli.output import emit
    from cli.views.plan import plan_document
    from migration.clients import parse_clients, unknown_members
    from migration.model import Destination, Verdict
    from migration.plan import make_plan

    try:
        told = parse_clients(client or ())
    except ValueError as error:
        raise UsageError(f"--client: {error}") from None
    with open_source(source) as groups:
        described = groups.describe([group], offsets=False)
        cluster = groups.cluster()
    if not described.items:
        problem = described.problems[0]
        raise CommandError(f"{problem.subject}: {problem.message}")
    strangers = unknown_members(described.items[0], told)
    if strangers:
        raise UsageError(f"--client names {strangers[0]!r}, which is no member of {group}")
    made = make_plan(described.items[0], cluster, Destination(to.value), told)
    status = ExitStatus.FALSE if made.verdict is Verdict.BLOCKED else ExitStatus.DONE
    emit(plan_document(made, described.problems), output, status)
