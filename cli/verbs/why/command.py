"""`kohort why`."""

from functools import partial

from cli.options import ClustersOptions, OutputOptions
from cli.verbs.why.options import HistoryOptions, HistorySelection, WhyOptions


def why(
    *,
    selection: HistorySelection,
    options: WhyOptions,
    files: HistoryOptions,
    source: ClustersOptions,
    output: OutputOptions,
) -> None:
    """Explain why groups rebalanced, and what was not read.

    Reads the past of groups from __consumer_offsets: who joined, left or crashed, repetitions folded, and what to do
    next. Exit status: 0 answered, 3 something could not be read.

    \b
    Examples:
      kohort why payments -b localhost:9092
      kohort why payments --since 6h --output html > incident.html
      kohort why payments --at 2026-03-01T03:07:00Z --log-dir DIR
    """
    from cli.clusters import emit_answer
    from cli.verbs.why.view import answer_about, check_clusters

    check_clusters(source, options, files)
    answer = partial(answer_about, selection=selection, options=options, files=files, output=output.output)
    emit_answer(answer, source, output)
