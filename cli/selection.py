"""Which source a command is about, opened for one answer or for many, and which of its groups.

Sources keep their notices as values; here they reach stderr, each once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from cli.errors import CommandError, ExitStatus, UsageError, is_expected
from cli.options import SelectionOptions, SourceOptions
from cli.output import notice
from cli.sources.source import Read, Source
from groups.listing import Cause, GroupListing, GroupState, GroupType, Problem
from wire.errors import WireError

if TYPE_CHECKING:
    from cli.sources.writer import ClusterWriter
    from coordinator.store.topic_names import KnownTopic
    from groups.model import Group

T = TypeVar("T")

META_PROPERTIES = "meta.properties"
"""What a coordinator puts into it first."""


@contextmanager
def opened(options: SourceOptions) -> Iterator[Source]:
    """The source that the options name, closed in the end; UsageError when they name several.

    A cluster is connected to when it is first asked. What the source has to say is printed at once, and in the end.
    """
    try:
        source = source_of(options)
    except Exception:
        _name_place(options)
        raise
    with closing(source):
        _print_notices(source)
        try:
            yield source
        except WireError:
            _name_place(options)
            raise
        finally:
            _print_notices(source)


@contextmanager
def opened_for_change(
    options: SourceOptions, *, execute: bool
) -> Iterator[tuple[Source, ClusterWriter | None]]:
    """The source that the options name, and its writer where a change is to be made, not only shown.

    :raises UsageError: the options name several sources, or one that can only be read
    """
    from cli.sources.writer import writer_of

    with opened(options) as source:
        yield source, writer_of(source) if execute else None


def _print_notices(source: Source) -> None:
    """Print what a source has to say and has not said yet."""
    for text in source.notices.take():
        notice(text)


def _name_place(options: SourceOptions) -> None:
    """Print which source an error is about where the command line does not spell it out."""
    if options.place is not None:
        notice(f"this is about {options.place}")


class LastingSource:
    """A source that is read again and again: a live one stays open in between, a file is read anew.

    Opens what the options name when it is first needed, and again after `close`. Use it in a `with` block.
    """

    def __init__(self, options: SourceOptions) -> None:
        self.options, self.is_live = options, is_live(options)
        self.name = options.bootstrap_server or "the cluster"
        self._source: Source | None = None
        self._said: set[str] = set()

    def get(self) -> Source:
        """An open source."""
        if self._source is not None and self.is_live:
            return self._source
        self.close()
        self._source = source_of(self.options)
        self.print_notices()
        return self._source

    def print_notices(self) -> None:
        """Print what the source has to say and did not say before, also when it was opened earlier."""
        for text in () if self._source is None else self._source.notices.take():
            if text not in self._said:
                notice(text)
            self._said.add(text)

    def may_pass(self, error: Exception) -> bool:
        """Whether it may pass by itself: a coordinator that loads, a broker that restarts. Of a file nothing does."""
        from wire.client.errors import AuthenticationFailed, InvalidAddress, TlsFailed, UnsupportedApi

        if isinstance(error, CommandError):
            return self.is_live and error.status is ExitStatus.UNREADABLE
        lasting = (AuthenticationFailed, InvalidAddress, TlsFailed, UnsupportedApi)
        return self.is_live and isinstance(error, WireError) and not isinstance(error, lasting)

    def close(self) -> None:
        """Give connections back."""
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
            _name_place(self.options)
        self.close()


def is_live(options: SourceOptions) -> bool:
    """Whether the options name a cluster."""
    return bool(options.bootstrap_server or options.command_config)


def source_of(options: SourceOptions) -> Source:
    """Open the source that the options name; UsageError when they name several.

    What they leave to contexts and the environment, `cli.sources.contexts.settle` has filled in before.
    """
    source = _source_of(options)
    if options.place is not None and options.place.warning is not None:
        source.notices.add(options.place.warning)
    return source


def _source_of(options: SourceOptions) -> Source:
    given = [option for option, value in options.sources.items() if value is not None]
    if options.command_config is not None:
        given.remove("--command-config")
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} name different sources; give one")
    if options.command_config and options.bootstrap_server is None and given:
        raise UsageError(f"--command-config is for a live cluster; it makes no sense with {given[0]}")
    for option, value in (("--as-of", options.as_of), ("--topics", options.topics_file)):
        if value is not None and not options.log_dirs:
            raise UsageError(f"{option} is for a broker's log; it makes no sense without --log-dir")
    if is_live(options):
        from cli.sources.live import LiveSource

        return LiveSource.open(
            bootstrap_server=options.bootstrap_server,
            command_config=options.command_config,
            timeout_ms=options.timeout_ms,
            settings=None if options.place is None else options.place.settings(),
        )
    if options.log_dirs:
        return _log(options.log_dirs, options.as_of, options.topics_file)
    if options.snapshot is not None:
        from cli.sources.saved import SavedSource

        return SavedSource(options.snapshot)
    return _embedded(options.embedded or data_directory())


def source_is_named(options: SourceOptions) -> bool:
    """Whether the command line names a source, or the default one has something to offer."""
    return any(options.sources.values()) or is_log_directory(data_directory())


def data_directory() -> Path:
    """`$XDG_DATA_HOME/kohort`, by default ~/.local/share/kohort."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "kohort"


def is_log_directory(directory: Path) -> bool:
    """Whether the embedded coordinator, or a broker, has worked in a directory."""
    from cli.sources.log_directories import holds_offsets

    return holds_offsets(directory) or (directory / META_PROPERTIES).is_file()


def _log(directories: Sequence[Path], as_of: str | None, topics_file: Path | None) -> Source:
    from cli.sources.log_directories import check_log_directories

    as_of_ms = None if as_of is None else _moment(as_of)
    found, notices = check_log_directories(directories)
    if as_of_ms is not None:
        from cli.times import format_moment

        notices = (f"as of {format_moment(as_of_ms)}", *notices)
    named: tuple[KnownTopic, ...] = ()
    if topics_file is not None:
        from cli.sources.topics_file import read_topics_file

        named = read_topics_file(topics_file)
    from cli.sources.replayed import ReplayedSource

    return ReplayedSource.read(found, as_of_ms=as_of_ms, named=named, notices=notices)


def _moment(text: str) -> int:
    import time

    from cli.times import parse_moment

    try:
        return parse_moment(text, time.time_ns() // 1_000_000)
    except ValueError as error:
        raise UsageError(f"--as-of: {error}") from None


def _embedded(directory: Path) -> Source:
    if is_log_directory(directory):
        from cli.sources.replayed import ReplayedSource

        return ReplayedSource.read([directory], is_embedded=True)
    raise CommandError(
        f"{directory} holds no groups; name a source (--bootstrap-server, --snapshot, --embedded, --log-dir), "
        "or run `kohort demo` to fill it with a sample"
    )


def name_filter(pattern: str | None) -> Callable[[str], bool]:
    """A test for group ids; everything passes without a pattern. UsageError for a pattern that is none."""
    if pattern is None:
        return lambda _: True
    from groups.regex.broker import InvalidRegexError, compile_filter

    try:
        search = compile_filter(pattern).search
    except InvalidRegexError as error:
        raise UsageError(f"--match {error}") from None
    return lambda name: search(name) is not None


def choose_groups(source: Source, selection: SelectionOptions) -> tuple[list[str], tuple[Problem, ...]]:
    """The ids that were named, or those in the source that `--match` or `--all-groups` mean."""
    named = list(dict.fromkeys(selection.groups or ()))
    ways = [bool(named), selection.match is not None, selection.all_groups]
    if sum(ways) != 1:
        raise UsageError("name groups, or give --match REGEX, or --all-groups; one of these")
    if named:
        return named, ()
    wanted = name_filter(selection.match)
    listed = source.list_groups()
    chosen = [group.id for group in listed.items if wanted(group.id)]
    if not chosen and not listed.problems:
        raise CommandError(
            f"no group in {source.name}" + (f" matches {selection.match!r}" if selection.match else "")
        )
    return chosen, listed.problems


def describe_chosen(source: Source, selection: SelectionOptions, *, offsets: bool) -> Read[Group]:
    """The groups that are meant, and what of them, or of the list, could not be read."""
    chosen, problems = choose_groups(source, selection)
    read = source.describe(chosen, offsets=offsets)
    missed = without_vanished(read.problems, named=bool(selection.groups))
    return replace(read, problems=problems + missed)


def without_vanished(problems: Sequence[Problem], *, named: bool) -> tuple[Problem, ...]:
    """Problems without those of groups that are gone since they were listed: only a group that was named is missed."""
    return tuple(each for each in problems if named or each.cause is not Cause.ABSENT)


def listing_filter(
    types: Iterable[str] | None,
    states: Iterable[str] | None,
    protocols: Iterable[str] | None,
    match: str | None,
) -> Callable[[GroupListing], bool]:
    """The filters of `kohort list` as one test; UsageError for a type or state that does not exist."""
    wanted_types, wanted_states = _parsed(GroupType.parse, types), _parsed(GroupState.parse, states)
    wanted_protocols, wanted_name = set(split_list(protocols)), name_filter(match)

    def wanted(group: GroupListing) -> bool:
        return (
            (not wanted_types or group.type in wanted_types)
            and (not wanted_states or group.state in wanted_states)
            and (not wanted_protocols or bool({group.protocol_type, group.protocol} & wanted_protocols))
            and wanted_name(group.id)
        )

    return wanted


def _parsed(parse: Callable[[str], T], values: Iterable[str] | None) -> set[T]:
    try:
        return {parse(value) for value in split_list(values)}
    except ValueError as error:
        raise UsageError(str(error)) from None


def split_list(values: Iterable[str] | None) -> list[str]:
    """Values of an option that is repeatable and also takes commas."""
    return [part.strip() for value in values or () for part in value.split(",") if part.strip()]
