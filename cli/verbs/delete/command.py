"""`kohort delete`."""

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
    from cli.verbs.delete.action import delete_groups

    delete_groups(selection, internal_topics, consent, source, output)
