"""The source of a command, opened for one reading or for many, and its selected groups; notices are printed once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from cli.errors import CommandError, ExitStatus, NoGroupFound, UsageError, is_expected
from cli.options import SelectionOptions, SourceOptions
from cli.output import CLUSTER, notice
from cli.progress import Spinner
from cli.render.cells import safe_text
from cli.sources.source import ReadResult, Source
from cli.usage_errors import pattern_hint
from groups.listing import Cause, GroupFilter, GroupListing, GroupState, GroupType, Problem
from wire.errors import WireError
from wire.suggestion import SIMILAR, did_you_mean

if TYPE_CHECKING:
    from cli.sources.writer import ClusterWriter
    from groups.model import Group

T = TypeVar("T")

_MOST_SUGGESTIONS = 3
_FIRST_PART, _MOST_IN_PART = 50, 5_000
_OFFSETS_IN_PART = 50_000
"""How many groups, and about how many committed offsets, are read at a time."""
_LOOKAROUND = re.compile(r"\(\?<?[=!]")

META_PROPERTIES = "meta.properties"  # The first entries of a coordinator's data directory


@contextmanager
def opened(options: SourceOptions) -> Iterator[Source]:
    """The source that the options name, closed afterwards, its notices printed; UsageError if they name several."""
    try:
        source = source_of(options)
    except Exception:
        _print_place(options)
        raise
    named = (options.bootstrap_server, options.snapshot, *(options.log_dirs or ()), options.embedded)
    place = safe_text(str(next(filter(None, named), "groups")))
    with closing(source), Spinner(f"reading {place}"):
        _print_notices(source)
        try:
            yield source
        except WireError:
            _print_place(options)
            raise
        finally:
            _print_notices(source)


@contextmanager
def opened_for_change(
    options: SourceOptions, *, execute: bool
) -> Iterator[tuple[Source, ClusterWriter | None]]:
    """The source that the options name, and its writer if a change is made. Raises UsageError: it can only be read."""
    if not execute:
        with opened(options) as source:
            yield source, None
        return
    from cli.sources.writer import writer_of
    from cli.stopping import stoppable

    with stoppable(), opened(options) as source:
        yield source, writer_of(source)


def _print_notices(source: Source) -> None:
    for text in source.notices.take():
        notice(text)


def _print_place(options: SourceOptions) -> None:
    """Print which source an error is about, if neither the command line nor the notices name it."""
    if options.place is not None and not CLUSTER.get():
        notice(f"the source is {options.place}")


class ReusableSource:
    """A source that is read repeatedly: a live one stays open, a file is read again when it has changed. Use it in a
    `with` block. `report` gets its notices, which are printed by default."""

    def __init__(self, options: SourceOptions, report: Callable[[str], None] = notice) -> None:
        self.options, self.is_live = options, is_live(options)
        self.name = options.bootstrap_server or "the cluster"
        self._source: Source | None = None
        self._stamp: object = None
        self._report = report
        self._reported: set[str] = set()

    def get(self) -> Source:
        stamp = None if self.is_live else _stamp(self.options)
        if self._source is not None and stamp == self._stamp:
            return self._source
        self.close()
        self._source, self._stamp = source_of(self.options), stamp
        self.print_notices()
        return self._source

    def print_notices(self) -> None:
        """Print the new notices of the source, also if it was opened earlier."""
        for text in () if self._source is None else self._source.notices.take():
            if text not in self._reported:
                self._report(text)
            self._reported.add(text)

    def may_pass(self, error: Exception) -> bool:
        """Whether the error may be temporary: a coordinator loads, a broker restarts. For a file it never is."""
        from wire.client.errors import AuthenticationFailed, InvalidAddress, TlsFailed, UnsupportedApi

        if isinstance(error, CommandError):
            return self.is_live and error.status is ExitStatus.UNREADABLE
        lasting = (AuthenticationFailed, InvalidAddress, TlsFailed, UnsupportedApi)
        return self.is_live and isinstance(error, WireError) and not isinstance(error, lasting)

    def close(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.print_notices()
        if isinstance(error, WireError) or (
            self._source is None and error is not None and is_expected(error)
        ):
            _print_place(self.options)
        self.close()


def _stamp(options: SourceOptions) -> list[tuple[str, int, int, int]]:
    """What changes when a file of the source is written or replaced."""
    places = [options.snapshot, options.topics_file, *(options.log_dirs or ())]
    if not any(places):
        places.append(options.embedded or data_directory())
    files: list[Path] = []
    for place in filter(None, places):
        files += [place, *place.glob("*"), *place.glob("__consumer_offsets-*/*")]
    stamps = []
    for file in sorted(files):
        with suppress(OSError):
            status = file.stat()
            stamps.append((str(file), status.st_ino, status.st_size, status.st_mtime_ns))
    return stamps


def is_live(options: SourceOptions) -> bool:
    return bool(options.bootstrap_server or options.command_config)


def source_of(options: SourceOptions) -> Source:
    """Open the source of options that `cli.sources.contexts.resolve` has completed; UsageError if they name several."""
    source = _source_of(options)
    if options.place is not None and options.place.warning is not None:
        source.notices.add(options.place.warning)
    return source


def _source_of(options: SourceOptions) -> Source:
    named = [option for option, value in options.sources.items() if value is not None]
    if options.command_config is not None:
        named.remove("--command-config")
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} name different sources; give one")
    if options.command_config and options.bootstrap_server is None and named:
        raise UsageError(f"--command-config is for a live cluster; it cannot be used with {named[0]}")
    for option, value in (("--as-of", options.as_of), ("--topics", options.topics_file)):
        if value is not None and not options.log_dirs:
            raise UsageError(f"{option} needs --log-dir: it applies to a broker's log only")
    if is_live(options):
        from cli.sources.login import open_cluster

        return open_cluster(
            bootstrap_server=options.bootstrap_server,
            command_config=options.command_config,
            timeout_ms=options.timeout_ms,
            settings=None if options.place is None else options.place.settings(),
            cluster_id=options.place.cluster_id if options.place else None,
        )
    if options.log_dirs:
        return _log(options.log_dirs, options.as_of, options.topics_file)
    if options.snapshot is not None:
        from cli.sources.saved import SavedSource

        return SavedSource(options.snapshot)
    return _embedded(options.embedded or data_directory())


def source_is_named(options: SourceOptions) -> bool:
    """Whether the command line names a source, or the default one exists."""
    return any(options.sources.values()) or is_log_directory(data_directory())


def data_directory() -> Path:
    """`$XDG_DATA_HOME/kohort`, by default ~/.local/share/kohort. UsageError if HOME is empty."""
    home = os.environ.get("XDG_DATA_HOME")
    if not home and os.environ.get("HOME") == "":
        raise UsageError(
            "HOME is empty, so there is no data directory; set it, or name a source or directory"
        )
    return Path(home or Path.home() / ".local" / "share") / "kohort"


def is_log_directory(directory: Path) -> bool:
    """Whether the embedded coordinator, or a broker, has used a directory."""
    from cli.sources.log_directories import holds_offsets

    return holds_offsets(directory) or (directory / META_PROPERTIES).is_file()


def _log(directories: Sequence[Path], as_of: str | None, topics_file: Path | None) -> Source:
    from cli.sources.log_directories import check_log_directories, read_topics_file
    from cli.sources.replayed import ReplayedSource
    from cli.times import moment
    from groups.times import format_moment

    as_of_ms = moment(as_of, "--as-of")
    checked, notices = check_log_directories(directories)
    if as_of_ms is not None:
        notices = (f"as of {format_moment(as_of_ms)}", *notices)
    named = () if topics_file is None else read_topics_file(topics_file)
    return ReplayedSource.read(checked, as_of_ms=as_of_ms, named=named, notices=notices)


def _embedded(directory: Path) -> Source:
    if is_log_directory(directory):
        from cli.sources.replayed import ReplayedSource

        return ReplayedSource.read([directory], is_embedded=True)
    raise CommandError(
        f"{directory} contains no groups; name a source (--bootstrap-server, --snapshot, --embedded, --log-dir), "
        "or run `kohort demo` to create a sample fleet in it"
    )


def name_filter(pattern: str, option: str = "--match", *, whole: bool = False) -> Callable[[str], bool]:
    """A test for names of groups, or of other things that the option selects, by a match anywhere or of the `whole`
    name; UsageError for an invalid pattern."""
    from groups.regex.broker import InvalidRegexError, compile_filter

    try:
        program = compile_filter(pattern)
        match = program.fullmatch if whole else program.search
    except InvalidRegexError as error:
        lacks = " RE2 has no lookahead and no lookbehind." if _LOOKAROUND.search(pattern) else ""
        raise UsageError(
            f"{option} {error}.{lacks}\n`kohort help regexes` explains which patterns are valid"
        ) from None
    return lambda name: match(name) is not None


def choose_groups(source: Source, selection: SelectionOptions) -> tuple[list[str], tuple[Problem, ...]]:
    """The ids of the selected groups, and problems; a named group that does not pass the filters is one."""
    if selection.topics:
        read = describe_chosen(source, selection, offsets=True)
        return [group.id for group in read.items], read.problems
    chosen = _chosen_by_list(source, selection)
    return [*chosen.groups], chosen.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """Selected groups, in their order; with their listings, unless they are named and nothing else is asked of them."""

    groups: Sequence[str]
    problems: tuple[Problem, ...] = ()
    listed: Mapping[str, GroupListing] = field(default_factory=dict)


def _chosen_by_list(source: Source, selection: SelectionOptions) -> _Chosen:
    """The selected groups, without the filter by topic, which requires a description."""
    named = list(dict.fromkeys(selection.groups or ()))
    ways = sum([bool(named), selection.match is not None, selection.all_groups])
    if ways > 1:
        raise UsageError(
            "give only one of GROUP, --match and --all-groups; filters such as --type narrow it down"
        )
    if not (ways or selection.filters):
        raise UsageError(
            "no groups given: name them, or select them with --match REGEX, --all-groups, --type, --state, "
            "--protocol or --topic"
        )
    filters = group_filter(selection)
    if named:
        return _named(source, named, filters) if filters != GroupFilter() else _Chosen(groups=named)
    listed = source.select_groups(filters, described=False)
    if not listed.items and not listed.problems:
        raise _none_found(source, selection)
    by_id = {group.id: group for group in listed.items}
    return _Chosen(groups=[*by_id], problems=listed.problems, listed=by_id)


def _named(source: Source, named: Sequence[str], filters: GroupFilter) -> _Chosen:
    """The named groups that pass a filter, and a problem for each of the others."""
    listed = source.select_groups(GroupFilter(has_name=frozenset(named).__contains__), described=True)
    rows = {group.id: group for group in listed.items}
    unread = {problem.group for problem in listed.problems}
    missing = [name for name in named if name not in rows and name not in unread]
    chosen: list[str] = []
    # Problems of the list matter only if a named group is not found.
    problems = [problem for problem in listed.problems if missing or problem.group in named]
    absent = f"no such group in {'the readable part of ' if problems else ''}{source.name}"
    for name in named:
        why_not = absent if name in missing else filters.mismatch(rows[name]) if name in rows else None
        if why_not is not None:
            cause = Cause.ABSENT if name in missing and not unread else Cause.UNREAD
            problems.append(Problem(subject=name, message=why_not, cause=cause, group=name))
        elif name in rows:
            chosen.append(name)
    return _Chosen(groups=chosen, problems=tuple(problems), listed=rows)


def describe_chosen(source: Source, selection: SelectionOptions, *, offsets: bool) -> ReadResult[Group]:
    """The selected groups, and problems of reading them or the list."""
    topics, unused_for = split_list(selection.topics), selection.unused_for
    chosen = _chosen_by_list(source, selection)
    with_offsets = offsets or bool(topics) or unused_for is not None
    read = _described(source, chosen, named=bool(selection.groups), offsets=with_offsets)
    if unused_for is not None:
        from cli.unused import unused_groups

        read = unused_groups(source, read, unused_for, named=bool(selection.groups))
        if not read.items and not read.problems:
            raise _none_found(source, selection)
    if not topics:
        return read
    from cli.topic_readers import notify_missing_topics, readers_of

    readers, _ = readers_of(read, topics, named=bool(selection.groups))
    if not readers.items and not readers.problems:
        notify_missing_topics(source, topics)
        raise _none_found(source, selection)
    if offsets:
        return readers
    return replace(readers, items=tuple(replace(group, offsets=None) for group in readers.items))


def describe_in_parts(source: Source, selection: SelectionOptions) -> Iterator[ReadResult[Group]]:
    """The selected groups with their committed offsets, and problems, some groups at a time. Groups that are named, or
    chosen by what only their description shows, are one part."""
    if selection.groups or selection.topics or selection.unused_for is not None:
        yield describe_chosen(source, selection, offsets=True)
        return
    chosen = _chosen_by_list(source, selection)
    at, size, offsets = 0, _FIRST_PART, 0
    while at == 0 or at < len(chosen.groups):
        part = replace(
            chosen, groups=chosen.groups[at : at + size], problems=chosen.problems if at == 0 else ()
        )
        read = _described(source, part, named=False, offsets=True)
        yield read
        at += size
        offsets += sum(len(commits) for group in read.items for commits in (group.offsets or {}).values())
        size = min(_MOST_IN_PART, max(_FIRST_PART, at * _OFFSETS_IN_PART // max(offsets, 1)))


def _described(source: Source, chosen: _Chosen, *, named: bool, offsets: bool) -> ReadResult[Group]:
    if chosen.listed:
        read = source.describe_listed([chosen.listed[group] for group in chosen.groups], offsets=offsets)
    else:
        read = source.describe(chosen.groups, offsets=offsets)
    missed = without_deleted_groups(read.problems, named=named)
    return replace(read, problems=with_close_names(source, chosen.problems + missed))


def _none_found(source: Source, selection: SelectionOptions) -> NoGroupFound:
    filters = [] if selection.match is None else [repr(selection.match)]
    filters += [f"{name} {','.join(split_list(values))}" for name, values in selection.filters.items()]
    return NoGroupFound(
        f"no group in {source.name}" + (f" matches {' and '.join(filters)}" if filters else "")
    )


def with_close_names(source: Source, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """The problems; a problem of a missing group ends with the closest name of an existing group."""
    absent = {problem.group for problem in problems if problem.cause is Cause.ABSENT and problem.group}
    if not absent or len(absent) > _MOST_SUGGESTIONS:
        return problems
    hints = {group: _close_name(source, group) for group in absent}
    return tuple(
        replace(problem, message=problem.message + hints.get(problem.group or "", "")) for problem in problems
    )


def _close_name(source: Source, group: str) -> str:
    """`; did you mean X?`, X being a group, or a regex for a shell's pattern; empty if no name is close, or if the
    group exists and only its past is not known."""
    if hint := pattern_hint(group):
        return hint
    try:
        existing = {listed.id for listed in source.list_groups().items}
    except WireError:
        return ""
    return "" if group in existing else did_you_mean(group, sorted(existing), SIMILAR)


def without_deleted_groups(problems: Sequence[Problem], *, named: bool) -> tuple[Problem, ...]:
    """The problems, without problems of groups deleted since they were listed, unless the groups were named."""
    return tuple(problem for problem in problems if named or problem.cause is not Cause.ABSENT)


def group_filter(options: SelectionOptions) -> GroupFilter:
    """The filters that need only a list of groups; UsageError for a type or state that does not exist."""
    states = _parsed(GroupState.parse, options.states)
    if options.unused_for is not None:
        from cli.times import milliseconds
        from groups.use import RESTING

        milliseconds(options.unused_for, "--unused-for", unit=None)
        states = states or frozenset(RESTING)
    return GroupFilter(
        types=_parsed(GroupType.parse, options.types),
        states=states,
        protocols=frozenset(word.lower() for word in split_list(options.protocols)),
        has_name=None if options.match is None else name_filter(options.match),
    )


def _parsed(parse: Callable[[str], T], values: Iterable[str] | None) -> frozenset[T]:
    try:
        return frozenset(parse(value) for value in split_list(values))
    except ValueError as error:
        raise UsageError(str(error)) from None


def split_list(values: Iterable[str] | None) -> list[str]:
    """The values of an option that may be repeated and may contain commas."""
    return [part.strip() for value in values or () for part in value.split(",") if part.strip()]
