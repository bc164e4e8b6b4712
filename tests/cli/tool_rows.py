"""Rows of our tables and of Kafka's tools, by what they are about."""

import re
from collections.abc import Iterable, Mapping

from tests.kafka.columns import Row

Key = tuple[str, ...]
MISSING = "-"
OURS = {"COORDINATOR (ID)": "COORDINATOR", "ASSIGNMENT-STRATEGY": "ASSIGNOR"}
"""Our headings for those of Kafka's tool, where they differ."""


def by_key(rows: Iterable[Mapping[str, str]]) -> dict[Key, Row]:
    """Rows by group and partition or member; the same thing twice is an error, and an empty cell has a dash. The
    apostrophe before what would be a formula in a spreadsheet is not part of a cell."""
    table: dict[Key, Row] = {}
    for quoted in rows:
        row = {name: re.sub("^'(?=[-+=@])", "", cell or "") for name, cell in quoted.items()}
        names = ("TOPIC", "PARTITION") if "PARTITION" in row else ("CONSUMER-ID",)
        key = (row["GROUP"], *(row[name] for name in names if name in row))
        assert key not in table
        # The tool writes two blanks before a coordinator's id; CSV leaves a cell empty.
        table[key] = {OURS.get(name, name): " ".join((cell or MISSING).split()) for name, cell in row.items()}
    return table
