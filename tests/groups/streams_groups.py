"""Classic Streams groups in few words, through the bytes that their members send."""

from collections.abc import Mapping
from uuid import UUID

from groups.model import Client, Group, GroupState, GroupType, Member, Partitions, UserData
from wire.messages.streams_assignor import (
    NO_REBALANCE,
    StreamsAssignment,
    StreamsSubscription,
    TaskId,
    write_streams_assignment,
    write_streams_subscription,
)


def task(name: str) -> TaskId:
    """`0_1`, or `orders__0_1`."""
    topology, _, numbers = name.rpartition("__")
    subtopology, _, partition = numbers.partition("_")
    return TaskId(int(subtopology), int(partition), topology or None)


def thread(
    name: str,
    active: str = "",
    standby: str = "",
    *,
    had: Mapping[str, int] | None = None,
    used: int = 11,
    newest: int | None = 11,
    given: int | None = None,
    error: int = 0,
    next_ms: int = NO_REBALANCE,
    kept: Partitions | None = None,
) -> Member:
    """A thread of process `name[0]`, by the words of its tasks; `given` is the version of its assignment."""
    version = used if given is None else given
    subscription = StreamsSubscription(
        version=used,
        newest_known=newest if used > 2 else None,
        process=UUID(int=ord(name[0])),
        offset_sums={task(word): offsets for word, offsets in (had or {}).items()},
        error=error,
    )
    assignment = StreamsAssignment(
        version=version,
        commonly_known=newest if version > 2 else None,
        active=tuple(map(task, active.split())),
        standby={task(word): () for word in standby.split()},
        next_rebalance_ms=next_ms,
    )
    data = UserData(
        subscription=write_streams_subscription(subscription), assignment=write_streams_assignment(assignment)
    )
    return Member(id=f"{name}-id", client=Client(id=name), owned={}, user_data=data, kept=kept)


def application(*threads: Member) -> Group:
    return Group(
        id="app",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol="stream",
        members=threads,
        offsets={},
    )
