"""JoinGroup: a member of the classic protocol joins a classic group, or a consumer group that is being migrated.

A member joins with an empty id (new, or a restarted static member) or with an id that it was assigned. Refusals
contain the member id of the request, except if the group is full.

In a consumer group (KIP-848 "Online Migration") the member is reconciled like any other, with the partitions in its
subscription, and answered at once: there is no leader and no member list, the generation is its member epoch. If a
static member replaces the last consumer member, the group becomes a classic group.

Source: GroupMetadataManager.classicGroupJoinToClassicGroup, classicGroupJoinToConsumerGroup.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from coordinator.configs.settings import NEW_MEMBER_JOIN_TIMEOUT_MS, Config, MigrationPolicy
from coordinator.engine import downgrade
from coordinator.engine.calls import Call, Request
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import CONSUMER_PROTOCOL, ClassicGroup, ClassicMember
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.consumer.group import ConsumerGroup, check_room
from coordinator.engine.consumer.member import ConsumerMember, normal_topics
from coordinator.engine.consumer.update import (
    Update,
    commit,
    present_target,
    reconcile_member,
    retarget,
    subscribe,
)
from coordinator.engine.context import EngineContext, require_group_id
from coordinator.engine.records import (
    ClassicGroupRecord,
    ClassicGroupValue,
    ClassicMemberMetadata,
    ConsumerMemberValue,
    JoinProtocol,
    Record,
    TopicPartitions,
)
from coordinator.engine.static_members import (
    check_classic_member,
    replace_in_classic_group,
    replace_in_consumer_group,
    static_member,
)
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.engine.topics import TopicImage
from coordinator.errors import RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedSubscription, read_subscription
from wire.messages.reader import DecodeError
from wire.uuids import format_uuid

REQUIRES_MEMBER_ID = 4
"""The first version of JoinGroup whose dynamic members must rejoin with the id that they are assigned (KIP-394)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroup(Request[JoinGroupAnswer]):
    """JoinGroup v0–v9. In v0, which has only one timeout, the session timeout is also the rebalance timeout."""

    group: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member: str
    instance: str | None
    protocol_type: str
    protocols: tuple[JoinProtocol, ...]
    may_describe: Callable[[str], bool] | None = None
    """As in ConsumerGroupHeartbeat: a classic member may also cause a group's regexes to be resolved."""
    version: int = 9

    def refused(self, error: RequestRefused) -> JoinGroupAnswer:
        return JoinGroupAnswer(error=error.code, member=self.member)


def check(request: JoinGroup, config: Config) -> None:
    """Validate what does not depend on a group, in the order of GroupCoordinatorService. :raises RequestRefused:"""
    require_group_id(request.group)
    shortest, longest = config.group_min_session_timeout_ms, config.group_max_session_timeout_ms
    if not shortest <= request.session_timeout_ms <= longest:
        raise RequestRefused(ErrorCode.INVALID_SESSION_TIMEOUT)


def handle(ctx: EngineContext, call: Call, request: JoinGroup) -> None:
    if request.group in ctx.state.other_types:
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    group = ctx.state.groups.get(request.group)
    if isinstance(group, ConsumerGroup) and not group.is_empty():
        _join_consumer_group(ctx, call, request, group)
    else:
        _join_classic_group(ctx, call, request)


def _join_classic_group(ctx: EngineContext, call: Call, request: JoinGroup) -> None:
    """Join, park or refuse. The group is a classic one, an Empty consumer group, or does not exist yet."""
    group = _find_classic_group(ctx, request)
    if not _has_room(ctx, group, request.member):
        rebalance.drop_member(ctx, group, request.member)
        ctx.answer(call.ticket, JoinGroupAnswer(error=ErrorCode.GROUP_MAX_SIZE_REACHED))
    elif not group.supports(request.protocol_type, request.protocols):
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    elif not request.member:
        _join_without_id(ctx, call, request, group)
    else:
        _join_with_id(ctx, call, request, group)


def _find_classic_group(ctx: EngineContext, request: JoinGroup) -> ClassicGroup:
    """The group, created if it does not exist. It replaces an Empty consumer group, under any migration policy."""
    group = ctx.state.groups.get(request.group)
    if isinstance(group, ClassicGroup):
        return group
    if request.member:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID)
    if group is not None:
        ctx.remove_group(group)
    return _create(ctx, request.group)


def _create(ctx: EngineContext, name: str) -> ClassicGroup:
    """Create a group: the first JoinGroup creates it, even if it is refused."""
    value = ClassicGroupValue(
        protocol_type="", generation=0, protocol=None, leader=None, state_since_ms=ctx.now_ms
    )
    ctx.emit(ClassicGroupRecord(group=name, value=value))
    group = ctx.state.groups[name]
    if not isinstance(group, ClassicGroup):
        raise AssertionError(f"{name} is not a classic group")
    return group


def _has_room(ctx: EngineContext, group: ClassicGroup, member: str) -> bool:
    """Whether the group has room. While a rebalance is prepared only members that have joined it count, so a new
    member may take the place of a known one."""
    most = ctx.config.group_max_size
    if group.is_empty():
        return True
    if group.state is GroupState.PREPARING_REBALANCE:
        return member in group.joining or len(group.joining) < most
    return group.has_member(member) or len(group.members) < most


def _join_without_id(ctx: EngineContext, call: Call, request: JoinGroup, group: ClassicGroup) -> None:
    prefix = call.client_id if request.instance is None else request.instance
    member = f"{prefix}-{call.fresh_id}"
    if request.instance is not None and request.instance in group.static:
        new = _new_member(call, request, member)
        replace_in_classic_group(ctx, call, group, new, request.version)
    elif request.instance is None and request.version >= 4:
        _assign_member_id(ctx, call, request, group, member)
    else:
        _add(ctx, call, request, group, member)


def _assign_member_id(
    ctx: EngineContext, call: Call, request: JoinGroup, group: ClassicGroup, member: str
) -> None:
    """KIP-394: a dynamic member must rejoin with its id, so that a lost answer does not leave a stale member."""
    group.pending.add(member)
    key = TimerKey(TimerKind.PENDING_MEMBER, group.id, member)
    ctx.timers.set(key, ctx.now_ms + request.session_timeout_ms)
    ctx.answer(call.ticket, JoinGroupAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member=member))


def _join_with_id(ctx: EngineContext, call: Call, request: JoinGroup, group: ClassicGroup) -> None:
    if request.member in group.pending and request.instance is None:
        ctx.timers.cancel(TimerKey(TimerKind.PENDING_MEMBER, group.id, request.member))
        _add(ctx, call, request, group, request.member)
        return
    check_classic_member(group, request.member, request.instance)
    member = group.members[request.member]
    if _knows_generation(group, member, request):
        ctx.answer(call.ticket, rebalance.joined(group, member.id))
        return
    group.offer(member, request.protocols)
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    member.session_timeout_ms = request.session_timeout_ms
    rebalance.park_join(ctx, group, member.id, call.ticket)
    rebalance.prepare_or_complete(ctx, group)


def _knows_generation(group: ClassicGroup, member: ClassicMember, request: JoinGroup) -> bool:
    """Whether nothing changes, so that the answer is the current generation. A leader of a Stable group that rejoins
    requests a rebalance."""
    if member.protocols != request.protocols:
        return False
    if group.state is GroupState.STABLE:
        return member.id != group.leader
    return group.state is GroupState.COMPLETING_REBALANCE


def _new_member(call: Call, request: JoinGroup, member: str) -> ClassicMember:
    return ClassicMember(
        id=member,
        instance=request.instance,
        client_id=call.client_id,
        host=call.host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocols=request.protocols,
        is_new=True,
    )


def _add(ctx: EngineContext, call: Call, request: JoinGroup, group: ClassicGroup, id_: str) -> None:
    member = _new_member(call, request, id_)
    if group.state is GroupState.PREPARING_REBALANCE and group.previous_state is GroupState.EMPTY:
        group.new_member_added = True
    group.add(member, request.protocol_type)
    rebalance.park_join(ctx, group, id_, call.ticket)
    rebalance.keep_alive(ctx, group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance.prepare_or_complete(ctx, group)


def _join_consumer_group(ctx: EngineContext, call: Call, request: JoinGroup, group: ConsumerGroup) -> None:
    """Accept or refuse the member. A refusal does not contain a member id."""
    try:
        ctx.answer(call.ticket, _reconciled(ctx, call, request, group))
    except RequestRefused as error:
        ctx.answer(call.ticket, JoinGroupAnswer(error=error.code))


def _reconciled(ctx: EngineContext, call: Call, request: JoinGroup, group: ConsumerGroup) -> JoinGroupAnswer:
    if ctx.config.group_consumer_migration_policy is MigrationPolicy.DISABLED:
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    member_id = request.member or format_uuid(call.fresh_id)
    check_room(group, member_id, ctx.config)
    _check_protocols(group, request)
    if not request.member and request.instance is None and request.version >= REQUIRES_MEMBER_ID:
        return JoinGroupAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member=member_id)
    before, records = _find_member(group, request, member_id)
    subscription = _subscription(request)
    metadata = _metadata(before.metadata, call, request, subscription)
    update = Update(
        ctx=ctx,
        group=group,
        before=before,
        after=replace(before, metadata=metadata),
        records=records,
        may_describe=request.may_describe,
    )
    subscribe(update, regex_moves_epoch=True)
    owned = _owned(ctx.topics, subscription)
    replaced = group.static_member(request.instance)
    if replaced is not None and downgrade.downgrades_on_replacement(ctx, group, replaced):
        _downgrade(update, replaced, owned)
    else:
        reconcile_member(update, retarget(update), owned)
        _remain_consumer_group(update, request)
    return JoinGroupAnswer(
        generation=update.after.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol=request.protocols[0].name,
        member=member_id,
    )


def _remain_consumer_group(update: Update, request: JoinGroup) -> None:
    """The group remains a consumer group; the member must sync next."""
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
        reconcile_member(update, present_target(update), owned)
    downgrade.convert(
        update.ctx,
        group,
        replacement=downgrade.Replacement(old=replaced, new=update.after, records=update.records),
        must_rebalance=stale,
    )


def _check_protocols(group: ConsumerGroup, request: JoinGroup) -> None:
    """Check that the member shares a protocol with all classic members. Raises INCONSISTENT_GROUP_PROTOCOL."""
    offered = {protocol.name for protocol in request.protocols}
    supported = [
        {name for name, _ in member.classic.protocols}
        for member in group.members.values()
        if member.classic is not None
    ]
    if request.protocol_type != CONSUMER_PROTOCOL or not offered.intersection(*supported):
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _subscription(request: JoinGroup) -> EmbeddedSubscription:
    """The subscription for the member's first protocol. Raises INCONSISTENT_GROUP_PROTOCOL; Kafka's handler fails."""
    try:
        return read_subscription(request.protocols[0].metadata)
    except DecodeError:
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None


def _find_member(
    group: ConsumerGroup, request: JoinGroup, member_id: str
) -> tuple[ConsumerMember, list[Record]]:
    """The member, and the records that create it if it replaces another member.

    A dynamic member's id is accepted as it is; a static member may also replace one that is present.
    """
    if request.instance is None:
        return group.members.get(member_id) or ConsumerMember(id=member_id), []
    if request.member:
        return static_member(group, request.member, request.instance), []
    holder = group.static_member(request.instance)
    if holder is None:
        return ConsumerMember(id=member_id), []
    return replace_in_consumer_group(group, holder, member_id)


def _metadata(
    old: ConsumerMemberValue, call: Call, request: JoinGroup, subscription: EmbeddedSubscription
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
            protocols=request.protocols,
        ),
        client_assignors=(),
    )


def _owned(topics: TopicImage, subscription: EmbeddedSubscription) -> TopicPartitions:
    return {
        topics.topics[name].id: numbers
        for name, numbers in subscription.owned.items()
        if name in topics.topics
    }
