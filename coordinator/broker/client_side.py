"""Client-side assignors under the consumer protocol: who has which, and which one is used (KIP-848).

Kafka never shipped this half of KIP-848; it is off unless `group.consumer.client.assignors.enable` says so, and lives
in memory: after a restart the members have to name their assignors again.

A client-side assignor is used if every member has it, and if some member can read what all others say to it. A member
of the classic protocol has the assignors of its JoinGroup; what it says there has version -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from assignors.protocols import NoCommonProtocolError, elect
from coordinator.broker.calls import ClientAssignor, ClientMetadata
from coordinator.broker.consumer_member import ConsumerMember

CLASSIC_VERSION = -1
"""The version of metadata that a classic member's assignor wrote (KIP-848 "Client Side Assignor")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computation:
    """What a member computes with: the group as it was when it asked. The assignment is judged by that."""

    member: str
    group_epoch: int
    members: frozenset[str]
    partitions: Mapping[UUID, int]
    """Number of partitions of each subscribed topic."""


@dataclass(slots=True, kw_only=True)
class ClientSide:
    """Of one group. Entries of members that are gone mean nothing."""

    assignors: dict[str, tuple[ClientAssignor, ...]] = field(default_factory=dict)
    metadata: dict[str, ClientMetadata] = field(default_factory=dict)
    """What the assignor had to say to each member with the last assignment."""
    chosen: str | None = None
    """The member that is to compute."""
    computation: Computation | None = None
    failed: list[str] = field(default_factory=list)
    """Members that were chosen and did not manage; each gets another turn when all have failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The assignor that is used, and the members that can run it, in the order of the group."""

    name: str
    offers: Mapping[str, ClientAssignor]
    """Each member's own."""
    able: tuple[str, ...]


def choose(
    members: Sequence[ConsumerMember], assignors: Mapping[str, tuple[ClientAssignor, ...]]
) -> Choice | None:
    """The assignor for the group by the members' preferences; None: the coordinator's own are used."""
    if not any(assignors.get(member.id) for member in members):
        return None
    offers = {member.id: offers_of(member, assignors) for member in members}
    try:
        name = elect([[offer.name for offer in own] for own in offers.values()])
    except NoCommonProtocolError:
        return None
    by_member = {member: next(offer for offer in own if offer.name == name) for member, own in offers.items()}
    spoken = [offer.metadata.version for offer in by_member.values()]
    able = tuple(
        member.id
        for member in members
        if member.classic is None
        and by_member[member.id].minimum_version <= min(spoken)
        and max(spoken) <= by_member[member.id].maximum_version
    )
    return Choice(name=name, offers=by_member, able=able) if able else None


def offers_of(
    member: ConsumerMember, assignors: Mapping[str, tuple[ClientAssignor, ...]]
) -> tuple[ClientAssignor, ...]:
    """The assignors of a member of either protocol, preferred first."""
    if member.classic is None:
        return assignors.get(member.id, ())
    return tuple(
        ClientAssignor(
            name=name,
            minimum_version=CLASSIC_VERSION,
            maximum_version=CLASSIC_VERSION,
            metadata=ClientMetadata(version=CLASSIC_VERSION, data=data),
        )
        for name, data in member.classic.protocols
    )
