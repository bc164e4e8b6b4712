"""The content that a command shows, independent of the output format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from cli.render.cells import Cell, Duration, duration_cell, quoted_start
from cli.render.headings import DURATIONS
from cli.render.lines import Role
from groups.listing import Problem

if TYPE_CHECKING:
    from cli.render.lanes import Drawing

T_co = TypeVar("T_co", covariant=True)
FORMAT_VERSION = 1  # The `kohort` field of every JSON document


_PROSE = frozenset(("FINDING", "REMEDY", "PROBLEM", "SYMPTOM", "ACTION", "PATH", "WHY-NOT", "REPORTED"))


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, and whether it holds numbers."""

    name: str
    number: bool = False

    @property
    def csv_name(self) -> str:
        """The heading in CSV, where durations are seconds."""
        return f"{self.name}-S" if self.name in DURATIONS else self.name

    @property
    def is_prose(self) -> bool:
        """Whether it holds sentences of Kohort, in which words between backticks are code."""
        return self.name in _PROSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    header: bool = True  # Whether the headings are printed


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; level 1 is the document's."""

    text: str
    level: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", quoted_start(self.text))


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    role: Role = Role.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An entry of a list: a label, its text, and further lines that belong to it; a page shows these as a card."""

    lead: str
    text: str = ""
    details: tuple[str, ...] = ()
    role: Role = Role.PLAIN  # The role of the label


@dataclass(frozen=True, slots=True)
class Code:
    """Lines to type or paste unchanged."""

    lines: tuple[str, ...]
    language: str = "sh"


@dataclass(frozen=True, slots=True)
class Checklist:
    """Things to do, in order, each with a box to tick."""

    items: tuple[str, ...]
    is_prose: bool = True  # Whether words between backticks are code; in names they are not


@dataclass(frozen=True, slots=True)
class Bullets:
    """Sentences of equal rank."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plot(Bullets):
    """A plot, which an HTML page draws; other formats list its numbers. `cli.render.plots` makes them."""

    html: Callable[[], Iterator[str]]  # The lines of its HTML


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Blocks that a page folds below a line. Tables that scripts read do not belong here."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture, which an HTML page draws, and other formats describe in words."""

    text: str
    drawing: Callable[[], Drawing]  # Draws it; called when a page shows it


class _Computed(Generic[T_co]):
    """A collection that is computed when it is read; `T_co` is what an iteration returns."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Any:
        return self._make()

    def __getitem__(self, key: Any) -> Any:
        return self._made[key]

    def __iter__(self) -> Iterator[T_co]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


class Deferred(_Computed[str], Mapping[str, object]):
    """Data that are computed when they are read: a table needs none of them."""


class DeferredRows(_Computed[Sequence[Cell]], Sequence[Sequence[Cell]]):
    """Rows that are computed when they are read: a document for programs needs none of them."""


@dataclass(slots=True)
class Late:
    """What is found while the rows of a long answer are written; complete after the last one."""

    remarks: list[str] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)


Block: TypeAlias = Table | Heading | Text | Item | Code | Checklist | Bullets | Plot | Details | Picture

IN_A_PIPE = "a pipe (| cat)"
VERBOSE = "--verbose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The answer of a command: for programs (`data`) and for people (`blocks`)."""

    command: str
    data: Mapping[str, Any]
    blocks: Sequence[Block]
    errors: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()  # Notices for a person, in addition to the data
    text: Sequence[Block] | None = None  # The blocks printed as text, if they are shorter than those of pages
    late: Late | None = None  # Of an answer that is still being read
    more: str = IN_A_PIPE
    """How to see ids in full that a terminal shortens; empty if it must not shorten them."""

    @property
    def text_blocks(self) -> Sequence[Block]:
        return self.blocks if self.text is None else self.text

    @property
    def rows_or_text(self) -> bool:
        """Whether there is anything for people to read: more than headings of empty tables."""
        return any(not isinstance(block, Table) or block.rows for block in self.blocks)

    @property
    def all_errors(self) -> tuple[Problem, ...]:
        return self.errors if self.late is None else (*self.errors, *self.late.errors)

    def as_data(self) -> dict[str, Any]:
        """The JSON document, schema in docs/schemas."""
        return dict(self.items())

    def items(self) -> Iterator[tuple[str, object]]:
        """The fields of the JSON document, in order: each is computed after those before it were written."""
        yield from (("kohort", FORMAT_VERSION), ("command", self.command))
        for name, value in self.data.items():
            yield name, dict(value) if isinstance(value, Deferred) else value
        yield "errors", [fields(error, "subject", "message") for error in self.all_errors]


def columns(*names: str) -> tuple[Column, ...]:
    """Columns by heading; a leading `#` on the argument marks numbers and `##` also prints one `#`."""
    return tuple(Column(name[1:], number=True) if name.startswith("#") else Column(name) for name in names)


def table_of(items: Iterable[Any], *shown: str | tuple[str, str | Callable[[Any], Cell]]) -> Table:
    """A row per object or mapping. Its column `#MOVED` shows the field `moved`, and that of a duration, `#GAIN`, the
    seconds of `gain_s`, unless another field or a function is given with the heading."""
    pairs = [(column, _field(column)) if isinstance(column, str) else column for column in shown]
    rows = [[_cell(item, name, value) for name, value in pairs] for item in items]
    return Table(columns=columns(*(name for name, _ in pairs)), rows=rows)


def led(text: str, role: Role) -> Item:
    """`Open: continue with step 2.` as an item whose label is the text before the first colon."""
    lead, colon, rest = text.partition(": ")
    return Item(lead=f"{lead}:", text=rest, role=role) if colon else Item(lead=text, role=role)


def fields(item: object, *names: str) -> dict[str, Any]:
    """Some fields of an object by name, for a document's data."""
    return {name: getattr(item, name) for name in names}


def cells_of(figures: Mapping[str, Any]) -> list[Cell]:
    """The cells of figures by name; those whose name ends in `_s` are durations."""
    return [duration_cell(value) if name.endswith("_s") else value for name, value in figures.items()]


def _field(heading: str) -> str:
    name = heading.lstrip("#")
    return name.replace("-", "_").lower() + ("_s" if name in DURATIONS else "")


def _cell(item: Any, heading: str, value: str | Callable[[object], Cell]) -> Cell:
    fields_of = item.__getitem__ if isinstance(item, Mapping) else partial(getattr, item)
    cell: Cell = fields_of(value) if isinstance(value, str) else value(item)
    if heading.lstrip("#") in DURATIONS and isinstance(cell, int | float) and not isinstance(cell, Duration):
        return duration_cell(cell)
    return cell
