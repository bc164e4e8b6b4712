"""A case, and how its steps are to be carried out: what every path is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from groups.model import GroupState, GroupType, Member, MemberProtocol
from migration.clients import LIBRARIES
from migration.commands import Connection
from migration.model import PlannedMember, names_of
from migration.paths import configuration
from migration.rules import Case
from migration.rules.assignors import offered_assignors

BRIDGE = "kohort-bridge"
"""Client id of the temporary member that leads a group over (`bridge_leader.py`)."""
EAGER = ("range", "roundrobin", "sticky")
"""Kafka's own eager assignors, as the protocol names them."""
POLICY = "group.consumer.migration.policy"


@dataclass(frozen=True, kw_only=True)
class Trip:
    """Everything that steps are made from."""

    case: Case
    concurrency: int = 1
    """Members in a round."""
    assignor: str | None = None
    """The assignor that was asked for, of the way back; None takes the likeliest."""
    connection: Connection

    @property
    def group(self) -> str:
        return self.case.group.id

    @property
    def is_empty(self) -> bool:
        return self.case.group.state is GroupState.EMPTY or not self.members

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Those that are to be migrated: all but a bridge that stands already."""
        return tuple(member for member in self.case.group.members if member.client.id != BRIDGE)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What the rounds call each member, by id."""
        return names_of(planned_members(self.case))

    @cached_property
    def libraries(self) -> tuple[str, ...]:
        """Names of the libraries that the members run, sorted."""
        return tuple(sorted({one.library.name for one in self.case.clients.values() if one.library}))

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def has_static(self) -> bool:
        return any(member.instance for member in self.members)

    @property
    def has_regex(self) -> bool:
        """Whether members are known to subscribe by a regex; a classic group does not show it."""
        shown = any(member.subscription and member.subscription.regex for member in self.members)
        return shown or bool(self.case.regexes)

    @property
    def has_bridge(self) -> bool:
        return any(member.client.id == BRIDGE for member in self.case.group.members)

    @property
    def policy(self) -> str | None:
        """The brokers' migration policy in lower case; None where it is not known."""
        settings = self.case.cluster.settings
        return settings[POLICY].lower() if settings and POLICY in settings else None

    @property
    def remote_assignor(self) -> str | None:
        """The broker's assignor to ask for; None where the nearest one is not known, or not offered."""
        nearest = configuration.nearest_of_broker(self.old_assignor)
        return nearest if self.offered is None or nearest in self.offered else None

    @property
    def offered(self) -> tuple[str, ...] | None:
        """The brokers' assignors; None where they are not known."""
        return offered_assignors(self.case)

    @property
    def old_assignor(self) -> str | None:
        """The assignor in use; None where nobody uses one, or it is not known."""
        return self.case.group.protocol or None

    @property
    def plain_assignor(self) -> str:
        """The first choice of the first library: KafkaJS has its own round robin only."""
        return LIBRARIES[self.libraries[0]].assignors[0] if self.libraries else "range"

    def all_have(self, assignor: str) -> bool:
        """Whether every library has it; of one that no library has, its owner knows."""
        having = [name for name, library in LIBRARIES.items() if assignor in library.assignors]
        return not having or all(name in having for name in self.libraries)

    def speaking(self, protocol: MemberProtocol) -> tuple[Member, ...]:
        """The members that speak it; in a group of one protocol a member of which it is not known speaks that."""
        mixed = self.case.group.type is GroupType.CONSUMER
        usual = MemberProtocol.CONSUMER if mixed else MemberProtocol.CLASSIC
        return tuple(member for member in self.members if (member.protocol or usual) is protocol)

    def name(self, members: Iterable[Member]) -> tuple[str, ...]:
        """What the rounds call them."""
        return tuple(self.names[member.id] for member in members)


def planned_members(case: Case) -> tuple[PlannedMember, ...]:
    """The members as they are now, in the group's order."""
    return tuple(
        PlannedMember(
            id=member.id,
            instance=member.instance,
            client_id=member.client.id,
            host=member.client.host,
            library=_library(case, member.id),
            partitions=sum(map(len, (member.owned or {}).values())),
        )
        for member in case.group.members
    )


def _library(case: Case, member: str) -> str | None:
    client = case.clients.get(member)
    return client.library.name if client and client.library else None
