"""DescribeAcls: the access control entries of a kind of resource."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from wire.client.answers import error_name
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.errors import KafkaError
from wire.client.steps import Steps
from wire.messages.apis import DESCRIBE_ACLS

_ANY = 1
"""Any pattern type, operation or permission."""


class AclResource(Enum):
    """What entries are about, in the numbers of the protocol (ResourceType)."""

    TOPIC = 2
    GROUP = 3


class AclPattern(Enum):
    """How the name of an entry is meant (PatternType); UNKNOWN for one newer than this list."""

    UNKNOWN = 0
    LITERAL = 3
    PREFIXED = 4


_OPERATIONS = {
    2: "ALL", 3: "READ", 4: "WRITE", 5: "CREATE", 6: "DELETE", 7: "ALTER", 8: "DESCRIBE", 9: "CLUSTER_ACTION",
    10: "DESCRIBE_CONFIGS", 11: "ALTER_CONFIGS", 12: "IDEMPOTENT_WRITE", 13: "CREATE_TOKENS", 14: "DESCRIBE_TOKENS",
    15: "TWO_PHASE_COMMIT",
}  # fmt: skip
"""Names by the numbers of AclOperation."""
_ALLOW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AclEntry:
    """An entry. `operation` is UNKNOWN for one newer than this client."""

    resource_name: str
    pattern: AclPattern
    principal: str
    host: str
    operation: str
    allows: bool


def describe_acls(
    connection: Connection, kind: AclResource, deadline: Deadline
) -> Steps[tuple[AclEntry, ...]]:
    """Ask a broker for all entries of a kind of resource.

    :raises KafkaError: SECURITY_DISABLED (54) without an authorizer, CLUSTER_AUTHORIZATION_FAILED (31)
    """
    yield from connection.open(deadline)
    version = connection.version(DESCRIBE_ACLS)
    request = DESCRIBE_ACLS.request_type(version)(
        resource_type_filter=kind.value,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )
    (response,) = yield from connection.exchange(DESCRIBE_ACLS, [request], deadline)
    if response.error_code:
        name = error_name(response.error_code)
        raise KafkaError(
            str(connection.address),
            int(response.error_code),
            name,
            f"{response.error_message or 'the request was refused'} ({name})",
        )
    return tuple(_entry(resource, acl) for resource in response.resources for acl in resource.acls)


def _entry(resource: Any, acl: Any) -> AclEntry:
    known = resource.pattern_type in AclPattern._value2member_map_
    return AclEntry(
        resource_name=resource.resource_name,
        pattern=AclPattern(resource.pattern_type) if known else AclPattern.UNKNOWN,
        principal=acl.principal,
        host=acl.host,
        operation=_OPERATIONS.get(acl.operation, "UNKNOWN"),
        allows=acl.permission_type == _ALLOW,
    )
