"""`kohort delete`."""

from __future__ import annotations

from cli.consent import ConsentOptions
from cli.options import OutputOptions, SelectionOptions, SourceOptions


def delete(
    *, selection: SelectionOptions, consent: ConsentOptions, source: SourceOptions, output: OutputOptions
) -> None:
    """Delete groups without members, of any type, with all that they have committed.

    Shows the groups; nothing is deleted without --execute.
    """
    from cli.changing import carry_out
    from cli.cluster.choose import open_source
    from cli.cluster.writer import writer_of
    from cli.consent import check_consent
    from cli.deletions import plan_group_deletions
    from cli.selection import describe_chosen

    check_consent(consent)
    with open_source(source) as groups:
        writer = writer_of(groups) if consent.execute else None
        read = describe_chosen(groups, selection, offsets=True)
        carry_out(plan_group_deletions(read, writer=writer), consent, output)
