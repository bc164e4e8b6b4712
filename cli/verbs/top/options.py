"""The options of `kohort top`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from cli.options import ListSelection, SelectionOptions, duration_option, option
from cli.verbs.why.options import HistoryOptions

DEFAULT_LISTEN = "127.0.0.1:9409"
LEAST_EVERY_S = 0.2
EVERY_GROUP = SelectionOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopSelection(ListSelection):
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GROUP]…", help="The group to open, or groups to list; by default all are listed."
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopOptions(HistoryOptions):
    selection: SelectionOptions = EVERY_GROUP  # Not an option: the command takes it as a parameter
    every: Annotated[
        float,
        duration_option(
            "--every", "Time between two readings of what is on screen.", "seconds", LEAST_EVERY_S, 3600.0
        ),
    ] = 2.0
    read_only: Annotated[bool, option("--read-only", "Offer no changes.")] = False
    web: Annotated[bool, option("--web", "Serve the screens to a browser instead; read-only.")] = False
