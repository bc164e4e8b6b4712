"""What a live cluster's authorizer says of topics and groups, through the AdminClient."""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from migration.access import Access, Entry, Kind

_KINDS = {ResourceType.TOPIC: Kind.TOPIC, ResourceType.GROUP: Kind.GROUP}
_EVERY_HOST = "*"


def read_access(admin: AdminClient, timeout_s: float) -> Access:
    """All entries of topics and groups; why they cannot be read where that is so."""
    entries: list[Entry] = []
    for kind in _KINDS:
        anyone: Any = None
        wanted = AclBindingFilter(
            kind, anyone, ResourcePatternType.ANY, anyone, anyone, AclOperation.ANY, AclPermissionType.ANY
        )
        try:
            found = admin.describe_acls(wanted, request_timeout=timeout_s).result()
        except KafkaException as error:
            reason = error.args[0]
            if reason.code() == KafkaError.SECURITY_DISABLED:
                return Access(is_open=True)
            return Access(problem=f"{reason.str()} ({reason.name()})")
        entries += filter(None, map(_entry, found))
    return Access(entries=tuple(entries))


def _entry(binding: AclBinding) -> Entry | None:
    """None for an ALLOW from some hosts only: where the members run is not known."""
    told: Any = binding
    allows = told.permission_type is AclPermissionType.ALLOW
    if allows and told.host != _EVERY_HOST:
        return None
    return Entry(
        kind=_KINDS[told.restype],
        name=told.name,
        is_prefix=told.resource_pattern_type is ResourcePatternType.PREFIXED,
        principal=told.principal,
        operation=told.operation.name,
        allows=allows,
    )
