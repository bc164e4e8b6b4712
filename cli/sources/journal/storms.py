"""Storms in a journal: runs of rebalances of a group, which have separate rows and are reported once."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from groups.history.storms import STORM_GAP_S, STORM_LEAST
from groups.times import format_moment

_MOST = 1_000  # rebalances that are looked back on


def note_storms(
    connection: sqlite3.Connection, groups: Iterable[int], cluster: str | None
) -> Iterator[Mapping[str, object]]:
    """Note the storms that the newest rebalances of some groups belong to. Yields a document for each new one. Raises
    sqlite3.Error."""
    for group in groups:
        begin_ms, end_ms, count = _last_run(connection, group)
        if count < STORM_LEAST or begin_ms is None:
            continue
        is_known = connection.execute(
            "UPDATE storms SET end_ms = ?, rebalances = ? WHERE group_id = ? AND start_ms = ?",
            (end_ms, count, group, begin_ms),
        ).rowcount
        if not is_known:
            connection.execute("INSERT INTO storms VALUES (?, ?, ?, ?)", (group, begin_ms, end_ms, count))
            (name,) = connection.execute("SELECT name FROM groups WHERE id = ?", (group,)).fetchone()
            yield {
                "kohort": 1,
                "event": "storm",
                "at": format_moment(end_ms),
                "at_ms": end_ms,
                "cluster": cluster,
                "group": name,
                "rule": "storm",
                "level": "warning",
                "since": format_moment(begin_ms),
                "rebalances": count,
                "message": f"{count} rebalances since {format_moment(begin_ms)}, none more than {STORM_GAP_S:.0f} s "
                "after the one before",
                "remedy": f"`kohort why {name}` explains them",
            }


def _last_run(connection: sqlite3.Connection, group: int) -> tuple[int | None, int, int]:
    """The beginning, the end and the number of the last rebalances that follow each other quickly."""
    begin_ms: int | None = None
    last_ms, count = 0, 0
    for start_ms, end_ms in connection.execute(
        "SELECT coalesce(start_ms, end_ms), coalesce(end_ms, start_ms) FROM rebalances WHERE group_id = ? "
        "ORDER BY log_offset DESC LIMIT ?",
        (group, _MOST),
    ):
        if begin_ms is not None and begin_ms - end_ms > STORM_GAP_S * 1000:
            break
        begin_ms = start_ms if begin_ms is None else min(begin_ms, start_ms)
        last_ms, count = max(last_ms, end_ms), count + 1
    return begin_ms, last_ms, count
