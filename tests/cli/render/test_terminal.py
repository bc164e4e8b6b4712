"""On a terminal of 80 columns: nothing is longer than a line, nothing is lost; in a pipe there is no color."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.command import Kohort
from tests.support.terminals import on_terminal

COLUMNS = 80
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def shown_to_people(kohort: Kohort, *arguments: str | Path) -> str:
    return on_terminal(
        [kohort.executable, *arguments], kohort.env, columns=COLUMNS, stderr=subprocess.DEVNULL
    ).terminal


TABLES: Sequence[list[str]] = (
    ["list"],
    ["list", "--verbose"],
    ["describe", "billing", "--offsets"],
    ["describe", "--match", "billing|checkout", "--offsets", "--verbose"],
    ["describe", "checkout", "--members"],
    ["describe", "--all-groups", "--members", "--verbose"],
    ["describe", "--all-groups", "--state", "--verbose"],
    ["validate-regex", ".*", "^audit-.*"],
)


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
def test_a_table_is_readable(kohort: Kohort, sample: Path, arguments: list[str]) -> None:
    shown = STYLE.sub("", shown_to_people(kohort, *arguments, "--embedded", sample))
    assert "\x1b" not in shown
    assert max(map(cell_len, shown.splitlines())) <= COLUMNS
    # Every cell is there, an id perhaps without its middle; CSV leaves an unknown one empty.
    shortened = [] if "--verbose" in arguments else re.findall(r"(\S+)…(\S+)", shown)
    assert ("Ids are shortened" in shown) is bool(shortened)
    rows = kohort.quick(*arguments, "--embedded", sample, "--output", "csv").rows
    assert rows
    for row in rows:
        for word in " ".join((*row, *row.values())).split():
            is_short = any(word.startswith(head) and word.endswith(tail) for head, tail in shortened)
            assert is_short or all(piece in shown for piece in _pieces(word, shown)), word


def _pieces(word: str, shown: str) -> Iterator[str]:
    """A word as it is folded: the longest beginning that is shown, and the rest likewise."""
    rest = word
    while rest:
        length = next((n for n in range(len(rest), 1, -1) if rest[:n] in shown), 1)
        assert length > 3 or length == len(rest) or len(rest) < len(word), f"{word!r} is in shreds"
        yield rest[:length]
        rest = rest[length:]


@pytest.mark.parametrize("output", ["csv", "json", "yaml", "markdown"])
def test_other_formats_are_not_folded(kohort: Kohort, sample: Path, output: str) -> None:
    arguments = ["describe", "--all-groups", "--members", "--verbose", "--output", output]
    shown = shown_to_people(kohort, *arguments, "--embedded", sample)
    piped = kohort.quick(*arguments, "--embedded", sample).stdout
    assert "\x1b" not in shown
    if output == "json":  # indented for people
        assert shown.startswith("{\n")
    else:
        assert shown == piped
