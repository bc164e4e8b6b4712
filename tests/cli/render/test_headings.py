"""Headings of tables: one list, one meaning each."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.render.cells import Duration
from cli.render.document import Table, columns
from cli.render.headings import DURATIONS
from cli.render.output_format import OutputFormat
from tests.cli.render.rendered import rendered_blocks

CLI = Path(__file__).parents[3] / "cli"
MAKERS = ("columns", "table_of")
"""The functions that make tables of headings."""
HEADING = re.compile(r"#{0,2}[A-Z][A-Z0-9]+(?:[- /][A-Z0-9()]+)*")
OTHER_WORDS = frozenset({"OPENS", "TIME", "BROKER", "CHANGE", "ERROR", "UNREACHABLE"})
"""Words in capitals that are no headings, in files that make tables."""


def _makes_tables(tree: ast.AST) -> bool:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id in MAKERS for function in calls)


def _words(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and HEADING.fullmatch(node.value):
            yield node.value.removeprefix("#")


PAGE = (CLI.parent / "docs" / "headings.md").read_text(encoding="utf-8")
HEADINGS = dict(re.findall(r"^\| `(.+)` \| (.+) \|$", PAGE, re.MULTILINE))
FILES = [
    file for file in sorted(CLI.rglob("*.py")) if "dropin" not in file.parts and file.name != "headings.py"
]
TREES = [ast.parse(file.read_text(encoding="utf-8")) for file in FILES]


def test_every_heading_is_in_the_list_and_the_list_has_no_other() -> None:
    in_tables = {word for tree in TREES if _makes_tables(tree) for word in _words(tree)}
    assert sorted(in_tables - OTHER_WORDS - set(HEADINGS)) == []
    assert sorted(set(HEADINGS) - {word for tree in TREES for word in _words(tree)}) == []


def test_no_two_headings_mean_the_same_and_none_has_a_blank() -> None:
    meanings = [re.sub(r"\W+", " ", meaning.lower()) for meaning in HEADINGS.values()]
    assert sorted({meaning for meaning in meanings if meanings.count(meaning) > 1}) == []
    assert [name for name in HEADINGS if not re.fullmatch(r"#?[A-Z]+(?:[-/][A-Z]+)*", name)] == []


@pytest.mark.parametrize("name", sorted(DURATIONS))
def test_a_duration_has_its_unit_in_the_heading_of_csv(name: str) -> None:
    table = Table(columns=columns(f"#{name}"), rows=[(Duration(308_250),)])
    assert rendered_blocks(OutputFormat.TABLE, table).split("\n")[0].strip() == name
    assert rendered_blocks(OutputFormat.CSV, table).split() == [f"{name}-S", "308.250"]
