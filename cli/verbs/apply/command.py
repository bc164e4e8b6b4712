"""`kohort apply`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import OutputOptions, SourceOptions, option


def apply(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What groups are to be, as YAML or JSON.")],
    check: Annotated[
        bool, option("--check", "Only compare: exit 1 where something differs; change nothing.")
    ] = False,
    consent: ConsentOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Make groups what a file says: settings, offsets, deletions.

    Shows what differs; nothing is changed without --execute. What is as the file says already stays untouched, so the
    same file can be applied again. Groups that the file does not name are left alone.
    """
    from cli.changing import carry_out
    from cli.errors import UsageError
    from cli.selection import opened_for_change
    from cli.verbs.apply.action import compare, plan_apply
    from cli.verbs.apply.desired import read_desired

    if check and consent.execute:
        raise UsageError("--check changes nothing, and --execute does; give one")
    desired = read_desired(file)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        change = plan_apply(groups, desired, writer)
        if check:
            compare(change, output)
        else:
            carry_out(change, consent, output)
