"""The options of `kohort mcp`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.options import duration_option, option
from cli.web_guard_options import GuardOptions

_changes = partial(option, rich_help_panel="Changes by the agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOptions:
    contexts: Annotated[
        str | None,
        option("--contexts", "Contexts that the agent may choose from; the first is the default.", "NAME,…"),
    ] = None
    time_limit: Annotated[
        float, duration_option("--time-limit", "Time limit of each call of a tool.", "s", 1.0, 3600.0)
    ] = 120.0
    http: Annotated[
        str | None,
        option(
            "--http",
            "Serve HTTP on this port of loopback instead of standard input and output.",
            "[HOST:]PORT",
        ),
    ] = None
    allow: Annotated[
        str | None,
        _changes("--allow", "Offer these changes, with --groups: offsets-reset, delete, …", "NAME,…"),
    ] = None
    groups: Annotated[
        str | None,
        _changes("--groups", "With --allow: only groups whose whole id matches this regex (RE2).", "REGEX"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpGuard(GuardOptions):
    """Who may connect to `--http`, which is the address too."""

    listen: str | None = None  # Not an option, like the next field
    tls_client_ca: Path | None = None
