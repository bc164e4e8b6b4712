"""Undo a change: find its entry in the journal, and restore what it replaced."""

import shlex
from collections.abc import Sequence

from cli.changing import carry_out
from cli.consent import EmptyGroupConsent
from cli.errors import CommandError, UsageError
from cli.journal.directory import OFF, VARIABLE, journal_directory
from cli.journal.entry import EntryEnd, ItemOutcome, JournalEntry, paired
from cli.journal.reader import find_entry, read_journal, undone_by
from cli.options import OutputOptions, SourceOptions
from cli.output import notice
from cli.selection import opened_for_change
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.verbs.offsets import facts
from cli.verbs.undo.change import Restoration
from cli.verbs.undo.comparison import ItemVerdict
from cli.verbs.undo.plan import plan_restoration
from cli.waiting import wait_until_empty


def undo_entry(
    named: str | None,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
    *,
    partly: bool,
) -> None:
    """Restore what the named entry replaced, or the last one of the cluster that `last_change` finds."""
    directory = journal_directory(consent.journal)
    if directory is None:
        raise UsageError(f"{VARIABLE}={OFF} turns the journal off: name its directory with --journal DIR")
    entries, problems = read_journal(directory)
    for problem in problems:
        notice(f"{problem.subject}: {problem.message}")
    chosen = None if named is None else find_entry(entries, named)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        cluster = _cluster_of(groups)
        entry, end = chosen or last_change(entries, cluster.cluster_id(), str(directory))
        check_cluster(entry, cluster)
        notice(f"{entry.id} of {entry.at}, by {entry.user}@{entry.host}: {shlex.join(entry.command)}")
        change = plan_restoration(cluster, writer, entry, paired(entry, end), partly=partly)
        if wait_until_empty(groups, change.in_use, consent):
            change = plan_restoration(cluster, writer, entry, paired(entry, end), partly=partly)
        facts.notify_new_groups(change.offsets.plans)
        facts.notify_redelivery(change.offsets.plans)
        if change.is_empty and not change.errors:
            notice(f"nothing to restore: the cluster has what it had before {entry.id}")
        if consent.is_given:
            _notify_changed(change)
        carry_out(change, consent, output, groups, undoes=entry.id)


def _notify_changed(change: Restoration) -> None:
    """No question shows what was changed since the entry, so notices do."""
    for row in change.rows:
        if row.verdict is ItemVerdict.RESTORE and row.remark is not None:
            now = "none" if row.now is None else row.now
            notice(f"{row.subject}: {row.remark}, is {now}; it is replaced")


def _cluster_of(source: Source) -> LiveSource:
    if isinstance(source, LiveSource):
        return source
    raise UsageError(
        f"{source.name} is no live cluster, so it has no changes to undo; name one (--bootstrap-server)"
    )


def check_cluster(entry: JournalEntry, source: LiveSource) -> None:
    """UsageError if the entry is about another cluster, or about an unknown one."""
    cluster = source.cluster_id()
    if entry.cluster != cluster or cluster is None:
        context = f"the context {entry.context}, " if entry.context else ""
        raise UsageError(
            f"{entry.id} changed the cluster {entry.cluster or 'with an unknown id'} ({context}{entry.servers}), "
            f"but {source.name} is the cluster {cluster}; name the cluster of the entry (--context, -b)"
        )


def last_change(
    entries: Sequence[tuple[JournalEntry, EntryEnd | None]], cluster: str | None, journal: str
) -> tuple[JournalEntry, EntryEnd | None]:
    """The last entry of the cluster that is no undo, is not undone, and may have changed anything. CommandError if
    there is none."""
    undone = undone_by(entries)
    for entry, end in reversed(entries):
        if entry.cluster != cluster or entry.undoes is not None or entry.id in undone:
            continue
        if any(result.result is not ItemOutcome.FAILED for _, result in paired(entry, end)):
            return entry, end
    raise CommandError(f"{journal} has no change of the cluster {cluster} that can be undone")
