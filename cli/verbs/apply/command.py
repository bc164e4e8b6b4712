"""`kohort apply`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.consent import EmptyGroupConsent
from cli.options import OutputOptions, SourceOptions, option


def apply(
    *,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Desired state of groups, as YAML or JSON; - is standard input."),
    ],
    check: Annotated[bool, option("--check", "Only compare; exit 1 if anything differs.")] = False,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Apply settings, offsets and deletions from a file.

    Shows the differences; nothing is changed without --execute. Only what differs is changed, so a file can be
    applied again. Groups that are not in the file stay as they are.

    \b
    Examples:
      kohort apply groups.yaml -b localhost:9092
      kohort apply groups.yaml -b localhost:9092 --execute
    """
    from cli.verbs.apply.action import apply_file

    apply_file(file, consent, source, output, check=check)
