"""The options that describe a context."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from cli.options import NamedSource, option
from cli.render.output_format import OutputFormat
from cli.times import TIMEOUT_BOUNDS_S, duration_parser

USUAL_PANEL = "Defaults for commands"
_property = partial(option, rich_help_panel="Client properties")
_usual = partial(option, rich_help_panel=USUAL_PANEL)
_ASKED_HELP = (
    "Secret client property, typed on the terminal or read from a line of standard input, "
    "and kept in a file that only you can read; repeatable."
)
_VARIABLE_HELP = "Client property with its value in an environment variable; repeatable."
_FILE_HELP = "Client property with its value in a file; repeatable."
_TIMEOUT_HELP = "Maximum time to wait for the cluster: 30s, or a number of milliseconds."
_timeout = duration_parser("ms", *TIMEOUT_BOUNDS_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions(NamedSource):
    properties: Annotated[
        list[str] | None,
        _property("--property", "Client property that is not a secret; repeatable.", "KEY=VALUE"),
    ] = None
    secrets: Annotated[list[str] | None, _property("--secret", _ASKED_HELP, "KEY")] = None
    secrets_in_environment: Annotated[
        list[str] | None, _property("--secret-env", _VARIABLE_HELP, "KEY=VARIABLE")
    ] = None
    secrets_in_files: Annotated[list[str] | None, _property("--secret-file", _FILE_HELP, "KEY=FILE")] = None
    cluster_id: Annotated[str | None, _usual("--cluster-id", "Refuse a cluster with another id.", "ID")] = (
        None
    )
    timeout_ms: Annotated[int | None, _usual("--timeout", _TIMEOUT_HELP, "DURATION", parser=_timeout)] = None
    output: Annotated[OutputFormat | None, _usual("--output -o", "Output format of commands.")] = None
    protected: Annotated[
        bool, _usual("--protected", "Ask for the context's name before each change, even with --yes.")
    ] = False
