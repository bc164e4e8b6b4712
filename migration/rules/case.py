"""The input of a rule, and its findings: a finding about many members is reported once."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partialmethod
from typing import TypeAlias, TypeVar

from groups.counts import first_names
from groups.findings import Finding, Level, finding
from groups.model import Cluster, Group, GroupState, GroupType, Topic
from migration.access import Access
from migration.client_config import ClientConfig
from migration.clients import DeclaredClients, MemberClient
from migration.commands import ClusterOptions
from migration.model import Destination, PlannedMember, round_names

DEFAULT_BOUNCE_S = 30.0  # A usual allowance for a container's stop, its start and the join. Measure your own


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What is requested of a plan, and what is declared about the members because a group does not show it."""

    destination: Destination
    declared: DeclaredClients = field(default_factory=DeclaredClients)
    regexes: tuple[str, ...] = ()
    configs: tuple[ClientConfig, ...] = ()
    frameworks: tuple[str, ...] = ()
    assignor: str | None = None  # The assignor of a rollback; None: the likeliest
    offline: bool = False
    """Whether all members stop before any starts on the new protocol, so that nothing is converted online."""
    concurrency: int = 1  # Members that are restarted together, which takes `bounce_s` seconds
    bounce_s: float = DEFAULT_BOUNCE_S
    reverse: bool = False  # Whether members are restarted from the last name to the first; 10 follows 9
    connection: ClusterOptions = field(default_factory=ClusterOptions)
    with_costs: bool = True  # Whether the costs of the steps are computed, which is most of the work
    most_rounds: int | None = None
    """The rounds of each step that costs are computed from; None: as many as take little time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    group: Group
    cluster: Cluster
    request: PlanRequest
    clients: Mapping[str | None, MemberClient]
    """Clients by member id; for a group without members, the client of its next members under None."""
    topics: Mapping[str, Topic] | None = None
    """Topics by name: all if regexes are declared or in use, else those that members want; None if unknown."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The known settings of the group itself (`consumer.session.timeout.ms`)."""
    access: Access | None = None
    """The permissions according to the cluster's authorizer; None if not requested."""

    @property
    def destination(self) -> Destination:
        return self.request.destination

    @property
    def upgrades(self) -> bool:
        return self.destination is Destination.CONSUMER and self.group.type is GroupType.CLASSIC

    @property
    def converts_online(self) -> bool:
        """Whether a broker must convert a classic group with members."""
        return self.upgrades and self.group.state is not GroupState.EMPTY and not self.request.offline

    @property
    def must_convert(self) -> bool:
        """Whether the broker must convert a group with members, to which migration policies apply."""
        if self.group.state is GroupState.EMPTY or self.request.offline:
            return False
        is_back = self.destination is Destination.CLASSIC and self.group.type is GroupType.CONSUMER
        return self.upgrades or is_back

    @property
    def libraries(self) -> frozenset[str]:
        return frozenset(client.library.name for client in self.clients.values() if client.library)

    def setting(self, name: str) -> str | None:
        return None if self.cluster.settings is None else self.cluster.settings.get(name)

    def setting_number(self, name: str) -> int | None:
        text = self.setting(name) or ""
        return int(text) if text.isascii() and text.isdigit() else None

    def setting_list(self, name: str) -> tuple[str, ...] | None:
        text = self.setting(name)
        return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())

    def finding(
        self,
        level: Level,
        rule: str,
        *,
        members: Sequence[str | None] = (),
        message: str,
        remedy: str,
        source: str,
    ) -> Finding:
        """A finding about one member, several (the message names the first), or the group (None, or no member)."""
        ids = tuple(member for member in members if member is not None)
        if len(ids) > 1:
            message = f"{message}{_MEMBERS.format(len(ids))}{named(self, ids)}."
        return finding(level, rule=rule, members=ids, message=message, remedy=remedy, source=source)

    blocker = partialmethod(finding, Level.BLOCKER)
    warning = partialmethod(finding, Level.WARNING)
    info = partialmethod(finding, Level.INFO)


Key = TypeVar("Key", bound=Hashable)

Rule: TypeAlias = Callable[[Case], Iterable[Finding]]


MOST_NAMED = 3  # The most members named in a message; `Finding.members` contains all of them

_MEMBERS = " {} members: "


def without_members(finding: Finding) -> str:
    """The message without the members that it names, if there is no room for them."""
    return finding.message.partition(_MEMBERS.format(len(finding.members)))[0]


def named(case: Case, members: Sequence[str]) -> str:
    """The names of the first few members, as an operator knows them, and the number of the others."""
    names = round_names([PlannedMember.of(member) for member in case.group.members])
    return first_names([names[member] for member in members], MOST_NAMED)


def members_by(case: Case, key: Callable[[MemberClient], Key | None]) -> dict[Key, list[str | None]]:
    """Members by the `key` of their clients, in the case's order; without members whose key is None."""
    members: dict[Key, list[str | None]] = {}
    for member, client in case.clients.items():
        made = key(client)
        if made is not None:
            members.setdefault(made, []).append(member)
    return members
