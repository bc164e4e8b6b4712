"""Select entries of the journal, and print them."""

from collections.abc import Callable, Iterator, Sequence

from cli.errors import CommandError, UsageError
from cli.journal.directory import directory_to_read
from cli.journal.entry import paired
from cli.journal.reader import Journaled, find_entry, read_journal, undone_by
from cli.options import OutputOptions, SourceOptions
from cli.output import emit, notice
from cli.selection import is_live, opened
from cli.sources.live import LiveSource
from cli.times import moment
from cli.verbs.journal.options import JournalOptions
from cli.verbs.journal.view import entries_document, entry_document
from cli.verbs.undo.comparison import ComparedItem, compared_items
from cli.verbs.undo.present import read_present
from groups.model import Problem
from wire.errors import WireError

Test = Callable[[Journaled], bool]


def show_journal(
    named: str | None, options: JournalOptions, source: SourceOptions, output: OutputOptions
) -> None:
    """List the selected entries, or show the named one."""
    if named is not None and options != JournalOptions(journal=options.journal):
        raise UsageError(
            f"{named} is one entry, and options such as --since select from the list; use only one"
        )
    directory = directory_to_read(options.journal)
    entries, problems = read_journal(directory)
    if named is not None:
        chosen = find_entry(entries, named)
        now, unread = _present(chosen, source)
        emit(entry_document(chosen, undone_by(entries), [*problems, *unread], now), output)
        return
    if not entries and not problems:
        notice(f"no changes are recorded in {directory}")
    tests = list(_tests(options, source))
    listed = [one for one in entries if all(test(one) for test in tests)]
    emit(entries_document(listed, undone_by(entries), problems), output)


def _present(
    one: Journaled, source: SourceOptions
) -> tuple[Sequence[ComparedItem] | None, Sequence[Problem]]:
    """What the cluster has now in the places of an entry whose result is unknown; None if that is not known."""
    entry, end = one
    if end is not None or not is_live(source):
        return None, ()
    try:
        with opened(source) as groups:
            if not isinstance(groups, LiveSource) or groups.cluster_id() != entry.cluster:
                notice(f"{groups.name} is not the cluster of {entry.id}, so NOW is not shown")
                return None, ()
            return compared_items(paired(entry, end), read_present(groups, entry.items)), ()
    except (CommandError, WireError) as error:
        return None, [Problem(subject=entry.id, message=f"what the cluster has now is not known: {error}")]


def _tests(options: JournalOptions, source: SourceOptions) -> Iterator[Test]:
    since, until = moment(options.since, "--since"), moment(options.until, "--until")
    if since is not None and until is not None and since > until:
        raise UsageError("--since is after --until")
    if since is not None:
        yield lambda one: one[0].at_ms >= since
    if until is not None:
        yield lambda one: one[0].at_ms <= until
    if options.user is not None:
        yield lambda one: one[0].user == options.user
    if options.groups:
        groups = set(options.groups)
        yield lambda one: any(item.group in groups for item in one[0].items)
    cluster = options.cluster or _named_cluster(source)
    if cluster is not None:
        yield lambda one: one[0].cluster == cluster


def _named_cluster(source: SourceOptions) -> str | None:
    """The id of the cluster that the command line itself names; None if it names none."""
    is_typed = any(source.sources.values()) if source.place is None else source.place.is_typed
    if not is_typed:
        return None
    with opened(source) as groups:
        cluster = groups.cluster_id() if isinstance(groups, LiveSource) else groups.cluster().id
    if cluster is None:
        raise CommandError(f"{groups.name}: the id of its cluster is not known; name it with --cluster ID")
    return cluster
