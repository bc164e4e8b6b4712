"""What groups are like day by day, of tables whose truth is known."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from pipeline.tables.groups import group_days
from pipeline.tables.schemas import COMMITS, EVENTS, GROUPS, OWNERSHIP, REBALANCES
from tests.pipeline.report.tables import rebalance, whole_row


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


def _groups(**tables: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, Any]]:
    """The days of the groups of some tables, of which rows name only the columns that matter."""
    schemas = {"events": EVENTS, "rebalances": REBALANCES, "ownership": OWNERSHIP, "commits": COMMITS}
    whole = {
        name: [
            _plain(dict(zip(schema.names, whole_row(schema, row), strict=True)))
            for row in tables.get(name, [])
        ]
        for name, schema in schemas.items()
    }
    days: dict[tuple[str, int], dict[str, Any]] = {}
    for group in dict.fromkeys(row["group"] for rows in whole.values() for row in rows):
        parts = ([row for row in rows if row["group"] == group] for rows in whole.values())
        for row in group_days(group, *parts):
            assert list(row) == GROUPS.names
            days[group, (date(1970, 1, 1) + timedelta(row["day"])).day] = row
    return days


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Times in µs and days in days."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    for name, value in row.items():
        if isinstance(value, datetime):
            row[name] = (value - epoch) // timedelta(microseconds=1)
        elif isinstance(value, date):
            row[name] = (value - epoch.date()).days
    return row


def test_type_and_migration() -> None:
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
    days = _groups(events=migrating + others, commits=commits + simple)
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


def test_rebalances_storms_and_time() -> None:
    rows = [
        rebalance("g", 1, _at(1, 10), 30.0, members=2, joined=["a", "b"]),
        rebalance("g", 2, _at(1, 10, 0, 20), 20.0, members_before=2, members=3, joined=["c"]),
        rebalance("g", 3, _at(1, 10, 1, 40), 10.0, members_before=3, members=1, left=["a", "b"]),
        # More than a minute later: no storm of it.
        rebalance("g", 4, _at(1, 11), None, members_before=1, members=1),
        rebalance("g", 5, _at(1, 11, 1), 0.0, members_before=1, members=1),
    ]
    later = [_commit(0, _at(2), _at(2, 1))]
    days = _groups(rebalances=rows, commits=later)
    first, second = days["g", 1], days["g", 2]
    assert (first["rebalances"], first["joined"], first["left"], first["storms"]) == (5, 3, 2, 1)
    assert (first["members_most"], first["rebalancing_s"]) == (3, 50.0)
    assert (second["members_most"], second["rebalances"], second["commits"]) == (1, 0, 5)


def test_zombies() -> None:
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
    days = _groups(ownership=ownership, commits=commits)
    assert {day: row["zombies"] for (_, day), row in days.items()} == {1: 1, 2: 1, 3: 2}


def test_a_topic_of_which_the_group_never_commits_makes_no_zombies() -> None:
    ownership = [_owner("a", 0, _at(1)) | {"topic": "elsewhere"}]
    days = _groups(ownership=ownership, commits=[_commit(0, _at(1), _at(1, 5))])
    assert days["g", 1]["zombies"] == 0
