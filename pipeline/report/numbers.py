"""The numbers of a report: few, whatever the size of the fleet, and all that the page shows.

Times are UTC; seconds are floats; `None` is unknown. `as_data` gives the same numbers as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

FORMAT_VERSION = 1
CAUSES = ("join", "leave", "expiry", "subscription", "metadata", "assignor", "conversion", "unknown")
"""Of rebalances, in the order in which they are shown; one that is not among them is counted as unknown."""
VERDICTS = ("ready", "warnings", "blocked")
"""Of an audit."""
STAGES = ("classic", "mixed", "consumer")
"""Of a migration, in its order."""
PROTOCOLS = ("classic", "consumer")
SPANS_S = (0.1, 1.0, 10.0, 60.0, 600.0)
"""Where one class of a time without owner ends and the next begins."""
SPANS = ("under 0.1 s", "0.1 to 1 s", "1 to 10 s", "10 s to 1 min", "1 to 10 min", "10 min or more")
"""The classes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTotals:
    """Of the whole run."""

    records: int
    """Rows of `events`."""
    groups: int
    rebalances: int
    rebalancing_s: float | None
    """Of all groups together: rebalances whose duration is not known add nothing. None: there were rebalances, and
    none of their durations is known; so it is wherever time is summed here."""
    commits: int
    resets: int
    storms: int
    zombies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A day, or as many days as `ReportNumbers.step_days` says: a column of the plots."""

    day: date
    """The first one."""
    rebalances: int
    causes: tuple[int, ...]
    """Rebalances by cause, as CAUSES."""
    rebalancing_s: float | None
    stages: tuple[int, ...]
    """Groups of consumers by stage at the end of the period, as STAGES: those of which nothing is new stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCost:
    """What one group went through."""

    group: str
    type: str
    stage: str | None
    """Of STAGES, or None where it is a group of neither."""
    rebalances: int
    rebalancing_s: float | None
    without_owner_s: float
    """Partition-seconds: two partitions of which each had no owner for a second make two."""
    joined: int
    left: int
    storms: int
    zombies: int
    members_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolCost:
    """What rebalances cost under one protocol."""

    protocol: str
    groups: int
    rebalances: int
    rebalancing_s: float | None
    median_s: float | None
    """Duration of a rebalance: half of those whose duration is known took no longer."""
    p95_s: float | None
    longest_s: float | None
    moved: int
    """Partitions."""
    revoked: int
    without_owner_s: float
    """Partition-seconds, while the group had members."""
    interruptions: tuple[int, ...]
    """Times without owner by length, as SPANS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why groups are not simply ready: a rule of the audit."""

    rule: str
    level: str
    """blocker or warning."""
    groups: int
    example: str
    """A group that it was found for."""
    message: str
    """What was said of that group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A group in the order of migration."""

    rank: int
    group: str
    source: str
    """The snapshot or log that it is in."""
    cluster: str | None
    verdict: str
    path: str | None
    """How it would go: two bounces, rolling upgrade, …"""
    restarts: int | None
    """Of members, in all steps together."""
    moved: int | None
    """Partitions."""
    gain_s: float | None
    """Partition-seconds without an owner that a restart of one member then saves."""
    risk: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """An audit's outcome for one destination."""

    destination: str
    """cooperative or consumer."""
    groups: int
    arrived: int
    """Groups that are there already; they are in no other count."""
    verdicts: tuple[int, ...]
    """Of the others, as VERDICTS."""
    reasons: tuple[Reason, ...]
    """Blockers before warnings, those of most groups first."""
    first: tuple[Candidate, ...]
    """Which to migrate first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A stretch of a group's timeline: one rebalance, or several where there are too many to be told apart."""

    start: datetime
    end: datetime
    rebalances: int
    causes: tuple[int, ...]
    """As CAUSES."""
    protocol: str
    assignor: str | None
    epoch: int
    """Of the last one."""
    members: int
    """After the last one."""
    joined: int
    left: int
    moved: int
    revoked: int
    rebalancing_s: float | None
    """The duration of one; of several the time in which any of them ran. None: no duration is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTimeline:
    """The rebalances of one group, in order."""

    group: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportNumbers:
    """All that a report shows; a run that has no history or no audit leaves its part empty."""

    made: datetime
    sources: tuple[str, ...]
    first: datetime | None = None
    """Of the first record; None: there is none."""
    last: datetime | None = None
    quarantined: int = 0
    """Rows of `quarantine`: what could not be read."""
    totals: ReportTotals | None = None
    """None: the run has no history."""
    step_days: int = 1
    periods: tuple[Period, ...] = ()
    """Without gaps; days on which nothing happened are there."""
    worst: tuple[GroupCost, ...] = ()
    """Those that rebalanced longest first."""
    protocols: tuple[ProtocolCost, ...] = ()
    """Of PROTOCOLS, those that there were rebalances under."""
    timelines: tuple[GroupTimeline, ...] = ()
    """Of the very worst groups."""
    readiness: tuple[Readiness, ...] = ()
    """Empty: the run has no audit."""

    def as_data(self) -> dict[str, Any]:
        """The same numbers as JSON: times in ISO 8601, UTC."""
        return {"kohort": FORMAT_VERSION, "report": {name: _data(value) for name, value in _fields(self)}}


def _fields(value: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(value, field.name)) for field in fields(value)]


def _data(value: Any) -> Any:
    if is_dataclass(value):
        return {name: _data(inner) for name, inner in _fields(value)}
    if isinstance(value, tuple):
        return [_data(inner) for inner in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else value


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def moment(micros: int) -> datetime:
    """Microseconds since 1970 as a time; what Python has no time for becomes its first or last one."""
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return LAST if micros > 0 else FIRST


def calendar_day(number: int) -> date:
    """Days since 1970 as a date, bounded as `moment` is."""
    ordinal = EPOCH.toordinal() + number
    return date.fromordinal(min(max(ordinal, date.min.toordinal()), date.max.toordinal()))
