"""The tables of the screens, made of a `Sight`."""

from collections.abc import Iterator

from cli.render.cells import Cell, Duration, safe_text
from cli.render.headings import role_of
from cli.render.lines import Line, Piece, Role
from cli.verbs.top.sight import Recent, SeenGroup, Sight, rebalances_of_hour
from cli.verbs.top.tables import GridColumn, GridRow, GridTable, SortValue
from cli.verbs.watch.event_text import clock_text
from groups.diagnosis.diagnose import Health
from groups.findings import Level
from groups.lag import longest_lag, topics_read, total_lag
from groups.listing import GroupListing

GROUP_COLUMNS = (
    GridColumn("GROUP", least_width=20),
    GridColumn("STATE", least_width=11),
    GridColumn("MEMBERS", is_number=True),
    GridColumn("LAG", is_number=True, least_width=9),
    GridColumn("LAG-TIME", is_number=True, least_width=9),
    GridColumn("HEALTH", least_width=7),
    GridColumn("READ/S", is_number=True),
    GridColumn("WRITTEN/S", is_number=True),
    GridColumn("REBALANCES", is_number=True),
    GridColumn("TYPE"),
    GridColumn("ASSIGNOR", least_width=12),
    GridColumn("AS-OF", least_width=8),
    GridColumn("FINDING", least_width=20),
)
"""What matters most is seen in 80 columns; the others by scrolling."""
STATE, HEALTH, READ, WRITTEN, REBALANCES = 1, 5, 6, 7, 8  # Positions
_ROLES = {Health.OK: Role.GOOD, Health.WARNING: Role.WARNING, Health.ERROR: Role.BAD}
LEVEL_ROLES = {Level.ERROR: Role.BAD, Level.WARNING: Role.WARNING, Level.NOTE: Role.FAINT}
_SEVERITY = {Health.OK: 0, Health.WARNING: 1, Health.ERROR: 2}


class GroupRows:
    """The rows of the list. The row of a group of which nothing new is known is made once: of 5,000 groups, a poll
    brings news of a few."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[GroupListing, SeenGroup | None, GridRow]] = {}
        self._recent = Recent()

    def table(self, sight: Sight) -> GridTable:
        before, self._made = self._made if sight.recent is self._recent else {}, {}
        self._recent = sight.recent
        for name in sorted(sight.listings):
            listing, seen = sight.listings[name], sight.groups.get(name)
            made = before.get(name)
            if made is None or made[1] is not seen or made[0] != listing:
                made = (listing, seen, _group_row(listing, seen, rebalances_of_hour(sight, name)))
            self._made[name] = made
        return GridTable(columns=GROUP_COLUMNS, rows=[row for _, _, row in self._made.values()])


def _group_row(listing: GroupListing, seen: SeenGroup | None, rebalances: tuple[int, bool] | None) -> GridRow:
    health = health_of(seen)
    roles = {STATE: role_of("STATE")(listing.state.value)}
    sorts: dict[int, SortValue] = {}
    if health is not None:
        roles[HEALTH] = _ROLES[health]
        sorts[HEALTH] = _SEVERITY[health]
    if rebalances is not None:
        sorts[REBALANCES] = rebalances[0]
    if seen is not None:
        rates = seen.history.progress
        sorts[READ], sorts[WRITTEN] = (rates.committed_per_s, rates.produced_per_s) if rates else (None, None)
    node = seen.polled.group.coordinator if seen is not None and seen.polled.group is not None else None
    facets = {
        "state": listing.state.value,
        "type": listing.type.value,
        "topic": _topics(seen),
        "coordinator": "" if node is None else f"{node.host}:{node.port}",
    }
    return GridRow(listing.id, tuple(_group_cells(listing, seen, health, rebalances)), roles, sorts, facets)


def _group_cells(
    listing: GroupListing,
    seen: SeenGroup | None,
    health: Health | None,
    rebalances: tuple[int, bool] | None,
) -> Iterator[Cell]:
    group = seen.polled.group if seen else None
    progress = seen.history.progress if seen else None
    yield from (listing.id, listing.state.value)
    yield len(group.members) if group is not None else listing.members
    yield None if seen is None else total_lag(row.lag for row in seen.polled.rows())
    lag_ms = None if seen is None else longest_lag(seen.polled.rows()).ms
    yield None if lag_ms is None else Duration(lag_ms)
    yield None if health is None else health.value
    yield rate_text(progress.committed_per_s if progress else None)
    yield rate_text(progress.produced_per_s if progress else None)
    yield None if rebalances is None else f"≥{rebalances[0]}" if rebalances[1] else rebalances[0]
    yield listing.type.value
    yield (group.protocol if group is not None else listing.protocol) or None
    yield None if seen is None else clock_text(seen.at_ms)[:8]
    yield _finding(seen)


def finding_line(sight: Sight, name: str | None) -> Line:
    """The worst that is known of a group, or what is not known yet."""
    seen = None if name is None else sight.groups.get(name)
    if seen is None:
        return (Piece("" if name is None else "Not read yet.", Role.FAINT),)
    if seen.polled.error:
        return (Piece(f"It cannot be read: {safe_text(seen.polled.error)}", Role.BAD),)
    if seen.story is not None:
        return (Piece("Its last rebalance: ", Role.FAINT), Piece(safe_text(seen.story)))
    diagnosis = seen.history.diagnosis
    if diagnosis is None or not diagnosis.findings:
        is_known = diagnosis is not None and sight.past_ms is None
        return (Piece("No problem found so far." if is_known else "", Role.FAINT),)
    worst = diagnosis.findings[0]
    return (
        Piece(f"{worst.level.value}: ", LEVEL_ROLES.get(worst.level, Role.PLAIN)),
        Piece(safe_text(worst.message)),
    )


def health_of(seen: SeenGroup | None) -> Health | None:
    diagnosis = seen.history.diagnosis if seen else None
    return None if diagnosis is None else diagnosis.verdict


def _finding(seen: SeenGroup | None) -> str | None:
    diagnosis = seen.history.diagnosis if seen else None
    if diagnosis and diagnosis.findings:
        return diagnosis.findings[0].message
    if seen is not None and seen.story is not None:
        return seen.story
    return f"it cannot be read: {seen.polled.error}" if seen and seen.polled.error else None


def _topics(seen: SeenGroup | None) -> str:
    group = seen.polled.group if seen else None
    return " ".join(sorted(topics_read([group]))) if group is not None else ""


def rate_text(per_s: float | None) -> str | None:
    if per_s is None:
        return None
    return f"{per_s:,.0f}" if per_s >= 10 or per_s == 0 else f"{per_s:.1f}"
