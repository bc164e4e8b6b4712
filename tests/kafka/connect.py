"""A group as Kafka Connect's workers make it: a classic group whose protocol type is not consumer."""

from datetime import timedelta
from typing import Any

from kio.schema.errors import ErrorCode

from tests.kafka.broker import Broker
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask

# Without heartbeats the group lives this long (the broker's bound), more than all tests of a broker do.
SESSION_MS = timedelta(minutes=30) // timedelta(milliseconds=1)
OPAQUE = b"\x00\x01"


def join_connect_group(broker: Broker, group: str) -> str:
    """Bring `group` of protocol type `connect` to Stable with one member and return the member's id.

    The member is in the group for half an hour, without a process and without heartbeats. The versions are
    those from before a member had to ask for its id first (KIP-394).
    """
    joined = join_and_wait(broker, group, "connect")
    member = {"member_id": joined.member_id}
    given = [{**member, "assignment": OPAQUE}]
    synced = ask(
        broker.port,
        "SyncGroup",
        2,
        group_id=group,
        generation_id=joined.generation_id,
        **member,
        assignments=given,
    )
    if synced.error_code is not ErrorCode.none:
        raise ConnectionError(f"SyncGroup of {group} was answered {synced.error_code.name}")
    return str(joined.member_id)


def join_and_wait(broker: Broker, group: str, protocol_type: str) -> Any:
    """Join `group`, and leave it waiting for the leader's assignment: CompletingRebalance for half an hour."""
    timeouts = {"session_timeout": SESSION_MS, "rebalance_timeout": SESSION_MS}
    protocols = [{"name": "default", "metadata": OPAQUE}]

    def joined() -> Any:
        # The coordinator may be loading; every other error shows as the time running out.
        answer = ask(
            broker.port,
            "JoinGroup",
            3,
            group_id=group,
            protocol_type=protocol_type,
            protocols=protocols,
            **timeouts,
        )
        return answer if answer.error_code is ErrorCode.none else None

    return wait_until(joined, f"a member joins {group}")
