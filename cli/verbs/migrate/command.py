"""`kohort migrate`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import SourceOptions, option


def migrate(
    *,
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="Plan file, written by `kohort plan --output yaml`.")
    ],
    restart: Annotated[str, option("--restart", "Command that stops and starts one member.", "COMMAND")],
    consent: ConsentOptions,
    source: SourceOptions,
) -> None:
    """Carry out a plan."""
    from cli.verbs.migrate.action import migrate_group

    migrate_group(plan, restart, consent, source)
