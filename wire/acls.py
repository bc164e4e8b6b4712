"""Access control entries, and what has settings, in Kafka's terms: numbers are those on the wire."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

WILDCARD = "*"  # any host; as the name of a LITERAL pattern, any resource
CLUSTER_NAME = "kafka-cluster"  # the only name that a resource of type CLUSTER has


class _Known(IntEnum):
    """Enumerated numbers; an unknown one is UNKNOWN, 0."""

    @classmethod
    def _missing_(cls, _: object) -> "_Known":
        return cls(0)


class ResourceType(_Known):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class ConfigResourceType(IntEnum):
    """The kinds of resources with settings. A broker's settings are known only to that broker."""

    TOPIC = 2
    BROKER = 4
    GROUP = 32


class ConfigSource(IntEnum):
    """The source of a value, in the numbers of DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    GROUP = 8


class PatternType(_Known):
    """How an entry's name is compared with a resource's. ANY and MATCH are for filters."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(_Known):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(_Known):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


_OPERATIONS = {
    ResourceType.TOPIC: "READ WRITE CREATE DELETE ALTER DESCRIBE DESCRIBE_CONFIGS ALTER_CONFIGS",
    ResourceType.GROUP: "READ DELETE DESCRIBE DESCRIBE_CONFIGS ALTER_CONFIGS",
    ResourceType.CLUSTER: "CREATE ALTER DESCRIBE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE",
    ResourceType.TRANSACTIONAL_ID: "WRITE DESCRIBE TWO_PHASE_COMMIT",
    ResourceType.DELEGATION_TOKEN: "DESCRIBE",
    ResourceType.USER: "CREATE_TOKENS DESCRIBE_TOKENS",
}
OPERATIONS = {kind: tuple(Operation[name] for name in names.split()) for kind, names in _OPERATIONS.items()}
"""The operations of each type of resource (AclEntry.supportedOperations)."""


def operation_bits(operations: Iterable[Operation]) -> int:
    """A field of authorized operations: bit n for operation n."""
    return sum(1 << operation for operation in operations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """One entry. `host` is an address as `InetAddress.getHostAddress` shows it, or `*`."""

    resource_type: ResourceType
    name: str
    pattern: PatternType = PatternType.LITERAL
    principal: str
    host: str = WILDCARD
    operation: Operation
    permission: Permission = Permission.ALLOW


@dataclass(frozen=True, slots=True, kw_only=True)
class AclFilter:
    """A selection of entries (AclBindingFilter); None and ANY match everything."""

    resource_type: ResourceType = ResourceType.ANY
    name: str | None = None
    pattern: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY

    def matches(self, acl: Acl) -> bool:
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self._names(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _names(self, acl: Acl) -> bool:
        """Whether the patterns fit; MATCH selects those that match a resource of the name (ResourcePatternFilter)."""
        if self.pattern not in (PatternType.ANY, PatternType.MATCH, acl.pattern):
            return False
        if self.name is None:
            return True
        if self.pattern is not PatternType.MATCH:
            return self.name == acl.name
        if acl.pattern is PatternType.LITERAL:
            return acl.name in (self.name, WILDCARD)
        return self.name.startswith(acl.name)
