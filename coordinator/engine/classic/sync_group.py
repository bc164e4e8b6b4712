"""SyncGroup."""

import logging

from coordinator.configs.settings import Config
from coordinator.engine.calls import Call, Request
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import CONSUMER_PROTOCOL, ClassicGroup
from coordinator.engine.classic.heartbeat import classic_member, expect_join
from coordinator.engine.classic.rebalance import SyncGroupAnswer
from coordinator.engine.context import EngineContext, check_group_id
from coordinator.engine.downgrade import encode_assignment
from coordinator.engine.records import ClassicGroupRecord, MemberState
from coordinator.engine.static_members import check_classic_member
from coordinator.engine.timers import TimerKind
from coordinator.errors import CannotBeWritten, RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode
from wire.values import dataclass

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroup(Request[SyncGroupAnswer]):
    """SyncGroup v0–v5; protocol type and name are null below v5."""

    group: str
    generation: int
    member: str
    instance: str | None
    protocol_type: str | None
    protocol: str | None
    assignments: tuple[tuple[str, bytes], ...]
    version: int = 5

    def refused(self, error: RequestRefused) -> SyncGroupAnswer:
        return SyncGroupAnswer(error=error.code)


def check(request: SyncGroup, _config: Config) -> None:
    """Raises RequestRefused."""
    if request.version >= 5 and (request.protocol_type is None or request.protocol is None):
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    check_group_id(request)


def handle(ctx: EngineContext, call: Call, request: SyncGroup) -> None:
    group = ctx.group_of_member(request.group)
    if group.is_empty():
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID)
    if isinstance(group, ClassicGroup):
        _sync_classic_group(ctx, call, request, group)
    else:
        member, classic = classic_member(group, request.member, request.instance, request.generation)
        first, subscription = classic.protocols[0]
        _check_protocol(request, CONSUMER_PROTOCOL, first)
        unrevoked = member.current.state is MemberState.UNREVOKED_PARTITIONS
        if group.assignment_epoch > member.epoch and not unrevoked:
            expect_join(ctx, group, member)
            raise RequestRefused(ErrorCode.REBALANCE_IN_PROGRESS)
        ctx.stop(TimerKind.SYNC, group.id, member.id)
        ctx.start(TimerKind.SESSION, group.id, member.id, classic.session_timeout_ms)
        assignment = encode_assignment(ctx.topics, member.assigned, subscription, member.current.payload)
        kind, protocol = request.protocol_type, request.protocol
        ctx.answer(call.ticket, SyncGroupAnswer(protocol_type=kind, protocol=protocol, assignment=assignment))


def _sync_classic_group(ctx: EngineContext, call: Call, request: SyncGroup, group: ClassicGroup) -> None:
    """Store and distribute the leader's assignments; a follower waits for them."""
    _validate(request, group)
    if group.state is GroupState.PREPARING_REBALANCE:
        raise RequestRefused(ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_sync.discard(request.member)
    if not group.pending_sync:
        ctx.stop(TimerKind.SYNC, group.id)
    if group.state is GroupState.STABLE:
        ctx.answer(call.ticket, rebalance.assigned(group, group.members[request.member]))
        return
    rebalance.park_sync(ctx, group, request.member, call.ticket)
    if request.member == group.leader:
        value = group.value(dict(request.assignments), group.state_since_ms)
        try:
            ctx.emit(ClassicGroupRecord(group=group.id, value=value))
        except CannotBeWritten as error:
            _log.warning("Group %.80r must rebalance: %s", group.id, error)
            rebalance.answer_syncs(ctx, group, ErrorCode.UNKNOWN_SERVER_ERROR)
            rebalance.prepare(ctx, group)
        else:
            rebalance.answer_syncs(ctx, group)


def _validate(request: SyncGroup, group: ClassicGroup) -> None:
    check_classic_member(group, request.member, request.instance)
    if request.generation != group.generation:
        raise RequestRefused(ErrorCode.ILLEGAL_GENERATION)
    _check_protocol(request, group.protocol_type or None, group.protocol)


def _check_protocol(request: SyncGroup, protocol_type: str | None, protocol: str | None) -> None:
    """None is not compared."""
    for asked, actual in ((request.protocol_type, protocol_type), (request.protocol, protocol)):
        if asked is not None and actual is not None and asked != actual:
            raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
