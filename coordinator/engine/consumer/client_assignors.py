"""Client-side assignors: the members' lists, and the elected one (KIP-848 "Client Side Assignor"), which every member
has and some member can read for all. Kafka never shipped this. A classic member's user data is its metadata, of
version -1."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from assignors.errors import NoCommonProtocolError
from assignors.rebalance import elect
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.records import ClientAssignor, ClientMetadata, ConsumerMemberValue
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import read_subscription
from wire.messages.reader import DecodeError

CLASSIC_VERSION = -1
"""The metadata version of a classic member's assignor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computation:
    """A computation in progress, and its input, against which the assignment is validated."""

    member: str
    group_epoch: int
    members: frozenset[str]
    partitions: Mapping[UUID, int]  # The partition count of each subscribed topic


@dataclass(slots=True, kw_only=True)
class ClientSide:
    """The computing member of a group. It is not persisted: after a restart a member is asked again."""

    chosen: str | None = None  # The member that is asked to compute
    computation: Computation | None = None
    failed: list[str] = field(default_factory=list)
    """Members that were asked and failed; all are asked again once all have failed."""

    def forget(self, member: str) -> None:
        """The member has left."""
        if member in self.failed:
            self.failed.remove(member)
        if member == self.chosen:
            self.chosen = self.computation = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorChoice:
    """The assignor that all members have, and the members that can run it, in the order of the group."""

    name: str
    offers: Mapping[str, ClientAssignor]  # By member: the assignor, as the member offers it
    capable: tuple[str, ...]  # None if no member can read the metadata of all others


def choose(members: Sequence[ConsumerMember]) -> AssignorChoice | None:
    """The group's assignor by the members' preferences; None: the coordinator's assignors are used."""
    choice = _elect(members)
    return choice if choice is not None and choice.capable else None


def _elect(members: Sequence[ConsumerMember]) -> AssignorChoice | None:
    """The assignor that all members have and prefer, whether or not any of them can run it."""
    if not any(member.metadata.client_assignors for member in members):
        return None
    offers = {member.id: _offers_of(member) for member in members}
    try:
        name = elect([[offer.name for offer in offered] for offered in offers.values()])
    except NoCommonProtocolError:
        return None
    chosen = {who: next(offer for offer in offered if offer.name == name) for who, offered in offers.items()}
    spoken = [offer.metadata.version for offer in chosen.values()]
    capable = tuple(
        member.id
        for member in members
        if member.classic is None
        and chosen[member.id].minimum_version <= min(spoken)
        and max(spoken) <= chosen[member.id].maximum_version
    )
    return AssignorChoice(name=name, offers=chosen, capable=capable)


def without_reason(metadata: ConsumerMemberValue) -> tuple[ClientAssignor, ...]:
    """A member's client-side assignors without their reasons, for comparison: a reason counts once, when sent."""
    return tuple(replace(assignor, reason=0) for assignor in metadata.client_assignors)


def _offers_of(member: ConsumerMember) -> tuple[ClientAssignor, ...]:
    """The assignors of a member of either protocol, preferred first."""
    if member.classic is None:
        return member.metadata.client_assignors
    offers = []
    for name, subscription in member.classic.protocols:
        try:
            data = read_subscription(subscription).user_data or b""
        except DecodeError:
            data = b""
        metadata, only = ClientMetadata(version=CLASSIC_VERSION, data=data), CLASSIC_VERSION
        offers.append(
            ClientAssignor(name=name, minimum_version=only, maximum_version=only, metadata=metadata)
        )
    return tuple(offers)


def check_readable(before: Sequence[ConsumerMember], after: Sequence[ConsumerMember]) -> None:
    """Check that some member can read the metadata of all others. Raises RequestRefused: no longer."""
    old, new = _elect(before), _elect(after)
    if new is None or new.capable or (old is not None and old.name == new.name and not old.capable):
        return
    message = f"The version range of the assignor {new.name} is not supported by the group."
    raise RequestRefused(ErrorCode.UNSUPPORTED_ASSIGNOR, message)


def check_reads_classic(members: Iterable[ConsumerMember], offers: Sequence[ClientAssignor]) -> None:
    """Check that a joining member's assignors can read classic members' metadata. Raises INVALID_REQUEST."""
    classic = [offer for member in members if member.classic is not None for offer in _offers_of(member)]
    said = {offer.name for offer in classic if offer.metadata.data}
    for offer in offers:
        if offer.name in said and offer.minimum_version > CLASSIC_VERSION:
            message = f"The assignor {offer.name} must support version {CLASSIC_VERSION}"
            why = "members of the classic protocol use it."
            raise RequestRefused(ErrorCode.INVALID_REQUEST, f"{message}: {why}")
