"""`tables.json`: what a directory of tables holds, and which files of it count."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import PipelineError
from pipeline.tables.schemas import TABLES, VERSION

FORMAT = "kohort-tables"
NAME = "tables.json"


class NotATableStore(PipelineError):
    """A directory holds something else than Kohort's tables; nothing in it was touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A table: the runs whose directories `run=N` make it up, and its rows."""

    runs: tuple[int, ...] = ()
    rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """What a directory holds after run `run`, 0: nothing yet. The same data give the same catalog, whenever it is
    made."""

    run: int = 0
    cluster: str | None = None
    """The id of the cluster whose history it is, where a log told it."""
    next_offsets: Mapping[int, int] = field(default_factory=dict)
    """By partition of `__consumer_offsets`, the first offset that is not in the tables."""
    by_key_version: Mapping[int | None, int] = field(default_factory=dict)
    """Events by the type of their key; None: ends of transactions."""
    tables: Mapping[str, Stored] = field(default_factory=dict)

    def to_json(self) -> str:
        """As it stands in the file."""
        told = sorted(self.by_key_version.items(), key=lambda each: (each[0] is None, each[0] or 0))
        return json.dumps(
            {
                "format": FORMAT,
                "schema_version": VERSION,
                "run": self.run,
                "cluster": self.cluster,
                "next_offsets": {
                    str(number): self.next_offsets[number] for number in sorted(self.next_offsets)
                },
                "by_key_version": {"" if number is None else str(number): count for number, count in told},
                "tables": {
                    name: {"runs": list(table.runs), "rows": table.rows, **_description(name)}
                    for name, table in sorted(self.tables.items())
                },
            },
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str, where: str) -> Catalog:
        """Read it. :raises NotATableStore: it is no such file, or of a version that is not known here"""
        try:
            found = json.loads(text)
            if found["format"] != FORMAT:
                raise ValueError
            if found["schema_version"] != VERSION:
                raise NotATableStore(
                    f"{where} is of version {found['schema_version']} of the tables; this Kohort knows {VERSION}: "
                    "name another directory, or make the tables anew"
                )
            return cls._of(found)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NotATableStore(f"{where} does not describe tables of Kohort") from None

    @classmethod
    def _of(cls, found: Mapping[str, Any]) -> Catalog:
        return cls(
            run=int(found["run"]),
            cluster=found["cluster"],
            next_offsets={int(number): int(offset) for number, offset in found["next_offsets"].items()},
            by_key_version={
                int(number) if number else None: int(count)
                for number, count in found["by_key_version"].items()
            },
            tables={
                name: Stored(runs=tuple(map(int, table["runs"])), rows=int(table["rows"]))
                for name, table in found["tables"].items()
            },
        )


def _description(table: str) -> dict[str, Any]:
    """For whoever reads the tables with something else; a table that only Kohort reads is not described."""
    schema = TABLES.get(table)
    if schema is None:
        return {}
    days = ["day"] if "day" in schema.names else []
    return {"partitioned_by": ["run", *days], "schema": schema.jsonValue()}
