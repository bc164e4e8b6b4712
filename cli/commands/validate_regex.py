"""`kohort validate-regex`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import OutputOptions, SourceOptions

if TYPE_CHECKING:
    from coordinator.model import Problem


def validate_regex(
    *,
    patterns: Annotated[list[str] | None, typer.Argument(metavar="PATTERN…", help="Regexes.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Regexes, one a line; - is standard input.")
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Check subscription regexes by the broker's engine, and say which topics of the source they match.

    Exits with 1 when a pattern is refused. Without a source only the pattern itself is judged.
    """
    from cli.cluster.choose import open_source, source_is_named
    from cli.errors import ExitStatus
    from cli.output import emit
    from cli.views.regex import regex_document
    from coordinator.regex import judge

    verdicts = [judge(pattern) for pattern in _patterns(patterns, file)]
    topics: list[str] | None = None
    problems: tuple[Problem, ...] = ()
    if source_is_named(source):
        with open_source(source) as groups:
            read = groups.topics(None, end_offsets=False)
            topics, problems = [topic.name for topic in read.items], read.problems
    valid = all(verdict.valid for verdict in verdicts)
    emit(regex_document(verdicts, topics, problems), output, ExitStatus.DONE if valid else ExitStatus.FALSE)


def _patterns(patterns: list[str] | None, file: Path | None) -> list[str]:
    import sys

    from cli.errors import CommandError, UsageError

    chosen = list(patterns or ())
    if file is not None:
        try:
            text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a text file in UTF-8"
            raise CommandError(f"{file}: cannot be read: {reason}") from None
        chosen += [line for line in text.splitlines() if line]
    if not chosen:
        raise UsageError("give a PATTERN, or --file FILE with one a line")
    return chosen
