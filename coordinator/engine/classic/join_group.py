"""JoinGroup: a member of the classic protocol joins a classic group, or a consumer group that is being migrated
(KIP-848 "Online Migration"): there it is reconciled like any other and answered at once, without a leader. Source:
GroupMetadataManager.classicGroupJoinToClassicGroup, classicGroupJoinToConsumerGroup."""

from collections.abc import Callable
from dataclasses import replace

from coordinator.configs.settings import NEW_MEMBER_JOIN_TIMEOUT_MS, Config, MigrationPolicy
from coordinator.engine import downgrade, static_members
from coordinator.engine import records as log
from coordinator.engine.calls import Call, Request
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import CONSUMER_PROTOCOL, ClassicGroup, ClassicMember
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.consumer import update as updating
from coordinator.engine.consumer.group import ConsumerGroup, check_room
from coordinator.engine.consumer.member import ConsumerMember, normal_topics
from coordinator.engine.context import EngineContext, check_group_id
from coordinator.engine.timers import TimerKind
from coordinator.errors import RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedSubscription, read_subscription
from wire.messages.reader import DecodeError
from wire.uuids import format_uuid
from wire.values import dataclass

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
    protocols: tuple[log.JoinProtocol, ...]
    may_describe: Callable[[str], bool] | None = None
    """As in ConsumerGroupHeartbeat: a classic member may also cause a group's regexes to be resolved."""
    version: int = 9

    def refused(self, error: RequestRefused) -> JoinGroupAnswer:
        return JoinGroupAnswer(error=error.code, member=self.member)


def check(request: JoinGroup, config: Config) -> None:
    """Validate what does not depend on a group, in the order of GroupCoordinatorService. Raises RequestRefused."""
    check_group_id(request)
    shortest, longest = config.group_min_session_timeout_ms, config.group_max_session_timeout_ms
    if not shortest <= request.session_timeout_ms <= longest:
        raise RequestRefused(ErrorCode.INVALID_SESSION_TIMEOUT)


def handle(ctx: EngineContext, call: Call, request: JoinGroup) -> None:
    if request.group in ctx.state.other_types:
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    group = ctx.state.groups.get(request.group)
    if isinstance(group, ClassicGroup) or group is None or group.is_empty():
        _join_classic_group(ctx, call, request)
        return
    try:
        ctx.answer(call.ticket, _join_consumer_group(ctx, call, request, group))
    except RequestRefused as error:  # without the member id
        ctx.answer(call.ticket, JoinGroupAnswer(error=error.code))


def _join_classic_group(ctx: EngineContext, call: Call, request: JoinGroup) -> None:
    """Join, park or refuse. The group is a classic one, an Empty consumer group, or does not exist yet."""
    group = _find_classic_group(ctx, request)
    # While a rebalance is prepared only members that have joined it count: a new one may take a known one's place.
    there = group.joining if group.state is GroupState.PREPARING_REBALANCE else group.members
    if not (group.is_empty() or request.member in there or len(there) < ctx.config.group_max_size):
        rebalance.drop_member(ctx, group, request.member)
        ctx.answer(call.ticket, JoinGroupAnswer(error=ErrorCode.GROUP_MAX_SIZE_REACHED))
    elif not group.supports(request.protocol_type, request.protocols):
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    elif not request.member:
        member = f"{call.client_id if request.instance is None else request.instance}-{call.fresh_id}"
        if request.instance is not None and request.instance in group.static:
            new = _new_member(call, request, member)
            static_members.replace_in_classic_group(ctx, call, group, new, request.version)
        elif request.instance is None and request.version >= REQUIRES_MEMBER_ID:
            # KIP-394: a dynamic member must rejoin with its id, so that a lost answer does not leave a stale member.
            group.pending.add(member)
            ctx.start(TimerKind.PENDING_MEMBER, group.id, member, request.session_timeout_ms)
            ctx.answer(call.ticket, JoinGroupAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member=member))
        else:
            _add(ctx, call, request, group, member)
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
    value = log.ClassicGroupValue(
        protocol_type="", generation=0, protocol=None, leader=None, state_since_ms=ctx.now_ms
    )
    ctx.emit(log.ClassicGroupRecord(group=request.group, value=value))  # even if the request is refused
    group = ctx.state.groups[request.group]
    if not isinstance(group, ClassicGroup):
        raise AssertionError(f"{request.group} is not a classic group")
    return group


def _join_with_id(ctx: EngineContext, call: Call, request: JoinGroup, group: ClassicGroup) -> None:
    if request.member in group.pending and request.instance is None:
        ctx.stop(TimerKind.PENDING_MEMBER, group.id, request.member)
        _add(ctx, call, request, group, request.member)
        return
    static_members.check_classic_member(group, request.member, request.instance)
    member = group.members[request.member]
    # If nothing changes, the answer is the current generation; but a leader that rejoins requests a rebalance.
    follows = group.state is GroupState.STABLE and member.id != group.leader
    if member.protocols == request.protocols and (follows or group.state is GroupState.COMPLETING_REBALANCE):
        ctx.answer(call.ticket, rebalance.joined(group, member.id))
        return
    group.offer(member, request.protocols)
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    member.session_timeout_ms = request.session_timeout_ms
    rebalance.park_join(ctx, group, member.id, call.ticket)
    rebalance.prepare_or_complete(ctx, group)


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


def _join_consumer_group(
    ctx: EngineContext, call: Call, request: JoinGroup, group: ConsumerGroup
) -> JoinGroupAnswer:
    if ctx.config.group_consumer_migration_policy is MigrationPolicy.DISABLED:
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    member_id = request.member or format_uuid(call.fresh_id)
    check_room(group, member_id, ctx.config)
    offered = {protocol.name for protocol in request.protocols}
    classic = [member.classic for member in group.members.values() if member.classic is not None]
    supported = [{name for name, _ in member.protocols} for member in classic]
    if request.protocol_type != CONSUMER_PROTOCOL or not offered.intersection(*supported):
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not request.member and request.instance is None and request.version >= REQUIRES_MEMBER_ID:
        return JoinGroupAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member=member_id)
    before, records = _find(group, request, member_id)
    try:
        subscription = read_subscription(request.protocols[0].metadata)
    except DecodeError:  # Kafka's handler fails
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None
    metadata = _metadata(before.metadata, call, request, subscription)
    update = updating.Update(
        ctx=ctx,
        group=group,
        before=before,
        after=replace(before, metadata=metadata),
        records=records,
        may_describe=request.may_describe,
    )
    updating.subscribe(update, regex_moves_epoch=True)
    topics = ctx.topics.topics
    owned = {topics[name].id: numbers for name, numbers in subscription.owned.items() if name in topics}
    replaced = group.static_member(request.instance)
    if replaced is not None and downgrade.downgrades_on_replacement(ctx, group, replaced):
        stale = group.assignment_epoch < update.epoch
        if not stale:
            updating.reconcile_member(update, updating.present_target(update), owned)
        replacement = downgrade.Replacement(old=replaced, new=update.after, records=update.records)
        downgrade.convert(ctx, group, replacement=replacement, must_rebalance=stale)
    else:
        updating.reconcile_member(update, updating.retarget(update), owned)
        updating.commit(update)
        ctx.stop(TimerKind.JOIN, group.id, member_id)
        ctx.start(TimerKind.SESSION, group.id, member_id, request.session_timeout_ms)
        ctx.start(TimerKind.SYNC, group.id, member_id, request.rebalance_timeout_ms)
    return JoinGroupAnswer(
        generation=update.after.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol=request.protocols[0].name,
        member=member_id,
    )


def _find(group: ConsumerGroup, request: JoinGroup, name: str) -> tuple[ConsumerMember, list[log.Record]]:
    """The member, and the records that create it if it replaces another one, which may be present."""
    if request.instance is None:
        return group.members.get(name) or ConsumerMember(id=name), []
    if request.member:
        return static_members.static_member(group, request.member, request.instance), []
    holder = group.static_member(request.instance)
    if holder is None:
        return ConsumerMember(id=name), []
    return static_members.replace_in_consumer_group(group, holder, name)


def _metadata(
    old: log.ConsumerMemberValue, call: Call, request: JoinGroup, subscription: EmbeddedSubscription
) -> log.ConsumerMemberValue:
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
        classic=log.ClassicMemberMetadata(
            session_timeout_ms=request.session_timeout_ms, protocols=request.protocols
        ),
        client_assignors=(),
    )
