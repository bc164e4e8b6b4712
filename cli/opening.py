"""Opening the source that the options name, for one answer or for many, and printing what it has to say.

Sources keep their notices as values; here they reach stderr, each once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cli.errors import CommandError, ExitStatus, UsageError
from cli.options import SourceOptions
from cli.output import notice
from cli.sources.source import Source

if TYPE_CHECKING:
    from cli.sources.writer import ClusterWriter
    from coordinator.store.topic_names import KnownTopic

META_PROPERTIES = "meta.properties"
"""What a coordinator puts into it first."""


@contextmanager
def opened(options: SourceOptions) -> Iterator[Source]:
    """The source that the options name, closed in the end; UsageError when they name several.

    What it has to say is printed when it has been opened, and in the end.
    """
    with closing(_open(options)) as source:
        print_notices(source)
        try:
            yield source
        finally:
            print_notices(source)


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


def print_notices(source: Source) -> None:
    """Print what a source has to say and has not said yet."""
    for text in source.notices.take():
        notice(text)


def _open(options: SourceOptions) -> Source:
    try:
        return source_of(options)
    except Exception:
        if options.place is not None:
            notice(f"this is about {options.place}")
        raise


class LastingSource:
    """A source that is read again and again: a live one stays open in between, a file is read anew.

    Opens what the options name when it is first needed, and again after `close`. Use it in a `with` block.
    """

    def __init__(self, options: SourceOptions) -> None:
        self.options, self.is_live = options, is_live(options)
        self.name = options.bootstrap_server or "the cluster"
        self._source: Source | None = None
        self._said: set[str] = set()
        self._was_open = False

    def get(self) -> Source:
        """An open source."""
        if self._source is not None and self.is_live:
            return self._source
        self.close()
        self._source = source_of(self.options) if self._was_open else _open(self.options)
        self._was_open = True
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
        from wire.client.errors import (
            AuthenticationFailed,
            InvalidAddress,
            TlsFailed,
            UnsupportedApi,
            UnsupportedMechanism,
            WireError,
        )

        if isinstance(error, CommandError):
            return self.is_live and error.status is ExitStatus.UNREADABLE
        lasting = (AuthenticationFailed, InvalidAddress, TlsFailed, UnsupportedApi, UnsupportedMechanism)
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
        self.close()


def is_live(options: SourceOptions) -> bool:
    """Whether the options name a cluster."""
    return bool(options.bootstrap_server or options.command_config)


def source_of(options: SourceOptions) -> Source:
    """Open the source that the options name; UsageError when they name several.

    What they leave to contexts and the environment, `cli.sources.contexts.settle` has filled in before.
    """
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
