"""Groups and observations, in few words."""

from collections.abc import Mapping, Sequence
from typing import Any

from groups.diagnosis.case import Observation
from groups.model import (
    Client,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    PendingOffsets,
    Subscription,
    Topic,
)

START_MS = 1_000_000


def member(name: str, owned: Sequence[int] = (), **more: Any) -> Member:
    """A member of the consumer protocol that owns and is to own these partitions of `orders`."""
    places = {"orders": tuple(owned)} if owned else {}
    facts = {
        "client": Client(id=name, host="/10.0.0.1"),
        "protocol": MemberProtocol.CONSUMER,
        "epoch": 5,
        "owned": places,
        "target": places,
        "subscription": Subscription(topics=("orders",)),
    }
    return Member(id=f"{name}-id", **{**facts, **more})


def classic_member(name: str, owned: Sequence[int] = (), **more: Any) -> Member:
    """A classic member that owns these partitions of `orders`."""
    return member(name, owned, **{"protocol": MemberProtocol.CLASSIC, "target": None, "epoch": None, **more})


def group(*members: Member, **more: Any) -> Group:
    """A consumer group that is Stable in epoch 5."""
    facts = {
        "type": GroupType.CONSUMER,
        "state": GroupState.STABLE,
        "protocol_type": "consumer",
        "protocol": "uniform",
        "group_epoch": 5,
        "assignment_epoch": 5,
        "offsets": {},
        "pending": PendingOffsets(),
    }
    return Group(id="payments", members=members, **{**facts, **more})


def classic_group(*members: Member, **more: Any) -> Group:
    facts = {"type": GroupType.CLASSIC, "protocol": "range", "group_epoch": None, "assignment_epoch": None}
    return group(*members, **{**facts, **more})


def topics(**partitions: int) -> Mapping[str, Topic]:
    """Topics by name, with this many partitions, which are empty."""
    empty = {name: dict.fromkeys(range(count), 0) for name, count in partitions.items()}
    return {
        name: Topic(name=name, partitions=partitions[name], start_offsets=ends, end_offsets=ends)
        for name, ends in empty.items()
    }


def observations(*groups: Group | None, every_ms: int = 5_000, **more: Any) -> list[Observation]:
    """Looks at a group, one after the other."""
    orders = {"topics": topics(orders=6), "topic_names": frozenset({"orders"}), "transactions": {}}
    facts: dict[str, Any] = orders | more
    return [
        Observation(at_ms=START_MS + at * every_ms, group=state, **facts) for at, state in enumerate(groups)
    ]
