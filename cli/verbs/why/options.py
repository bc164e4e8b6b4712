"""The options of `kohort why`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.options import SelectionOptions, option
from cli.times import duration_parser


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySelection(SelectionOptions):
    """The groups that are named, that match, or all: what they were in the past is not known before it is read."""

    types: list[str] | None = None  # Not an option, like the next fields
    states: list[str] | None = None
    protocols: list[str] | None = None
    topics: list[str] | None = None


_recordings = partial(option, rich_help_panel="Recordings")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """Files that have the past of groups (a source option names a cluster or a log), and what they do not contain."""

    session_timeout: Annotated[
        int | None,
        option(
            "--session-timeout",
            "Session timeout of the consumer protocol then, instead of the one in the settings.",
            "DURATION",
            parser=duration_parser("ms", 0.001, 3600),
        ),
    ] = None
    journal: Annotated[
        Path | None,
        _recordings(
            "--journal",
            "A journal of kohort record as the source; the one of a running recorder is used by itself.",
            "FILE",
        ),
    ] = None
    replay: Annotated[
        Path | None, _recordings("--replay", "A recording of kohort watch as the source.", "FILE")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyOptions:
    since: Annotated[
        str | None,
        option(
            "--since",
            "From this time on: 2026-03-01T03:00:00Z, milliseconds since 1970, or 2h ago as 2h; "
            "24 hours before the end by default.",
            "TIME",
        ),
    ] = None
    until: Annotated[
        str | None, option("--until", "Until this time; by default now, or the end of the log.", "TIME")
    ] = None
    at: Annotated[
        str | None,
        option(
            "--at", "Show the state at this time: owners, since when, and what the group waited for.", "TIME"
        ),
    ] = None
    verbose: Annotated[
        bool,
        option("--verbose", "Show each rebalance with its evidence: epochs, offsets in the log, commits."),
    ] = False
    svg: Annotated[
        Path | None, option("--svg", "Draw the owners of partitions and the rebalances.", "FILE")
    ] = None
