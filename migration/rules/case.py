"""The input of a rule, and how it reports its findings: one that is true of many members is reported once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partialmethod
from typing import TypeAlias, TypeVar

from groups.findings import Finding, Level
from groups.model import Cluster, Group, GroupState, GroupType, Topic
from migration.access import Access
from migration.client_config import ClientConfig
from migration.clients import MemberClient
from migration.model import Destination, PlannedMember, list_names, round_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A group, the cluster it lives on, and where it is to go."""

    group: Group
    cluster: Cluster
    destination: Destination
    clients: Mapping[str | None, MemberClient]
    """By member id; of a group without members, under None, what its next members will run."""
    topics: Mapping[str, Topic] | None = None
    """Topics by name, internal ones included: all there are where `regexes` or a member's regex may want any, else
    those that the members want; None when they are not known.
    """
    regexes: tuple[str, ...] = ()
    """The declared regexes of the members: a classic group does not show them."""
    configs: tuple[ClientConfig, ...] = ()
    """Configuration files of the members."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The group's settings (`consumer.session.timeout.ms`), as far as they are known."""
    assignor: str | None = None
    """The requested assignor, of a rollback."""
    frameworks: tuple[str, ...] = ()
    """Names of what the members are built with (`migration.frameworks`): no group shows it."""
    offline: bool = False
    """Whether all members are to stop before any starts on the new protocol: nothing is converted online then."""
    access: Access | None = None
    """The permissions according to the cluster's authorizer; None when not requested."""

    @property
    def upgrades(self) -> bool:
        """Whether a classic group is to go to the consumer protocol."""
        return self.destination is Destination.CONSUMER and self.group.type is GroupType.CLASSIC

    @property
    def converts_online(self) -> bool:
        """Whether a broker would have to convert a classic group with members."""
        return self.upgrades and self.group.state is not GroupState.EMPTY and not self.offline

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
        return Finding(
            rule=rule,
            level=level,
            member=ids[0] if len(ids) == 1 else None,
            members=ids if len(ids) > 1 else (),
            message=message,
            remedy=remedy,
            source=source,
        )

    blocker = partialmethod(finding, Level.BLOCKER)
    """A finding that keeps the plan from being carried out."""
    warning = partialmethod(finding, Level.WARNING)
    """A finding that the operator has to weigh."""
    info = partialmethod(finding, Level.INFO)
    """A finding that is good to know."""


Key = TypeVar("Key", bound=Hashable)

Rule: TypeAlias = Callable[[Case], Iterable[Finding]]


MOST_NAMED = 3
"""Members named in a message; a program finds all of them in `members`."""

_MEMBERS = " {} members: "


def without_members(finding: Finding) -> str:
    """The message without the members that it names, for where there is no room."""
    return finding.message.partition(_MEMBERS.format(len(finding.members)))[0]


def named(case: Case, members: Sequence[str]) -> str:
    """The first few members, as an operator knows them, and how many more there are."""
    names = round_names([PlannedMember.of(member) for member in case.group.members])
    return list_names([names[member] for member in members], MOST_NAMED)


def members_by(case: Case, key: Callable[[MemberClient], Key | None]) -> dict[Key, list[str | None]]:
    """Members by what `key` makes of their clients, in the case's order; without those of which it makes None."""
    found: dict[Key, list[str | None]] = {}
    for member, client in case.clients.items():
        made = key(client)
        if made is not None:
            found.setdefault(made, []).append(member)
    return found
