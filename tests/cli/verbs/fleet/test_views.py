"""What `kohort fleet` shows of what the pipeline found; the schemas of its documents have the columns of the tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cli.render.output_format import OutputFormat
from cli.verbs.fleet.audit import Audit, fleet_audit_document
from cli.verbs.fleet.history import History, HistoryRequest, fleet_history_document
from cli.verbs.fleet.sources import LogPaths
from groups.model import Group, GroupState, GroupType
from pipeline.audit import AuditRun, MigrationRank
from pipeline.history import HistoryRun, HistoryTable, Quarantined
from tests.cli.render.rendered import rendered
from tests.cli.schemas import faults, load

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


def test_a_row_per_group() -> None:
    document = fleet_history_document(history(quarantined=(QUARANTINED,)))
    assert rendered(document) == (
        "GROUP     TYPE   REBALANCES  #JOINED  #LEFT  MOVED  REBALANCING  #STORMS  #ZOMBIES  #RESETS  "
        "LAST-REBALANCE\npayments  mixed           3        2      1      8    1 min 4 s        1         0        2 "
        " 2026-05-28T20:26:40.000Z\n\nTYPE  NAME                  RECORDS\n   -  ends of transactions        2\n   1 "
        " OffsetCommit                9\n   2  GroupMetadata               1\n\nTABLE       ROWS  ADDED  "
        "DIRECTORY\nrebalances     1      1  /t/rebalances\n\nFILE                                              "
        "POSITION  OFFSET  NOT-READ\n/d/__consumer_offsets-3/00000000000000000000.log        61       -  ends in the "
        "middle of a batch\n"
    )
    assert document.remarks == (
        "1 record, part or file could not be read; --output json and the table quarantine show which, and why",
    )


def test_offsets_held_back_by_transactions_are_reported() -> None:
    assert fleet_history_document(history(held_back=0)).remarks == ()
    (remark,) = fleet_history_document(history(held_back=1200)).remarks
    assert (
        remark
        == "1,200 offsets not read yet, because a transaction before them is open; a later run reads them"
    )


def test_an_unknown_time_is_not_shown_as_none() -> None:
    document = fleet_history_document(history(groups=[{**GROUP, "rebalancing_s": None}]))
    (row,) = [line.split() for line in rendered(document).splitlines() if line.startswith("payments")]
    assert row[6] == "-"
    assert faults(document.as_data()) == []


def test_the_rebalances_of_a_group() -> None:
    document = fleet_history_document(history(request={"groups": ("payments",)}))
    assert rendered(document, OutputFormat.CSV) == (
        "GROUP,GROUP-EPOCH,START,DURATION-S,CAUSE,PROTOCOL,ASSIGNOR,#MEMBERS-BEFORE,#MEMBERS,MOVED,REVOKED,JOINED,LEFT\n"
        'payments,7,2026-05-28T20:26:40.000Z,3.500,join,classic,range,2,3,4,12,"c-1, c-2",\n'
    )
    assert document.remarks == ()


def test_programs_get_everything() -> None:
    data = fleet_history_document(history(quarantined=(QUARANTINED,))).as_data()
    assert faults(data) == []
    assert (data["command"], data["records"], data["transaction_ends"]) == ("fleet history", 12, 2)
    assert data["by_key_version"] == {"1": 9, "2": 1}
    (rebalance,) = data["rebalances"]
    assert (rebalance["start"], rebalance["end"]) == (None, "2026-05-28T20:26:40.000Z")
    assert data["tables"] == {"rebalances": {"path": "/t/rebalances", "rows": 1, "added": 1}}
    assert data["as_of"] is None


def test_what_a_group_was() -> None:
    group = Group(id="payments", type=GroupType.CLASSIC, state=GroupState.EMPTY, generation=6)
    document = fleet_history_document(history(request={"as_of_ms": START_MS}, described=[group]))
    assert faults(document.as_data()) == []
    assert document.as_data()["as_of"]["groups"][0]["generation"] == 6
    assert rendered(document).splitlines()[1].split()[:1] == ["payments"]


RANKED = MigrationRank(
    rank=1, source="a.yaml", cluster=None, group="payments", verdict="ready", members=3, partitions=12,
    gain_s=120.0, risk=0.5, path="two bounces",
)  # fmt: skip


def audit(**changes: Any) -> Audit:
    values: dict[str, Any] = {
        "audit": None,
        "groups": 3,
        "verdicts": {"cooperative": {"arrived": 1, "ready": 2}, "consumer": {"blocked": 2, "ready": 1}},
        "blocked_by": {"cooperative": {}, "consumer": {"assignment-user-data": 2}},
        "first": {"cooperative": (RANKED,), "consumer": ()},
        "regexes": None,
        "paths": {},
    }
    return Audit(run=AuditRun(**{**values, **changes}), rows=[], regexes=[])


def test_the_sums_of_an_audit() -> None:
    quarantined = Quarantined(source="b.yaml", file="b.yaml", position=None, offset=None, reason="no YAML")
    document = fleet_audit_document(audit(quarantined=(quarantined,), quarantined_total=1, regexes_lost=4))
    assert rendered(document) == (
        "TO           #GROUPS  #READY  #WARNINGS  #BLOCKED  #ARRIVED\ncooperative        3       2          0        "
        " 0         1\nconsumer           3       1          0         2         0\n\nWhich to migrate to "
        "cooperative first\nRANK  GROUP     SOURCE  VERDICT  #MEMBERS  #PARTITIONS   GAIN  RISK  PATH\n   1  "
        "payments  a.yaml  ready           3           12  2 min  0.50  two bounces\n\nWhat blocks the migration to "
        "consumer\nRULE                  #GROUPS\nassignment-user-data        2\n\n4 regexes match fewer topics, or "
        "none, once the broker evaluates them: see the\ntable audit_regexes.\n\nNot read\nFILE    NOT-READ\nb.yaml  "
        "no YAML\n"
    )
    assert faults(document.as_data()) == []
    assert document.remarks == ("1 file could not be read; --output json shows which, and why",)


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
