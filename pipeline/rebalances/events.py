"""The events of groups: rows of the table of events about membership and assignments. Also their results:
rebalances, and time spans in which a partition had an owner, or none. Times are µs since 1970, UTC. None means
unknown, or still open when the log ends."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from pipeline.rebalances.causes import Causes

CLASSIC_GROUP = 2
GROUP_EPOCH = 3
MEMBER = 5
TARGET_EPOCH = 6
TARGET = 7
CURRENT = 8
REGEX = 16
Row: TypeAlias = dict[str, Any]  # the values of an event, or of a row, by column

KEY_VERSIONS = (CLASSIC_GROUP, GROUP_EPOCH, MEMBER, TARGET_EPOCH, TARGET, CURRENT, REGEX)
"""The kinds of records that a course needs."""
_AS_WRITTEN = (
    *("group", "partition", "offset", "time", "key_version", "tombstone", "epoch", "state_since"),
    *("assignor", "state"),
)
_OF_MEMBER = ("member", "instance", "client_id", "host")
COLUMNS = (*_AS_WRITTEN, *_OF_MEMBER, "topics", "regex", "assignment", "revoking", "members")
"""The columns of events that a course needs."""
STABLE = "stable"

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
    session_timeout_ms: int | None = None  # only for members of classic groups; otherwise None

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


def event_of(row: Row) -> GroupEvent:
    """An event from a row with `COLUMNS`, as returned by Arrow's `to_pylist` with times as integers."""
    record = None
    if row["member"] is not None:
        subscribed, regex = frozenset(row["topics"] or ()), row["regex"] or None
        record = _member_record(row, topics=subscribed, regex=regex, assignor=row["assignor"])
    members = []
    for member in row["members"] or ():
        topics = None if member["topics"] is None else frozenset(member["topics"])
        classic = _member_record(member, topics=topics, session_timeout_ms=member["session_timeout_ms"])
        members.append((classic, _places(member["assignment"])))
    return GroupEvent(
        **{name: row[name] for name in _AS_WRITTEN},
        record=record,
        places=(*_places(row["assignment"]), *_places(row["revoking"])),
        members=tuple(members),
    )


def _member_record(row: Row, **others: Any) -> MemberRecord:
    known = {name: row[name] for name in _OF_MEMBER}
    return MemberRecord(**known | {"instance": row["instance"] or None}, **others)


def _places(assignment: Iterable[tuple[str, Iterable[int]]] | None) -> tuple[Place, ...]:
    return tuple((topic, number) for topic, numbers in assignment or () for number in numbers)


class Protocol(StrEnum):
    CLASSIC = "classic"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A departed member and its partitions, whose last commits may explain the departure."""

    member: str
    since: int  # the time at which the member was first written
    at: int  # the latest time of its departure
    session_timeout_ms: int | None
    places: tuple[Place, ...]
    expired: bool = False  # whether the log itself shows that its session expired


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceRow:
    """A generation or group epoch. Counts are of members and of partitions."""

    group: str
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
