"""OffsetCommit. Source: KafkaApis.handleOffsetCommitRequest, OffsetMetadataManager.commitOffset."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, ParamSpec, TypeAlias, TypeVar
from uuid import UUID

from coordinator.engine.calls import Call, Request
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.member import ConsumerMember, stale_epoch
from coordinator.engine.context import EngineContext, Group, check_count, check_group_id
from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.engine.static_members import check_classic_member
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.errors import CannotBeWritten, RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode
from wire.java_text import length
from wire.log.batch_header import ProducerIdentity
from wire.values import dataclass, made

LEAST_BYTES = 40
"""The size of the record of an offset, with the shortest names."""

P = ParamSpec("P")
R = TypeVar("R")


class Offset(NamedTuple):
    """An offset to commit; `topic_id` is None before v10. Expires after `retention_ms` if given (v2–v4)."""

    topic: str
    topic_id: UUID | None
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str | None = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitAnswer:
    """Topic name, topic id, partition and error of each partition: unknown partitions first."""

    partitions: tuple[tuple[str, UUID | None, int, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offsets(Request[OffsetCommitAnswer]):
    group: str
    offsets: tuple[Offset, ...]
    generation_or_epoch: int = -1
    member: str = ""
    instance: str | None = None

    def refused(self, error: RequestRefused) -> OffsetCommitAnswer:
        return _answer((offset, error.code) for offset in self.offsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommit(_Offsets):
    """OffsetCommit v2–v10."""

    retention_ms: int | None = None
    version: int = 9


PartitionCheck: TypeAlias = Callable[[str, UUID | None, int], None]
"""Raises RequestRefused if the member may not commit this topic (name, id if known) and partition."""

BY_ID = 10
"""The first version in which topics are identified by id."""

TRANSACTIONAL_BY_ID = 6
"""The same of TxnOffsetCommit."""

BY_EPOCH = 9
"""The first version that a consumer member may use, and that distinguishes an unknown group from an old generation."""


def handle(ctx: EngineContext, call: Call, request: OffsetCommit) -> None:
    """Commit the permitted offsets; a refusal for the group applies to every partition that exists."""
    by_id = request.version >= BY_ID
    topics = [find_topic(ctx.topics, offset, by_id=by_id) for offset in request.offsets]

    def admit() -> PartitionCheck | None:
        if call.refusal:
            raise RequestRefused(call.refusal)
        group = ctx.state.groups.get(request.group)
        check = _check_group(group, request)
        if isinstance(group, ClassicGroup) and group.has_member(request.member):  # as a heartbeat does
            rebalance.keep_alive(ctx, group, group.members[request.member])
        return check

    expire_ms = None if request.retention_ms in (None, -1) else ctx.now_ms + (request.retention_ms or 0)
    ctx.answer(call.ticket, _committed(ctx, request, topics, admit, expire_ms=expire_ms))


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnOffsetCommit(_Offsets):
    """TxnOffsetCommit v0–v6: visible when the transaction commits. Before v3 it does not identify the member."""

    producer: ProducerIdentity
    version: int = 5

    @property
    def knows_epochs(self) -> bool:
        """Whether topics have ids, and errors distinguish epochs from generations (KIP-1319)."""
        return self.version >= TRANSACTIONAL_BY_ID


def handle_transactional(ctx: EngineContext, call: Call, request: TxnOffsetCommit) -> None:
    """Like `handle`. The transaction coordinator checks that the transaction belongs to the producer."""
    topics = [find_topic(ctx.topics, offset, by_id=request.knows_epochs) for offset in request.offsets]

    def admit() -> PartitionCheck | None:
        check_group_id(request)
        if call.refusal:
            raise RequestRefused(call.refusal)
        # Source: OffsetMetadataManager.validateTransactionalOffsetCommit.
        group = ctx.state.groups.get(request.group)
        is_named = request.generation_or_epoch >= 0 or bool(request.member) or request.instance is not None
        if group is None:
            if request.generation_or_epoch >= 0:
                knows = request.knows_epochs
                raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND if knows else ErrorCode.ILLEGAL_GENERATION)
            return None
        if not is_named or (request.generation_or_epoch < 0 and group.is_empty()):
            return None
        if isinstance(group, ClassicGroup):
            check_classic_member(group, request.member, request.instance)
            if request.generation_or_epoch != group.generation:
                raise RequestRefused(ErrorCode.ILLEGAL_GENERATION)
            return None
        member = group.member(request.member)
        if request.knows_epochs:
            return _check_epoch(member, request.generation_or_epoch)
        check = _as_generation(_check_epoch)(member, request.generation_or_epoch)
        return None if check is None else _as_generation(check)

    ctx.answer(call.ticket, _committed(ctx, request, topics, admit, producer=request.producer))


def _committed(
    ctx: EngineContext,
    request: _Offsets,
    topics: Sequence[TopicInfo | ErrorCode],
    admit: Callable[[], PartitionCheck | None],
    expire_ms: int | None = None,
    producer: ProducerIdentity | None = None,
) -> OffsetCommitAnswer:
    try:
        codes, records = _judge(ctx, request, topics, admit, expire_ms)
        if records:
            ctx.emit(*records, producer=producer)
    except (RequestRefused, CannotBeWritten) as error:
        code = error.code if isinstance(error, RequestRefused) else ErrorCode.UNKNOWN_SERVER_ERROR
        codes = [topic if isinstance(topic, ErrorCode) else code for topic in topics]
    judged = zip(request.offsets, codes, strict=True)
    if not any(codes):
        return _answer(judged)
    broker_first = sorted(zip(judged, topics, strict=True), key=lambda of: isinstance(of[1], TopicInfo))
    return _answer(outcome for outcome, _ in broker_first)


def find_topic(image: TopicImage, offset: Offset, *, by_id: bool) -> TopicInfo | ErrorCode:
    """The topic, if it and the partition exist; otherwise the error."""
    if by_id:
        topic = None if offset.topic_id is None else image.by_id.get(offset.topic_id)
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic = image.topics.get(offset.topic)
    if topic is None or not 0 <= offset.partition < topic.partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return topic


def _judge(
    ctx: EngineContext,
    request: _Offsets,
    topics: Sequence[TopicInfo | ErrorCode],
    admit: Callable[[], PartitionCheck | None],
    expire_ms: int | None,
) -> tuple[list[ErrorCode], list[OffsetRecord]]:
    """The error of each partition, and the records to write. Raises RequestRefused if nothing may be committed."""
    missing = [topic for topic in topics if isinstance(topic, ErrorCode)]
    if len(missing) == len(topics):
        return missing, []
    check = admit()
    if ctx.encode is not None:
        check_count(len(topics) - len(missing), ctx.config.message_max_bytes, LEAST_BYTES)
    longest, now_ms, group = ctx.config.offset_metadata_max_bytes, ctx.now_ms, request.group
    none = ErrorCode.NONE
    records: list[OffsetRecord] = []
    codes: list[ErrorCode] = []
    for (_, _, partition, offset, leader_epoch, metadata), topic in zip(request.offsets, topics, strict=True):
        if isinstance(topic, ErrorCode):
            codes.append(topic)
        elif metadata and length(metadata) > longest:
            codes.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
        else:
            if check is not None:
                check(topic.name, topic.id, partition)
            value = made(StoredOffset, (offset, leader_epoch, metadata or "", now_ms, expire_ms, topic.id))
            records.append(made(OffsetRecord, (group, topic.name, partition, value)))
            codes.append(none)
    return codes, records


def _check_group(group: Group | None, request: OffsetCommit) -> PartitionCheck | None:
    """Check that the request may commit. None: it may commit every partition. Raises RequestRefused."""
    if group is None:
        if request.generation_or_epoch >= 0:
            knows = request.version >= BY_EPOCH
            raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND if knows else ErrorCode.ILLEGAL_GENERATION)
        return None
    if group.is_empty() and request.generation_or_epoch < 0:
        return None
    if isinstance(group, ClassicGroup):
        if request.generation_or_epoch >= 0 or request.member or request.instance is not None:
            check_classic_member(group, request.member, request.instance)
            if request.generation_or_epoch != group.generation:
                raise RequestRefused(ErrorCode.ILLEGAL_GENERATION)
        elif not group.is_empty():
            raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID)
        if group.state is GroupState.COMPLETING_REBALANCE:
            raise RequestRefused(ErrorCode.REBALANCE_IN_PROGRESS)
        return None
    member = group.member(request.member)
    if member.classic is None and request.version < BY_EPOCH:
        message = "OffsetCommit version 9 or above must be used by members using the consumer group protocol"
        raise RequestRefused(ErrorCode.UNSUPPORTED_VERSION, message)
    return _check_epoch(member, request.generation_or_epoch)


def _check_epoch(member: ConsumerMember, epoch: int) -> PartitionCheck | None:
    """An older epoch is accepted for a partition that the member was assigned by then (4.3, KIP-1251)."""
    if epoch == member.epoch:
        return None
    if epoch > member.epoch:
        raise stale_epoch(member, f"epoch {epoch} is newer than current member epoch {member.epoch}.")

    def check(topic: str, topic_id: UUID | None, partition: int) -> None:
        since = None if topic_id is None else member.current.assigned_epochs.get((topic_id, partition))
        where = f"partition {topic}-{partition}"
        if since is None:
            raise stale_epoch(member, f"epoch {epoch} is old, and {where} is not assigned to the member.")
        if epoch < since:
            raise stale_epoch(member, f"epoch {epoch} is older than assignment epoch {since} for {where}.")

    return check


def _as_generation(check: Callable[P, R]) -> Callable[P, R]:
    """Replace errors about epochs with errors about generations: a transactional commit knows no epochs before v6."""

    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return check(*args, **kwargs)
        except RequestRefused:
            raise RequestRefused(ErrorCode.ILLEGAL_GENERATION) from None

    return checked


def _answer(judged: Iterable[tuple[Offset, ErrorCode]]) -> OffsetCommitAnswer:
    return OffsetCommitAnswer(
        partitions=tuple([(offset[0], offset[1], offset[2], code) for offset, code in judged])
    )
