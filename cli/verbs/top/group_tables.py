"""The tables of a group's screen."""

from collections.abc import Iterator, Sequence

from cli.render.cells import Cell, Duration, partitions_text
from cli.render.lines import Role
from cli.verbs.describe.migration import waits_text
from cli.verbs.top.group_rows import rate_text
from cli.verbs.top.sight import SeenGroup, Sight
from cli.verbs.top.tables import GridColumn, GridRow, GridTable
from cli.verbs.watch.event_text import epoch_words, places_text
from groups.counts import counted
from groups.findings import Level
from groups.lag import longest_lag_ms, total_lag
from groups.model import Group
from groups.times import duration_text
from groups.waits import labels_of
from migration.inspection import InspectedMember, inspect

BARS = "▁▂▃▄▅▆▇█"
SPARKS = 20  # Samples of a sparkline
_LEVELS = {Level.ERROR: Role.BAD, Level.WARNING: Role.WARNING, Level.NOTE: Role.FAINT}


def group_on_screen(sight: Sight, name: str) -> Group | None:
    """The group, completed from earlier observations while a rebalance hides its owners."""
    watched = sight.watched.groups.get(name)
    if watched is not None:
        return watched.merged
    seen = sight.groups.get(name)
    return None if seen is None else seen.polled.group


def summary_lines(sight: Sight, name: str) -> list[str]:
    group, seen = group_on_screen(sight, name), sight.groups.get(name)
    if group is None:
        listed = sight.listings.get(name)
        if seen is not None and seen.polled.error:
            return [f"The group cannot be read: {seen.polled.error}"]
        return ["There is no such group."] if listed is None and sight.at_ms else ["reading the group"]
    words = [
        group.type.value,
        group.state.value,
        *epoch_words(group),
        *([group.protocol] if group.protocol else []),
    ]
    lines = ["  ".join([*words, counted(len(group.members), "member")])]
    if seen is not None:
        lines.append("  ".join(_lag_words(seen)))
    lines += _verdict_lines(seen)
    watched = sight.watched.groups.get(name)
    if watched is not None and watched.unowned:
        since = min(gap.since_ms for gap in watched.unowned.values())
        places: dict[str, list[int]] = {}
        for topic, number in sorted(watched.unowned):
            places.setdefault(topic, []).append(number)
        lines.append(f"Without an owner for {duration_text(watched.asked_ms - since)}: {places_text(places)}")
    return lines


def _lag_words(seen: SeenGroup) -> Iterator[str]:
    lag = total_lag(row.lag for row in seen.polled.rows)
    yield "lag " + ("not known" if lag is None else counted(lag, "record"))
    lag_ms = longest_lag_ms(seen.polled.rows)
    if lag_ms is not None:
        yield f"the oldest unread is {duration_text(lag_ms)} old"
    progress = seen.history.progress
    if progress is not None and progress.committed_per_s is not None:
        yield f"reads {rate_text(progress.committed_per_s)}/s"
    if progress is not None and progress.produced_per_s is not None:
        yield f"written {rate_text(progress.produced_per_s)}/s"


def _verdict_lines(seen: SeenGroup | None) -> list[str]:
    diagnosis = seen.history.diagnosis if seen else None
    if diagnosis is None:
        return []
    if not diagnosis.findings:
        return ["No problem found so far."]
    worst = diagnosis.findings[0]
    return [f"{worst.level.value}: {worst.message}"]


MEMBER_COLUMNS = (
    GridColumn("MEMBER", least_width=16),
    GridColumn("HOST"),
    GridColumn("PROTOCOL"),
    GridColumn("EPOCH", is_number=True),
    GridColumn("PARTITIONS", is_number=True),
    GridColumn("OWNS"),
    GridColumn("TARGET"),
    GridColumn("LEADS"),
    GridColumn("WAITS-FOR"),
)


def members_table(sight: Sight, name: str) -> GridTable:
    group = group_on_screen(sight, name)
    members = () if group is None else inspect(group).members
    labels = {} if group is None else labels_of(group)
    rows = [GridRow(one.member.id, tuple(_member_cells(one, labels)), _member_roles(one)) for one in members]
    return GridTable(columns=MEMBER_COLUMNS, rows=rows)


def _member_cells(one: InspectedMember, labels: dict[str, str]) -> Iterator[Cell]:
    member = one.member
    yield from (one.label, member.client.address, member.protocol and member.protocol.value, one.epoch)
    yield None if member.owned is None else sum(map(len, member.owned.values()))
    yield from (partitions_text(member.owned), partitions_text(member.target))
    yield "leads" if one.leads else "next" if one.rank == 1 else None
    yield waits_text(one, labels)


def _member_roles(one: InspectedMember) -> dict[int, Role]:
    return {8: Role.WARNING} if one.waits else {}


PARTITION_COLUMNS = (
    GridColumn("TOPIC"),
    GridColumn("PARTITION", is_number=True),
    GridColumn("LAG", is_number=True, least_width=8),
    GridColumn("LAG-TIME", is_number=True, least_width=8),
    GridColumn("TREND", least_width=SPARKS),
    GridColumn("COMMITTED", is_number=True),
    GridColumn("LOG-END", is_number=True),
    GridColumn("OWNER"),
)


def partitions_table(sight: Sight, name: str) -> GridTable:
    seen = sight.groups.get(name)
    group = group_on_screen(sight, name)
    labels = {} if group is None else labels_of(group)
    rows = []
    for row in seen.polled.rows if seen else ():
        owner = None if row.member is None else labels.get(row.member.id, row.member.id)
        lag_ms = None if row.lag_ms is None else Duration(row.lag_ms)
        trend = sparkline(seen.lags.get((row.topic, row.partition), ())) if seen else ""
        cells = (row.topic, row.partition, row.lag, lag_ms, trend, row.committed, row.end, owner)
        rows.append(GridRow(f"{row.topic}:{row.partition}", cells))
    return GridTable(columns=PARTITION_COLUMNS, rows=rows)


def sparkline(values: Sequence[int | None]) -> str:
    """The last values as bars from 0 to the largest; a blank where one is not known."""
    last = values[-SPARKS:]
    most = max((value for value in last if value is not None), default=0)
    return "".join(
        " " if value is None else BARS[0 if most <= 0 else max(value, 0) * (len(BARS) - 1) // most]
        for value in last
    )


FINDING_COLUMNS = (GridColumn("LEVEL"), GridColumn("RULE"), GridColumn("FINDING"), GridColumn("REMEDY"))


def findings_table(sight: Sight, name: str) -> GridTable:
    seen = sight.groups.get(name)
    diagnosis = seen.history.diagnosis if seen else None
    rows = [
        GridRow(
            f"{number} {one.rule}",
            (one.level.value, one.rule, one.message, one.remedy),
            {0: _LEVELS.get(one.level, Role.PLAIN)},
        )
        for number, one in enumerate(diagnosis.findings if diagnosis else ())
    ]
    return GridTable(columns=FINDING_COLUMNS, rows=rows)
