"""`kohort watch`."""

from __future__ import annotations

from dataclasses import replace

import typer

from cli.options import SourceOptions
from cli.verbs.watch.options import WatchOptions

ANSWER_WITHIN_MS = 5_000
"""Default timeout of an observation: a frozen view is useless."""


def watch(*, options: WatchOptions, source: SourceOptions) -> None:
    """Watch groups while they rebalance.

    Shows members, epochs, owners, lag and events. Stop it with Ctrl-C. If the cluster stops answering, Kohort asks
    it again. Each request may take 5 seconds, unless --timeout sets another time.

    \b
    Examples:
      kohort watch billing -b localhost:9092
      kohort watch billing --until stable -b localhost:9092
    """
    from cli.errors import ExitStatus
    from cli.verbs.watch.session import watch_live, watch_recording

    if not source.timeout_is_chosen:
        source = replace(source, timeout_ms=ANSWER_WITHIN_MS)
    file = options.replay
    status = watch_live(options, source) if file is None else watch_recording(options, source, file)
    if status is not ExitStatus.DONE:
        raise typer.Exit(int(status))
