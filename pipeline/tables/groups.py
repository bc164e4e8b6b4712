"""Each group day by day: a row for each day with records, rebalances or commits of the group."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from groups.history.storms import STORM_GAP_S, STORM_LEAST
from pipeline.tables.schemas import GROUPS, TableRow

ZOMBIE_LEAST_S = 600.0
"""A member that owned a partition for less than this within a day is not a zombie: it may not have committed yet."""

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
MIXED = "mixed"
_TYPES = {
    "group": CLASSIC,
    "group_epoch": CONSUMER,
    "share_group_epoch": SHARE,
    "streams_group_epoch": STREAMS,
}
"""The type of a group by the kind of record that only groups of this type have."""
_CONSUMERS = "consumer"  # other types of classic groups (of Connect, of a schema registry) do not migrate
_SECOND_US = 1_000_000
_DAY_US = 86_400 * _SECOND_US
_Days: TypeAlias = defaultdict[int, TableRow]
STATE = ("kind", "tombstone", "protocol_type", "member_protocol", "member")
"""The columns of events that a group's days need, in addition to their times."""


def group_days(
    group: str,
    events: Iterable[TableRow],
    rebalances: Sequence[TableRow],
    ownership: Iterable[TableRow],
    commits: Sequence[TableRow],
) -> Iterator[TableRow]:
    """The rows of `GROUPS` of one group, from its events that are not offsets, with the columns `STATE`, in the order
    of the log, and its rows of the other tables. Times are in µs since 1970, days in days.

    - `type`: the type in the day's last record of a group, or else the type before; a group that has only offsets is
      classic, as for a broker.
    - `members_most`: the most members between two rebalances; 0 for groups without rebalances (share and streams).
    - `storms`: runs of at least `STORM_LEAST` rebalances, on the day on which they start.
    - `rebalancing_s`: the known durations of the rebalances that started on the day; overlaps count once.
    - `zombies`: members that owned partitions for at least `ZOMBIE_LEAST_S`, none of which was committed during that
      time although the group committed other offsets on that day. Only the time until the group's last commit of the
      day counts, and only topics that the group commits: it may store other offsets elsewhere.
    - `migration`: the stage at the end of the day. mixed: a consumer group with members of the classic protocol.
    """
    days: _Days = defaultdict(dict)
    _add_states(days, events)
    _add_rebalances(days, rebalances)
    _add_storms(days, rebalances)
    _add_commits(days, ownership, commits)
    kind = protocol_type = None
    classic_members = members = 0
    for day, row in sorted(days.items()):
        known = row.get("type_seen", kind)
        protocol_type = row.get("protocol_type", protocol_type)
        classic_members += row.get("classic_change", 0)
        yield {
            **{name: row.get(name, 0) for name in GROUPS.names},
            "day": day,
            "group": group,
            "type": known or CLASSIC,
            "members_most": max(row.get("members_most", 0), members),
            "rebalancing_s": row.get("rebalancing_us", 0) / _SECOND_US,
            "migration": _migration(known, protocol_type, classic_members),
        }
        kind, members = row.get("end_type", kind), row.get("members_last", members)


def _migration(kind: str | None, protocol_type: str | None, classic_members: int) -> str | None:
    if kind == CONSUMER:
        return MIXED if classic_members > 0 else CONSUMER
    return CLASSIC if kind == CLASSIC and protocol_type == _CONSUMERS else None


def _add_states(days: _Days, events: Iterable[TableRow]) -> None:
    """For each day: the last type, the type at its end (None: deleted), and the change of the number of members of a
    consumer group with the classic protocol."""
    classic: dict[str, bool] = {}
    for event in events:
        row, kind, stands = days[event["day"]], event["kind"], not event["tombstone"]
        if kind in _TYPES:
            row["end_type"] = _TYPES[kind] if stands else None
            if stands:
                row["type_seen"] = _TYPES[kind]
            if stands and _TYPES[kind] == CLASSIC:
                row["protocol_type"] = event["protocol_type"] or ""
        elif kind == "member":
            is_classic = stands and event["member_protocol"] == CLASSIC
            change = is_classic - classic.get(event["member"], False)
            row["classic_change"] = row.get("classic_change", 0) + change
            classic[event["member"]] = is_classic


def _add_rebalances(days: _Days, rebalances: Sequence[TableRow]) -> None:
    """The sums of each day; rebalances in the order of their ends."""

    def ended(row: TableRow) -> tuple[int, int]:
        return next((time for time in (row["end"], row["start"]) if time is not None), -1), row["epoch"]

    for rebalance in sorted(rebalances, key=ended):
        row = days[rebalance["day"]]
        row["rebalances"] = row.get("rebalances", 0) + 1
        for name in ("joined", "left"):
            row[name] = row.get(name, 0) + len(rebalance[name])
        most = max(rebalance["members"], rebalance["members_before"])
        row["members_most"] = max(row.get("members_most", 0), most)
        row["members_last"] = rebalance["members"]


def _add_storms(days: _Days, rebalances: Sequence[TableRow]) -> None:
    """The storms, and the time in which the group rebalanced: overlapping time counts once."""
    timed = []
    for row in rebalances:
        begin, end = row["start"], row["end"]
        if begin is not None or end is not None:
            begin = end if begin is None else begin
            timed.append((begin, begin if end is None else end, row["epoch"], row["day"]))
    storm: list[int] = []  # the days of the rebalances of one run
    far: int | None = None
    for begin, end, _, day in [*sorted(timed), (None, None, 0, 0)]:
        if begin is None or far is None or begin - far > STORM_GAP_S * _SECOND_US:
            if len(storm) >= STORM_LEAST:
                days[min(storm)]["storms"] = days[min(storm)].get("storms", 0) + 1
            storm = []
        if begin is None:
            break
        storm.append(day)
        adds_us = max(end - max(begin, begin if far is None else far), 0)
        days[day]["rebalancing_us"] = days[day].get("rebalancing_us", 0) + adds_us
        far = end if far is None else max(far, end)


def _add_commits(days: _Days, ownership: Iterable[TableRow], commits: Sequence[TableRow]) -> None:
    """The commits of each day, and the members that owned partitions and committed none of them."""
    # The time after the last commit of a day does not count: the log may end there, or the group may be stopped.
    heard: dict[int, int] = {}
    made: dict[tuple[int, str, int], TableRow] = {}
    for row in commits:
        day = row["day"]
        days[day]["commits"] = days[day].get("commits", 0) + row["commits"]
        if row["commits"] > 0:
            heard[day] = max(heard.get(day, row["last"]), row["last"])
            made[day, row["topic"], row["topic_partition"]] = row
    topics, all_days = {topic for _, topic, _ in made}, sorted(heard)
    commits_of: defaultdict[tuple[int, str], bool] = defaultdict(bool)  # by day and member
    for owner in ownership:
        if owner["member"] is None or owner["topic"] not in topics:
            continue
        since, until = owner["since"], owner["until"]
        last = len(all_days) if until is None else bisect_right(all_days, until // _DAY_US)
        for day in all_days[bisect_left(all_days, since // _DAY_US) : last]:
            midnight = day * _DAY_US
            end = min(midnight + _DAY_US, heard[day], heard[day] if until is None else until)
            begin = max(since, midnight)
            if end - begin >= ZOMBIE_LEAST_S * _SECOND_US:
                row = made.get((day, owner["topic"], owner["topic_partition"]), {})
                is_busy = bool(row) and row["first"] <= end and row["last"] >= begin
                commits_of[day, owner["member"]] |= is_busy
    for (day, _), commits_any in commits_of.items():
        days[day]["zombies"] = days[day].get("zombies", 0) + (not commits_any)
