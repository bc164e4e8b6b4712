"""What the members run and how they are restarted: the options of `kohort plan` and `kohort fleet audit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

CLIENTS_PANEL = "What the members run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What a group does not show of its members."""

    client: Annotated[
        list[str] | None,
        typer.Option(
            "--client",
            metavar="[MEMBER=]LIBRARY[:VERSION]",
            help="The client library of all members, or of one (its id, instance id or client id): "
            "java, librdkafka, franz-go, …",
            rich_help_panel=CLIENTS_PANEL,
        ),
    ] = None
    clients: Annotated[
        Path | None,
        typer.Option(
            "--clients",
            metavar="FILE",
            help="The same for many members: MEMBER: LIBRARY[:VERSION] in YAML or JSON, or CSV.",
            rich_help_panel=CLIENTS_PANEL,
        ),
    ] = None
    client_config: Annotated[
        list[str] | None,
        typer.Option(
            "--client-config",
            metavar="[MEMBER|LIBRARY=]FILE",
            help="The members' configuration: a Java or librdkafka properties file, YAML or JSON.",
            rich_help_panel=CLIENTS_PANEL,
        ),
    ] = None
    regex: Annotated[
        list[str] | None,
        typer.Option(
            "--regex",
            metavar="REGEX",
            help="A regex that the members subscribe to: a classic group does not show it.",
            rich_help_panel=CLIENTS_PANEL,
        ),
    ] = None
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, help="Members that are restarted together.")
    ] = 1
    bounce_seconds: Annotated[
        float,
        typer.Option(
            "--bounce-seconds",
            metavar="S",
            min=0,
            max=86_400,
            help="How long a restart keeps a member away; 30 is usual for a container. Measure yours.",
        ),
    ] = 30.0
