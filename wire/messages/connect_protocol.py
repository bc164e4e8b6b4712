"""The embedded protocol of Kafka Connect: the state of a worker in JoinGroup, and its assignment in SyncGroup. As in
Java's `ConnectProtocol` and `IncrementalCooperativeConnectProtocol`, a newer version is read as the newest known one
and bytes after the last field are ignored. An eager assignment is all that a worker runs; an incremental one is what
the worker starts and stops in addition to the allocation that it reported (KIP-415)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from wire.messages.embedded_protocol import read_versioned
from wire.messages.schemas import connect as schemas
from wire.messages.schemas.connect import WORKER_ASSIGNMENT, WORKER_STATE

CONNECTOR = -1  # the task number that stands for the connector itself
ConnectTasks: TypeAlias = Mapping[str, tuple[int, ...]]
"""Task numbers by connector, in the order sent; CONNECTOR is one of them if the worker runs the connector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectAssignment:
    """What the leader sends to a worker. `error` is 0, or 1 for a leader that lags behind the workers' configurations.
    From version 1 on: `revoked`, and `delay_ms`, until the leader assigns what a lost worker ran."""

    version: int
    error: int = 0
    leader: str
    leader_url: str
    config_offset: int
    assigned: ConnectTasks = field(default_factory=dict)
    revoked: ConnectTasks = field(default_factory=dict)
    delay_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectWorkerState:
    """What a worker sends when it joins. `allocation` is what it runs, from version 1 on; None: it has none yet."""

    version: int
    url: str
    config_offset: int
    allocation: ConnectAssignment | None = None


def read_worker_state(data: bytes) -> ConnectWorkerState:
    """Read the metadata that a worker sent in JoinGroup. Raises DecodeError: with the field and the byte."""
    version, read = read_versioned(WORKER_STATE, data)
    return ConnectWorkerState(
        version=version,
        url=read.url,
        config_offset=read.config_offset,
        allocation=None if read.allocation is None else read_worker_assignment(read.allocation),
    )


def read_worker_assignment(data: bytes) -> ConnectAssignment:
    """Read the assignment that a leader sent. Raises DecodeError: with the field and the byte."""
    version, read = read_versioned(WORKER_ASSIGNMENT, data)
    return ConnectAssignment(
        version=version,
        error=read.error,
        leader=read.leader,
        leader_url=read.leader_url,
        config_offset=read.config_offset,
        assigned=_by_connector(read.assignment or ()),
        revoked=_by_connector(read.revoked or ()),
        delay_ms=read.delay,
    )


def _by_connector(entries: Iterable[schemas.ConnectAssignmentAssignment]) -> dict[str, tuple[int, ...]]:
    """The tasks by connector; a connector that was sent twice gets the tasks of both entries."""
    tasks: dict[str, tuple[int, ...]] = {}
    for entry in entries:
        tasks[entry.connector] = tasks.get(entry.connector, ()) + entry.tasks
    return tasks
