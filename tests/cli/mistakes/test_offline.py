"""Mistakes for which no cluster is needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.mistakes.table import Mistake, check, read, write

TABLES = [Path(__file__).with_name(f"{name}.txt") for name in ("command_lines", "files")]
MISTAKES = [(table.stem, each) for table in TABLES for each in read(table)]


@pytest.mark.skipif("KOHORT_WRITE_GOLDEN" not in os.environ, reason="KOHORT_WRITE_GOLDEN=1 writes the tables")
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.stem)
def test_write_the_tables(kohort: Kohort, here: dict[str, str], table: Path) -> None:
    write(table, kohort, here)


@pytest.mark.skipif("KOHORT_WRITE_GOLDEN" in os.environ, reason="the tables are written")
@pytest.mark.parametrize(
    "mistake", [each for _, each in MISTAKES], ids=[f"{table}: {each.name}" for table, each in MISTAKES]
)
def test_a_mistake_is_answered(kohort: Kohort, here: dict[str, str], mistake: Mistake) -> None:
    check(kohort, mistake, here)
