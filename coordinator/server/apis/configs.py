"""Settings of groups; of topics and the broker there are none to show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from coordinator.engine.config import Config
from coordinator.errors import RequestRefused
from coordinator.server.apis.fields import MALFORMED, Each
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import Exchange
from coordinator.server.topics import TopicRefused, check_name
from wire.errors import ErrorCode
from wire.java_text import parse_number, trim

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32


TYPES = frozenset({TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP})


INT = 3


class ConfigSource(IntEnum):
    """Where a value comes from, as DescribeConfigs says it."""

    STATIC_BROKER = 4
    DEFAULT = 5
    GROUP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSetting:
    """A setting of a group and the broker's setting that counts without it."""

    name: str
    broker_name: str
    documentation: str


def _group_setting(name: str, documentation: str) -> GroupSetting:
    return GroupSetting(name=name, broker_name=f"group.{name}", documentation=documentation)


GROUP_SETTINGS = {
    setting.name: setting
    for setting in (
        _group_setting(
            "consumer.session.timeout.ms",
            "The timeout to detect client failures when using the consumer group protocol.",
        ),
        _group_setting(
            "consumer.heartbeat.interval.ms",
            "The heartbeat interval given to the members of a consumer group.",
        ),
        _group_setting(
            "consumer.assignment.interval.ms", "The interval between assignment updates for a consumer group."
        ),
    )
}


def broker_value(config: Config, setting: GroupSetting) -> str:
    """The broker's own value of a setting."""
    value: Any = getattr(config, setting.broker_name.replace(".", "_"))
    return str(value)


DEFAULTS = Config()


_NUMBER = re.compile(r"[+-]?[0-9]+")


async def describe_configs(exchange: Exchange) -> Mapping[str, Any]:
    """DescribeConfigs v1–v4. Groups have settings; of topics and the broker there are none to show."""
    request = exchange.request
    return {"results": Each(lambda one: _resource(exchange, one), request.resources)}


def _resource(exchange: Exchange, asked: Any) -> Mapping[str, Any]:
    error, message = _refusal(exchange, asked.resource_type, asked.resource_name)
    return {
        "error_code": error,
        "error_message": message,
        "resource_type": asked.resource_type,
        "resource_name": asked.resource_name,
        "configs": ()
        if error or asked.resource_type != GROUP
        else _entries(exchange.cluster, asked, exchange.request),
    }


def _refusal(exchange: Exchange, kind: int, name: str) -> tuple[int, str]:
    """(NONE, "") where there is nothing against it."""
    if kind not in TYPES:
        return ErrorCode.INVALID_REQUEST, MALFORMED
    if kind == GROUP and not name:
        return ErrorCode.INVALID_REQUEST, "Group name must not be empty"
    if kind == TOPIC and name not in exchange.cluster.topics.image.topics:
        return _no_topic(name)
    if kind == BROKER and name not in ("", str(exchange.broker.node_id)):
        return ErrorCode.INVALID_REQUEST, _no_broker(exchange.broker.node_id, name)
    return ErrorCode.NONE, ""


def _no_topic(name: str) -> tuple[int, str]:
    try:
        check_name(name)
    except TopicRefused as error:
        return error.code, str(error)
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""


def _no_broker(node_id: int, name: str) -> str:
    if _NUMBER.fullmatch(name):
        return f"Unexpected broker id, expected {node_id} or empty string, but received {name}"
    return f"Broker id must be an integer, but it is: {name}"


def _entries(cluster: Cluster, asked: Any, request: Any) -> list[Mapping[str, Any]]:
    """Every setting where no names are given."""
    wanted = set(asked.configuration_keys or GROUP_SETTINGS)
    return [
        _entry(cluster, asked.resource_name, one, request)
        for name, one in GROUP_SETTINGS.items()
        if name in wanted
    ]


def _entry(cluster: Cluster, group: str, setting: GroupSetting, request: Any) -> Mapping[str, Any]:
    text = cluster.group_settings.get(group, {}).get(setting.name)
    own = None if text is None else str(parse_number(trim(text)))
    inherited, default = broker_value(cluster.config, setting), broker_value(DEFAULTS, setting)
    source = ConfigSource.DEFAULT if inherited == default else ConfigSource.STATIC_BROKER
    synonyms = [] if own is None else [{"name": setting.name, "value": own, "source": ConfigSource.GROUP}]
    if source is ConfigSource.STATIC_BROKER:
        synonyms.append({"name": setting.broker_name, "value": inherited, "source": source})
    synonyms.append({"name": setting.broker_name, "value": default, "source": ConfigSource.DEFAULT})
    return {
        "name": setting.name,
        "value": inherited if own is None else own,
        "read_only": False,
        "config_source": source if own is None else ConfigSource.GROUP,
        "is_sensitive": False,
        "synonyms": synonyms if request.include_synonyms else (),
        "config_type": INT,
        "documentation": setting.documentation if request.include_documentation else None,
    }


class Operation(IntEnum):
    """What is done to a setting (AlterConfigOp.OpType)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


async def incremental_alter_configs(exchange: Exchange) -> Mapping[str, Any]:
    """IncrementalAlterConfigs v0–v1 (KIP-339), of groups only."""
    request = exchange.request
    named = Counter((one.resource_type, one.resource_name) for one in request.resources)
    return {
        "responses": [
            _altered(
                exchange.cluster, one, request.validate_only, named[one.resource_type, one.resource_name]
            )
            for one in request.resources
        ]
    }


def _altered(cluster: Cluster, asked: Any, dry_run: bool, times: int) -> Mapping[str, Any]:
    error, message = ErrorCode.NONE, None
    try:
        if times > 1:
            raise RequestRefused(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
        _alter(cluster, asked, dry_run)
    except RequestRefused as refused:
        error, message = refused.code, refused.message
    return {
        "error_code": error,
        "error_message": message,
        "resource_type": asked.resource_type,
        "resource_name": asked.resource_name,
    }


def _alter(cluster: Cluster, asked: Any, dry_run: bool) -> None:
    """CoordinatorError: nothing is changed."""
    if asked.resource_type not in TYPES:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Unknown resource type {asked.resource_type}")
    if asked.resource_type != GROUP:
        raise RequestRefused(
            ErrorCode.INVALID_REQUEST, "Only settings of groups (resource type 32) can be changed here."
        )
    if not asked.resource_name:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    names = [one.name for one in asked.configs]
    if len(set(names)) < len(names):
        raise RequestRefused(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    values = dict(cluster.group_settings.get(asked.resource_name, {}))
    for one in asked.configs:
        _apply(values, one.name, _operation(one.config_operation), one.value)
    if dry_run:
        cluster.check_group_settings(asked.resource_name, values)
    else:
        cluster.set_group_settings(asked.resource_name, values)


def _operation(number: int) -> Operation:
    try:
        return Operation(number)
    except ValueError:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Unknown operation type {number}") from None


def _apply(values: dict[str, str], name: str, operation: Operation, value: str | None) -> None:
    if operation is Operation.DELETE:
        values.pop(name, None)
        return
    if value is None:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {name}")
    if operation is not Operation.SET:
        raise RequestRefused(
            ErrorCode.INVALID_CONFIG, f"Can't {operation.name} to key {name} because its type is not LIST."
        )
    values[name] = value
