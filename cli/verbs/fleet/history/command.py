"""`kohort fleet history`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions
from cli.verbs.fleet.options import LogOptions, SparkOptions


def fleet_history(
    *,
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="GROUP", help="Only this group, rebalance by rebalance; repeatable."),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="TIME",
            help="With --group: what it was at 2026-03-01T12:00:00Z, milliseconds since 1970, or -2d ago.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Only rebalances that began at this time or after it."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Only rebalances that began by this time."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep the tables there, as Parquet; a later run adds what is new. A local path, s3a://… or hdfs://…",
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
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw the rebalances of the one --group along the time."),
    ] = None,
    logs: LogOptions,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Work out the history of all groups from a log, with Spark: rebalances and their causes, owners, commits.

    Without --group, a row per group, those that rebalanced longest first. What cannot be read is put into quarantine
    and told; it does not end the run.
    """
    from cli.output import emit
    from cli.render.output_format import FOR_PROGRAMS
    from cli.verbs.fleet.history.action import HistoryRequest, carry_out, moment_of
    from cli.verbs.fleet.history.view import fleet_history_document
    from cli.verbs.fleet.sources import source_of

    request = HistoryRequest(
        source=source_of(logs),
        out=out,
        groups=tuple(dict.fromkeys(groups or ())),
        as_of_ms=moment_of("--as-of", as_of),
        since_ms=moment_of("--since", since),
        until_ms=moment_of("--until", until),
        reports=tuple(report or ()),
        svg=svg,
        for_programs=output.output in FOR_PROGRAMS,
    )
    emit(fleet_history_document(carry_out(request, spark)), output)
