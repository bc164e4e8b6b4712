"""Permissions on topics and groups, according to a cluster's authorizer."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

ANYTHING = "*"
"""The name of a resource pattern that matches every resource (ResourcePattern.WILDCARD_RESOURCE)."""
EVERYBODY = "User:*"
IMPLIES_DESCRIBE = frozenset({"ALL", "DESCRIBE", "READ", "WRITE", "DELETE", "ALTER"})
"""Operations whose ALLOW also allows DESCRIBE (AclAuthorizer, StandardAuthorizerData)."""


class ResourceKind(Enum):
    TOPIC = "TOPIC"
    GROUP = "GROUP"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessEntry:
    kind: ResourceKind
    name: str
    is_prefix: bool
    principal: str
    operation: str
    allows: bool

    def covers(self, kind: ResourceKind, name: str) -> bool:
        if self.kind is not kind:
            return False
        return self.name == ANYTHING or (name.startswith(self.name) if self.is_prefix else name == self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The entries for topics and groups; `problem` is why they could not be read, `is_open`: no authorizer."""

    entries: tuple[AccessEntry, ...] = ()
    is_open: bool = False
    problem: str | None = None

    def readers(self, group: str) -> tuple[str, ...]:
        """Principals with an ALLOW to READ the group, sorted; `User:*` is everyone."""
        of_group = [entry for entry in self.entries if entry.covers(ResourceKind.GROUP, group)]
        readers = (one.principal for one in of_group if one.allows and one.operation in ("READ", "ALL"))
        return tuple(sorted(set(readers)))

    def may_describe(self, principal: str, topic: str) -> bool:
        """Whether the entries give a principal DESCRIBE on a topic: a DENY beats every ALLOW."""
        of_topic = [entry for entry in self.entries if entry.covers(ResourceKind.TOPIC, topic)]
        mine = [entry for entry in of_topic if entry.principal in (principal, EVERYBODY)]
        if any(not entry.allows and entry.operation in ("ALL", "DESCRIBE") for entry in mine):
            return False
        return any(entry.allows and entry.operation in IMPLIES_DESCRIBE for entry in mine)


def undescribable(access: Access, group: str, topics: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each principal that may read the group: the topics that it may not describe, sorted."""
    names = sorted(topics)
    unreadable = {}
    for principal in access.readers(group):
        if missing := tuple(topic for topic in names if not access.may_describe(principal, topic)):
            unreadable[principal] = missing
    return unreadable
