"""The context of the handlers: the state, the timers, the settings, and the pending records and answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from coordinator.configs.settings import Config, ConsumerSettings, GroupOverrides, consumer_settings
from coordinator.engine.calls import CoordinatorResult, RegexRefresh
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.offsets.pending import TransactionOffsets
from coordinator.engine.records import Record, StoredOffset, Written
from coordinator.engine.timers import TimerKey, TimerKind, Timers
from coordinator.engine.topics import TopicImage
from coordinator.errors import CannotBeWritten, RequestRefused
from wire.errors import ErrorCode
from wire.log.batch_header import ProducerIdentity
from wire.log.batch_writer import encode_batch
from wire.values import made

Group: TypeAlias = ClassicGroup | ConsumerGroup
"""A group of any type that is coordinated here. All types have `id`, `type`, `state`, `protocol_type`, `is_empty`,
`has_member`, `subscribed_to`, `tombstones` and `timer_keys` (Kafka's `Group` interface)."""

BATCH_OVERHEAD, RECORD_OVERHEAD = 61, 32
"""The size of a batch without its records, and the minimum size of a record without its key and value."""


@dataclass(slots=True, kw_only=True)
class EngineState:
    """The state of the engine. Hard parts change only in `Engine.replay`."""

    groups: dict[str, Group] = field(default_factory=dict)
    offsets: dict[str, dict[tuple[str, int], StoredOffset]] = field(default_factory=dict)
    """By group, then by topic and partition."""
    pending: TransactionOffsets = field(default_factory=TransactionOffsets)  # Offsets of open transactions
    other_types: set[str] = field(default_factory=set)
    """Ids of groups of types that are not coordinated here (share, streams): their offsets create no simple group."""
    group_configs: dict[str, GroupOverrides] = field(default_factory=dict)
    """By group; groups without overrides (resource type GROUP) are missing. Set by `Engine.set_group_config`, not by
    records."""


@dataclass(slots=True, kw_only=True)
class EngineContext:
    """The context of one engine. `records` and `answers` are filled during a call and taken at its end."""

    state: EngineState
    timers: Timers = field(default_factory=Timers)
    config: Config
    replay: Callable[[Record, int | None], None]
    encode: Callable[[Record], tuple[bytes, bytes | None]] | None = None
    """Key and value of a record for the log; ValueError if it cannot be encoded. None: there is no log."""
    topics: TopicImage = field(default_factory=TopicImage)
    new_topics_version: int = -1
    """Version of the image in which a topic was last created: regexes resolved earlier are resolved again."""
    matches_elsewhere: bool = False  # Whether the caller matches regexes
    refreshing: dict[str, RegexRefresh] = field(default_factory=dict)
    """By group, while its regexes are matched."""
    now_ms: int = 0
    records: list[Record] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    answers: list[tuple[int, object]] = field(default_factory=list)
    producer: ProducerIdentity | None = None  # The producer whose transaction the records belong to
    refreshes: list[RegexRefresh] = field(default_factory=list)

    broker_settings: ConsumerSettings = field(init=False)
    """The settings of a consumer group without overrides."""

    def __post_init__(self) -> None:
        self.configure(self.config)

    def configure(self, config: Config) -> None:
        """Replace the settings."""
        self.config = config
        self.broker_settings = consumer_settings(None, config)

    def emit(self, *records: Record, producer: ProducerIdentity | None = None) -> None:
        """Write records and apply them by replaying: all of them, or none. With a `producer` they belong to its
        transaction. Raises CannotBeWritten: too large for their fields or for one batch."""
        if self.encode is not None:
            try:
                encoded = [self.encode(record) for record in records]
            except ValueError as error:
                raise CannotBeWritten(str(error)) from None
            check_fits(encoded, self.config.message_max_bytes)
            self.written += [(record.group, data) for record, data in zip(records, encoded, strict=True)]
        self.producer = producer
        self.records += records
        producer_id = None if producer is None else producer.id
        for record in records:
            self.replay(record, producer_id)

    def answer(self, ticket: int, answer: object) -> None:
        """Answer this call, or an earlier call that waited."""
        self.answers.append((ticket, answer))

    def start(self, kind: TimerKind, group: str, member: str, after_ms: int) -> None:
        self.timers.set(TimerKey(kind, group, member), self.now_ms + after_ms)

    def stop(self, kind: TimerKind, group: str, member: str = "") -> None:
        """Cancel a timer, if it is running."""
        self.timers.cancel(TimerKey(kind, group, member))

    def remove_group(
        self,
        group: Group,
        *,
        before: Sequence[Record] = (),
        tombstones: Sequence[Record] | None = None,
        after: Sequence[Record] = (),
    ) -> None:
        """Write a group's tombstones, and cancel its timers. Raises CannotBeWritten: nothing changes."""
        keys = list(group.timer_keys())
        self.emit(*before, *(group.tombstones() if tombstones is None else tombstones), *after)
        for key in keys:
            self.timers.cancel(key)
        self.refreshing.pop(group.id, None)

    def consumer_group(self, group_id: str) -> ConsumerGroup:
        """The consumer group of that id. Raises RequestRefused: GROUP_ID_NOT_FOUND."""
        group = self.state.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
        what = "not found" if group is None else "is not a consumer group"
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}.")

    def group_of_member(self, group_id: str) -> Group:
        """The group of a member. Raises RequestRefused: UNKNOWN_MEMBER_ID."""
        group = self.state.groups.get(group_id)
        if group is None:
            raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID)
        return group

    def consumer_settings(self, group: str) -> ConsumerSettings:
        """The effective settings of a consumer group: its overrides, then the broker's."""
        overrides = self.state.group_configs.get(group)
        return self.broker_settings if overrides is None else consumer_settings(overrides, self.config)

    def take(self) -> CoordinatorResult:
        """The result of the call."""
        answers, self.answers = tuple(self.answers), []
        if not self.records and not self.refreshes:  # a heartbeat
            return made(CoordinatorResult, ((), (), answers, None, ()))
        result = CoordinatorResult(
            records=tuple(self.records),
            written=tuple(self.written),
            answers=answers,
            producer=self.producer,
            refreshes=tuple(self.refreshes),
        )
        self.records, self.written, self.producer, self.refreshes = [], [], None, []
        return result


def check_count(records: int, most_bytes: int, least_bytes: int) -> None:
    """Check that a number of records of `least_bytes` fit into a batch, before any is made. Raises CannotBeWritten."""
    if BATCH_OVERHEAD + records * least_bytes > most_bytes:
        raise CannotBeWritten(f"a batch of {records} records is larger than message.max.bytes ({most_bytes})")


def check_fits(records: Sequence[tuple[bytes, bytes | None]], most_bytes: int) -> None:
    """Check that records fit into a batch that a broker appends. Raises CannotBeWritten."""
    roughly = BATCH_OVERHEAD + sum(len(key) + len(value or b"") + RECORD_OVERHEAD for key, value in records)
    if roughly <= most_bytes or not records:
        return
    size = len(encode_batch(records, base_offset=0, timestamp=0))
    if size > most_bytes:
        raise CannotBeWritten(
            f"a batch of {len(records)} records and {size} bytes is larger than message.max.bytes ({most_bytes})"
        )


def check_group_id(request: Any, _config: object = None) -> None:
    """Raises RequestRefused: INVALID_GROUP_ID for the empty name."""
    if not request.group:
        raise RequestRefused(ErrorCode.INVALID_GROUP_ID)
