"""`kohort dry-run`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from cli.options import OutputOptions, SelectionOptions, SourceOptions


class SideOption(Enum):
    """`--side`."""

    CLIENT = "client"
    BROKER = "broker"


def dry_run(
    *,
    selection: SelectionOptions,
    assignor: Annotated[
        str | None,
        typer.Option("--assignor", metavar="NAME", help="The assignor; by default the one in use."),
    ] = None,
    side: Annotated[
        SideOption | None,
        typer.Option("--side", help="Who computes; by default whoever does for groups of this type."),
    ] = None,
    add: Annotated[int, typer.Option("--add", metavar="N", min=0, help="As if N members joined.")] = 0,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            "--remove", metavar="MEMBER", help="As if this member left (member, instance or client id)."
        ),
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Show what a rebalance would do now: the very assignment that Kafka would compute."""
    from assignors.registry import Side
    from cli.cluster.choose import open_source
    from cli.output import emit, notice
    from cli.selection import choose_groups
    from cli.views.dry_run import dry_run_document
    from coordinator.dry_run import Request, dry_run_all, inapplicable
    from coordinator.group_spec import WhatIf, wanted_topics

    request = Request(
        assignor=assignor,
        side=Side(side.value) if side else None,
        what_if=WhatIf(add=add, remove=tuple(remove or ())),
    )
    with open_source(source) as groups:
        chosen, problems = choose_groups(groups, selection)
        described = groups.describe(chosen, offsets=False)
        topics = groups.topics(wanted_topics(described.items), end_offsets=False)
    meant = described.items
    if not selection.groups:
        # Whoever asks for all groups does not mean those that no assignor serves; they are only named.
        for group in meant:
            if why_not := inapplicable(group, request):
                notice(f"{group.id} is left out: {why_not}")
        meant = tuple(group for group in meant if not inapplicable(group, request))
    results, failures = dry_run_all(meant, {topic.name: topic for topic in topics.items}, request)
    emit(dry_run_document(results, (*problems, *described.problems, *topics.problems, *failures)), output)
