"""`kohort offsets delete`."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import OutputOptions, SelectionOptions, SourceOptions


def delete(
    *,
    selection: SelectionOptions,
    topic: Annotated[
        list[str],
        typer.Option(
            "--topic", metavar="TOPIC[:0,1]", help="This topic, or these partitions of it; repeatable."
        ),
    ],
    consent: ConsentOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Delete what groups have committed of a topic that none of their members subscribes to.

    Shows what would go; nothing is deleted without --execute.
    """
    from cli.changing import carry_out
    from cli.consent import check_consent
    from cli.opening import opened_for_change
    from cli.selection import choose_groups
    from cli.verbs.delete.action import plan_offsets_deletions
    from cli.verbs.offsets.plans import parse_scopes

    check_consent(consent)
    scopes = parse_scopes(topic)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        chosen, problems = choose_groups(groups, selection)
        change = plan_offsets_deletions(
            groups, chosen, scopes, named=bool(selection.groups), problems=problems, writer=writer
        )
        carry_out(change, consent, output)
