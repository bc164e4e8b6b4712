"""What is read of the records of groups: the rows of the table of events that say who is in a group and has what.

And what is made of them: rebalances, and spans of time in which a partition had a holder, or none.

Times are µs since 1970, UTC; None: not known, or not yet when the log ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
KEY_VERSIONS = (CLASSIC_GROUP, GROUP_EPOCH, MEMBER, TARGET_EPOCH, TARGET, CURRENT, REGEX)
"""Of the records that a course is made of."""
COLUMNS = (
    "group",
    "partition",
    "offset",
    "time",
    "key_version",
    "tombstone",
    "epoch",
    "member",
    "instance",
    "client_id",
    "host",
    "state_since",
    "assignor",
    "topics",
    "regex",
    "state",
    "assignment",
    "revoking",
    "members",
)
"""The columns of events that a course is made of."""
STABLE = "stable"

Place: TypeAlias = tuple[str, int]
"""A topic's name, or its id where the name is not known, and the number of a partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRecord:
    """A member, as far as its place in the group goes."""

    member: str
    instance: str | None = None
    client_id: str | None = None
    host: str | None = None
    topics: frozenset[str] | None = None
    """None: not known, for instance since it speaks no protocol of consumers."""
    regex: str | None = None
    assignor: str | None = None
    """Of a member of a consumer group: the one that it asks for."""
    session_timeout_ms: int | None = None
    """Where the log knows it: of members of classic groups."""

    @property
    def identity(self) -> str:
        """What stays when a static member is restarted: its instance, else the member id."""
        return self.member if self.instance is None else f"instance {self.instance}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEvent:
    """A record of a group. Columns that a type of record has not got are None or empty."""

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
    seat: MemberRecord | None = None
    """Of the records of members, and of their targets and current assignments."""
    places: tuple[Place, ...] = ()
    """The target; or what the member has, partitions that it is to give up among them."""
    members: tuple[tuple[MemberRecord, tuple[Place, ...]], ...] = ()
    """Of a classic group, with what each was given."""


_AS_WRITTEN = (
    *("group", "partition", "offset", "time", "key_version", "tombstone", "epoch", "state_since"),
    *("assignor", "state"),
)


def event_of(row: Mapping[str, Any]) -> GroupEvent:
    """An event from a row with `COLUMNS`, as Arrow's `to_pylist` gives it with times as integers."""
    return GroupEvent(
        **{name: row[name] for name in _AS_WRITTEN},
        seat=None
        if row["member"] is None
        else _seat(
            row,
            topics=frozenset(row["topics"] or ()),
            regex=row["regex"] or None,
            assignor=row["assignor"],
        ),
        places=(*_places(row["assignment"]), *_places(row["revoking"])),
        members=tuple((_classic_seat(each), _places(each["assignment"])) for each in row["members"] or ()),
    )


def _classic_seat(row: Mapping[str, Any]) -> MemberRecord:
    topics = None if row["topics"] is None else frozenset(row["topics"])
    return _seat(row, topics=topics, session_timeout_ms=row["session_timeout_ms"])


def _seat(row: Mapping[str, Any], **others: Any) -> MemberRecord:
    return MemberRecord(
        member=row["member"],
        instance=row["instance"] or None,
        client_id=row["client_id"],
        host=row["host"],
        **others,
    )


def _places(assignment: Iterable[tuple[str, Iterable[int]]] | None) -> tuple[Place, ...]:
    """Arrow gives a map as pairs."""
    return tuple((topic, number) for topic, numbers in assignment or () for number in numbers)


class Protocol(StrEnum):
    """Which protocol a group speaks as a whole."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


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
class RebalanceRow:
    """A generation or group epoch. Counts are of members and of partitions."""

    group: str
    offset: int
    """Of the record; it is the row's own, as epochs are not when a group is deleted and made again."""
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
