"""Groups and topics in few words, for tests of what is computed from them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from groups.model import Group, GroupState, GroupType, Member, MemberProtocol, Subscription, Topic

Owned = Mapping[str, Sequence[int]]


def classic(members: Sequence[Member], protocol: str = "range", **fields: Any) -> Group:
    """A stable classic group at generation 3."""
    return Group(
        id="g",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol=protocol,
        generation=3,
        members=tuple(members),
        **fields,
    )


def member(name: str, owned: Owned | None = None, topics: Sequence[str] = ("t",), **fields: Any) -> Member:
    """A classic member that subscribes to `t` by default."""
    return Member(
        id=name,
        protocol=fields.pop("protocol", MemberProtocol.CLASSIC),
        subscription=fields.pop("subscription", Subscription(topics=tuple(topics))),
        owned={topic: tuple(numbers) for topic, numbers in (owned or {}).items()},
        **fields,
    )


def topics(**counts: int) -> dict[str, Topic]:
    """Topics by name and partition count, with ids that do not change."""
    return {
        name: Topic(name=name, partitions=count, id=UUID(int=1000 + position))
        for position, (name, count) in enumerate(sorted(counts.items()))
    }
