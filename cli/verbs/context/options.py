"""The options that describe a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cli.options import NamedSource
from cli.render.output_format import OutputFormat
from cli.times import TIMEOUT_BOUNDS_S, duration_parser

PROPERTIES_PANEL = "Client properties"


USUAL_PANEL = "Defaults for commands"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions(NamedSource):
    """The properties of a context: its source, how to reach it, and its defaults."""

    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="KEY=VALUE",
            help="Client property that is not a secret; repeatable.",
            rich_help_panel=PROPERTIES_PANEL,
        ),
    ] = None
    secrets: Annotated[
        list[str] | None,
        typer.Option(
            "--secret",
            metavar="KEY",
            help="Secret client property, typed on the terminal or read from a line of standard input, "
            "and kept in a file that only you can read; repeatable.",
            rich_help_panel=PROPERTIES_PANEL,
        ),
    ] = None
    secrets_in_environment: Annotated[
        list[str] | None,
        typer.Option(
            "--secret-env",
            metavar="KEY=VARIABLE",
            help="Client property with its value in an environment variable; repeatable.",
            rich_help_panel=PROPERTIES_PANEL,
        ),
    ] = None
    secrets_in_files: Annotated[
        list[str] | None,
        typer.Option(
            "--secret-file",
            metavar="KEY=FILE",
            help="Client property with its value in a file; repeatable.",
            rich_help_panel=PROPERTIES_PANEL,
        ),
    ] = None
    cluster_id: Annotated[
        str | None,
        typer.Option(
            "--cluster-id",
            metavar="ID",
            help="Refuse a cluster with another id.",
            rich_help_panel=USUAL_PANEL,
        ),
    ] = None
    timeout_ms: Annotated[
        int | None,
        typer.Option(
            "--timeout",
            metavar="DURATION",
            parser=duration_parser("ms", *TIMEOUT_BOUNDS_S),
            help="Maximum time to wait for the cluster: 30s, or a number of milliseconds.",
            rich_help_panel=USUAL_PANEL,
        ),
    ] = None
    output: Annotated[
        OutputFormat | None,
        typer.Option("--output", help="Output format of commands.", rich_help_panel=USUAL_PANEL),
    ] = None
    protected: Annotated[
        bool,
        typer.Option(
            "--protected",
            help="Ask for the context's name before each change, even with --yes.",
            rich_help_panel=USUAL_PANEL,
        ),
    ] = False
