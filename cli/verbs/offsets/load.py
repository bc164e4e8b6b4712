"""`kohort offsets import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import OutputOptions, SourceOptions


def load(
    *,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="CSV without a header: [group,]topic,partition,offset."),
    ],
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GROUP]…",
            help="The group that the offsets are for; of a file that names groups, only these.",
            show_default=False,
        ),
    ] = None,
    consent: ConsentOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Set committed offsets to those of a file, which offsets export or Kafka's tool wrote.

    Shows every partition before and after; nothing is changed without --execute. A new offset outside the log is
    brought to its nearer end, and the table says so.
    """
    from cli.changing import carry_out
    from cli.consent import check_consent
    from cli.opening import opened_for_change
    from cli.verbs.offsets.copies import groups_of_file
    from cli.verbs.offsets.resets import Wish, plan_resets, read_offsets_file

    check_consent(consent)
    wish = Wish(name="from-file", file=read_offsets_file(file))
    names = groups_of_file(wish.file, groups or ()) if wish.file else []
    with opened_for_change(source, execute=consent.execute) as (cluster, writer):
        change = plan_resets(
            cluster,
            wish,
            names,
            named=True,
            writer=writer,
            command="offsets import",
            facts={"file": str(file)},
        )
        carry_out(change, consent, output)
