"""The options of `kohort watch`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.options import SelectionOptions, duration_option, option
from cli.render.output_format import StreamOutput

_recording = partial(option, rich_help_panel="Recordings")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions(SelectionOptions):
    """The groups to watch, the output, when to stop, and recordings."""

    groups: Annotated[
        list[str] | None,
        typer.Argument(metavar="GROUP…", help="Group ids; with --replay, all groups by default."),
    ] = None
    every: Annotated[
        float,
        duration_option(
            "--every", "Time between observations: 2s, or a number of seconds.", "s", 0.05, 86_400
        ),
    ] = 0.5
    seconds: Annotated[
        float | None,
        duration_option("--for", "Stop after this long: 5m, or a number of seconds.", "s", 0, 31_536_000),
    ] = None
    until: Annotated[
        str | None,
        option(
            "--until",
            "Stop when all groups are Stable, are Empty, or have reached this epoch with all members; "
            "exit status 1 if it stops before.",
            "stable|empty|EPOCH",
        ),
    ] = None
    commits: Annotated[bool, option("--commits", "Also show every commit of offsets.")] = False
    output: Annotated[
        StreamOutput,
        option(
            "--output -o",
            "The screens of kohort top (in a pipe, a line per event), or a JSON document per line.",
        ),
    ] = StreamOutput.TABLE
    record: Annotated[
        Path | None, _recording("--record", "Record every observation in a new file.", "FILE")
    ] = None
    force: Annotated[bool, _recording("--force", "With --record or --svg: overwrite FILE.")] = False
    replay: Annotated[Path | None, _recording("--replay", "Show a recording instead.", "FILE")] = None
    speed: Annotated[
        float | None,
        _recording(
            "--speed",
            "With --replay: print the events as they come, at this speed, such as 10; by default without pauses.",
            "TIMES",
            min=0.001,
            max=1_000_000,
        ),
    ] = None
    svg: Annotated[
        Path | None, _recording("--svg", "With --replay: draw the owners of partitions over time.", "FILE")
    ] = None
