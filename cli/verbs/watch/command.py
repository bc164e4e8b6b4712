"""`kohort watch`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import SourceOptions

ANSWER_WITHIN_MS = 5_000
"""How long a look may take where nobody chose a time: a view that stands still tells nothing."""
RECORDING_PANEL = "Recordings"


class WatchOutput(Enum):
    """`--output`."""

    TABLE = "table"
    JSON = "json"


def watch(
    *,
    groups: Annotated[
        list[str] | None,
        typer.Argument(metavar="GROUP…", help="Groups by id; of a recording, all unless some are named."),
    ] = None,
    every: Annotated[
        float,
        typer.Option("--every", metavar="SECONDS", min=0.05, max=86_400, help="From one look to the next."),
    ] = 0.5,
    seconds: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", min=0, max=31_536_000, help="End after so many seconds."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="stable|empty|EPOCH",
            help="End when all groups are Stable, have no members, or have reached that epoch with all members; "
            "status 1 when it ends before.",
        ),
    ] = None,
    commits: Annotated[bool, typer.Option("--commits", help="Tell of every commit of offsets, too.")] = False,
    output: Annotated[
        WatchOutput,
        typer.Option(
            "--output", help="A view (in a pipe: a line for what happens), or a JSON document a line."
        ),
    ] = WatchOutput.TABLE,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            help="Write every look to a new file.",
            rich_help_panel=RECORDING_PANEL,
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="With --record or --svg: overwrite FILE.", rich_help_panel=RECORDING_PANEL
        ),
    ] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", metavar="FILE", help="Show a recording instead.", rich_help_panel=RECORDING_PANEL
        ),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            "--speed",
            metavar="TIMES",
            min=0.001,
            max=1_000_000,
            help="With --replay: so many times as fast. Otherwise as it was on a terminal, at once in a pipe.",
            rich_help_panel=RECORDING_PANEL,
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            help="With --replay: draw who owned what, and when nobody did.",
            rich_help_panel=RECORDING_PANEL,
        ),
    ] = None,
    source: SourceOptions,
) -> None:
    """Watch groups while they rebalance: members, epochs, owners, lag, and what happens.

    Ends with Ctrl-C. A cluster that goes away is asked again. One look may take 5 seconds, unless --timeout says
    otherwise.
    """
    from dataclasses import replace

    from cli.errors import ExitStatus, UsageError
    from cli.verbs.watch.session import Session, Until, watch_live, watch_recording

    session = Session(
        groups=tuple(dict.fromkeys(groups or ())),
        seconds=seconds,
        until=None if until is None else Until.parse(until),
        commits=commits,
        as_json=output is WatchOutput.JSON,
        record=record,
        force=force,
    )
    if replay is None:
        if speed is not None or svg is not None:
            raise UsageError("--speed and --svg are for recordings; they make no sense without --replay")
        if not source.timeout_is_chosen:
            source = replace(source, timeout_ms=ANSWER_WITHIN_MS)
        status = watch_live(session, source, every)
    else:
        status = watch_recording(session, source, replay, speed=speed, svg=svg)
    if status is not ExitStatus.DONE:
        raise typer.Exit(int(status))
