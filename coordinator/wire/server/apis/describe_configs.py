"""DescribeConfigs v1–v4. Groups have settings; of topics and the broker there are none to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.broker.config import Config
from coordinator.broker.errors import ErrorCode
from coordinator.wire.server.apis.resources import (
    BROKER,
    GROUP,
    GROUP_SETTINGS,
    INT,
    TOPIC,
    GroupSetting,
    Source,
    broker_value,
)
from coordinator.wire.server.exchange import Exchange
from coordinator.wire.server.node import Node


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    return {"results": [_resource(exchange.node, one, request) for one in request.resources]}


def _resource(node: Node, asked: Any, request: Any) -> Mapping[str, Any]:
    error, message = _refusal(node, asked)
    shown = {
        "error_code": error,
        "error_message": message,
        "resource_type": asked.resource_type,
        "resource_name": asked.resource_name,
        "configs": (),
    }
    if error or asked.resource_type != GROUP:
        return shown
    keys = asked.configuration_keys
    wanted = [one for name, one in GROUP_SETTINGS.items() if keys is None or name in keys]
    return {**shown, "configs": [_entry(node, asked.resource_name, one, request) for one in wanted]}


def _refusal(node: Node, asked: Any) -> tuple[ErrorCode, str | None]:
    if asked.resource_type == GROUP and not asked.resource_name:
        return ErrorCode.INVALID_REQUEST, "Group name must not be empty"
    if asked.resource_type == TOPIC and asked.resource_name not in node.topics.image.topics:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None
    if asked.resource_type not in (TOPIC, BROKER, GROUP):
        return ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {asked.resource_type}"
    return ErrorCode.NONE, ""


def _entry(node: Node, group: str, setting: GroupSetting, request: Any) -> Mapping[str, Any]:
    own = node.group_settings.get(group, {}).get(setting.name)
    inherited, default = broker_value(node.config, setting), broker_value(Config(), setting)
    source = Source.DEFAULT if inherited == default else Source.STATIC_BROKER
    synonyms = [] if own is None else [{"name": setting.name, "value": own, "source": Source.GROUP}]
    if source is Source.STATIC_BROKER:
        synonyms.append({"name": setting.broker_name, "value": inherited, "source": source})
    synonyms.append({"name": setting.broker_name, "value": default, "source": Source.DEFAULT})
    return {
        "name": setting.name,
        "value": inherited if own is None else own,
        "read_only": False,
        "config_source": source if own is None else Source.GROUP,
        "is_sensitive": False,
        "synonyms": synonyms if request.include_synonyms else (),
        "config_type": INT,
        "documentation": setting.documentation if getattr(request, "include_documentation", False) else None,
    }
