"""Requests of the classic protocol."""

from __future__ import annotations

from coordinator.engine.classic.heartbeat import Heartbeat
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.groups import Described, DescribeGroups
from coordinator.engine.records import JoinProtocol
from coordinator.server.apis.fields import LazyEntries, group_operations
from coordinator.server.exchange import AnswerFields, Exchange
from wire.errors import ErrorCode
from wire.messages.reader import LONGEST_STRING
from wire.messages.schemas import classic_groups as schemas

UUID_BYTES = len("-") + 36
NULL_PROTOCOL = 7  # the first version in which a refusal has a null protocol name instead of an empty one


async def join_group(exchange: Exchange[schemas.JoinGroupRequest]) -> AnswerFields:
    """JoinGroup v0–v9 (KIP-345 v5, KIP-559 v7, KIP-800 v8, KIP-814 v9)."""
    request = exchange.request
    # A member id is the client id or instance id plus a UUID. Kafka fails to write a longer one to its log, and
    # answers UNKNOWN_SERVER_ERROR; members could not read it.
    name = request.group_instance_id or exchange.caller.client_id
    if not request.member_id and len(name.encode()) + UUID_BYTES > LONGEST_STRING:
        return _joined(JoinGroupAnswer(error=ErrorCode.INVALID_REQUEST), exchange.version)
    session_ms = request.session_timeout_ms
    call = JoinGroup(
        group=request.group_id,
        session_timeout_ms=session_ms,
        # v0 has one timeout for both (JoinGroupRequest.maybeOverrideRebalanceTimeout).
        rebalance_timeout_ms=request.rebalance_timeout_ms if exchange.version >= 1 else session_ms,
        member=request.member_id,
        instance=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocols=tuple(JoinProtocol(protocol.name, protocol.metadata) for protocol in request.protocols),
        may_describe=exchange.may_describe,
        version=exchange.version,
    )
    return _joined(await exchange.ask(call), exchange.version)


def _joined(joined: JoinGroupAnswer, version: int) -> AnswerFields:
    return {
        "error_code": joined.error,
        "generation_id": joined.generation,
        "protocol_type": joined.protocol_type,
        "protocol_name": joined.protocol if version >= NULL_PROTOCOL else joined.protocol or "",
        "leader": joined.leader,
        "skip_assignment": joined.skip_assignment,
        "member_id": joined.member,
        "members": [
            {"member_id": one.member, "group_instance_id": one.instance, "metadata": one.subscription}
            for one in joined.members
        ],
    }


async def sync_group(exchange: Exchange[schemas.SyncGroupRequest]) -> AnswerFields:
    """SyncGroup v0–v5 (KIP-345 v3, KIP-559 v5)."""
    request = exchange.request
    call = SyncGroup(
        group=request.group_id,
        generation=request.generation_id,
        member=request.member_id,
        instance=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol=request.protocol_name,
        assignments=tuple((one.member_id, one.assignment) for one in request.assignments),
        version=exchange.version,
    )
    synced = await exchange.ask(call)
    return {
        "error_code": synced.error,
        "protocol_type": synced.protocol_type,
        "protocol_name": synced.protocol,
        "assignment": synced.assignment,
    }


async def heartbeat(exchange: Exchange[schemas.HeartbeatRequest]) -> AnswerFields:
    """Heartbeat v0–v4 (KIP-345 v3)."""
    request = exchange.request
    call = Heartbeat(
        group=request.group_id,
        generation=request.generation_id,
        member=request.member_id,
        instance=request.group_instance_id,
    )
    answer = await exchange.ask(call)
    return exchange.steadily(call, call.group, answer, {"error_code": answer.error})


SEVERAL = 3


async def leave_group(exchange: Exchange[schemas.LeaveGroupRequest]) -> AnswerFields:
    """LeaveGroup v0–v5: one member before v3, several since (KIP-345); reasons v5 (KIP-800)."""
    request = exchange.request
    members: tuple[tuple[str, str | None], ...] = ((request.member_id, None),)
    if exchange.version >= SEVERAL:
        members = tuple((one.member_id, one.group_instance_id) for one in request.members)
    left = await exchange.ask(LeaveGroup(group=request.group_id, members=members, version=exchange.version))
    keys = ("member_id", "group_instance_id", "error_code")
    shown = LazyEntries(lambda member: dict(zip(keys, member, strict=True)), left.members)
    return {"error_code": left.error, "members": shown}


async def describe_groups(exchange: Exchange[schemas.DescribeGroupsRequest]) -> AnswerFields:
    """DescribeGroups v0–v6: authorized operations v3, instance ids v4, an error for a group that does not exist v6."""
    request = exchange.request
    by_name = await exchange.ask_each(
        request.groups, lambda groups: DescribeGroups(groups=groups, version=exchange.version), str
    )
    return {"groups": LazyEntries(lambda name: _described(exchange, by_name[name]), request.groups)}


def _described(exchange: Exchange[schemas.DescribeGroupsRequest], described: Described) -> AnswerFields:
    group = described.group
    return {
        "error_code": described.error,
        "error_message": described.message,
        "group_id": described.id,
        "group_state": "" if group is None else group.state.value,
        "protocol_type": "" if group is None else group.protocol_type or "",
        "protocol_data": "" if group is None else group.protocol or "",
        "members": [
            {
                "member_id": one.member,
                "group_instance_id": one.instance,
                "client_id": one.client_id,
                "client_host": one.host,
                "member_metadata": one.subscription,
                "member_assignment": one.assignment,
            }
            for one in described.members
        ],
        "authorized_operations": group_operations(exchange, described),
    }
