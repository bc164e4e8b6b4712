"""What changes on a screen that is drawn in place, and what fits."""

import pytest

from cli.render.cells import text_width
from cli.render.document import Column, Table
from cli.render.layout import table_lines
from cli.render.lines import Piece, Role, cut, plain
from cli.render.redraw import changed_cells, escaped, marked

TWO = (Column("GROUP"), Column("STATE"), Column("#MEMBERS", number=True))


def table(*rows: tuple[str, str, int]) -> Table:
    return Table(columns=TWO, rows=rows)


def test_changed_cells_are_found_by_the_key_of_their_row() -> None:
    before = table(("a", "Stable", 1), ("b", "Stable", 2))
    after = table(("new", "Empty", 0), ("a", "Stable", 2), ("b", "Stable", 2))
    assert changed_cells(None, after) == frozenset()
    assert changed_cells(before, after) == {(0, 0), (0, 1), (0, 2), (1, 2)}
    assert changed_cells(before, before) == frozenset()
    # No column tells these rows apart: a row is the same where all of it is.
    twice = table(("a", "x", 1), ("a", "x", 1))
    assert changed_cells(twice, twice) == frozenset()
    assert changed_cells(twice, table(("a", "x", 1), ("a", "y", 1))) == {(1, 0), (1, 1), (1, 2)}
    # A column that was not there is new in every row.
    fewer = Table(columns=TWO[:2], rows=[("a", "Stable")])
    assert changed_cells(fewer, table(("a", "Stable", 1))) == {(0, 2)}


@pytest.mark.parametrize("width", [80, 24, 12])
def test_a_table_on_a_screen_loses_nothing(width: int) -> None:
    before, after = table(("a", "Stable", 1)), table(("a", "Rebalancing", 1), ("b", "Rebalancing", 12_345))
    lines = table_lines(after, marked(after, before), width, whole=False)[0]
    shown = [plain(line) for line in lines]
    for text in ("GROUP", "Rebalancing", "12345", "#MEMBERS"):
        assert any(text in line for line in shown)
    changed = [piece.text for line in lines for piece in line if piece.role is Role.CHANGED]
    assert changed in (["Rebalancing", "b", "Rebalancing", "12345"], ["Rebalancing", "b", "12345"])


def test_lines_are_cut_to_the_width_of_wide_characters() -> None:
    line = (Piece("组组组"), Piece("abc", Role.CHANGED))
    assert plain(cut(line, 9)) == "组组组abc"
    for width in range(1, 9):
        assert text_width(plain(cut(line, width))) <= width
    assert list(escaped([line], 9)) == ["组组组\x1b[7mabc\x1b[0m"]
    assert list(escaped([line], 10)) == ["组组组\x1b[7mabc\x1b[0m\x1b[K"]
