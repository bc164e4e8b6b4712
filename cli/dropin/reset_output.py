"""What a reset prints: a table, or with `--export` the CSV that `--from-file` reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cli.dropin.tables import java_length, row, width_of
from groups.offsets.model import Place

Resets = Mapping[str, Mapping[Place, int]]
"""New offsets by group and partition."""

_PARTITION_WIDTH = 10
_QUOTED_FROM = 25
"""Jackson puts quotes around whatever is so long, without a look at it."""
_LOWEST_PLAIN, _BACKSLASH = "-", "\\"
"""And around what has a character below this one, or a backslash."""


def print_table(resets: Resets) -> None:
    """Headings and a line per partition; nothing but an empty line where there is no group."""
    groups = width_of(resets)
    topics = width_of(topic for offsets in resets.values() for topic, _ in offsets)
    widths = (groups, topics, _PARTITION_WIDTH)
    if resets:
        print("\n" + row(("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"), widths), end="")
    for group, topic, partition, offset in _rows(resets):
        print("\n" + row((group, topic, str(partition), str(offset)), widths), end="")
    print()


def print_csv(resets: Resets, *, with_group: bool) -> None:
    """A line per partition and, as the tool has it, an empty one behind them."""
    for group, topic, partition, offset in _rows(resets):
        names = (_quoted(group), _quoted(topic)) if with_group else (_quoted(topic),)
        print(*names, partition, offset, sep=",")
    print()


def _rows(resets: Resets) -> Iterator[tuple[str, str, int, int]]:
    for group, offsets in resets.items():
        for (topic, partition), offset in offsets.items():
            yield group, topic, partition, offset


def _quoted(text: str) -> str:
    special = any(character < _LOWEST_PLAIN or character == _BACKSLASH for character in text)
    if not special and java_length(text) < _QUOTED_FROM:
        return text
    return '"' + text.replace('"', '""') + '"'
