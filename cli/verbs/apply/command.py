"""`kohort apply`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.consent import EmptyGroupConsent
from cli.options import OutputOptions, SourceOptions, option


def apply(
    *,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Desired state of groups, as YAML or JSON; - is standard input."),
    ],
    check: Annotated[bool, option("--check", "Only compare; exit 1 if anything differs.")] = False,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Apply settings, offsets and deletions from a file.

    Shows the differences; nothing is changed without --execute. Only what differs is changed, so a file can be
    applied again. Groups that are not in the file stay as they are.

    \b
    Examples:
      kohort apply groups.yaml -b localhost:9092
      kohort apply groups.yaml -b localhost:9092 --execute
    """
    from cli.changing import carry_out
    from cli.errors import UsageError
    from cli.selection import opened_for_change
    from cli.verbs.apply.action import compare, plan_apply
    from cli.verbs.apply.desired import read_desired
    from cli.waiting import wait_until_empty

    if check and consent.execute:
        raise UsageError("--check and --execute cannot be used together")
    desired = read_desired(file)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        change = plan_apply(groups, desired, writer)
        if check:
            compare(change, output)
            return
        if wait_until_empty(groups, change.in_use, consent):
            change = plan_apply(groups, desired, writer)
        carry_out(change, consent, output)
