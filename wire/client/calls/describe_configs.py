"""DescribeConfigs: the settings of groups, topics and brokers."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from wire.client.answers import Failure, refusal
from wire.client.batches import batches
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import DESCRIBE_CONFIGS


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
    connection: Connection, kind: ResourceType, names: Sequence[str], deadline: Deadline
) -> Steps[dict[str, dict[str, ConfigEntry] | Failure]]:
    """Ask a broker for all settings of the named resources, by resource and name."""
    yield from connection.open(deadline)
    version = connection.version(DESCRIBE_CONFIGS)
    schema = DESCRIBE_CONFIGS.request_schema(version)
    extra = {"include_documentation": False} if version >= 3 else {}
    requests = [
        schema.DescribeConfigsRequest(
            resources=tuple(
                schema.DescribeConfigsResource(
                    resource_type=kind.value, resource_name=name, configuration_keys=None
                )
                for name in batch
            ),
            include_synonyms=False,
            **extra,
        )
        for batch in batches(names)
    ]
    responses = yield from connection.exchange(DESCRIBE_CONFIGS, requests, deadline)
    return {result.resource_name: _configs(result) for response in responses for result in response.results}


def _configs(result: Any) -> dict[str, ConfigEntry] | Failure:
    if result.error_code:
        return refusal(result.error_code, result.error_message)
    return {config.name: _entry(config) for config in result.configs}


def _entry(config: Any) -> ConfigEntry:
    known = config.config_source in ConfigSource._value2member_map_
    return ConfigEntry(
        name=config.name,
        value=config.value,
        source=ConfigSource(config.config_source) if known else ConfigSource.UNKNOWN,
        sensitive=config.is_sensitive,
        read_only=config.read_only,
    )
