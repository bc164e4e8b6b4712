"""ConsumerGroupHeartbeat. A member joins, or rejoins after releasing everything, with epoch 0; leaves with -1; with
-2 a static member leaves temporarily. None in a field means unchanged. Source: KIP-848 "ConsumerGroupHeartbeat";
GroupMetadataManager.consumerGroupHeartbeat."""

from collections.abc import Callable
from dataclasses import replace

from assignors.java.hash_map import map_order, string_hashes
from coordinator.configs.settings import Config
from coordinator.engine import records as log
from coordinator.engine import upgrade
from coordinator.engine.calls import Call, Repeat, Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer import client_assignment
from coordinator.engine.consumer.client_assignors import check_readable, check_reads_classic
from coordinator.engine.consumer.group import ConsumerGroup, check_room
from coordinator.engine.consumer.member import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerMember,
    normal_assignment,
    normal_topics,
    same_assigned,
)
from coordinator.engine.consumer.update import Update, commit, reconcile_member, remove, retarget, subscribe
from coordinator.engine.context import EngineContext
from coordinator.engine.static_members import replace_in_consumer_group, static_member
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.engine.topic_changes import refresh_is_due
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode
from wire.java_text import trim
from wire.uuids import format_uuid
from wire.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupHeartbeatAnswer:
    """`assignment` is None if it is unchanged."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    member: str | None = None
    epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: log.TopicPartitions | None = None
    should_compute: bool = False
    """Whether the member must compute the group's assignment with a client-side assignor."""
    metadata: log.ClientMetadata | None = None
    """A client-side assignor's metadata for the member, with an assignment."""
    assignment_error: int = 0  # The error code of a client-side assignor, with an assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupHeartbeat(Request[ConsumerGroupHeartbeatAnswer]):
    """ConsumerGroupHeartbeat v0–v1; None means "unchanged since the last heartbeat"."""

    group: str
    member: str
    epoch: int
    instance: str | None = None
    rack: str | None = None
    rebalance_timeout_ms: int = -1
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: log.TopicPartitions | None = None
    client_assignors: tuple[log.ClientAssignor, ...] | None = None
    """Preferred first. Kafka never defined a field for them, so Kohort adds tagged fields."""
    may_describe: Callable[[str], bool] | None = None
    """Whether the sender may describe a topic; None: all topics. Regexes match no others."""
    version: int = 1

    def refused(self, error: RequestRefused) -> ConsumerGroupHeartbeatAnswer:
        return ConsumerGroupHeartbeatAnswer(error=error.code, message=error.message)


def handle(ctx: EngineContext, call: Call, request: ConsumerGroupHeartbeat) -> None:
    """Answer a heartbeat. Raises RequestRefused; then nothing has changed."""
    if request.group in ctx.state.other_types:
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group} is not a consumer group.")
    leaves = request.epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH)
    ctx.answer(call.ticket, _leave(ctx, request) if leaves else _beat(ctx, call, request))


def _beat(ctx: EngineContext, call: Call, request: ConsumerGroupHeartbeat) -> ConsumerGroupHeartbeatAnswer:
    group, opening, replaces = _open_group(ctx, request.group, joins=request.epoch == 0)
    check_room(group, request.member, ctx.config)
    member_id = request.member or format_uuid(call.fresh_id)
    before, records = _find(group, request, member_id)
    if _changes_nothing(ctx, group, before, request, (call.client_id, call.host)):
        return _answer(ctx, request, before, before)
    if request.epoch == 0 and request.client_assignors:
        others = [member for member in group.members.values() if member.id not in (member_id, before.id)]
        check_reads_classic(others, request.client_assignors)
    old, timeout_ms = before.metadata, request.rebalance_timeout_ms
    new = log.ConsumerMemberValue(
        instance=old.instance if request.instance is None else request.instance,
        rack=old.rack if request.rack is None else request.rack,
        client_id=call.client_id,
        host=call.host,
        topics=old.topics if request.topics is None else normal_topics(request.topics),
        regex=old.regex if request.regex is None else request.regex,
        rebalance_timeout_ms=old.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        assignor=old.assignor if request.assignor is None else request.assignor,
        client_assignors=old.client_assignors
        if request.client_assignors is None
        else request.client_assignors,
    )
    update = Update(
        ctx=ctx,
        group=group,
        before=before,
        after=before if new == old else replace(before, metadata=new),
        records=[*opening, *records],
        replaces=replaces,
        may_describe=request.may_describe,
        asks_for_assignment=any(assignor.reason for assignor in request.client_assignors or ()),
    )
    if request.client_assignors:
        check_readable(list(group.members.values()), list(update.members.values()))
    subscribe(update)
    reconcile_member(update, retarget(update), request.owned)
    commit(update)
    if before.classic is not None:
        # The member need not join or sync any more; Kafka lets these timers run and removes the member.
        for kind in (TimerKind.JOIN, TimerKind.SYNC):
            ctx.stop(kind, group.id, member_id)
    return _answer(ctx, request, update.before, update.after)


def steady(
    ctx: EngineContext, request: ConsumerGroupHeartbeat, answer: object, sender: tuple[str, str]
) -> Repeat | None:
    """See `Engine.steady`."""
    group = ctx.state.groups.get(request.group)
    member = group.members.get(request.member) if isinstance(group, ConsumerGroup) else None
    if not isinstance(group, ConsumerGroup) or member is None or member.epoch != request.epoch:
        return None
    settings = ctx.consumer_settings(group.id)
    usual = ConsumerGroupHeartbeatAnswer(
        member=member.id, epoch=member.epoch, heartbeat_interval_ms=settings.heartbeat_interval_ms
    )
    if answer != usual or not _changes_nothing(ctx, group, member, request, sender):
        return None
    key = TimerKey(TimerKind.SESSION, group.id, member.id)

    def repeat(now_ms: int) -> bool:
        ctx.now_ms = now_ms
        is_same = (
            ctx.state.groups.get(group.id) is group
            and group.members.get(member.id) is member
            and _is_settled(ctx, group, member)
            and (request.instance is None or group.static_member(request.instance) is member)
            and ctx.consumer_settings(group.id) == settings
        )
        if is_same:
            ctx.timers.set(key, now_ms + settings.session_timeout_ms)
        return is_same

    return repeat


def _changes_nothing(
    ctx: EngineContext,
    group: ConsumerGroup,
    member: ConsumerMember,
    request: ConsumerGroupHeartbeat,
    sender: tuple[str, str],
) -> bool:
    """Whether nothing is due: the member only reports that it is alive, as in most heartbeats. `sender`: its client
    id and host."""
    return (
        request.epoch > 0
        and (request.topics, request.regex, request.assignor, request.rack) == (None, None, None, None)
        and request.rebalance_timeout_ms == -1
        and not request.client_assignors
        and _is_settled(ctx, group, member)
        and sender == (member.metadata.client_id, member.metadata.host)
    )


def _is_settled(ctx: EngineContext, group: ConsumerGroup, member: ConsumerMember) -> bool:
    return (
        member.reconciled_to(group.assignment_epoch)
        and group.epoch <= group.assignment_epoch
        and not group.refresh_metadata
        and not (group.regex_users and refresh_is_due(ctx, group, group.regex_users.keys(), unresolved=False))
        and member.classic is None
    )


def _find(
    group: ConsumerGroup, request: ConsumerGroupHeartbeat, member_id: str
) -> tuple[ConsumerMember, list[log.Record]]:
    """The member, and the records that create it if it replaces another member."""
    joins, instance = request.epoch == 0, request.instance
    if instance is None or not joins:
        if instance is not None:
            member = static_member(group, member_id, instance)
        elif joins:
            member = group.members.get(member_id) or ConsumerMember(id=member_id)
        else:
            member = group.member(member_id)
        _check_epoch(member, request.epoch, request.owned)
        return member, []
    holder = group.static_member(instance)
    if holder is None:
        return group.members.get(member_id) or ConsumerMember(id=member_id), []
    if holder.classic is None and holder.epoch != STATIC_LEAVE_EPOCH:  # it has not left temporarily
        what = f"Static member {member_id} with instance id {instance} cannot join the group"
        why = f"the instance id is owned by {holder.id} member."
        raise RequestRefused(ErrorCode.UNRELEASED_INSTANCE_ID, f"{what} because {why}")
    return replace_in_consumer_group(group, holder, member_id)


def _answer(
    ctx: EngineContext, request: ConsumerGroupHeartbeat, before: ConsumerMember, after: ConsumerMember
) -> ConsumerGroupHeartbeatAnswer:
    group = ctx.consumer_group(request.group)
    settings = ctx.consumer_settings(request.group)
    ctx.start(TimerKind.SESSION, request.group, after.id, settings.session_timeout_ms)
    full = (
        request.rebalance_timeout_ms != -1
        and (request.topics is not None or request.regex is not None)
        and request.owned is not None
    )
    had, has = before.current, after.current
    is_sent = request.epoch == 0 or full or not same_assigned(had, has) or had.payload != has.payload
    payload = has.payload if is_sent else log.NO_PAYLOAD
    return ConsumerGroupHeartbeatAnswer(
        member=after.id,
        epoch=after.epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        assignment=after.assigned if is_sent else None,
        should_compute=client_assignment.should_compute(ctx, group, after),
        metadata=payload.metadata,
        assignment_error=payload.error,
    )


def _open_group(
    ctx: EngineContext, group_id: str, *, joins: bool
) -> tuple[ConsumerGroup, tuple[log.Record, ...], ClassicGroup | None]:
    """The group, perhaps a draft; records to be written first; the classic group replaced. Raises RequestRefused."""
    group = ctx.state.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return group, (), None
    if group is None:
        if not joins:
            raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
        return ConsumerGroup(group_id), (), None
    if not joins or not isinstance(group, ClassicGroup):
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
    if group.is_empty():
        return ConsumerGroup(group_id), group.tombstones(), group
    records, draft = upgrade.convert(ctx, group)
    return draft, records, group


def _leave(ctx: EngineContext, request: ConsumerGroupHeartbeat) -> ConsumerGroupHeartbeatAnswer:
    """A heartbeat with epoch -1 or -2. Raises RequestRefused."""
    group = ctx.consumer_group(request.group)
    name, instance = request.member, request.instance
    member = group.member(name) if instance is None else static_member(group, name, instance)
    if request.epoch == STATIC_LEAVE_EPOCH:
        # It keeps its target and partitions until its session expires, and may rejoin under another id.
        epochs = dict.fromkeys(member.current.assigned_epochs, 0)
        current = replace(member.current, epoch=STATIC_LEAVE_EPOCH, revoking={}, assigned_epochs=epochs)
        value = normal_assignment(current)
        ctx.emit(log.CurrentAssignmentRecord(group=group.id, member=member.id, value=value))
        ctx.stop(TimerKind.REBALANCE, group.id, member.id)
    else:
        remove(ctx, group, (member,))
    return ConsumerGroupHeartbeatAnswer(member=request.member, epoch=request.epoch)


def check(request: ConsumerGroupHeartbeat, config: Config) -> None:
    """Validate what does not depend on the group. Raises RequestRefused."""
    if request.version >= 1 or request.epoch > 0 or request.epoch == LEAVE_EPOCH:
        _not_blank(request.member, "MemberId")
    _not_blank(request.group, "GroupId")
    _not_blank(request.instance, "InstanceId")
    _not_blank(request.rack, "RackId")
    if request.epoch == 0:
        if request.rebalance_timeout_ms == -1:
            raise _invalid("RebalanceTimeoutMs must be provided in first request.")
        if request.owned is None or request.owned:
            raise _invalid("TopicPartitions must be empty when (re-)joining.")
        if request.topics is None and request.regex is None:
            what = "Either SubscribedTopicNames or SubscribedTopicRegex"
            raise _invalid(f"{what} must be non-null when (re-)joining.")
    elif request.epoch == STATIC_LEAVE_EPOCH:
        if request.instance is None:
            raise _invalid("InstanceId can't be null.")
    elif request.epoch < STATIC_LEAVE_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    known = config.group_consumer_assignors
    if request.assignor is not None and request.assignor not in known:
        # The broker lists the known assignors in the order of a Java HashMap.
        names = ", ".join(known[index] for index in map_order(string_hashes(known)).indices.tolist())
        message = f"ServerAssignor {request.assignor} is not supported. Supported assignors: {names}."
        raise RequestRefused(ErrorCode.UNSUPPORTED_ASSIGNOR, message)
    if request.client_assignors:
        if not config.group_consumer_client_assignors_enable:
            raise _invalid("ClientAssignors are not enabled (group.consumer.client.assignors.enable).")
        if request.assignor is not None:
            raise _invalid("ServerAssignor and ClientAssignors cannot be used together.")
        for assignor in request.client_assignors or ():
            _not_blank(assignor.name, "Assignor.Name")
            lowest, highest = assignor.minimum_version, assignor.maximum_version
            if lowest < -1 or highest < max(lowest, 0) or not lowest <= assignor.metadata.version <= highest:
                raise _invalid(f"The versions of the assignor {assignor.name} are invalid.")


def _check_epoch(member: ConsumerMember, epoch: int, owned: log.TopicPartitions | None) -> None:
    """Raises FENCED_MEMBER_EPOCH; the previous epoch is accepted with what it was assigned: an answer was lost."""
    if epoch in (0, member.epoch):
        return
    if epoch > member.epoch:
        raise _fenced("greater", epoch, member)
    assigned = member.assigned
    if (
        epoch != member.current.previous_epoch
        or owned is None
        or not owned.keys() <= assigned.keys()
        or any(not set(numbers) <= set(assigned[topic]) for topic, numbers in owned.items())
    ):
        raise _fenced("smaller", epoch, member)


def _not_blank(value: str | None, name: str) -> None:
    if value is not None and not trim(value):
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> RequestRefused:
    return RequestRefused(ErrorCode.INVALID_REQUEST, message)


def _fenced(how: str, epoch: int, member: ConsumerMember) -> RequestRefused:
    return RequestRefused(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {how} member epoch ({epoch}) than the one known by the group coordinator "
        f"({member.epoch}). The member must abandon all its partitions and rejoin.",
    )
