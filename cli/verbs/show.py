"""Printing what a command finds: once, or with `--watch` every few seconds."""

from __future__ import annotations

from collections.abc import Callable

from cli.opening import opened
from cli.options import OutputOptions, RepeatOptions, SourceOptions
from cli.output import emit
from cli.render.document import Document
from cli.sources.source import Source


def show(
    look: Callable[[Source], Document], source: SourceOptions, output: OutputOptions, repeat: RepeatOptions
) -> None:
    """Print the document that `look` makes of the source, and leave with its status; again with `--watch`."""
    if repeat.watch is not None:
        from cli.verbs.watch.repeat import repeat_every

        repeat_every(repeat.watch, look, source, output)
        return
    with opened(source) as groups:
        document = look(groups)
    emit(document, output)
