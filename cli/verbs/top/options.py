"""The options of `kohort top`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from cli.options import duration_option, option
from cli.verbs.why.options import HistoryOptions

DEFAULT_LISTEN = "127.0.0.1:9409"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopOptions(HistoryOptions):
    group: Annotated[
        str | None,
        typer.Argument(
            metavar="[GROUP]", help="Group to open; by default the list of groups.", show_default=False
        ),
    ] = None
    every: Annotated[
        float,
        duration_option("--every", "Time between two readings of what is on screen.", "seconds", 0.2, 3600.0),
    ] = 2.0
    read_only: Annotated[bool, option("--read-only", "Offer no changes.")] = False
    web: Annotated[bool, option("--web", "Serve the screens to a browser instead; read-only.")] = False
