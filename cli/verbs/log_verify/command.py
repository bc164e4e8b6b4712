"""`kohort log verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions


def log_verify(
    *,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="DIR…", help="A broker's log directory, or partitions' directories."),
    ],
    output: OutputOptions,
) -> None:
    """Check the coordinator's log for damage.

    Checks every batch, record and index file, and shows the file and byte of each fault. Exit status: 0 no
    faults, 1 faults found.

    \b
    Examples:
      kohort log verify /var/lib/kafka/data
    """
    from cli.errors import ExitStatus
    from cli.output import emit
    from cli.verbs.log_verify.action import log_verify_document, verify

    partitions, errors = verify(paths)
    wrong = any(checked.problems for checked in partitions)
    emit(log_verify_document(partitions, errors), output, ExitStatus.FALSE if wrong else ExitStatus.DONE)
