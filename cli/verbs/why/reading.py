"""The past of the selected groups, from the source that the options name."""

from __future__ import annotations

from collections.abc import Callable

from cli.errors import UsageError
from cli.options import SourceOptions
from cli.selection import data_directory, is_live, name_filter, opened
from cli.sources.history.read import GroupHistoryRead
from cli.verbs.why.options import HistorySelection


def read_history(selection: HistorySelection, source: SourceOptions, since_ms: int) -> GroupHistoryRead:
    """Courses of the selected groups. Raises UsageError: none are selected, or the source has no past."""
    names, has_name = _choice(selection)
    if is_live(source):
        from cli.sources.history.live import read_live_history
        from cli.sources.live import LiveSource

        with opened(source) as cluster:
            if not isinstance(cluster, LiveSource):
                raise UsageError(f"{cluster.name} is not a live cluster")
            return read_live_history(cluster, names, since_ms=since_ms, has_name=has_name)
    if source.snapshot is not None:
        raise UsageError("a snapshot shows one moment, and has no past: use --bootstrap-server or --log-dir")
    if source.as_of is not None:
        raise UsageError("--as-of is for one state: use --at TIME, or --until TIME")
    from cli.sources.history.logs import read_log_history
    from cli.sources.log_directories import check_log_directories, read_topics_file

    directories, _ = check_log_directories(source.log_dirs or [source.embedded or data_directory()])
    topics = () if source.topics_file is None else read_topics_file(source.topics_file)
    ids = {topic.id: topic.name for topic in topics if topic.id is not None}
    return read_log_history(directories, names, since_ms=since_ms, has_name=has_name, names=ids)


def _choice(selection: HistorySelection) -> tuple[list[str], Callable[[str], bool] | None]:
    """The named groups, or a test for the names of others."""
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
