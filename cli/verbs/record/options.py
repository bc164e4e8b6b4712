"""The options of `kohort record`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.options import option
from cli.times import duration_parser

_posting = partial(option, rich_help_panel="Notifications")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    journal: Annotated[
        Path | None,
        option(
            "--journal",
            "The file to record in; by default journals/CLUSTER_ID.db in $XDG_DATA_HOME/kohort.",
            "FILE",
        ),
    ] = None
    keep: Annotated[str, option("--keep", "How long to keep what was recorded.", "DURATION")] = "30d"
    max_size: Annotated[
        str | None,
        option("--max-size", "Delete the oldest part when the file is larger: 500MB, 2GB.", "SIZE"),
    ] = None
    since: Annotated[
        str | None,
        option(
            "--since",
            "In a new file, begin at this time instead of the start of the log: 24h ago as 24h.",
            "TIME",
        ),
    ] = None
    lag: Annotated[
        bool, option("--lag", "Also record the ends of the logs that groups read, and findings about lag.")
    ] = False
    every: Annotated[
        float,
        option(
            "--every",
            "Time between observations of members, settings and, with --lag, ends of logs.",
            "DURATION",
            parser=duration_parser("s", 1, 86_400),
        ),
    ] = 60.0
    once: Annotated[bool, option("--once", "Record up to the present end of the log, and exit.")] = False
    webhook: Annotated[
        str | None, _posting("--webhook", "POST findings and storms to this URL as JSON.", "URL")
    ] = None
    webhook_header: Annotated[
        Path | None,
        _posting("--webhook-header", "A file with a header for it, such as Authorization: SECRET.", "FILE"),
    ] = None
    on_finding: Annotated[
        str | None,
        _posting("--on-finding", "Run this for findings and storms, with the JSON on its input.", "COMMAND"),
    ] = None
    per_hour: Annotated[
        int, _posting("--per-hour", "Maximum number of notifications per hour.", "N", min=1, max=100_000)
    ] = 60
