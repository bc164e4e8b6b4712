"""What the handlers work with: the state, the timers, the settings, and a place to leave records and answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from coordinator.engine.calls import CoordinatorResult
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.config import Config, ConsumerSettings, GroupOverrides, consumer_settings
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.offsets.pending import PendingOffsets
from coordinator.engine.records import Record, StoredOffset, Written
from coordinator.engine.timers import Timers
from coordinator.engine.topics import TopicImage
from coordinator.errors import CannotBeWritten, RequestRefused
from wire.errors import ErrorCode

Group: TypeAlias = ClassicGroup | ConsumerGroup
"""A group of any type that is coordinated here. Both have `id`, `type`, `state`, `protocol_type`, `is_empty`,
`has_member`, `subscribed_to`, `tombstones` and `timer_keys` (Kafka's `Group` interface)."""


@dataclass(slots=True, kw_only=True)
class State:
    """Everything that is known. Hard parts change in `Engine.replay` alone."""

    groups: dict[str, Group] = field(default_factory=dict)
    offsets: dict[str, dict[tuple[str, int], StoredOffset]] = field(default_factory=dict)
    """By group, then by topic and partition."""
    pending: PendingOffsets = field(default_factory=PendingOffsets)
    """Of transactions that have not ended."""
    foreign: set[str] = field(default_factory=set)
    """Ids of groups whose type is not coordinated here (share, streams): their offsets make no simple group."""
    group_configs: dict[str, GroupOverrides] = field(default_factory=dict)
    """By group, where anything was set (resource type GROUP). Told by `Engine.set_group_config`, not by records."""


@dataclass(slots=True, kw_only=True)
class EngineContext:
    """One per engine. `records` and `answers` fill up during a call and are taken at its end."""

    state: State
    timers: Timers
    config: Config
    replay: Callable[[Record], None]
    encode: Callable[[Record], tuple[bytes, bytes | None]] | None = None
    """Key and value of a record for the log; ValueError for one that cannot be written. None: there is no log."""
    topics: TopicImage = field(default_factory=TopicImage)
    new_topics_version: int = -1
    """Version of the image in which a topic was last created: resolved regexes older than that are resolved anew."""
    now_ms: int = 0
    records: list[Record] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    answers: list[tuple[int, object]] = field(default_factory=list)

    def emit(self, record: Record) -> None:
        """Write a record and, by replaying it, make it true. :raises CannotBeWritten:"""
        if self.encode is not None:
            try:
                self.written.append((record.group, self.encode(record)))
            except ValueError as error:
                raise CannotBeWritten(str(error)) from None
        self.records.append(record)
        self.replay(record)

    def answer(self, ticket: int, answer: object) -> None:
        """Answer a call, this one or one that waited."""
        self.answers.append((ticket, answer))

    def remove_group(self, group: Group) -> None:
        """Write the tombstones of a group, and forget its timers; its offsets stay."""
        for key in group.timer_keys():
            self.timers.cancel(key)
        for record in group.tombstones():
            self.emit(record)

    def consumer_group(self, group_id: str) -> ConsumerGroup:
        """The consumer group of that id. :raises RequestRefused: GROUP_ID_NOT_FOUND"""
        group = self.state.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
        what = "not found" if group is None else "is not a consumer group"
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}.")

    def group_of_member(self, group_id: str) -> Group:
        """The group that a member speaks of. :raises RequestRefused: INVALID_GROUP_ID, UNKNOWN_MEMBER_ID"""
        require_group_id(group_id)
        group = self.state.groups.get(group_id)
        if group is None:
            raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID)
        return group

    def consumer_settings(self, group: str) -> ConsumerSettings:
        """What counts for a consumer group now: its own settings over the broker's."""
        return consumer_settings(self.state.group_configs.get(group), self.config)

    def take(self) -> CoordinatorResult:
        """What the call led to."""
        result = CoordinatorResult(
            records=tuple(self.records), written=tuple(self.written), answers=tuple(self.answers)
        )
        self.records, self.written, self.answers = [], [], []
        return result


def require_group_id(group: str) -> None:
    """:raises RequestRefused: INVALID_GROUP_ID for the empty name"""
    if not group:
        raise RequestRefused(ErrorCode.INVALID_GROUP_ID)
