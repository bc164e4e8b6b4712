"""The schemas of the documents have the very columns of the tables."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.schemas import load


@pytest.mark.parametrize(
    ("schema", "part", "table"),
    [
        ("fleet-history", "group", "overview"),
        ("fleet-history", "rebalance", "rebalances"),
        ("fleet-history", "quarantined", "quarantine"),
        ("fleet-audit", "group", "audit"),
        ("fleet-audit", "regex", "audit_regexes"),
        ("fleet-audit", "quarantined", "quarantine"),
    ],
)
def test_a_row_is_told_whole(schema: str, part: str, table: str) -> None:
    tables = _tables()
    told = load(schema)["$defs"][part]
    columns = {field.name: field for field in tables[table].fields if field.name != "day"}
    assert list(told["properties"]) == list(columns)
    assert told["required"] == list(columns)
    for name, field in columns.items():
        kinds = told["properties"][name].get("type", "string")
        assert ("null" in kinds) == field.nullable, name


def _tables() -> dict[str, Any]:
    from pipeline.audit.schemas import TABLES as AUDITS
    from pipeline.overview import OVERVIEW
    from pipeline.tables.schemas import TABLES

    return {**TABLES, **AUDITS, "overview": OVERVIEW}
