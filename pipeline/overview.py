"""The tables as a command shows them: selected rows, sums per group, and rows as plain values."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import TimestampType

from pipeline.decode.raw import MS_PER_DAY
from pipeline.store import Store
from pipeline.tables.schemas import DOUBLE, LONG, STRING, TIMESTAMP, TableRow, table

OVERVIEW = table(
    ("group", STRING, False),
    ("type", STRING, True),  # on the last day with a record of it
    ("migration", STRING, True),  # classic, mixed or consumer, on the same day
    ("rebalances", LONG, False),
    ("joined", LONG, False),
    ("left", LONG, False),
    ("moved", LONG, False),
    ("rebalancing_s", DOUBLE, True),  # null: there were rebalances, and none has a known duration
    ("last_rebalance", TIMESTAMP, True),  # its start
    ("storms", LONG, False),
    ("zombies", LONG, False),  # on the worst day
    ("commits", LONG, False),
    ("resets", LONG, False),
)


def of_groups(table: DataFrame, groups: Sequence[str]) -> DataFrame:
    """The rows of these groups; all if the list is empty."""
    return table.where(f.col("group").isin(list(groups))) if groups else table


def between_times(rebalances: DataFrame, since_ms: int | None, until_ms: int | None) -> DataFrame:
    """As `rebalances_between`, for Spark."""
    began = f.unix_millis(f.coalesce("start", "end"))
    if since_ms is not None:
        rebalances = rebalances.where(began >= since_ms)
    return rebalances if until_ms is None else rebalances.where(began <= until_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The groups and the time to show: all groups if none is named; times in ms, bounds included, None: no bound."""

    groups: Sequence[str] = ()
    since: int | None = None
    until: int | None = None

    def chosen(self, table: pa.Table) -> pa.Table:
        return (
            table.filter(pc.is_in(table["group"], pa.array(self.groups, pa.string())))
            if self.groups
            else table
        )

    def days(self, table: pa.Table) -> pa.Table:
        """The rows of the days that the time touches."""
        day = table["day"].cast(pa.int32())
        for bound, compared in ((self.since, pc.greater_equal), (self.until, pc.less_equal)):
            if bound is not None:
                table, day = (one.filter(compared(day, bound // MS_PER_DAY)) for one in (table, day))
        return table

    def has(self, at_ms: int | None) -> bool:
        if at_ms is None:
            return self.since is None and self.until is None
        return (self.since is None or at_ms >= self.since) and (self.until is None or at_ms <= self.until)


def rebalances_between(store: Store, span: Span, columns: Sequence[str] | None = None) -> list[TableRow]:
    """Rebalances of the groups in the order of their starts, with `busy_s`: the part of `duration_s` in which no
    earlier one of the group ran, 0 if it is unknown. Only those that started in the span; without a known start the end
    counts. Times are in ms since 1970, days are dates."""
    table = span.chosen(store.arrow("rebalances", columns=columns))
    keys = [(name, "ascending") for name in ("group", "start", "end", "epoch")]
    ordered = table.sort_by(keys)
    times = {name: ordered.column(name).cast(pa.int64()).to_pylist() for name in ("start", "end")}
    group, latest = None, 0
    rows = []
    for row, start, end in zip(ordered.to_pylist(), times["start"], times["end"], strict=True):
        if row["group"] != group:
            group, latest = row["group"], 0
        row |= {"start": _ms(start), "end": _ms(end), "busy_s": 0.0}
        if row["duration_s"] is not None:
            row["busy_s"] = max(end - max(start, latest), 0) / 1_000_000
            latest = max(latest, end)
        if span.has(row["end"] if row["start"] is None else row["start"]):
            rows.append(row)
    return rows


def overview(store: Store, span: Span) -> list[TableRow]:
    """A row per group in any of the tables, in the schema OVERVIEW. Days with records and commits count whole."""
    rows: defaultdict[str, TableRow] = defaultdict(lambda: dict.fromkeys(OVERVIEW.names, 0))
    unknown = {"type": None, "migration": None, "last_rebalance": None, "rebalancing_s": 0.0}

    def row_of(group: str) -> TableRow:
        if group not in rows:
            rows[group] |= {"group": group, **unknown}
        return rows[group]

    days = span.days(span.chosen(store.arrow("groups", columns=_OF_DAYS)))
    for day in days.sort_by("day").to_pylist():
        row = row_of(day["group"])
        row |= {"type": day["type"], "migration": day["migration"], "storms": row["storms"] + day["storms"]}
        row["zombies"] = max(row["zombies"], day["zombies"])
    timed: set[str] = set()
    for rebalance in rebalances_between(store, span, _OF_REBALANCES):
        row = row_of(rebalance["group"])
        row["rebalances"] += 1
        row["moved"] += rebalance["moved"]
        for name in ("joined", "left"):
            row[name] += len(rebalance[name])
        if rebalance["duration_s"] is not None:
            timed.add(rebalance["group"])
            row["rebalancing_s"] += rebalance["busy_s"]
        began = rebalance["end"] if rebalance["start"] is None else rebalance["start"]
        row["last_rebalance"] = max(
            (at for at in (row["last_rebalance"], began) if at is not None), default=None
        )
    commits = span.days(span.chosen(store.arrow("commits", columns=("day", "group", "commits", "resets"))))
    sums = commits.group_by("group").aggregate([("commits", "sum"), ("resets", "sum")])
    for made in sums.to_pylist():
        row_of(made["group"]).update(commits=made["commits_sum"], resets=made["resets_sum"])
    for row in rows.values():
        if row["rebalances"] and row["group"] not in timed:
            row["rebalancing_s"] = None
    return list(rows.values())


_OF_DAYS = ("day", "group", "type", "migration", "storms", "zombies")
_OF_REBALANCES = ("group", "start", "end", "epoch", "duration_s", "moved", "joined", "left")


def _ms(time_us: int | None) -> int | None:
    return None if time_us is None else time_us // 1000


def plain(rows: DataFrame) -> Iterator[TableRow]:
    """Rows one at a time, in order; times in ms since 1970, days as dates."""
    times = [field.name for field in rows.schema.fields if isinstance(field.dataType, TimestampType)]
    for row in rows.withColumns({name: f.unix_millis(name) for name in times}).toLocalIterator():
        yield row.asDict(recursive=True)
