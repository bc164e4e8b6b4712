"""IncrementalAlterConfigs and AlterConfigs: change the configs of topics, groups and the broker."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, TypeAlias

from coordinator.configs.brokers import ALL
from coordinator.configs.definitions import BROKER, GROUP, TOPIC, Definition, Type
from coordinator.errors import InvalidSetting, RequestRefused
from coordinator.server.apis.configs import OF_BROKER, OF_GROUP, OF_TOPIC, TYPES
from coordinator.server.exchange import Exchange
from coordinator.server.topics import TopicRefused, check_name
from wire.errors import ErrorCode

TWICE = "Each resource must appear at most once."
_NUMBER = re.compile(r"[+-]?[0-9]+")


class Operation(IntEnum):
    """The operation on a config (AlterConfigOp.OpType)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


Changed: TypeAlias = Callable[[Mapping[str, str], Mapping[str, Definition], Any], dict[str, str]]
"""Computes the new configs from the current ones, the known definitions and the request's entry for the resource."""


async def incremental_alter_configs(exchange: Exchange) -> Mapping[str, Any]:
    """IncrementalAlterConfigs v0–v1 (KIP-339): changes single configs; the others stay."""
    return await _alter_all(exchange, _incremental)


async def alter_configs(exchange: Exchange) -> Mapping[str, Any]:
    """AlterConfigs v0–v2: replaces all configs that are set."""
    return await _alter_all(exchange, _replaced)


async def _alter_all(exchange: Exchange, changed: Changed) -> Mapping[str, Any]:
    request = exchange.request
    named = Counter((one.resource_type, one.resource_name) for one in request.resources)
    async with exchange.cluster.topics.changing:
        return {
            "responses": [
                _altered(exchange, one, changed, named[one.resource_type, one.resource_name])
                for one in request.resources
            ]
        }


def _altered(exchange: Exchange, requested: Any, changed: Changed, times: int) -> Mapping[str, Any]:
    error, message = ErrorCode.NONE, None
    try:
        if times > 1:
            raise RequestRefused(ErrorCode.INVALID_REQUEST, TWICE)
        _alter(exchange, requested, changed)
    except RequestRefused as refused:
        error, message = refused.code, refused.message
    return {
        "error_code": error,
        "error_message": message,
        "resource_type": requested.resource_type,
        "resource_name": requested.resource_name,
    }


def _alter(exchange: Exchange, requested: Any, changed: Changed) -> None:
    """:raises RequestRefused: nothing has changed"""
    kind, name = requested.resource_type, requested.resource_name
    names = [one.name for one in requested.configs]
    if kind not in TYPES:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")
    if len(set(names)) < len(names):
        raise RequestRefused(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    if kind == OF_TOPIC:
        _alter_topic(exchange, name, requested, changed)
    elif kind == OF_GROUP:
        _alter_group(exchange, name, requested, changed)
    elif kind == OF_BROKER:
        _alter_broker(exchange, name, requested, changed)
    else:
        raise RequestRefused(
            ErrorCode.INVALID_REQUEST, "Only settings of topics, groups and brokers can be changed here."
        )


def _alter_topic(exchange: Exchange, topic: str, requested: Any, changed: Changed) -> None:
    configs = exchange.cluster.configs
    if not topic:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    try:
        check_name(topic)
    except TopicRefused as error:
        raise RequestRefused(ErrorCode(error.code), error.message) from None
    if topic not in exchange.cluster.topics.image.topics:
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{topic}' does not exist.")
    values = changed(configs.topics.own.get(topic, {}), TOPIC, requested)
    try:
        configs.topics.check(values)
    except InvalidSetting as error:
        raise RequestRefused(ErrorCode.INVALID_CONFIG, str(error)) from None
    if not exchange.request.validate_only:
        configs.set_topic(topic, values)


def _alter_group(exchange: Exchange, group: str, requested: Any, changed: Changed) -> None:
    if not group:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    values = changed(exchange.cluster.group_settings.get(group, {}), GROUP, requested)
    if exchange.request.validate_only:
        exchange.cluster.check_group_settings(group, values)
    else:
        exchange.cluster.set_group_settings(group, values)


def _alter_broker(exchange: Exchange, name: str, requested: Any, changed: Changed) -> None:
    """Like a broker, it accepts unknown configs too: a plug-in may read them."""
    node_id, configs = exchange.broker.node_id, exchange.cluster.configs
    if name != ALL and not _NUMBER.fullmatch(name):
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if name not in (ALL, str(node_id)):
        raise RequestRefused(
            ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {node_id}, but received {name}"
        )
    fixed = [one.name for one in requested.configs if one.name in BROKER and BROKER[one.name].read_only]
    if fixed:
        raise RequestRefused(
            ErrorCode.INVALID_REQUEST, f"Cannot update these configs dynamically: [{', '.join(fixed)}]"
        )
    values = changed(configs.brokers.dynamic.get(name, {}), BROKER, requested)
    try:
        for setting, text in values.items():
            if setting in BROKER:
                BROKER[setting].parse(text)
        exchange.cluster.set_broker_settings(name, values, dry_run=exchange.request.validate_only)
    except InvalidSetting as error:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, str(error)) from None


def _replaced(_: Mapping[str, str], __: Mapping[str, Definition], requested: Any) -> dict[str, str]:
    return {one.name: _given(one) for one in requested.configs}


def _incremental(
    before: Mapping[str, str], known: Mapping[str, Definition], requested: Any
) -> dict[str, str]:
    values = dict(before)
    for one in requested.configs:
        operation = _operation(one.config_operation)
        if operation is Operation.DELETE:
            values.pop(one.name, None)
        elif operation is Operation.SET:
            values[one.name] = _given(one)
        else:
            values[one.name] = _relisted(values, known.get(one.name), one, operation)
    return values


def _relisted(
    values: Mapping[str, str], definition: Definition | None, one: Any, operation: Operation
) -> str:
    """The list with items added or removed; an unset list starts from Kafka's default, not the broker's value."""
    items = _given(one).split(",")
    if definition is None or definition.type is not Type.LIST:
        raise RequestRefused(
            ErrorCode.INVALID_CONFIG,
            f"Can't {operation.name} to key {one.name} because its type is not LIST.",
        )
    text = values.get(one.name, definition.default or "")
    old = [item.strip() for item in text.split(",")] if text else []
    if operation is Operation.APPEND:
        return ",".join((*old, *(item for item in items if item not in old)))
    return ",".join(item for item in old if item not in items)


def _given(one: Any) -> str:
    if one.value is None:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {one.name}")
    text: str = one.value
    return text


def _operation(number: int) -> Operation:
    try:
        return Operation(number)
    except ValueError:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Unknown operation type {number}") from None
