"""Printing a command's document, and the exit status that goes with it."""

from __future__ import annotations

import os
import sys

import typer

from cli.errors import ExitStatus
from cli.options import OutputOptions
from cli.render.document import Document
from cli.render.formats import render


def emit(document: Document, options: OutputOptions, status: ExitStatus = ExitStatus.DONE) -> None:
    """Print data to stdout and errors to stderr, and leave with the status; any error makes it UNREADABLE."""
    try:
        render(document, options.output, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        leave_quietly()
    for error in document.errors:
        notice(f"{error.subject}: {error.message}")
    if document.errors:
        status = ExitStatus.UNREADABLE
    if status is not ExitStatus.DONE:
        raise typer.Exit(int(status))


def notice(message: str) -> None:
    """A line for the person, beside the data."""
    try:
        print(f"kohort: {message}", file=sys.stderr)
    except BrokenPipeError:
        leave_quietly()


def leave_quietly() -> None:
    """The reader of stdout has seen enough (`| head`): it got what it wanted."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(int(ExitStatus.DONE))
