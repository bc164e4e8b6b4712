"""Client-side assignors under the consumer protocol: who has which, and which one is used (KIP-848).

Kafka never shipped this half of KIP-848; it is off unless `group.consumer.client.assignors.enable` says so, and lives
in memory: after a restart the members have to name their assignors again.

A client-side assignor is used if every member has it, and if some member can read what all others say to it. A member
of the classic protocol has the assignors of its JoinGroup; the user data of its subscription are what it says to them,
the user data of its assignment what they say to it, and both have version -1: the coordinator translates neither.

Source: KIP-848 "Client Side Mode", "Client Side Assignor".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from assignors.errors import NoCommonProtocolError
from assignors.rebalance import elect
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import read_subscription
from wire.messages.reader import DecodeError


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMetadata:
    """Bytes that client-side assignors tell each other; -1 is the version of what a classic member's assignor said."""

    version: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAssignor:
    """A client-side assignor that a member has (KIP-848), and the versions of metadata that it can read."""

    name: str
    minimum_version: int = 0
    maximum_version: int = 0
    reason: int = 0
    metadata: ClientMetadata = ClientMetadata()


CLASSIC_VERSION = -1
"""The version of metadata of a classic member's assignor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What an assignor has to say to a member beside its partitions."""

    error: int = 0
    """Why there is no assignment, in the assignor's own numbers; 0: there is one."""
    metadata: ClientMetadata | None = None


NO_PAYLOAD = Payload()
"""Of the coordinator's own assignors."""


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
    """Of one group; everything by member id."""

    assignors: dict[str, tuple[ClientAssignor, ...]] = field(default_factory=dict)
    words: dict[str, Payload] = field(default_factory=dict)
    """What the target assignment came with."""
    heard: dict[str, Payload] = field(default_factory=dict)
    """What came with the target that each member has reached."""
    chosen: str | None = None
    """The member that is to compute."""
    computation: Computation | None = None
    failed: list[str] = field(default_factory=list)
    """Members that were chosen and did not manage; each gets another turn when all have failed."""

    def reach_target(self, member: str) -> bool:
        """The member has come to the target's epoch, and hears what came with it. Whether that is something new."""
        word = self.words.get(member, NO_PAYLOAD)
        if word == self.word_for(member):
            return False
        self.heard[member] = word
        return True

    def word_for(self, member: str) -> Payload:
        """What a member has heard last."""
        return self.heard.get(member, NO_PAYLOAD)

    def forget(self, member: str) -> None:
        """The member is gone."""
        for by_member in (self.assignors, self.words, self.heard):
            by_member.pop(member, None)
        if member in self.failed:
            self.failed.remove(member)
        if member == self.chosen:
            self.chosen = self.computation = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorChoice:
    """The assignor that is used, and the members that can run it, in the order of the group."""

    name: str
    offers: Mapping[str, ClientAssignor]
    """Each member's own."""
    able: tuple[str, ...]


def choose(
    members: Sequence[ConsumerMember], assignors: Mapping[str, tuple[ClientAssignor, ...]]
) -> AssignorChoice | None:
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
    return AssignorChoice(name=name, offers=by_member, able=able) if able else None


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
            metadata=ClientMetadata(version=CLASSIC_VERSION, data=_user_data(subscription)),
        )
        for name, subscription in member.classic.protocols
    )


def check_reads_classic(members: Iterable[ConsumerMember], offers: Sequence[ClientAssignor]) -> None:
    """Whether a joining member's assignors can read what classic members say to them. Raises INVALID_REQUEST."""
    said = {
        offer.name
        for member in members
        if member.classic is not None
        for offer in offers_of(member, {})
        if offer.metadata.data
    }
    for offer in offers:
        if offer.name in said and offer.minimum_version > CLASSIC_VERSION:
            raise RequestRefused(
                ErrorCode.INVALID_REQUEST,
                f"The assignor {offer.name} must support version {CLASSIC_VERSION}: members of the classic protocol "
                "use it.",
            )


def _user_data(subscription: bytes) -> bytes:
    try:
        return read_subscription(subscription).user_data or b""
    except DecodeError:
        return b""
