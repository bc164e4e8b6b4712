"""`kohort validate-regex`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions, option
from groups.regex import ClientEngine


def validate_regex(
    *,
    patterns: Annotated[list[str] | None, typer.Argument(metavar="PATTERN…", help="Regexes.")] = None,
    file: Annotated[
        Path | None, option("--file", "File of regexes, one per line; - is standard input.", "FILE")
    ] = None,
    client: Annotated[
        ClientEngine | None, option("--from", "Compare with the classic consumer of this library.")
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Check which topics a subscription regex matches.

    Uses the regex engine of the broker (RE2/J) and the topics of the source, or the names in the file of --topics,
    one per line. --from also shows what the classic consumer matches today, which topics the group would lose and
    gain under the consumer protocol, and a pattern to use instead.

    Exit status: 0 every pattern is valid and changes nothing; 1 a pattern is refused, dangerous to the broker, or
    with --from loses or gains topics; 3 the topics that the consumer matches are not known.

    \b
    Examples:
      kohort validate-regex '^audit-.*'
      kohort validate-regex --from java '(?!audit).*'
    """
    from cli.output import emit
    from cli.verbs.validate_regex import action
    from groups.regex.compare import compare

    chosen = action.patterns_of(patterns, file, source.topics_file)
    topics, problems = action.topics_of(source)
    comparisons = [compare(pattern, client, topics) for pattern in chosen]
    action.notify_unknown_matches(comparisons)
    emit(action.regex_document(comparisons, client, problems), output, action.status_of(comparisons, client))
