"""`kohort why`."""

from cli.options import ClustersOptions, OutputOptions, SourceOptions
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
    from cli.clusters import Answer, emit_answer
    from cli.errors import ExitStatus, UsageError
    from cli.verbs.why.answer import answer_of, draw
    from cli.verbs.why.reading import is_file
    from cli.verbs.why.view import why_document

    if source.clusters and is_file(files):
        raise UsageError("--journal and --replay are sources themselves; give one source")
    if source.clusters and options.svg:
        raise UsageError("--svg draws groups of one cluster: name one context")

    def explained(of: SourceOptions) -> Answer:
        answer = answer_of(selection, options, files, of)
        draw(answer, options.svg)
        return why_document(answer, verbose=options.verbose, output=output.output), ExitStatus.DONE

    emit_answer(explained, source, output)
