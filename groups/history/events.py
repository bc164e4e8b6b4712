"""The events of groups: records of `__consumer_offsets` about membership and assignments. Also their results:
rebalances, and time spans in which a partition had an owner, or none. Times are µs since 1970, UTC. None means
unknown, or still open when the log ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from groups.history.causes import Causes, RebalanceCause

CLASSIC_GROUP = 2
GROUP_EPOCH = 3
MEMBER = 5
TARGET_EPOCH = 6
TARGET = 7
CURRENT = 8
REGEX = 16

KEY_VERSIONS = (CLASSIC_GROUP, GROUP_EPOCH, MEMBER, TARGET_EPOCH, TARGET, CURRENT, REGEX)
"""The kinds of records that a course needs."""

STABLE = "stable"
UNREVOKED = "unrevoked_partitions"

Place: TypeAlias = tuple[str, int]  # a topic's name, its id if that is unknown, and a partition


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRecord:
    member: str
    instance: str | None = None
    client_id: str | None = None
    host: str | None = None
    topics: frozenset[str] | None = None  # None: unknown, as of other protocol types
    regex: str | None = None
    assignor: str | None = None  # for a member of a consumer group: the assignor that it requests
    session_timeout_ms: int | None = None  # of members that use the classic protocol; otherwise None
    rebalance_timeout_ms: int | None = None

    @property
    def identity(self) -> str:
        """The identity that survives a restart: a static member's instance, otherwise the member id."""
        return self.member if self.instance is None else f"instance {self.instance}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEvent:
    """A record of a group. Columns that a type of record does not have are None or empty."""

    group: str
    partition: int
    offset: int
    time: int
    key_version: int
    tombstone: bool
    epoch: int | None = None
    state_since: int | None = None
    assignor: str | None = None
    state: str | None = None
    record: MemberRecord | None = None  # in records of members, their targets and current assignments
    places: tuple[Place, ...] = ()  # the target, or current partitions with those that must be revoked
    members: tuple[tuple[MemberRecord, tuple[Place, ...]], ...] = ()
    """The members of a classic group, with their assignments."""


class Protocol(StrEnum):
    CLASSIC = "classic"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A departed member, and what the group's records show about its end."""

    record: MemberRecord
    protocol: Protocol  # of the group
    seen: int  # the latest time at which the records show that the coordinator heard from the member
    earliest: int  # the earliest time of its departure
    at: int  # the latest time of its departure
    waited_for: bool  # whether `at` may have waited for other members, to rejoin or to depart as well
    places: Mapping[Place, int]  # its partitions, and since when it had each
    others: tuple[
        Place | None, ...
    ] = ()  # if `waited_for`, a partition of each of these members that has one
    away: int | None = None  # the time at which a static member of the consumer protocol closed, to return
    revoking: int | None = None  # since when a member of the consumer protocol had to revoke partitions

    @property
    def member(self) -> str:
        return self.record.member


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why a member departed."""

    member: str
    cause: RebalanceCause  # LEAVE, EXPIRY, or UNKNOWN: the records do not prove either
    why: str  # the evidence, one line
    probably: RebalanceCause | None = None  # for UNKNOWN: the more likely one, where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRebalance:
    """A generation or group epoch. Counts are of members and of partitions."""

    group: str
    partition: int  # of the log
    offset: int  # the record's offset; unique, unlike epochs when a group is deleted and created again
    protocol: Protocol
    epoch: int
    start: int | None
    end: int | None
    causes: Causes
    assignor: str | None
    members_before: int
    members: int
    joined: tuple[str, ...]
    left: tuple[str, ...]
    partitions: int
    moved: int
    revoked: int
    skipped: int | None
    """The number of generations or epochs since the row before that are not in the log; None: there is no row before,
    and the group is older than the log."""
    departures: tuple[Departure, ...] = ()
    """The departures of `left`. A rebalance with the causes of the previous rebalance also has its departures."""
    verdicts: tuple[Verdict, ...] = ()  # of the departures, in their order; empty: not judged yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A time span of a partition. `member` None: no member owned it."""

    group: str
    place: Place
    member: str | None
    client_id: str | None
    host: str | None
    epoch: int
    since: int
    until: int | None
