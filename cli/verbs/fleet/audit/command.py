"""`kohort fleet audit`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions
from cli.verbs.fleet.options import AuditOptions, SparkOptions

CLIENTS_PANEL = "What the members run"


class AuditTo(Enum):
    """`--to`."""

    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


def fleet_audit(
    *,
    to: Annotated[
        list[AuditTo] | None,
        typer.Option("--to", help="Where the groups are to go; both unless told; repeatable."),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="GROUP", help="Show what was found of this group; repeatable."),
    ] = None,
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
            "--bounce-seconds", metavar="S", min=0, max=86_400, help="How long a restart keeps a member away."
        ),
    ] = 30.0,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write the tables there, as Parquet, in place of those of an earlier audit.",
        ),
    ] = None,
    report: Annotated[
        list[Path] | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Write a page with plots (FILE.html), or its numbers (FILE.json); repeatable.",
        ),
    ] = None,
    sources: AuditOptions,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Judge every group of a fleet, with Spark: which are ready to migrate, which come first, what blocks the others.

    The findings are those of `kohort plan`, the dry run and the regexes those of `dry-run` and `validate-regex`, with
    Java's own regular expressions beside. What cannot be read is put into quarantine and told.
    """
    from cli.output import emit
    from cli.render.output_format import FOR_PROGRAMS
    from cli.verbs.fleet.audit.action import AuditRequest, carry_out, sources_of
    from cli.verbs.fleet.audit.view import fleet_audit_document
    from cli.verbs.plan.action import bounce_of, configs_of, told_of
    from migration.model import Destination

    snapshots, logs = sources_of(sources)
    request = AuditRequest(
        snapshots=snapshots,
        logs=logs,
        destinations=tuple(Destination(each.value) for each in dict.fromkeys(to or AuditTo)),
        told=told_of(client or (), clients),
        configs=configs_of(client_config or ()),
        regexes=tuple(regex or ()),
        concurrency=concurrency,
        bounce_s=bounce_of(bounce_seconds),
        groups=tuple(dict.fromkeys(groups or ())),
        out=out,
        reports=tuple(report or ()),
        for_programs=output.output in FOR_PROGRAMS,
    )
    emit(fleet_audit_document(carry_out(request, spark)), output)
