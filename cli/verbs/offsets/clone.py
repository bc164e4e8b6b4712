"""`kohort offsets clone`."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import OnlyTopics, OutputOptions, SourceOptions


def clone(
    *,
    origin: Annotated[str, typer.Argument(metavar="FROM", help="The group whose offsets are copied.")],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="The group that gets them; made where there is none.")
    ],
    topic: OnlyTopics = None,
    consent: ConsentOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Copy a group's committed offsets to another group, with their leader epochs and metadata.

    They are copied as they are, also where the log no longer has them. Nothing is changed without --execute.
    """
    from cli.changing import carry_out
    from cli.consent import check_consent
    from cli.opening import opened_for_change
    from cli.verbs.offsets.copies import plan_clone
    from cli.verbs.offsets.plans import parse_scopes

    check_consent(consent)
    scopes = parse_scopes(topic)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        carry_out(plan_clone(groups, origin, target, scopes, writer), consent, output)
