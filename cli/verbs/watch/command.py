"""`kohort watch`."""

from __future__ import annotations

from dataclasses import replace

import typer

from cli.options import SourceOptions
from cli.verbs.watch.options import WatchOptions

ANSWER_WITHIN_MS = 5_000
"""How long a look may take where nobody chose a time: a view that stands still tells nothing."""


def watch(*, options: WatchOptions, source: SourceOptions) -> None:
    """Watch groups while they rebalance: members, epochs, owners, lag, and what happens.

    Ends with Ctrl-C. A cluster that goes away is asked again. One look may take 5 seconds, unless --timeout says
    otherwise.
    """
    from cli.errors import ExitStatus
    from cli.verbs.watch.session import watch_live, watch_recording

    if not source.timeout_is_chosen:
        source = replace(source, timeout_ms=ANSWER_WITHIN_MS)
    file = options.replay
    status = watch_live(options, source) if file is None else watch_recording(options, source, file)
    if status is not ExitStatus.DONE:
        raise typer.Exit(int(status))
