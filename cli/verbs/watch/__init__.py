"""Repeated observation: a command with --watch, and `kohort watch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cli.options import OutputOptions, RepeatOptions, SourceOptions

if TYPE_CHECKING:
    from cli.render.document import Document
    from cli.sources.source import Source


def show_read(
    read_document: Callable[[Source], Document],
    options: SourceOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """Print what is read from the source, once, or with `--watch` repeatedly."""
    if repeat.watch is not None:
        from cli.verbs.watch.repeat import repeat_every

        repeat_every(repeat.watch, read_document, options, output)
        return
    from cli.output import emit
    from cli.selection import opened

    with opened(options) as source:
        document = read_document(source)
    emit(document, output)
