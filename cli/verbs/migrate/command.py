"""`kohort migrate`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.consent import ClusterConsent
from cli.options import OutputOptions, SourceOptions
from cli.verbs.migrate.options import FleetOptions, RunOptions


def migrate(
    *,
    invocation: typer.Context,
    plans: Annotated[
        list[Path],
        typer.Argument(
            metavar="PLAN…",
            help="Plan files, written by `kohort plan --output yaml`, or directories of them.",
            show_default=False,
        ),
    ],
    run: RunOptions,
    fleet: FleetOptions,
    consent: ClusterConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Carry out plans: restart members, gate by gate.

    Shows everything that it would do; with --execute, it does it, and stops by itself when something is not as
    planned. A command of yours restarts the members. A run that was stopped or killed continues when it is started
    again: docs/migrate. Exit status: 0 finished, 1 stopped; its last lines say why, and what to do.

    \b
    Examples:
      kohort migrate PLAN.yaml --restart ./restart.sh -b localhost:9092
      kohort migrate PLAN.yaml --restart ./restart.sh -b localhost:9092 --execute
    """
    from cli.verbs.migrate.action import migrate_groups

    migrate_groups(plans, run, fleet, consent, source, output, invocation)
