"""What a rule may look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from groups.model import Cluster, Group, Topic
from migration.access import Access
from migration.client_config import ClientConfig
from migration.clients import MemberClient
from migration.model import Destination, Finding


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
    """What the members are said to subscribe to by regex: a classic group does not show it."""
    configs: tuple[ClientConfig, ...] = ()
    """Configuration files of the members."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The group's settings (`consumer.session.timeout.ms`), as far as they are known."""
    assignor: str | None = None
    """The assignor that was asked for, of a way back."""
    offline: bool = False
    """Whether all members are to stop before any starts on the new protocol: nothing is converted online then."""
    access: Access | None = None
    """What the cluster's authorizer allows; None when it was not asked."""


Rule: TypeAlias = Callable[[Case], Iterable[Finding]]
