"""Options of `kohort plan` and `kohort fleet audit` about the members of a group."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.options import option
from cli.times import BOUNCE_BOUNDS_S, duration_parser

_clients = partial(option, rich_help_panel="Client libraries of the members")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """Facts that a group does not show: the clients of its members, and how they are restarted."""

    client: Annotated[
        list[str] | None,
        _clients(
            "--client",
            "Client library of all members, or of one (id, instance id or client id): java, librdkafka, franz-go, …",
            "[MEMBER=]LIBRARY[:VERSION]",
        ),
    ] = None
    clients: Annotated[
        Path | None,
        _clients(
            "--clients",
            "Client library of each member: MEMBER: LIBRARY[:VERSION] in YAML or JSON, or CSV.",
            "FILE",
        ),
    ] = None
    client_config: Annotated[
        list[str] | None,
        _clients(
            "--client-config",
            "Configuration of the members: a Java or librdkafka properties file, YAML or JSON.",
            "[MEMBER|LIBRARY=]FILE",
        ),
    ] = None
    regex: Annotated[
        list[str] | None,
        _clients(
            "--regex", "Regex that the members subscribe to; a classic group does not show it.", "REGEX"
        ),
    ] = None
    concurrency: Annotated[
        int, option("--concurrency", "Number of members restarted at the same time.", "N", min=1)
    ] = 1
    bounce_seconds: Annotated[
        float,
        option(
            "--bounce-seconds",
            "How long a restart takes, in seconds or as 2m; 30 is usual for a container. Measure yours.",
            "DURATION",
            parser=duration_parser("s", *BOUNCE_BOUNDS_S),
        ),
    ] = 30.0
