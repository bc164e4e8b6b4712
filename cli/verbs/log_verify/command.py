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
    """Check every batch, record and index file of the coordinator's log.

    Exits with 1 when anything is wrong, and names the file and the byte.
    """
    from cli.errors import ExitStatus
    from cli.output import emit
    from cli.verbs.log_verify.action import log_verify_document, verify

    partitions, errors = verify(paths)
    wrong = any(checked.problems for checked in partitions)
    emit(log_verify_document(partitions, errors), output, ExitStatus.FALSE if wrong else ExitStatus.DONE)
