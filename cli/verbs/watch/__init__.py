"""Repeated observation: a command with --watch, and `kohort watch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from cli.errors import ExitStatus, UsageError
from cli.options import OutputOptions, RepeatOptions, SourceOptions

if TYPE_CHECKING:
    from cli.render.document import Document
    from cli.sources.source import Source


def show_read(
    read_document: Callable[[Source], Document],
    options: SourceOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
    finish: Callable[[Document], Document] = lambda document: document,
) -> None:
    """Print what is read from the source or from several clusters, once, or from a source with `--watch` repeatedly.
    `finish` makes what is printed of a document of several clusters."""
    if repeat.watch is not None:
        if options.clusters:
            raise UsageError("--watch repeats a view of one cluster: name one context, or use kohort top")
        from cli.verbs.watch.repeat import repeat_every

        repeat_every(repeat.watch, read_document, options, output)
        return
    from cli.clusters import emit_answer
    from cli.output import emit
    from cli.selection import opened

    def answer(of: SourceOptions) -> tuple[Document, ExitStatus]:
        with opened(of) as source:
            document = read_document(source)
            if document.late is not None:
                emit(document, output)
                raise typer.Exit(int(ExitStatus.DONE))
            return document, ExitStatus.DONE

    emit_answer(answer, options, output, finish)
