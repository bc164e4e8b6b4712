"""Settings of groups, topics and brokers, and access control lists."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from wire import acls
from wire.acls import Operation
from wire.client.connection import Connection
from wire.client.errors import batches, refused
from wire.client.steps import Deadline, Steps
from wire.errors import Failure, refusal
from wire.messages.schemas.cluster import DESCRIBE_CONFIGS
from wire.messages.schemas.security import DESCRIBE_ACLS


class ResourceType(Enum):
    """The kinds of resources with settings. A broker's settings are known only to that broker."""

    TOPIC = 2
    BROKER = 4
    GROUP = 32


class ConfigSource(Enum):
    """The source of a value, in the numbers of the protocol."""

    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_GROUP_CONFIG = 8


def describe_configs(
    kind: ResourceType, connection: Connection, names: Sequence[str], deadline: Deadline
) -> Steps[dict[str, dict[str, Any] | Failure]]:
    """Ask a broker for all settings of the named resources, by resource and name, as in the response.

    The `value` of an unset or sensitive setting is None.
    """
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


def _configs(result: Any) -> dict[str, Any] | Failure:
    if result.error_code:
        return refusal(result.error_code, result.error_message)
    return {config.name: config for config in result.configs}


_NOT_ASKED_FOR = -(2**31)


def operations_in(bits: int) -> tuple[str, ...] | None:
    """The operations whose numbers are set bits (`authorizedOperations`); None if the broker does not report them."""
    if bits == _NOT_ASKED_FOR:
        return None
    return tuple(one.name for one in Operation if one >= Operation.ALL and bits >> one & 1)


def describe_acls(
    kind: acls.ResourceType, connection: Connection, deadline: Deadline
) -> Steps[tuple[Any, ...]]:
    """Ask a broker for all entries of a kind of resource: resources, and in each its `acls`.

    :raises KafkaError: SECURITY_DISABLED (54) without an authorizer, CLUSTER_AUTHORIZATION_FAILED (31)
    """
    request = {
        "resource_type_filter": kind,
        "resource_name_filter": None,
        "pattern_type_filter": acls.PatternType.ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": Operation.ANY,
        "permission_type": acls.Permission.ANY,
    }
    (response,) = yield from connection.ask(DESCRIBE_ACLS, [request], deadline)
    if response.error_code:
        raise refused(connection.address, DESCRIBE_ACLS.name, response.error_code, response.error_message)
    resources: tuple[Any, ...] = response.resources
    return resources
