"""Settings of groups, topics and brokers, and access control lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from wire.client.answers import Failure, batches, refusal, refused
from wire.client.connection import Connection
from wire.client.steps import Deadline, Steps
from wire.messages.schemas.cluster import DESCRIBE_CONFIGS
from wire.messages.schemas.security import DESCRIBE_ACLS


class ResourceType(Enum):
    """What has settings. A broker's are only known to itself."""

    TOPIC = 2
    BROKER = 4
    GROUP = 32


class ConfigSource(Enum):
    """Where a value comes from, in the numbers of the protocol; UNKNOWN for one newer than this list."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """One setting. `value` is None when it is unset or sensitive."""

    name: str
    value: str | None
    source: ConfigSource
    sensitive: bool
    read_only: bool


def describe_configs(
    kind: ResourceType, connection: Connection, names: Sequence[str], deadline: Deadline
) -> Steps[dict[str, dict[str, ConfigEntry] | Failure]]:
    """Ask a broker for all settings of the named resources, by resource and name."""
    requests = [
        {
            "resources": [
                {"resource_type": kind.value, "resource_name": name, "configuration_keys": None}
                for name in batch
            ]
        }
        for batch in batches(names)
    ]
    responses = yield from connection.ask(DESCRIBE_CONFIGS, requests, deadline)
    return {result.resource_name: _configs(result) for response in responses for result in response.results}


def _configs(result: Any) -> dict[str, ConfigEntry] | Failure:
    if result.error_code:
        return refusal(result.error_code, result.error_message)
    return {config.name: _config(config) for config in result.configs}


def _config(config: Any) -> ConfigEntry:
    known = config.config_source in ConfigSource._value2member_map_
    return ConfigEntry(
        name=config.name,
        value=config.value,
        source=ConfigSource(config.config_source) if known else ConfigSource.UNKNOWN,
        sensitive=config.is_sensitive,
        read_only=config.read_only,
    )


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


_ANY = 1
"""Any pattern type, operation or permission."""


def describe_acls(
    kind: AclResource, connection: Connection, deadline: Deadline
) -> Steps[tuple[AclEntry, ...]]:
    """Ask a broker for all entries of a kind of resource.

    :raises KafkaError: SECURITY_DISABLED (54) without an authorizer, CLUSTER_AUTHORIZATION_FAILED (31)
    """
    request = {
        "resource_type_filter": kind.value,
        "resource_name_filter": None,
        "pattern_type_filter": _ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": _ANY,
        "permission_type": _ANY,
    }
    (response,) = yield from connection.ask(DESCRIBE_ACLS, [request], deadline)
    if response.error_code:
        raise refused(connection.address, DESCRIBE_ACLS.name, response.error_code, response.error_message)
    return tuple(_acl(resource, acl) for resource in response.resources for acl in resource.acls)


def _acl(resource: Any, acl: Any) -> AclEntry:
    known = resource.pattern_type in AclPattern._value2member_map_
    return AclEntry(
        resource_name=resource.resource_name,
        pattern=AclPattern(resource.pattern_type) if known else AclPattern.UNKNOWN,
        principal=acl.principal,
        host=acl.host,
        operation=_OPERATIONS.get(acl.operation, "UNKNOWN"),
        allows=acl.permission_type == _ALLOW,
    )
