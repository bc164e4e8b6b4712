"""What a rule may look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from coordinator.model import Cluster, Group, Topic
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
    """The topics there are, internal ones included, by name; None when they are not known."""


Rule: TypeAlias = Callable[[Case], Iterable[Finding]]
