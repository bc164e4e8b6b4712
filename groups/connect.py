"""Workers of Kafka Connect, as their embedded protocol shows them (KIP-415). A worker runs what the last rebalance
assigned to it, and, in the incremental versions, what it ran before and was not revoked: `assigned_worker` adds this
up as Connect's WorkerCoordinator does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeAlias

from groups.trees import INT32, INT64, Between, PartitionNumbers
from wire.messages.connect_protocol import CONNECTOR, ConnectAssignment, ConnectTasks, ConnectWorkerState

CONNECT = "connect"  # the protocol type of Connect's groups
Offset: TypeAlias = Annotated[int, Between(-1, INT64)]
_EAGER = 0  # the version of the protocol in which an assignment is complete


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Connectors, sorted, and task numbers, ascending, by connector."""

    connectors: tuple[str, ...] = ()
    tasks: Mapping[str, PartitionNumbers] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectMember:
    """A worker; what its leader sent is None before the first assignment, and in a group that is not Stable."""

    version: Annotated[int, Between(0, 32767)] | None = (
        None  # of the protocol: 0 eager, 1 compatible, 2 sessioned
    )
    url: str | None = None  # the address of its REST API
    config_offset: Offset | None = None  # how far it had read the topic of configurations when it joined
    leader: str | None = None  # the member that leads
    leader_url: str | None = None
    leader_offset: Offset | None = None  # the position in the configurations that the leader assigned from
    error: Annotated[int, Between(-32768, 32767)] | None = (
        None  # 0: none; 1: the leader's configurations are too old
    )
    runs: Work | None = None
    revoked: Work | None = None  # stopped in the last rebalance, to be assigned in the next one
    delay_ms: Annotated[int, Between(-INT32 - 1, INT32)] | None = None
    """How long the leader waited for a lost worker before it reassigns, from the last rebalance on; 0: it does not."""


def assigned_worker(state: ConnectWorkerState | None, assignment: ConnectAssignment | None) -> ConnectMember:
    """A worker of what it sent when it joined, and what its leader sent it; None if that is not known."""
    joined = ConnectMember()
    if state is not None:
        joined = ConnectMember(version=state.version, url=state.url, config_offset=state.config_offset)
    if assignment is None:
        return joined
    before = state.allocation if state is not None else None
    incremental = assignment.version > _EAGER
    kept = _pairs(before.assigned) - _pairs(assignment.revoked) if incremental and before else frozenset()
    return replace(
        joined,
        version=assignment.version,
        leader=assignment.leader,
        leader_url=assignment.leader_url,
        leader_offset=assignment.config_offset,
        error=assignment.error,
        runs=None if incremental and state is None else _work(kept | _pairs(assignment.assigned)),
        revoked=_work(_pairs(assignment.revoked)),
        delay_ms=assignment.delay_ms,
    )


def common_leader(workers: Iterable[ConnectMember | None]) -> str | None:
    """The leader that all workers with an assignment name; None if they differ or none has one."""
    leaders = {worker.leader for worker in workers if worker is not None and worker.leader is not None}
    return leaders.pop() if len(leaders) == 1 else None


def _pairs(tasks: ConnectTasks) -> frozenset[tuple[str, int]]:
    return frozenset((connector, number) for connector, numbers in tasks.items() for number in numbers)


def _work(pairs: Iterable[tuple[str, int]]) -> Work:
    connectors: Sequence[str] = sorted(connector for connector, number in pairs if number == CONNECTOR)
    tasks: dict[str, tuple[int, ...]] = {}
    for connector, number in sorted(pairs):
        if number != CONNECTOR:
            tasks[connector] = (*tasks.get(connector, ()), number)
    return Work(connectors=tuple(connectors), tasks=tasks)
