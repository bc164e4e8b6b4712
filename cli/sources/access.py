"""The ACLs of a live cluster's authorizer for topics and groups.

Read over the wire client: confluent-kafka's AdminClient 2.16.1 ignores the error of the response, so that a cluster
without an authorizer, one that refuses the request, and one without entries look the same.
"""

from __future__ import annotations

from typing import Any

from migration.access import Access, AccessEntry, ResourceKind
from wire.acls import WILDCARD, Operation, PatternType, Permission, ResourceType
from wire.client.cluster import KafkaClient
from wire.client.errors import KafkaError, WireError
from wire.client.settings import describe_acls
from wire.errors import ErrorCode

_KINDS = {ResourceType.TOPIC: ResourceKind.TOPIC, ResourceType.GROUP: ResourceKind.GROUP}
_NAMES = {operation.value: operation.name for operation in Operation}


def read_access(client: KafkaClient) -> Access:
    """All entries for topics and groups, or why they cannot be read."""
    entries: list[AccessEntry] = []
    for asked, kind in _KINDS.items():
        try:
            resources = describe_acls(client, asked)
        except KafkaError as error:
            if error.code == ErrorCode.SECURITY_DISABLED:
                return Access(is_open=True)
            return Access(problem=str(error))
        except WireError as error:
            return Access(problem=str(error))
        entries += [
            _entry(kind, resource, acl)
            for resource in resources
            for acl in resource.acls
            if _is_certain(resource, acl)
        ]
    return Access(entries=tuple(entries))


def _is_certain(resource: Any, acl: Any) -> bool:
    """Whether an entry counts: hosts of members are unknown, so an ALLOW for certain hosts does not, a DENY does."""
    is_known = resource.pattern_type in (PatternType.LITERAL, PatternType.PREFIXED)
    return acl.permission_type != Permission.ALLOW or (acl.host == WILDCARD and is_known)


def _entry(kind: ResourceKind, resource: Any, acl: Any) -> AccessEntry:
    return AccessEntry(
        kind=kind,
        name=resource.resource_name,
        is_prefix=resource.pattern_type == PatternType.PREFIXED,
        principal=acl.principal,
        operation=_NAMES.get(acl.operation, "UNKNOWN"),
        allows=acl.permission_type == Permission.ALLOW,
    )
