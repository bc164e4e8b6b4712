"""From the options to the source that they name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CommandError, UsageError
from cli.options import SourceOptions
from cli.sources.source import Source

if TYPE_CHECKING:
    from coordinator.store.topic_names import KnownTopic

META_PROPERTIES = "meta.properties"
"""What a coordinator puts into it first."""


def is_live(options: SourceOptions) -> bool:
    """Whether the options name a cluster."""
    return bool(options.bootstrap_server or options.command_config)


def source_of(options: SourceOptions) -> Source:
    """Open the source that the options name; UsageError when they name several.

    What they leave to contexts and the environment, `cli.sources.contexts.settle` has filled in before.
    """
    named = {
        "--bootstrap-server": options.bootstrap_server,
        "--snapshot": options.snapshot,
        "--embedded": options.embedded,
        "--log-dir": options.log_dirs or None,
    }
    given = [option for option, value in named.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} name different sources; give one")
    if options.command_config and options.bootstrap_server is None and given:
        raise UsageError(f"--command-config is for a live cluster; it makes no sense with {given[0]}")
    for option, value in (("--as-of", options.as_of), ("--topics", options.topics_file)):
        if value is not None and not options.log_dirs:
            raise UsageError(f"{option} is for a broker's log; it makes no sense without --log-dir")
    if is_live(options):
        from cli.sources.live import LiveSource

        return LiveSource.connect(options)
    if options.log_dirs:
        return _log(options.log_dirs, options.as_of, options.topics_file)
    if options.snapshot is not None:
        from cli.sources.saved import SavedSource

        return SavedSource(options.snapshot)
    return _embedded(options.embedded or data_directory())


def source_is_named(options: SourceOptions) -> bool:
    """Whether the command line names a source, or the default one has something to offer."""
    named = (
        options.bootstrap_server,
        options.command_config,
        options.snapshot,
        options.embedded,
        options.log_dirs,
    )
    return any(named) or is_log_directory(data_directory())


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
