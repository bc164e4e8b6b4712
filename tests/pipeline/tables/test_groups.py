"""What groups are like day by day, of tables whose truth is known."""

from datetime import UTC, date, datetime
from typing import Any

from pyspark.sql import SparkSession
from pyspark.testing import assertSchemaEqual

from pipeline.tables.groups import groups
from pipeline.tables.schemas import COMMITS, EVENTS, GROUPS, OWNERSHIP, REBALANCES
from tests.pipeline.report.tables import rebalance, rows_as


def _at(day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, second, tzinfo=UTC)


def _event(index: int, day: int, kind: str, group: str, **more: Any) -> dict[str, Any]:
    return {"day": date(2026, 3, day), "offset": index, "time": _at(day), "kind": kind, "group": group} | more


def _owner(member: str, partition: int, since: datetime, until: datetime | None = None) -> dict[str, Any]:
    where = {"group": "g", "topic": "t", "topic_partition": partition, "epoch": 1, "day": since.date()}
    return where | {"member": member, "since": since, "until": until}


def _commit(partition: int, first: datetime, last: datetime, group: str = "g") -> dict[str, Any]:
    where = {"day": first.date(), "group": group, "topic": "t", "topic_partition": partition}
    return where | {"commits": 5, "first": first, "last": last}


def _groups(
    spark: SparkSession,
    *,
    events: list[dict[str, Any]] | None = None,
    rebalances: list[dict[str, Any]] | None = None,
    ownership: list[dict[str, Any]] | None = None,
    commits: list[dict[str, Any]] | None = None,
) -> dict[tuple[str, int], dict[str, Any]]:
    table = groups(
        rows_as(spark, EVENTS, events or []),
        rows_as(spark, REBALANCES, rebalances or []),
        rows_as(spark, OWNERSHIP, ownership or []),
        rows_as(spark, COMMITS, commits or []),
    )
    assertSchemaEqual(table.schema, GROUPS)
    rows = table.collect()
    days = {(row["group"], row["day"].day): row.asDict() for row in rows}
    assert len(days) == len(rows)
    return days


def test_type_and_migration(spark: SparkSession) -> None:
    migrating = [
        _event(0, 1, "group", "g", protocol_type="consumer"),
        _event(1, 2, "group", "g", tombstone=True),
        _event(2, 2, "member", "g", member="a", member_protocol="classic"),
        _event(3, 2, "member", "g", member="b", member_protocol="classic"),
        _event(4, 2, "group_epoch", "g", epoch=2),
        _event(5, 4, "member", "g", member="a", member_protocol="consumer"),
        _event(6, 4, "member", "g", member="b", tombstone=True),
        _event(7, 6, "group_epoch", "g", tombstone=True),
    ]
    commits = [_commit(0, _at(day), _at(day, 1)) for day in (3, 5, 7)]
    others = [
        _event(9, 1, "group", "connect", protocol_type="connect"),
        _event(10, 1, "share_group_epoch", "share", epoch=1),
    ]
    simple = [_commit(0, _at(1), _at(1, 1), "simple")]
    days = _groups(spark, events=migrating + others, commits=commits + simple)
    assert {key: (row["type"], row["migration"]) for key, row in days.items()} == {
        ("g", 1): ("classic", "classic"),
        ("g", 2): ("consumer", "mixed"),
        ("g", 3): ("consumer", "mixed"),
        ("g", 4): ("consumer", "consumer"),
        ("g", 5): ("consumer", "consumer"),
        ("g", 6): ("consumer", "consumer"),
        ("g", 7): ("classic", None),
        ("connect", 1): ("classic", None),
        ("share", 1): ("share", None),
        ("simple", 1): ("classic", None),
    }


def test_rebalances_storms_and_time(spark: SparkSession) -> None:
    rows = [
        rebalance("g", 1, _at(1, 10), 30.0, members=2, joined=["a", "b"]),
        rebalance("g", 2, _at(1, 10, 0, 20), 20.0, members_before=2, members=3, joined=["c"]),
        rebalance("g", 3, _at(1, 10, 1, 40), 10.0, members_before=3, members=1, left=["a", "b"]),
        # More than a minute later: no storm of it.
        rebalance("g", 4, _at(1, 11), None, members_before=1, members=1),
        rebalance("g", 5, _at(1, 11, 1), 0.0, members_before=1, members=1),
    ]
    later = [_commit(0, _at(2), _at(2, 1))]
    days = _groups(spark, rebalances=rows, commits=later)
    first, second = days["g", 1], days["g", 2]
    assert (first["rebalances"], first["joined"], first["left"], first["storms"]) == (5, 3, 2, 1)
    assert (first["members_most"], first["rebalancing_s"]) == (3, 50.0)
    assert (second["members_most"], second["rebalances"], second["commits"]) == (1, 0, 5)


def test_zombies(spark: SparkSession) -> None:
    ownership = [
        _owner("busy", 0, _at(1)),
        _owner("zombie", 1, _at(1)),
        _owner("zombie", 2, _at(1)),
        _owner("passer-by", 3, _at(1, 5), _at(1, 5, 9)),
        _owner("heir", 1, _at(3, 12)),
    ]
    commits = [_commit(0, _at(day), _at(day, 23)) for day in (1, 2)]
    # On the third day somebody committed 1 before the heir had it, and 2 all day.
    commits += [_commit(1, _at(3), _at(3, 11)), _commit(2, _at(3), _at(3, 23))]
    days = _groups(spark, ownership=ownership, commits=commits)
    assert {day: row["zombies"] for (_, day), row in days.items()} == {1: 1, 2: 1, 3: 2}


def test_a_topic_of_which_the_group_never_commits_makes_no_zombies(spark: SparkSession) -> None:
    ownership = [_owner("a", 0, _at(1)) | {"topic": "elsewhere"}]
    days = _groups(spark, ownership=ownership, commits=[_commit(0, _at(1), _at(1, 5))])
    assert days["g", 1]["zombies"] == 0
