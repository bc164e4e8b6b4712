"""The documents of several clusters as one: tables get a column CLUSTER, entries of lists a field `cluster`, and texts
begin with the cluster's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TypeAlias

from cli.render.cells import Cell
from cli.render.document import (
    Block,
    Bullets,
    Column,
    Deferred,
    DeferredRows,
    Details,
    Document,
    Heading,
    Item,
    Picture,
    Table,
    Text,
)

CLUSTER = Column("CLUSTER")
_Key: TypeAlias = tuple[tuple[str, ...], int]


def merged(documents: Mapping[str, Document]) -> Document:
    """One document of those of several clusters, by name: one at least, and all are of one command. Tables are those
    of all clusters, except below headings: what follows one is of one cluster. Remarks about several come last."""
    names: dict[str, list[str]] = {}
    for name, document in documents.items():
        for text in document.remarks:
            names.setdefault(text, []).append(name)
    return replace(
        next(iter(documents.values())),
        data=Deferred(lambda: _data(documents)),
        blocks=_blocks({name: document.blocks for name, document in documents.items()}),
        text=None,
        errors=tuple(
            replace(error, subject=f"{name}: {error.subject}")
            for name, document in documents.items()
            for error in document.errors
        ),
        remarks=tuple(
            f"{', '.join(of)}: {text}"
            for text, of in sorted(names.items(), key=lambda remark: len(remark[1]))
        ),
    )


def _data(documents: Mapping[str, Document]) -> dict[str, object]:
    """Lists of all clusters, one after the other; every other field is one of its cluster."""
    lists: dict[str, list[object]] = {}
    clusters: list[dict[str, object]] = []
    for name, document in documents.items():
        clusters.append({"cluster": name})
        for key, value in document.data.items():
            if isinstance(value, list):
                lists.setdefault(key, []).extend({"cluster": name, **entry} for entry in value)
            else:
                clusters[-1][key] = value
    return {"clusters": clusters, **lists}


def _blocks(blocks: Mapping[str, Sequence[Block]]) -> list[Block]:
    texts: dict[_Key, list[Block]] = {}  # What precedes a table
    tables: dict[_Key, dict[str, Table]] = {}
    rest, sections = list[Block](), list[Block]()
    for name, listed in blocks.items():
        head = list(takewhile(lambda block: not isinstance(block, Heading), listed))
        sections += [_of_section(name, block) for block in listed[len(head) :]]
        before, times = list[Block](), Counter[tuple[str, ...]]()
        for block in head:
            if not isinstance(block, Table):
                before.append(_named(name, block))
                continue
            # Two tables are of the same kind if they begin with the same columns; others depend on their rows.
            kind = tuple(column.name for column in block.columns[:2])
            texts.setdefault((kind, times[kind]), []).extend(before)
            tables.setdefault((kind, times[kind]), {})[name] = block
            times[kind] += 1
            before = []
        rest += before
    shown = [block for key, of_kind in tables.items() for block in (*texts[key], _table(of_kind))]
    return [*shown, *rest, *sections]


def _of_section(cluster: str, block: Block) -> Block:
    if isinstance(block, Table):
        return _table({cluster: block})
    return _named(cluster, block) if isinstance(block, Heading) else block


def _table(tables: Mapping[str, Table]) -> Table:
    """The rows of all tables; a cell of a column that only others have is unknown."""
    names: list[Column] = []
    for table in tables.values():
        at = 0
        for column in table.columns:
            if column in names:
                at = names.index(column) + 1
            else:
                names.insert(at, column)
                at += 1

    def rows() -> list[Sequence[Cell]]:
        return [row for name, table in tables.items() for row in _rows(name, table, names)]

    first = next(iter(tables.values()))
    return replace(first, columns=(CLUSTER, *names), rows=DeferredRows(rows))


def _rows(cluster: str, table: Table, shown: Sequence[Column]) -> Iterator[Sequence[Cell]]:
    if table.columns == tuple(shown):
        yield from ((cluster, *row) for row in table.rows)
        return
    for row in table.rows:
        cells = dict(zip(table.columns, row, strict=True))
        yield (cluster, *(cells.get(column) for column in shown))


def _named(cluster: str, block: Block) -> Block:
    """The block with the name of its cluster, unless it belongs to a block before."""
    match block:
        case Heading() | Text() | Picture():
            return replace(block, text=f"{cluster}: {block.text}")
        case Item():
            return replace(block, lead=f"{cluster}: {block.lead}")
        case Details():
            return replace(block, summary=f"{cluster}: {block.summary}")
        case Bullets():
            return replace(block, items=tuple(f"{cluster}: {text}" for text in block.items))
        case _:
            return block
