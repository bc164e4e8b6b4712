"""What `kohort fleet` shows of what the pipeline found; the schemas of its documents have the columns of the tables."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from cli.verbs.fleet.audit import Audit, fleet_audit_document
from cli.verbs.fleet.history import History, HistoryRequest, fleet_history_document
from cli.verbs.fleet.sources import LogPaths
from groups.model import Group, GroupState, GroupType
from pipeline.audit.run import AuditRun, MigrationRank
from pipeline.history import HistoryRun, HistoryTable, Quarantined
from tests.cli.render.rendered import rendered
from tests.cli.schemas import faults, load
from tests.cli.verbs.fleet.recorded import check_recorded

START_MS = 1_780_000_000_000
GROUP: dict[str, Any] = {
    "group": "payments", "type": "consumer", "migration": "mixed", "rebalances": 3, "joined": 2, "left": 1, "moved": 8,
    "rebalancing_s": 64.25, "last_rebalance": START_MS, "storms": 1, "zombies": 0, "commits": 1_000, "resets": 2,
}  # fmt: skip
REBALANCE: dict[str, Any] = {
    "day": None, "group": "payments", "protocol": "classic", "epoch": 7, "start": None, "end": START_MS,
    "duration_s": 3.5, "cause": "join", "causes": ["join", "leave"], "assignor": "range", "members_before": 2,
    "members": 3, "joined": ["c-1", "c-2"], "left": [], "expired": [], "partitions": 12, "moved": 4, "revoked": 12,
    "skipped": 0,
}  # fmt: skip
QUARANTINED = Quarantined(
    source="__consumer_offsets-3",
    file="/d/__consumer_offsets-3/00000000000000000000.log",
    position=61,
    offset=None,
    reason="ends in the middle of a batch",
)


def history(
    quarantined: tuple[Quarantined, ...] = (), request: Mapping[str, Any] | None = None, **changes: Any
) -> History:
    run = HistoryRun(
        out="/t",
        records=12,
        added=12,
        by_key_version={None: 2, 1: 9, 2: 1},
        tables={"rebalances": HistoryTable(name="rebalances", path="/t/rebalances", rows=1, added=1)},
        quarantined=quarantined,
        quarantined_total=len(quarantined),
    )
    asked = HistoryRequest(source=LogPaths(), out="/t", **request or {})
    return History(request=asked, run=run, **{"groups": [GROUP], "rebalances": [REBALANCE], **changes})


EMPTY = Group(id="payments", type=GroupType.CLASSIC, state=GroupState.EMPTY, generation=6)
HISTORIES = {
    "a row per group": history(quarantined=(QUARANTINED,)),
    "offsets held back": history(held_back=1200),
    "an unknown time": history(groups=[{**GROUP, "rebalancing_s": None}]),
    "the rebalances of a group": history(request={"groups": ("payments",)}),
    "what a group was": history(request={"as_of_ms": START_MS}, described=[EMPTY]),
}


RANKED = MigrationRank(
    rank=1, source="a.yaml", cluster=None, group="payments", verdict="ready", members=3, partitions=12,
    gain_s=120.0, risk=0.5, path="two bounces",
)  # fmt: skip


def audit(**changes: Any) -> Audit:
    values: dict[str, Any] = {
        "audit": None,
        "groups": 3,
        "verdicts": {"cooperative": {"arrived": 1, "ready": 2}, "consumer": {"blocked": 1, "unknown": 2}},
        "blocked_by": {"cooperative": {}, "consumer": {"assignment-user-data": 2}},
        "first": {"cooperative": (RANKED,), "consumer": ()},
        "regexes": None,
        "paths": {},
    }
    return Audit(run=AuditRun(**{**values, **changes}), rows=[], regexes=[])


def test_the_documents_are_as_recorded() -> None:
    """As text, as data and the remarks."""
    unread = Quarantined(source="b.yaml", file="b.yaml", position=None, offset=None, reason="no YAML")
    audits = {"the sums of an audit": audit(quarantined=(unread,), quarantined_total=1, regexes_lost=4)}
    documents = {
        **{name: fleet_history_document(shown) for name, shown in HISTORIES.items()},
        **{name: fleet_audit_document(shown) for name, shown in audits.items()},
    }
    for document in documents.values():
        assert faults(document.as_data()) == []
    check_recorded(
        "views.txt",
        [
            line
            for name, document in documents.items()
            for line in (
                f"== {name}",
                rendered(document),
                json.dumps(document.as_data()),
                *document.remarks,
                "",
            )
        ],
    )


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
def test_a_row_has_all_columns(schema: str, part: str, table: str) -> None:
    tables = _tables()
    reported = load(schema)["$defs"][part]
    columns = {field.name: field for field in tables[table].fields if field.name != "day"}
    assert list(reported["properties"]) == list(columns)
    assert reported["required"] == list(columns)
    for name, field in columns.items():
        kinds = reported["properties"][name].get("type", "string")
        assert ("null" in kinds) == field.nullable, name


def _tables() -> dict[str, Any]:
    from pipeline.audit.schemas import TABLES as AUDITS
    from pipeline.overview import OVERVIEW
    from pipeline.tables.schemas import TABLES

    return {**TABLES, **AUDITS, "overview": OVERVIEW}
