"""Classic groups whose members have no process: as Kafka Connect's workers make them, or with any bytes."""

from datetime import timedelta
from typing import Any, Protocol

from kio.schema.errors import ErrorCode

from tests.kafka.wait import wait_until
from tests.kafka.wire import ask
from wire.messages.connect_protocol import CONNECTOR, ConnectAssignment, ConnectTasks, ConnectWorkerState
from wire.messages.embedded_protocol import write_versioned
from wire.messages.schemas.connect import WORKER_ASSIGNMENT, WORKER_STATE

# Without heartbeats the group lives this long (the broker's bound), more than all tests of a broker do.
SESSION_MS = timedelta(minutes=30) // timedelta(milliseconds=1)
OPAQUE = b"\x00\x01"
WORKER = ConnectWorkerState(version=0, url="http://127.0.0.1:8083/", config_offset=1)


class Listening(Protocol):
    """A broker, or something that answers like one."""

    @property
    def port(self) -> int: ...


def join_connect_group(broker: Listening, group: str) -> str:
    """An eager worker that leads, with one connector and its task."""
    joined = join_and_wait(broker, group, "connect", write_worker_state(WORKER))
    work = {"files": (CONNECTOR, 0)}
    head = {"version": 0, "leader": joined.member_id, "leader_url": WORKER.url, "config_offset": 1}
    return _sync(broker, group, joined, write_worker_assignment(ConnectAssignment(**head, assigned=work)))


def join_group(
    broker: Listening,
    group: str,
    protocol_type: str,
    metadata: bytes,
    assignment: bytes,
    name: str = "default",
) -> str:
    """Bring `group` to Stable with one member, whatever its metadata and assignment are, for half an hour without
    heartbeats; returns the member's id. The versions are from before a member had to ask for its id first (KIP-394)."""
    return _sync(broker, group, join_and_wait(broker, group, protocol_type, metadata, name), assignment)


def _sync(broker: Listening, group: str, joined: Any, assignment: bytes) -> str:
    member = {"member_id": joined.member_id}
    assignments = [{**member, "assignment": assignment}]
    synced = ask(
        broker.port,
        "SyncGroup",
        2,
        group_id=group,
        generation_id=joined.generation_id,
        **member,
        assignments=assignments,
    )
    if synced.error_code is not ErrorCode.none:
        raise ConnectionError(f"SyncGroup of {group} was answered {synced.error_code.name}")
    return str(joined.member_id)


def join_and_wait(
    broker: Listening, group: str, protocol_type: str, metadata: bytes = OPAQUE, name: str = "default"
) -> Any:
    """Join `group`, and leave it waiting for the leader's assignment: CompletingRebalance for half an hour."""
    timeouts = {"session_timeout": SESSION_MS, "rebalance_timeout": SESSION_MS}
    protocols = [{"name": name, "metadata": metadata}]

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


def write_worker_state(state: ConnectWorkerState) -> bytes:
    """The bytes of a worker's state; a version above the newest is written as it. Raises ValueError."""
    allocation = state.allocation
    fields: Any = {
        "url": state.url,
        "config_offset": state.config_offset,
        "allocation": None if allocation is None else write_worker_assignment(allocation),
    }
    return write_versioned(WORKER_STATE, state.version, fields)


def write_worker_assignment(assignment: ConnectAssignment) -> bytes:
    """The bytes of an assignment; a version above the newest is written as it. Raises ValueError."""
    fields: Any = {
        "error": assignment.error,
        "leader": assignment.leader,
        "leader_url": assignment.leader_url,
        "config_offset": assignment.config_offset,
        "assignment": _entries(assignment.assigned),
        "revoked": _entries(assignment.revoked),
        "delay": assignment.delay_ms,
    }
    return write_versioned(WORKER_ASSIGNMENT, assignment.version, fields)


def _entries(tasks: ConnectTasks) -> list[dict[str, object]]:
    return [{"connector": connector, "tasks": numbers} for connector, numbers in tasks.items()]
