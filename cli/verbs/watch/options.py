"""The options of `kohort watch`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.options import SelectionOptions, option
from cli.render.output_format import StreamOutput

_recording = partial(option, rich_help_panel="Recordings")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions(SelectionOptions):
    """Which groups are watched, how it is shown, when it ends, and what is kept of it."""

    groups: Annotated[
        list[str] | None,
        typer.Argument(metavar="GROUP…", help="Groups by id; of a recording, all unless some are named."),
    ] = None
    every: Annotated[
        float, option("--every", "From one look to the next.", "SECONDS", min=0.05, max=86_400)
    ] = 0.5
    seconds: Annotated[
        float | None, option("--for", "End after so many seconds.", "SECONDS", min=0, max=31_536_000)
    ] = None
    until: Annotated[
        str | None,
        option(
            "--until",
            "End when all groups are Stable, have no members, or have reached that epoch with all members; "
            "status 1 when it ends before.",
            "stable|empty|EPOCH",
        ),
    ] = None
    commits: Annotated[bool, option("--commits", "Tell of every commit of offsets, too.")] = False
    output: Annotated[
        StreamOutput,
        option("--output", "A view (in a pipe: a line for what happens), or a JSON document a line."),
    ] = StreamOutput.TABLE
    record: Annotated[Path | None, _recording("--record", "Write every look to a new file.", "FILE")] = None
    force: Annotated[bool, _recording("--force", "With --record or --svg: overwrite FILE.")] = False
    replay: Annotated[Path | None, _recording("--replay", "Show a recording instead.", "FILE")] = None
    speed: Annotated[
        float | None,
        _recording(
            "--speed",
            "With --replay: so many times as fast. Otherwise as it was on a terminal, at once in a pipe.",
            "TIMES",
            min=0.001,
            max=1_000_000,
        ),
    ] = None
    svg: Annotated[
        Path | None, _recording("--svg", "With --replay: draw who owned what, and when nobody did.", "FILE")
    ] = None
