"""OffsetFetch, for one group or for many at once. Source: KafkaApis.fetchOffsetsForGroup,
OffsetMetadataManager.fetchOffsets."""

from collections.abc import Container, Mapping
from typing import NamedTuple, TypeAlias
from uuid import UUID

from coordinator.engine.calls import Call, Request
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import stale_epoch
from coordinator.engine.context import EngineContext
from coordinator.engine.offsets.pending import Partition
from coordinator.engine.records import StoredOffset
from coordinator.engine.topics import TopicImage
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode
from wire.values import dataclass, made


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetQuery:
    """One group of an OffsetFetch. `topics` are keyed by name or, since v10, by id; None: all topics."""

    group: str
    member: str | None = None
    epoch: int = -1
    topics: tuple[tuple[str | UUID, tuple[int, ...]], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchAnswer:
    groups: "tuple[QueriedOffsets, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetch(Request[OffsetFetchAnswer]):
    """OffsetFetch v1–v10; exactly one group before v8."""

    groups: tuple[OffsetQuery, ...]
    require_stable: bool = False
    version: int = 9

    def refused(self, error: RequestRefused) -> OffsetFetchAnswer:
        return OffsetFetchAnswer(
            groups=tuple(QueriedOffsets(group=group.group, error=error.code) for group in self.groups)
        )


_NO_ERROR = ErrorCode.NONE  # Python 3.11 finds a member of an enum slowly


class FetchedOffset(NamedTuple):
    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""
    error: ErrorCode = ErrorCode.NONE


_UNKNOWN = FetchedOffset(error=ErrorCode.UNKNOWN_TOPIC_ID)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriedOffsets:
    """Offsets by topic (name or id, as requested) and partition."""

    group: str
    error: ErrorCode = ErrorCode.NONE
    topics: tuple[tuple[str | UUID, tuple[tuple[int, FetchedOffset], ...]], ...] = ()


Topic: TypeAlias = tuple[str | UUID, tuple[tuple[int, FetchedOffset], ...]]

BY_ID = 10
"""The first version in which topics are identified by id."""


def handle(ctx: EngineContext, call: Call, request: OffsetFetch) -> None:
    """Answer for every requested group; a refusal of one does not affect the others."""
    groups = tuple(_fetch(ctx, group, request) for group in request.groups)
    ctx.answer(call.ticket, OffsetFetchAnswer(groups=groups))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offsets:
    """The offsets of a group that are visible to a fetch."""

    committed: Mapping[Partition, StoredOffset]
    unstable: Container[Partition]

    def fetched(self, topic: str, partition: int, topic_id: UUID | None = None) -> FetchedOffset:
        """The offset of a partition; an offset committed for an earlier topic of the same name does not count."""
        if self.unstable and (topic, partition) in self.unstable:
            return FetchedOffset(error=ErrorCode.UNSTABLE_OFFSET_COMMIT)
        value = self.committed.get((topic, partition))
        if value is None or (topic_id is not None and value.topic_id not in (None, topic_id)):
            return FetchedOffset()
        return made(FetchedOffset, (value.offset, value.leader_epoch, value.metadata, _NO_ERROR))


def _fetch(ctx: EngineContext, fetch: OffsetQuery, request: OffsetFetch) -> QueriedOffsets:
    group = ctx.state.groups.get(fetch.group)
    names_member = fetch.member is not None or fetch.epoch >= 0
    if names_member and isinstance(group, ConsumerGroup):  # a classic group ignores member id and epoch
        # A null member id with an epoch crashes Kafka's handler; here it is an unknown member.
        member = group.members.get(fetch.member or "")
        if member is None:
            return QueriedOffsets(group=fetch.group, error=ErrorCode.UNKNOWN_MEMBER_ID)
        if fetch.epoch != member.epoch:
            return QueriedOffsets(group=fetch.group, error=stale_epoch(member, "").code)
    offsets = _Offsets(
        committed={} if group is None else ctx.state.offsets.get(fetch.group, {}),
        unstable=ctx.state.pending.partitions(fetch.group) if request.require_stable else (),
    )
    if fetch.topics is None:
        topics = _all(offsets, ctx.topics, by_id=request.version >= BY_ID)
    else:
        asked = [_asked(offsets, ctx.topics, topic, partitions) for topic, partitions in fetch.topics]
        # Topics that do not exist are last, as in a broker, which answers for them itself.
        topics = tuple(sorted(asked, key=lambda topic: bool(topic[1]) and topic[1][0][1] is _UNKNOWN))
    return QueriedOffsets(group=fetch.group, topics=topics)


def _all(offsets: _Offsets, image: TopicImage, *, by_id: bool) -> tuple[Topic, ...]:
    """Every offset, by topic and partition; by id without deleted topics, which cannot be identified."""
    by_topic: dict[str, list[tuple[int, FetchedOffset]]] = {}
    for topic, partition in sorted(offsets.committed):
        by_topic.setdefault(topic, []).append((partition, offsets.fetched(topic, partition)))
    return tuple(
        (image.topics[topic].id if by_id else topic, tuple(offsets_of))
        for topic, offsets_of in by_topic.items()
        if not by_id or topic in image.topics
    )


def _asked(offsets: _Offsets, image: TopicImage, topic: str | UUID, partitions: tuple[int, ...]) -> Topic:
    if isinstance(topic, str):
        return topic, tuple([(partition, offsets.fetched(topic, partition)) for partition in partitions])
    info = image.by_id.get(topic)
    if info is None:
        return topic, tuple((partition, _UNKNOWN) for partition in partitions)
    return topic, tuple((partition, offsets.fetched(info.name, partition, topic)) for partition in partitions)
