"""IncrementalAlterConfigs v0–v1 (KIP-339), of groups only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from coordinator.errors import RequestRefused
from coordinator.server.apis.describe_configs import GROUP, TYPES
from coordinator.server.exchange import Exchange
from coordinator.server.node import Node
from wire.errors import ErrorCode


class Operation(IntEnum):
    """What is done to a setting (AlterConfigOp.OpType)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    named = Counter((one.resource_type, one.resource_name) for one in request.resources)
    return {
        "responses": [
            _resource(exchange.node, one, request.validate_only, named[one.resource_type, one.resource_name])
            for one in request.resources
        ]
    }


def _resource(node: Node, asked: Any, dry_run: bool, times: int) -> Mapping[str, Any]:
    error, message = ErrorCode.NONE, None
    try:
        if times > 1:
            raise RequestRefused(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
        _alter(node, asked, dry_run)
    except RequestRefused as refused:
        error, message = refused.code, refused.message
    return {
        "error_code": error,
        "error_message": message,
        "resource_type": asked.resource_type,
        "resource_name": asked.resource_name,
    }


def _alter(node: Node, asked: Any, dry_run: bool) -> None:
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
    values = dict(node.group_settings.get(asked.resource_name, {}))
    for one in asked.configs:
        _apply(values, one.name, _operation(one.config_operation), one.value)
    if dry_run:
        node.check_group_settings(asked.resource_name, values)
    else:
        node.set_group_settings(asked.resource_name, values)


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
