"""The numbers of a report: all numbers on its page, which are few whatever the size of the fleet. Times are UTC;
seconds are floats; `None` is unknown."""

from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

FORMAT_VERSION = 1
CAUSES = ("join", "leave", "expiry", "subscription", "metadata", "assignor", "conversion", "unknown")
"""Causes of rebalances, in the order shown; any other cause counts as unknown."""
VERDICTS = ("ready", "warnings", "blocked", "unknown")  # the verdicts of an audit
STAGES = ("classic", "mixed", "consumer")  # the stages of a migration, in order
PROTOCOLS = ("classic", "consumer")
SPANS_S = (0.1, 1.0, 10.0, 60.0, 600.0)  # the boundaries between the classes of a time without owner
SPANS = ("under 0.1 s", "0.1 to 1 s", "1 to 10 s", "10 s to 1 min", "1 to 10 min", "10 min or more")
"""The classes of a time without owner, as shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTotals:
    records: int  # rows of `events`
    groups: int
    rebalances: int
    rebalancing_s: float | None
    """The time of all groups together: rebalances without a known duration add nothing. None: there were rebalances,
    and none has a known duration; the same applies to every other sum of times here."""
    commits: int
    resets: int
    storms: int
    zombies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A column of the plots: a day, or `ReportNumbers.step_days` days."""

    day: date  # the first day of the period
    rebalances: int
    causes: tuple[int, ...]  # the number of rebalances by cause, in the order of CAUSES
    rebalancing_s: float | None
    stages: tuple[int, ...]
    """The number of groups at each of STAGES at the period's end; without new records a group keeps its stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCost:
    group: str
    type: str
    stage: str | None  # one of STAGES, or None for a group without a stage
    rebalances: int
    rebalancing_s: float | None
    without_owner_s: float  # partition-seconds: two partitions without an owner for a second are 2
    joined: int
    left: int
    storms: int
    zombies: int
    members_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolCost:
    protocol: str
    groups: int
    rebalances: int
    rebalancing_s: float | None
    median_s: float | None  # the median of the known durations of rebalances
    p95_s: float | None
    longest_s: float | None
    moved: int  # the number of moved partitions
    revoked: int
    without_owner_s: float  # partition-seconds, while the group had members
    interruptions: tuple[int, ...]  # the number of times without owner in each of SPANS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A rule of the audit because of which groups are not ready."""

    rule: str
    level: str  # blocker or warning
    groups: int
    example: str  # a group with the finding
    message: str  # the message of that group's finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    rank: int
    group: str
    source: str  # the snapshot or log of the group
    cluster: str | None
    verdict: str
    path: str | None  # the migration path: two bounces, rolling upgrade, …
    restarts: int | None  # restarts of members, in all steps together
    moved: int | None  # partitions that the migration moves
    gain_s: float | None  # partition-seconds without an owner that a restart of one member saves afterwards
    risk: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """An audit's results for one destination."""

    destination: str  # cooperative or consumer
    groups: int
    arrived: int  # groups that are already at the destination; `verdicts` and `reasons` do not include them
    verdicts: tuple[int, ...]  # the number of other groups with each of VERDICTS
    reasons: tuple[Reason, ...]  # blockers before warnings, the reasons of most groups first
    first: tuple[Candidate, ...]  # the groups to migrate first


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A span of a group's timeline: one rebalance, or several if there are too many to draw each."""

    start: datetime
    end: datetime
    rebalances: int
    causes: tuple[int, ...]  # the number of rebalances by cause, in the order of CAUSES
    protocol: str
    assignor: str | None
    epoch: int  # the epoch of the last rebalance
    members: int  # the number of members after the last rebalance
    joined: int
    left: int
    moved: int
    revoked: int
    rebalancing_s: float | None  # the time in which any of the rebalances ran. None: no duration is known.


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTimeline:
    group: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportNumbers:
    """Everything in a report; a run without a history or without an audit leaves its part empty."""

    made: datetime
    sources: tuple[str, ...]
    first: datetime | None = None  # the time of the first record, or None
    last: datetime | None = None
    quarantined: int = 0  # the number of rows of `quarantine`, which lists unreadable data
    totals: ReportTotals | None = None  # None: the run has no history
    step_days: int = 1
    periods: tuple[Period, ...] = ()  # all periods, including those without events
    worst: tuple[GroupCost, ...] = ()  # the groups that rebalanced longest, the longest first
    protocols: tuple[ProtocolCost, ...] = ()  # the PROTOCOLS with rebalances
    timelines: tuple[GroupTimeline, ...] = ()  # timelines of the worst groups
    readiness: tuple[Readiness, ...] = ()  # empty: the run has no audit

    def as_data(self) -> dict[str, object]:
        """The same numbers as JSON: times in ISO 8601, UTC."""
        return {"kohort": FORMAT_VERSION, "report": {name: _data(value) for name, value in _fields(self)}}


def _fields(value: Any) -> list[tuple[str, object]]:
    return [(field.name, getattr(value, field.name)) for field in fields(value)]


def _data(value: object) -> object:
    if is_dataclass(value):
        return {name: _data(inner) for name, inner in _fields(value)}
    if isinstance(value, tuple):
        return [_data(inner) for inner in value]
    if isinstance(value, float):
        return round(value, 6)  # of seconds, µs: what a sum has after that depends on the order of its parts
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else value


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def moment(micros: int) -> datetime:
    """Microseconds since 1970 as a time; bounded by Python's first and last times."""
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return LAST if micros > 0 else FIRST


def calendar_day(number: int) -> date:
    """Days since 1970 as a date, bounded as `moment` is."""
    ordinal = EPOCH.toordinal() + number
    return date.fromordinal(min(max(ordinal, date.min.toordinal()), date.max.toordinal()))
