"""`kohort list --compare`: the same group in two clusters, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from cli.render.cells import Cell, cell_text
from cli.render.document import Deferred, Document, Table, Text, columns
from groups.counts import counted

_FIELDS = {"TYPE": "type", "ASSIGNOR": "protocol", "STATE": "state", "##MEMBERS": "members", "LAG": "lag"}
"""What is compared, by heading: fields of a group of the list."""
_Group: TypeAlias = Mapping[str, Cell]  # As in the JSON document


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """A group in two clusters; None where it does not exist. A value that one of them lacks is no difference."""

    group: str
    clusters: Sequence[str]
    entries: Sequence[_Group | None]

    @property
    def only_in(self) -> str | None:
        missing = [entry is None for entry in self.entries]
        return self.clusters[missing.index(False)] if any(missing) else None

    @property
    def differences(self) -> list[str]:
        """The headings of what differs."""
        return [
            heading
            for heading, values in self._values.items()
            if len(values) == 2 and None not in values and values[0] != values[1]
        ]

    @property
    def _values(self) -> Mapping[str, Sequence[Cell]]:
        return {
            heading: [entry[field] for entry in self.entries if entry is not None]
            for heading, field in _FIELDS.items()
        }

    @property
    def row(self) -> list[Cell]:
        """A value that is the same in both clusters is shown once."""
        cells: list[Cell] = [self.group]
        for heading, values in self._values.items():
            texts = ["-" if value is None else cell_text(value) for value in values]
            texts = [text.capitalize() for text in texts] if heading == "TYPE" else texts
            cells.append(" / ".join(dict.fromkeys(texts)) if any(values) else values[0])
        names = [heading.strip("#").lower() for heading in self.differences]
        return [*cells, f"only in {self.only_in}" if self.only_in else ", ".join(names) or None]

    @property
    def data(self) -> dict[str, object]:
        differences = [_FIELDS[heading] for heading in self.differences]
        return {"group": self.group, "only_in": self.only_in, "differences": differences}


def compared(document: Document) -> Document:
    """A row per group of a list of two clusters, and `compared` in its data; the list itself if one was not read."""
    clusters = [entry["cluster"] for entry in document.data["clusters"]]
    if len(clusters) != 2:
        return document
    pairs = []
    for name, listed in groupby(
        sorted(document.data["groups"], key=itemgetter("group")), itemgetter("group")
    ):
        found = {entry["cluster"]: entry for entry in listed}
        entries = [found.get(cluster) for cluster in clusters]
        pairs.append(_Pair(group=name, clusters=clusters, entries=entries))
    table = Table(columns=columns("GROUP", *_FIELDS, "DIFFERENCES"), rows=[pair.row for pair in pairs])
    return replace(
        document,
        data=Deferred(lambda: {**document.data, "compared": [pair.data for pair in pairs]}),
        blocks=[table, Text(_summary(pairs, clusters))],
    )


def _summary(pairs: Sequence[_Pair], clusters: Sequence[str]) -> str:
    """`east / west: 12 groups in both, 3 of them with differences; 1 only in east, 0 only in west.`"""
    both = [pair for pair in pairs if pair.only_in is None]
    differing = sum(bool(pair.differences) for pair in both)
    counts = [(sum(pair.only_in == cluster for pair in pairs), cluster) for cluster in clusters]
    lone = ", ".join(f"{count:,} only in {cluster}" for count, cluster in counts)
    names = " / ".join(clusters)
    return f"{names}: {counted(len(both), 'group')} in both, {differing:,} of them with differences; {lone}."
