"""How a cell reads as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cli.render.document import Cell

MISSING = "-"


def cell_text(cell: Cell) -> str:
    """A cell for people: `-` for unknown, true and false as Kafka's tools print them."""
    if cell is None:
        return MISSING
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return cell if isinstance(cell, str) else str(cell)


def safe_text(text: str) -> str:
    """Escape what would steer a terminal: names and metadata come from whoever wrote them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def partitions_text(partitions: Mapping[str, Sequence[int]] | None) -> str | None:
    """An assignment as kafka-consumer-groups prints it: `t1:0,1;t2:3`; None for an empty or unknown one."""
    if not partitions:
        return None
    texts = (f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in partitions.items())
    return ";".join(sorted(texts))
