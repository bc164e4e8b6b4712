"""What every kind of group lets the rest of the coordinator ask (Kafka's `Group` interface)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias
from uuid import UUID

from coordinator.engine.calls import FetchedGroup, OffsetCommit
from coordinator.engine.records import CommittedOffset, Record
from coordinator.engine.timers import TimerKey
from groups.listing import GroupType

PartitionCheck: TypeAlias = Callable[[str, UUID | None, int], None]
"""Raises a CoordinatorError when the member may not commit this topic (name, id if known) and partition."""


class Group(Protocol):
    """A group of any type. Methods that validate raise CoordinatorError and change nothing."""

    @property
    def id(self) -> str: ...

    @property
    def type(self) -> GroupType: ...

    @property
    def state_name(self) -> str:
        """As ListGroups shows it: `Empty`, `Stable`, `Assigning`."""
        ...

    @property
    def protocol_type(self) -> str:
        """As ListGroups shows it: `consumer`, `connect`; empty for a simple group."""
        ...

    def is_empty(self) -> bool:
        """In state Empty; members that are only pending do not count."""
        ...

    def has_member(self, member: str) -> bool: ...

    def subscribed_to(self, topic: str) -> bool:
        """Whether a member wants the topic, by name or by a resolved regex; offsets of it are then kept."""
        ...

    def validate_offset_commit(self, commit: OffsetCommit) -> PartitionCheck | None:
        """Whether the request may commit; None where every partition is allowed."""
        ...

    def validate_offset_fetch(self, fetch: FetchedGroup) -> None: ...

    def validate_offset_delete(self) -> None: ...

    def validate_delete(self) -> None:
        """Raises NON_EMPTY_GROUP unless the group may be deleted."""
        ...

    def expiry_base_ms(self, offset: CommittedOffset) -> int | None:
        """The time from which the retention of an unsubscribed topic's offset counts; None: it is kept."""
        ...

    def tombstones(self) -> tuple[Record, ...]:
        """The records that remove the group; its offsets are not part of it."""
        ...

    def timer_keys(self) -> Iterable[TimerKey]:
        """Every timer that the group may have running."""
        ...
