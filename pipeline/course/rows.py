"""What a course is told in: rebalances, and spans of time in which a partition had a holder, or none.

Times are µs since 1970, UTC; None: not known, or not yet when the log ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pipeline.course.events import Place


class Protocol(StrEnum):
    """Which protocol a group speaks as a whole."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


class Cause(StrEnum):
    """Why a generation or group epoch came to be; where there are several, the first in this order is the cause."""

    CONVERSION = "conversion"
    EXPIRY = "expiry"
    LEAVE = "leave"
    JOIN = "join"
    ASSIGNOR = "assignor"
    SUBSCRIPTION = "subscription"
    METADATA = "metadata"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A member that is gone, and what it had: what its last commits can be looked for by."""

    member: str
    since: int
    """When it was first written down."""
    at: int
    """When it was gone, at the latest."""
    session_timeout_ms: int | None
    places: tuple[Place, ...]
    expired: bool = False
    """Whether the log itself tells that its session ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """A generation or group epoch. Counts are of members and of partitions."""

    group: str
    offset: int
    """Of the record; it is the row's own, as epochs are not when a group is deleted and made again."""
    protocol: Protocol
    epoch: int
    start: int | None
    end: int | None
    causes: tuple[Cause, ...]
    """In the order of `Cause`, at least one."""
    assignor: str | None
    members_before: int
    members: int
    joined: tuple[str, ...]
    left: tuple[str, ...]
    partitions: int
    moved: int
    revoked: int
    skipped: int | None
    """Generations or epochs since the one of the row before that are not in the log; None: there is no row before,
    and the group is older than the log."""
    departures: tuple[Departure, ...] = ()
    """Of `left`; of a rebalance that has the causes of the one before, of that one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A span of time of a partition. `member` None: nobody had it."""

    group: str
    place: Place
    member: str | None
    client_id: str | None
    host: str | None
    epoch: int
    since: int
    until: int | None
