"""`kohort what-if`."""

import os

from cli.options import OutputOptions, SourceOptions
from cli.verbs.what_if.options import WhatIfOptions
from cli.verbs.why.options import HistoryOptions, HistorySelection


def what_if(
    *,
    selection: HistorySelection,
    options: WhatIfOptions,
    files: HistoryOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Play the past of groups as it might have been.

    First plays what happened, and compares its costs with the log; then every combination of the alternatives. Nothing
    is changed. Exit status: 0 the simulation agrees with the log; 1 it does not; 3 something could not be read, or
    a group not be played.

    \b
    Examples:
      kohort what-if payments -b localhost:9092 --protocol cooperative,consumer
      kohort what-if payments --static --set session.timeout.ms=60000
    """
    from cli.output import emit
    from cli.verbs.what_if.action import carry_out, status_of
    from cli.verbs.what_if.view import what_if_document

    answer = carry_out(selection, options, files, source, options.jobs or len(os.sched_getaffinity(0)))
    emit(what_if_document(answer, output.output), output, status_of(answer))
