"""`kohort offsets reset`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import OutputOptions, SelectionOptions, SourceOptions

TO_PANEL = "Where to (one of these)"


def reset(
    *,
    selection: SelectionOptions,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic", metavar="TOPIC[:0,1]", help="This topic, or these partitions of it; repeatable."
        ),
    ] = None,
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="Everything that the group has committed.")
    ] = False,
    to_earliest: Annotated[
        bool,
        typer.Option("--to-earliest", help="The oldest record that is kept.", rich_help_panel=TO_PANEL),
    ] = False,
    to_latest: Annotated[
        bool, typer.Option("--to-latest", help="Behind the last record.", rich_help_panel=TO_PANEL)
    ] = False,
    to_current: Annotated[
        bool,
        typer.Option(
            "--to-current",
            help="Where it is; behind the last record where nothing is committed.",
            rich_help_panel=TO_PANEL,
        ),
    ] = False,
    to_offset: Annotated[
        int | None,
        typer.Option("--to-offset", metavar="OFFSET", help="This offset.", rich_help_panel=TO_PANEL),
    ] = None,
    shift_by: Annotated[
        int | None,
        typer.Option(
            "--shift-by", metavar="N", help="N records on, or back where N < 0.", rich_help_panel=TO_PANEL
        ),
    ] = None,
    to_datetime: Annotated[
        str | None,
        typer.Option(
            "--to-datetime",
            metavar="TIME",
            help="The first record at or after 2026-03-01T12:00:00.000 (UTC where no zone is given), or -15m ago.",
            rich_help_panel=TO_PANEL,
        ),
    ] = None,
    by_duration: Annotated[
        str | None,
        typer.Option(
            "--by-duration",
            metavar="DURATION",
            help="The first record of the last PT2H30M, P7D, …",
            rich_help_panel=TO_PANEL,
        ),
    ] = None,
    from_file: Annotated[
        Path | None,
        typer.Option(
            "--from-file",
            metavar="FILE",
            help="The offsets of a CSV file: [group,]topic,partition,offset.",
            rich_help_panel=TO_PANEL,
        ),
    ] = None,
    to_group: Annotated[
        str | None,
        typer.Option("--to-group", metavar="GROUP", help="Where that group is.", rich_help_panel=TO_PANEL),
    ] = None,
    consent: ConsentOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Set the committed offsets of groups without members.

    Shows every partition before and after; nothing is changed without --execute. A new offset outside the log is
    brought to its nearer end, and the table says so.
    """
    from cli.changing import carry_out
    from cli.consent import check_consent
    from cli.opening import opened_for_change
    from cli.selection import choose_groups
    from cli.verbs.offsets.plans import parse_scopes
    from cli.verbs.offsets.resets import Asked, plan_resets, wish_of

    check_consent(consent)
    asked = Asked(
        to_earliest=to_earliest,
        to_latest=to_latest,
        to_current=to_current,
        to_offset=to_offset,
        shift_by=shift_by,
        to_datetime=to_datetime,
        by_duration=by_duration,
        from_file=from_file,
        to_group=to_group,
    )
    wish = wish_of(asked, parse_scopes(topic), all_topics=all_topics)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        chosen, problems = choose_groups(groups, selection)
        change = plan_resets(
            groups, wish, chosen, named=bool(selection.groups), writer=writer, problems=problems
        )
        carry_out(change, consent, output)
