"""The past of the selected groups, from the source that the options name."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from cli.errors import UsageError
from cli.options import SourceOptions
from cli.selection import data_directory, is_live, name_filter, opened
from cli.sources.history.read import GroupHistoryRead
from cli.verbs.why.options import HistoryOptions, HistorySelection
from groups.history.departures import Knowledge

Choice: TypeAlias = tuple[list[str], Callable[[str], bool] | None]
"""The named groups, or a test for the names of others."""


def is_file(options: HistoryOptions) -> bool:
    """Whether the options name a recording or a journal."""
    return options.replay is not None or options.journal is not None


def read_history(
    selection: HistorySelection, options: HistoryOptions, source: SourceOptions, since_ms: int
) -> GroupHistoryRead:
    """Courses of the selected groups. Raises UsageError: none are selected, or the source has no past."""
    choice = _choice(selection)
    stated = Knowledge(session_timeout_ms=options.session_timeout)
    if is_file(options):
        return _of_file(choice, options, source, since_ms, stated)
    if source.snapshot is not None:
        raise UsageError(
            "a snapshot shows one moment, and has no past: use --bootstrap-server, --log-dir, --journal or --replay"
        )
    if source.as_of is not None:
        raise UsageError("--as-of is for one state: use --at TIME, or --until TIME")
    if is_live(source):
        return _of_cluster(choice, source, since_ms, stated)
    return _of_log(choice, source, since_ms, stated)


def _choice(selection: HistorySelection) -> Choice:
    names = list(dict.fromkeys(selection.groups or ()))
    if sum([bool(names), selection.match is not None, selection.all_groups]) > 1:
        raise UsageError("give only one of GROUP, --match and --all-groups")
    if selection.match is not None:
        return [], name_filter(selection.match)
    if selection.all_groups:
        return [], lambda _: True
    if not names:
        raise UsageError("no groups given: name them, or select them with --match REGEX or --all-groups")
    return names, None


def _of_file(
    choice: Choice, options: HistoryOptions, source: SourceOptions, since_ms: int, stated: Knowledge
) -> GroupHistoryRead:
    names, has_name = choice
    named = [option for option, value in source.sources.items() if value is not None]
    if (source.place is None and named) or None not in (options.replay, options.journal):
        raise UsageError("--journal and --replay are sources themselves; give one source")
    if options.replay is not None:
        from cli.verbs.watch.history import read_recorded_history

        return read_recorded_history(options.replay, names, since_ms=since_ms, has_name=has_name)
    return _of_journal(choice, options.journal or Path(), since_ms, stated)


def _of_journal(choice: Choice, file: Path, since_ms: int, stated: Knowledge) -> GroupHistoryRead:
    from cli.sources.history.journal import read_journal_history

    return read_journal_history(file, choice[0], since_ms=since_ms, has_name=choice[1], stated=stated)


def end_of_journal(file: Path) -> int | None:
    """The time of its last record, in ms; None: it has none. Raises JournalError."""
    from cli.sources.journal.reader import JournalReader

    with JournalReader(file) as journal:
        return journal.until_ms()


def _of_cluster(choice: Choice, source: SourceOptions, since_ms: int, stated: Knowledge) -> GroupHistoryRead:
    """From the cluster, or from the journal of a running `kohort record` if it covers the time, or is complete since
    an earlier time than the log. If this user may not read the log, from the journal, as far as it goes."""
    from cli.sources.history.journal import running_journal
    from cli.sources.history.live import HistoryRefused, read_live_history
    from cli.sources.journal.schema import default_journal
    from cli.sources.live import LiveSource

    names, has_name = choice

    def of_journal(file: Path, notice: str) -> GroupHistoryRead:
        read = _of_journal(choice, file, since_ms, stated)
        return replace(read, notices=(notice, *read.notices))

    with opened(source) as cluster:
        if not isinstance(cluster, LiveSource):
            raise UsageError(f"{cluster.name} is not a live cluster")
        cluster_id = cluster.cluster().id or ""
        running = running_journal(data_directory(), cluster_id, time.time_ns() // 1_000_000)
        if running is not None and running[1] <= since_ms:
            return of_journal(running[0], f"read from the journal {running[0]}")
        try:
            read = read_live_history(cluster, names, since_ms=since_ms, has_name=has_name, stated=stated)
        except HistoryRefused as refused:
            journal = default_journal(data_directory(), cluster_id)
            if not journal.is_file():
                raise
            return of_journal(journal, f"{refused}; read from {journal} instead")
        complete_us = max((course.complete_since or 0 for course in read.courses.values()), default=0)
        if running is not None and running[1] * 1000 < complete_us:
            return of_journal(running[0], f"read from the journal {running[0]}, which begins before the log")
        return read


def _of_log(choice: Choice, source: SourceOptions, since_ms: int, stated: Knowledge) -> GroupHistoryRead:
    from cli.sources.history.logs import read_log_history
    from cli.sources.log_directories import check_log_directories, read_topics_file

    names, has_name = choice
    directories: Sequence[Path] = [source.embedded or data_directory()]
    notices: Sequence[str] = ()
    if source.log_dirs:
        directories, notices = check_log_directories(source.log_dirs)
    topics = () if source.topics_file is None else read_topics_file(source.topics_file)
    ids = {topic.id: topic.name for topic in topics if topic.id is not None}
    read = read_log_history(
        directories, names, since_ms=since_ms, has_name=has_name, names=ids, stated=stated
    )
    return replace(read, notices=(*notices, *read.notices))
