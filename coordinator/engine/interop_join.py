"""JoinGroup to a consumer group: a member of it that speaks the classic protocol.

It is reconciled like any other member, with what its subscription says it owns, and answered at once: there is no
leader and no member list, the generation is its member epoch. A static one that takes the place of the last member of
the consumer protocol turns the group into a classic one.

Source: KIP-848 "Online Migration"; GroupMetadataManager.classicGroupJoinToConsumerGroup.
"""

from __future__ import annotations

from dataclasses import replace

from coordinator.engine import downgrade
from coordinator.engine.answers import JoinGroupAnswer
from coordinator.engine.calls import Call, JoinGroup, TopicPartitions
from coordinator.engine.classic_group import CONSUMER_PROTOCOL
from coordinator.engine.config import MigrationPolicy
from coordinator.engine.consumer_checks import check_room, static_member
from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.consumer_member import ConsumerMember, normal_topics
from coordinator.engine.consumer_update import Update, commit, replace_member, retarget, settle, subscribe
from coordinator.engine.context import Context
from coordinator.engine.records import ClassicMemberMetadata, ConsumerMemberValue, Record
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.engine.topics import TopicImage
from wire.errors import CoordinatorError, ErrorCode
from wire.messages.embedded_protocol import MalformedMetadata, Subscription, read_subscription
from wire.uuids import format_uuid

REQUIRES_MEMBER_ID = 4
"""The first version of JoinGroup whose dynamic members have to come back with the id that they are given (KIP-394)."""


def handle(ctx: Context, call: Call, request: JoinGroup, group: ConsumerGroup) -> None:
    """Let the member in or refuse it. A refusal names no member id."""
    try:
        ctx.answer(call.ticket, _join(ctx, call, request, group))
    except CoordinatorError as error:
        ctx.answer(call.ticket, JoinGroupAnswer(error=error.code))


def _join(ctx: Context, call: Call, request: JoinGroup, group: ConsumerGroup) -> JoinGroupAnswer:
    if ctx.config.group_consumer_migration_policy is MigrationPolicy.DISABLED:
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    member_id = request.member or format_uuid(call.fresh_id)
    check_room(group, member_id, ctx.config)
    _check_protocols(group, request)
    if not request.member and request.instance is None and request.version >= REQUIRES_MEMBER_ID:
        return JoinGroupAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member=member_id)
    before, records = _find(group, request, member_id)
    subscription = _subscription(request)
    metadata = _metadata(before.metadata, call, request, subscription)
    update = Update(
        ctx=ctx, group=group, before=before, after=replace(before, metadata=metadata), records=records
    )
    subscribe(update, regex_moves_epoch=True)
    owned = _owned(ctx.topics, subscription)
    replaced = group.static_member(request.instance)
    if replaced is not None and downgrade.may_replace(ctx, group, replaced):
        _downgrade(update, replaced, owned)
    else:
        target_epoch, target = retarget(update)
        settle(update, target_epoch, target, owned)
        _stay(update, request)
    return JoinGroupAnswer(
        generation=update.after.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol=request.protocols[0].name,
        member=member_id,
    )


def _stay(update: Update, request: JoinGroup) -> None:
    """The group remains a consumer group; now the member has to sync."""
    ctx, group, member = update.ctx, update.group, update.after
    commit(update)
    ctx.timers.cancel(TimerKey(TimerKind.JOIN, group.id, member.id))
    session = TimerKey(TimerKind.SESSION, group.id, member.id)
    ctx.timers.set(session, ctx.now_ms + request.session_timeout_ms)
    sync = TimerKey(TimerKind.SYNC, group.id, member.id)
    ctx.timers.set(sync, ctx.now_ms + request.rebalance_timeout_ms)


def _downgrade(update: Update, replaced: ConsumerMember, owned: TopicPartitions) -> None:
    group = update.group
    stale = group.assignment_epoch < update.epoch
    if not stale:
        settle(update, group.assignment_epoch, group.target_of(update.after.id, update.after.instance), owned)
    downgrade.convert(
        update.ctx,
        group,
        replacement=downgrade.Replacement(old=replaced, new=update.after, records=update.records),
        rebalance=stale,
    )


def _check_protocols(group: ConsumerGroup, request: JoinGroup) -> None:
    """Whether the member shares a protocol with all classic members. Raises INCONSISTENT_GROUP_PROTOCOL."""
    offered = {protocol.name for protocol in request.protocols}
    supported = [
        {name for name, _ in member.classic.protocols}
        for member in group.members.values()
        if member.classic is not None
    ]
    if request.protocol_type != CONSUMER_PROTOCOL or not offered.intersection(*supported):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _subscription(request: JoinGroup) -> Subscription:
    """What the member's first protocol says. Raises INCONSISTENT_GROUP_PROTOCOL; Kafka fails there."""
    try:
        return read_subscription(request.protocols[0].metadata)
    except MalformedMetadata:
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None


def _find(group: ConsumerGroup, request: JoinGroup, member_id: str) -> tuple[ConsumerMember, list[Record]]:
    """The member as it is, and the records that make it one where it replaces another.

    A dynamic member's id is accepted as it comes; an instance id is taken even from a member that is there.
    """
    if request.instance is None:
        return group.members.get(member_id) or ConsumerMember(id=member_id), []
    if request.member:
        return static_member(group, request.member, request.instance), []
    holder = group.static_member(request.instance)
    if holder is None:
        return ConsumerMember(id=member_id), []
    current = replace(holder.current, epoch=0, previous_epoch=0)
    new = ConsumerMember(id=member_id, metadata=holder.metadata, current=current)
    return new, replace_member(group, holder, new)


def _metadata(
    old: ConsumerMemberValue, call: Call, request: JoinGroup, subscription: Subscription
) -> ConsumerMemberValue:
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        old,
        instance=old.instance if request.instance is None else request.instance,
        rack=subscription.rack or old.rack,
        client_id=call.client_id,
        host=call.host,
        topics=normal_topics(subscription.topics),
        regex="",
        rebalance_timeout_ms=old.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        classic=ClassicMemberMetadata(
            session_timeout_ms=request.session_timeout_ms,
            protocols=tuple((protocol.name, protocol.metadata) for protocol in request.protocols),
        ),
    )


def _owned(topics: TopicImage, subscription: Subscription) -> TopicPartitions:
    return {
        topics.topics[name].id: numbers
        for name, numbers in subscription.owned.items()
        if name in topics.topics
    }
