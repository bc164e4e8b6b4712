"""A group as Kafka Connect's workers make it: a classic group whose protocol type is not consumer."""

from datetime import timedelta

from kio.schema.errors import ErrorCode
from kio.schema.join_group.v3.request import JoinGroupRequest, JoinGroupRequestProtocol
from kio.schema.join_group.v3.response import JoinGroupResponse
from kio.schema.sync_group.v2.request import SyncGroupRequest, SyncGroupRequestAssignment
from kio.schema.sync_group.v2.response import SyncGroupResponse
from kio.schema.types import GroupId
from kio.static.primitive import i32Timedelta

from tests.kafka.broker import Broker
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask

# Nobody sends heartbeats: the group lives this long (the broker's bound), more than all tests of a broker do.
SESSION = i32Timedelta.parse(timedelta(minutes=30))
OPAQUE = b"\x00\x01"


def join_connect_group(broker: Broker, group: str) -> str:
    """Bring `group` of protocol type `connect` to Stable with one member and return the member's id.

    The member is in the group for half an hour, without a process and without heartbeats. The versions are
    those from before a member had to ask for its id first (KIP-394).
    """
    member = join_and_wait(broker, group, "connect")
    synced = ask(
        broker.port,
        SyncGroupRequest(
            group_id=GroupId(group),
            generation_id=member.generation_id,
            member_id=member.member_id,
            assignments=(SyncGroupRequestAssignment(member_id=member.member_id, assignment=OPAQUE),),
        ),
        SyncGroupResponse,
    )
    if synced.error_code is not ErrorCode.none:
        raise ConnectionError(f"SyncGroup of {group} was answered {synced.error_code.name}")
    return member.member_id


def join_and_wait(broker: Broker, group: str, protocol_type: str) -> JoinGroupResponse:
    """Join `group`, and leave it waiting for the leader's assignment: CompletingRebalance for half an hour."""
    request = JoinGroupRequest(
        group_id=GroupId(group),
        session_timeout=SESSION,
        rebalance_timeout=SESSION,
        member_id="",
        protocol_type=protocol_type,
        protocols=(JoinGroupRequestProtocol(name="default", metadata=OPAQUE),),
    )

    def joined() -> JoinGroupResponse | None:
        # The coordinator may be loading; every other error shows as the time running out.
        answer = ask(broker.port, request, JoinGroupResponse)
        return answer if answer.error_code is ErrorCode.none else None

    return wait_until(joined, f"a member joins {group}")
