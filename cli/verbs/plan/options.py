"""What the command line says of the members of a group that is planned for; `kohort fleet audit` asks the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.options import option

_clients = partial(option, rich_help_panel="Client libraries of the members")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What a group does not show of its members: what they run, and how they are restarted."""

    client: Annotated[
        list[str] | None,
        _clients(
            "--client",
            "The client library of all members, or of one (its id, instance id or client id): "
            "java, librdkafka, franz-go, …",
            "[MEMBER=]LIBRARY[:VERSION]",
        ),
    ] = None
    clients: Annotated[
        Path | None,
        _clients(
            "--clients",
            "The same for many members: MEMBER: LIBRARY[:VERSION] in YAML or JSON, or CSV.",
            "FILE",
        ),
    ] = None
    client_config: Annotated[
        list[str] | None,
        _clients(
            "--client-config",
            "The members' configuration: a Java or librdkafka properties file, YAML or JSON.",
            "[MEMBER|LIBRARY=]FILE",
        ),
    ] = None
    regex: Annotated[
        list[str] | None,
        _clients(
            "--regex", "A regex that the members subscribe to: a classic group does not show it.", "REGEX"
        ),
    ] = None
    concurrency: Annotated[
        int, option("--concurrency", "Members that are restarted together.", "N", min=1)
    ] = 1
    bounce_seconds: Annotated[
        float,
        option(
            "--bounce-seconds",
            "How long a restart keeps a member away; 30 is usual for a container. Measure yours.",
            "S",
            min=0,
            max=86_400,
        ),
    ] = 30.0
