"""`kohort delete`."""

from __future__ import annotations

from dataclasses import replace

from cli.consent import EmptyGroupConsent
from cli.options import DeleteSelection, InternalTopicOptions, OutputOptions, SourceOptions


def delete(
    *,
    selection: DeleteSelection,
    internal_topics: InternalTopicOptions,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Delete groups without members, and their offsets.

    Shows the groups; nothing is deleted without --execute. Topics are kept, except internal ones that an option
    names.

    \b
    Examples:
      kohort delete nightly-report
      kohort delete --unused-for 30d -b localhost:9092 --execute
    """
    from cli.changing import carry_out
    from cli.errors import UsageError
    from cli.selection import describe_chosen, opened_for_change
    from cli.verbs.delete.action import plan_group_deletions
    from cli.waiting import wait_until_empty

    if selection.unused_for is not None and consent.wait_empty is not None:
        raise UsageError("--unused-for selects groups without members; leave --wait-empty out")
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        read = describe_chosen(groups, selection, offsets=True)
        chosen = [group.id for group in read.items]
        if wait_until_empty(groups, chosen, consent):
            again = groups.describe(chosen, offsets=True)
            read = replace(again, problems=(*read.problems, *again.problems))
        change = plan_group_deletions(
            groups, read, internal_topics, with_last_use=selection.unused_for is not None, writer=writer
        )
        carry_out(change, consent, output)
