"""A table of a screen: rows with keys, sorted by any column and filtered by words, without anything of a terminal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import NamedTuple, Self, TypeAlias, TypeVar

from cli.render.cells import Cell
from cli.render.document import columns
from cli.render.headings import role_of
from cli.render.lines import Line, Role, plain

T = TypeVar("T")
ANY = ""  # The facet in which a word without a name is searched, besides the key
SortValue: TypeAlias = float | str | None


class GridColumn(NamedTuple):
    name: str
    is_number: bool = False
    least_width: int = 0  # Of a column whose values come later


class GridRow(NamedTuple):
    """A row: what it is called when it is opened, its cells, the roles of some, what else it can be found by."""

    key: str
    cells: Sequence[Cell]
    roles: Mapping[int, Role] = {}
    sorts: Mapping[int, SortValue] = {}  # By column: what is compared instead of the cell
    facets: Mapping[str, str] = {}  # By name, as in `state:Stable`: the text in which the rest is searched


@dataclass(frozen=True, slots=True, kw_only=True)
class GridTable:
    columns: Sequence[GridColumn]
    rows: Sequence[GridRow]


class Figure(str):
    """A cell of a number that is written in another form, such as a rate: it is sorted by the number."""

    __slots__ = ("value",)
    value: float

    def __new__(cls, text: str, value: float) -> Self:
        figure = super().__new__(cls, text)
        figure.value = value
        return figure


class Marked(str):
    """A cell whose parts have roles."""

    __slots__ = ("line",)
    line: Line

    def __new__(cls, line: Line) -> Self:
        cell = super().__new__(cls, plain(line))
        cell.line = line
        return cell


def grid_of(
    items: Iterable[T], key: Callable[[T], str], *shown: tuple[str, Callable[[T], Cell]]
) -> GridTable:
    """A row per item, found by any of its texts. A heading begins with `#` if its cells are numbers (as of
    `cli.render.document.columns`), and decides on their colors."""
    headings = [GridColumn(column.name, column.number) for column in columns(*(name for name, _ in shown))]
    roles = [role_of(column.name) for column in headings]
    rows = []
    for item in items:
        cells = tuple(cell(item) for _, cell in shown)
        of_cells = {n: role(cell) for n, (role, cell) in enumerate(zip(roles, cells, strict=True))}
        texts = {
            column.name.casefold(): cell
            for column, cell in zip(headings, cells, strict=True)
            if isinstance(cell, str)
        }
        facets = texts | {ANY: " ".join(texts.values())}
        colored = {n: role for n, role in of_cells.items() if role is not Role.PLAIN}
        rows.append(GridRow(key(item), cells, colored, facets=facets))
    return GridTable(columns=headings, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class GridView:
    """How a table is looked at: the column that sorts it, and the words of the filter."""

    column: str | None = (
        None  # By name: others come and go. None, or one that is gone: in the order of the rows
    )
    is_descending: bool = False
    words: tuple[str, ...] = ()
    only: Callable[[GridRow], bool] | None = field(default=None, compare=False)  # A switch next to the filter

    def sorted_by(self, column: int, table: GridTable) -> "GridView":
        """By this column; numbers begin with the largest. The same column again: in the other direction."""
        name, is_number, _ = table.columns[column]
        if name == self.column:
            return replace(self, is_descending=not self.is_descending)
        return replace(self, column=name, is_descending=is_number)

    def position(self, table: GridTable) -> int | None:
        """Of the column that sorts it."""
        return next((n for n, column in enumerate(table.columns) if column.name == self.column), None)

    def apply(self, table: GridTable) -> list[GridRow]:
        rows: Iterable[GridRow] = table.rows
        if self.only is not None:
            rows = filter(self.only, rows)
        if self.words:
            rows = (row for row in rows if all(_holds(word, row) for word in self.words))
        position = self.position(table)
        return list(rows) if position is None else _sorted(rows, position, is_descending=self.is_descending)


def filter_words(text: str) -> tuple[str, ...]:
    """The words of a filter. All must be found, in any case; `name:text` searches one fact, `-word` excludes."""
    return tuple(text.casefold().split())


def _holds(word: str, row: GridRow) -> bool:
    if len(word) > 1 and word.startswith("-"):
        return not _holds(word[1:], row)
    name, colon, text = word.partition(":")
    if colon and name in row.facets:
        return text in row.facets[name].casefold()
    return word in row.key.casefold() or word in row.facets.get(ANY, "").casefold()


def _sorted(rows: Iterable[GridRow], column: int, *, is_descending: bool) -> list[GridRow]:
    """By a column, equal ones by key; unknown values are last in either direction."""
    known: list[tuple[float | str, GridRow]] = []
    unknown: list[GridRow] = []
    for row in sorted(rows, key=_key):
        cell = row.cells[column]
        value = row.sorts[column] if column in row.sorts else cell.value if isinstance(cell, Figure) else cell
        if value is None:
            unknown.append(row)
        else:
            known.append((value.casefold() if isinstance(value, str) else value, row))
    known.sort(key=itemgetter(0), reverse=is_descending)
    return [row for _, row in known] + unknown


def _key(row: GridRow) -> str:
    return row.key
