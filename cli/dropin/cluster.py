"""From the options to the cluster that they name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cli.dropin.options import Options
from cli.sources.live import LiveSource


@contextmanager
def open_cluster(options: Options) -> Iterator[LiveSource]:
    """Connect, and give the connections back in the end. A WireError or CommandError says why that fails."""
    source = LiveSource.open(
        bootstrap_server=options.bootstrap_server,
        command_config=options.command_config,
        timeout_ms=options.timeout_ms,
    )
    try:
        yield source
    finally:
        source.close()
