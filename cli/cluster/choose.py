"""From the options to the source that they name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.cluster.port import Source
from cli.errors import CommandError, UsageError
from cli.options import SourceOptions
from cli.output import notice

SAMPLE = "snapshot.yaml"
"""What an embedded data directory holds."""


@contextmanager
def open_source(options: SourceOptions) -> Iterator[Source]:
    """The source that the options name; UsageError when they name several."""
    named = {
        "--bootstrap-server": options.bootstrap_server,
        "--snapshot": options.snapshot,
        "--embedded": options.embedded,
    }
    given = [option for option, value in named.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} name different sources; give one")
    if options.command_config and options.bootstrap_server is None and given:
        raise UsageError(f"--command-config is for a live cluster; it makes no sense with {given[0]}")
    source = _live(options) if options.bootstrap_server or options.command_config else _saved(options)
    try:
        yield source
    finally:
        source.close()


def source_is_named(options: SourceOptions) -> bool:
    """Whether the command line names a source, or the default one has something to offer."""
    named = (options.bootstrap_server, options.command_config, options.snapshot, options.embedded)
    return any(named) or (data_directory() / SAMPLE).is_file()


def data_directory() -> Path:
    """`$XDG_DATA_HOME/kohort`, by default ~/.local/share/kohort."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "kohort"


def _live(options: SourceOptions) -> Source:
    from cli.cluster.live import LiveSource

    return LiveSource.connect(options)


def _saved(options: SourceOptions) -> Source:
    from cli.cluster.saved import SavedSource

    if options.snapshot is not None:
        file = options.snapshot
    else:
        directory = options.embedded or data_directory()
        file = directory / SAMPLE
        if not file.is_file():
            raise CommandError(
                f"{directory} holds no groups; name a source (--bootstrap-server, --snapshot, --embedded), "
                "or run `kohort demo` to fill it with a sample"
            )
    source = SavedSource(file)
    for problem in source.snapshot.notices:
        notice(f"{problem.subject}: {problem.message}")
    return source
