"""`kohort validate-regex`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions, option
from groups.regex import ClientEngine


def validate_regex(
    *,
    patterns: Annotated[list[str] | None, typer.Argument(metavar="PATTERN…", help="Regexes.")] = None,
    file: Annotated[
        Path | None, option("--file", "Regexes, one a line; - is standard input.", "FILE")
    ] = None,
    client: Annotated[
        ClientEngine | None,
        option("--from", "Compare with what the classic consumer of this library matches."),
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Check subscription regexes by the broker's engine, and say which topics of the source they match.

    With --from, also what the classic consumer matches today, what the group would lose and gain under the consumer
    protocol, and a pattern to use instead. --topics FILE takes the place of a source here: names, one a line.

    Exits with 1 when a pattern is refused, dangerous to the broker, or with --from loses or gains topics; with 3 when
    it cannot be told what the consumer matches.
    """
    from cli.output import emit, notice
    from cli.verbs.validate_regex.action import check, patterns_of, status_of, topics_of, untold
    from cli.verbs.validate_regex.view import regex_document

    chosen = patterns_of(patterns, file, source.topics_file)
    topics, problems = topics_of(source)
    comparisons = check(chosen, client, topics)
    for message in untold(comparisons):
        notice(message)
    emit(regex_document(comparisons, client, problems), output, status_of(comparisons, client))
