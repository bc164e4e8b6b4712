"""`kohort list --compare`: the same group in two clusters, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from cli.render.cells import Cell, cell_text
from cli.render.document import Deferred, Document, Table, Text, columns
from groups.counts import counted

_FIELDS = {"TYPE": "type", "ASSIGNOR": "protocol", "STATE": "state", "##MEMBERS": "members", "LAG": "lag"}
"""What is compared, by heading: fields of a group of the list."""
_Groups: TypeAlias = Mapping[str, Mapping[str, Cell]]  # A group by cluster, as in the JSON document


def compared(document: Document) -> Document:
    """A row per group of a list of two clusters, and `compared` in its data; the list itself if one was not read."""
    clusters: list[str] = [entry["cluster"] for entry in document.data["clusters"]]
    if len(clusters) != 2:
        return document
    groups: dict[str, dict[str, Mapping[str, Cell]]] = {}
    for entry in document.data["groups"]:
        groups.setdefault(entry["group"], {})[entry["cluster"]] = entry
    pairs = dict(sorted(groups.items()))

    def data() -> dict[str, object]:
        listed = [
            {
                "group": name,
                "only_in": _only_in(pair),
                "differences": [_FIELDS[one] for one in _differences(pair)],
            }
            for name, pair in pairs.items()
        ]
        return {**document.data, "compared": listed}

    rows = [_row(name, pair) for name, pair in pairs.items()]
    table = Table(columns=columns("GROUP", *_FIELDS, "DIFFERENCES"), rows=rows)
    summary = Text(_summary(list(pairs.values()), clusters))
    return replace(document, data=Deferred(data), blocks=[table, summary])


def _only_in(pair: _Groups) -> str | None:
    return next(iter(pair)) if len(pair) == 1 else None


def _differences(pair: _Groups) -> list[str]:
    """The headings of what differs; a value that one cluster does not show is no difference."""
    values = {heading: [group[field] for group in pair.values()] for heading, field in _FIELDS.items()}
    return [heading for heading, both in values.items() if None not in both and both[0] != both[-1]]


def _row(name: str, pair: _Groups) -> list[Cell]:
    """A value that is the same in both clusters is shown once."""
    cells: list[Cell] = [name]
    for heading, field in _FIELDS.items():
        values = [group[field] for group in pair.values()]
        texts = ["-" if value is None else cell_text(value) for value in values]
        texts = [text.capitalize() for text in texts] if heading == "TYPE" else texts
        cells.append(" / ".join(dict.fromkeys(texts)) if any(values) else values[0])
    only_in, names = _only_in(pair), [heading.strip("#").lower() for heading in _differences(pair)]
    return [*cells, f"only in {only_in}" if only_in else ", ".join(names) or None]


def _summary(pairs: Sequence[_Groups], clusters: Sequence[str]) -> str:
    """`east / west: 12 groups in both, 3 of them with differences; 1 only in east, 0 only in west.`"""
    both = [pair for pair in pairs if len(pair) == 2]
    differing = sum(bool(_differences(pair)) for pair in both)
    lone = ", ".join(f"{sum(_only_in(pair) == name for pair in pairs):,} only in {name}" for name in clusters)
    names = " / ".join(clusters)
    return f"{names}: {counted(len(both), 'group')} in both, {differing:,} of them with differences; {lone}."
