"""`kohort why`."""

from cli.options import OutputOptions, SourceOptions
from cli.verbs.why.options import HistoryOptions, HistorySelection, WhyOptions


def why(
    *,
    selection: HistorySelection,
    options: WhyOptions,
    files: HistoryOptions,
    source: SourceOptions,
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
    from cli.output import emit
    from cli.verbs.why.answer import answer_of, draw
    from cli.verbs.why.view import why_document

    answer = answer_of(selection, options, files, source)
    draw(answer, options.svg)
    emit(why_document(answer, verbose=options.verbose, output=output.output), output)
