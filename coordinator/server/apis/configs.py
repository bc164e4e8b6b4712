"""DescribeConfigs, IncrementalAlterConfigs and AlterConfigs: the configs of brokers, topics and groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import partial
from typing import Any, TypeAlias, TypeVar

from coordinator.configs.definitions import BROKER, GROUP, TOPIC, Definition, Type
from coordinator.configs.effective import ALL, Synonym
from coordinator.configs.features import FEATURES
from coordinator.configs.properties import OURS
from coordinator.errors import InvalidSetting, RequestRefused
from coordinator.server.apis.fields import MALFORMED, LazyEntries, judged
from coordinator.server.apis.permissions import keeping, settings_refused
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.server.topics import check_name, missing
from wire.acls import ConfigSource, Operation
from wire.errors import ErrorCode
from wire.messages.schemas import cluster as schemas

OF_TOPIC, OF_BROKER, OF_BROKER_LOGGER, OF_CLIENT_METRICS, OF_GROUP = 2, 4, 8, 16, 32
TYPES = frozenset({OF_TOPIC, OF_BROKER, OF_BROKER_LOGGER, OF_CLIENT_METRICS, OF_GROUP})
UNKNOWN_TYPE = 0
_NUMBER = re.compile(r"[+-]?[0-9]+")
_NAMELESS = {
    OF_GROUP: "Group name must not be empty",
    OF_BROKER_LOGGER: "Broker id must not be empty",
    OF_CLIENT_METRICS: "Client metrics subscription name must not be empty",
}


@keeping("resources", "results", settings_refused(Operation.DESCRIBE_CONFIGS, {"configs": ()}))
async def describe_configs(exchange: Exchange[schemas.DescribeConfigsRequest]) -> AnswerFields:
    """DescribeConfigs v1–v4. Broker loggers and client metrics subscriptions have no configs here."""
    return {"results": LazyEntries(lambda one: _resource(exchange, one), exchange.request.resources)}


def _resource(
    exchange: Exchange[schemas.DescribeConfigsRequest], requested: schemas.DescribeConfigsRequestResource
) -> AnswerFields:
    error, message = _refusal(exchange, requested.resource_type, requested.resource_name)
    return {
        "error_code": error,
        "error_message": message,
        "resource_type": requested.resource_type,
        "resource_name": requested.resource_name,
        "configs": () if error else _entries(exchange, requested),
    }


def _refusal(exchange: Exchange, kind: int, name: str) -> tuple[int, str]:
    """The error and its message; (NONE, "") if the resource can be described."""
    if kind not in TYPES:
        return ErrorCode.INVALID_REQUEST, MALFORMED
    if not name and kind in _NAMELESS:
        return ErrorCode.INVALID_REQUEST, _NAMELESS[kind]
    if kind == OF_TOPIC and name not in exchange.cluster.topics.image.topics:
        error = missing(name)
        return error.code, error.message or ""
    if kind in (OF_BROKER, OF_BROKER_LOGGER) and name not in ("", str(exchange.broker.node_id)):
        if not _NUMBER.fullmatch(name):
            return ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}"
        node_id = exchange.broker.node_id
        which = f"{node_id} or empty string," if kind == OF_BROKER else node_id
        return ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {which} but received {name}"
    return ErrorCode.NONE, ""


def _entries(
    exchange: Exchange[schemas.DescribeConfigsRequest], requested: schemas.DescribeConfigsRequestResource
) -> Sequence[AnswerFields]:
    name, request = requested.resource_name, exchange.request
    kind, cluster = requested.resource_type, exchange.cluster
    if kind == OF_TOPIC:
        entries = _of_topic(cluster, name)
    elif kind == OF_GROUP:
        entries = _of_group(cluster, name)
    elif kind == OF_BROKER:
        entries = _of_all_brokers(cluster) if name == ALL else _of_broker(exchange)
    else:
        return ()
    names = set(requested.configuration_keys or ())
    return [
        _entry(setting, definition, synonyms, value, request)
        for setting, definition, synonyms, value in entries
        if not names or setting in names
    ]


Found = tuple[str, Definition | None, Sequence[Synonym], str | None]
"""Name, definition (None: unknown to Kafka), source of the value, and its text."""


def _of_topic(cluster: Cluster, topic: str) -> Iterator[Found]:
    configs = cluster.configs.topics
    for name, definition in TOPIC.items():
        text = configs.text(topic, name)
        if text is not None or not definition.internal:
            shown = [
                replace(one, value=definition.shown(one.value)) if one.source is ConfigSource.TOPIC else one
                for one in configs.synonyms(topic, name)
            ]
            yield name, definition, shown, text


def _of_all_brokers(cluster: Cluster) -> Iterator[Found]:
    for name, text in cluster.configs.brokers.dynamic.get(ALL, {}).items():
        source = ConfigSource.DYNAMIC_DEFAULT_BROKER
        yield name, BROKER.get(name), (Synonym(name=name, value=text, source=source),), text


def _of_broker(exchange: Exchange) -> Iterator[Found]:
    configs, node_id, facts = exchange.cluster.configs.brokers, exchange.broker.node_id, _facts(exchange)
    given = {*configs.static, *configs.dynamic.get(ALL, {}), *configs.dynamic.get(str(node_id), {})}
    defined = [name for name, definition in BROKER.items() if not definition.internal or name in given]
    for name in (*defined, *sorted(given - set(defined) - set(FEATURES))):
        definition = BROKER.get(name)
        synonyms: Sequence[Synonym] = configs.synonyms(name, node_id)
        if name in facts:
            defaults = [synonym for synonym in synonyms if synonym.source is ConfigSource.DEFAULT]
            synonyms = [Synonym(name=name, value=facts[name], source=ConfigSource.STATIC_BROKER), *defaults]
        yield name, definition, synonyms, synonyms[0].value if synonyms else None


def _facts(exchange: Exchange) -> Mapping[str, str]:
    """Configs whose values this server determines itself, regardless of its settings."""
    broker = exchange.broker
    protocol = exchange.cluster.security.settings.protocol.value
    ids = dict.fromkeys(("node.id", "broker.id"), str(broker.node_id))
    address = f"{protocol}://{broker.host}:{broker.port}"
    facts = {**ids, "process.roles": "broker,controller", "listeners": address}
    return facts if broker.rack is None else {**facts, "broker.rack": broker.rack}


def _of_group(cluster: Cluster, group: str) -> Iterator[Found]:
    node_id = cluster.settings.node_id
    group_configs = cluster.group_settings.get(group, {})
    for name, definition in GROUP.items():
        if definition.internal and name not in group_configs:
            continue
        (of,) = definition.synonyms
        inherited: Sequence[Synonym] = cluster.configs.brokers.synonyms(of, node_id)
        if not inherited and definition.default is not None:
            inherited = (Synonym(name=of, value=definition.default, source=ConfigSource.DEFAULT),)
        if name in group_configs:
            first = Synonym(name=name, value=definition.shown(group_configs[name]), source=ConfigSource.GROUP)
            inherited = (first, *inherited)
        yield name, definition, inherited, inherited[0].value


def _entry(
    name: str,
    definition: Definition | None,
    synonyms: Sequence[Synonym],
    text: str | None,
    request: schemas.DescribeConfigsRequest,
) -> AnswerFields:
    """One config. An unknown one may be a secret, so its value is not shown."""
    hidden = name not in OURS if definition is None else definition.sensitive
    value = text if text is None or definition is None else definition.shown(text)
    return {
        "name": name,
        "value": None if hidden else value,
        "read_only": definition is None or definition.read_only,
        "config_source": synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        "is_sensitive": hidden,
        "synonyms": [
            {"name": synonym.name, "value": None if hidden else synonym.value, "source": synonym.source}
            for synonym in (synonyms if request.include_synonyms else ())
        ],
        "config_type": UNKNOWN_TYPE if definition is None else definition.type,
        "documentation": definition.documentation if definition and request.include_documentation else None,
    }


def created(cluster: Cluster, topic_configs: Mapping[str, str]) -> list[AnswerFields]:
    """The configs of a new topic with these overrides, as CreateTopics returns them."""
    configs = cluster.configs.topics
    entries: list[AnswerFields] = []
    for name, definition in TOPIC.items():
        source = next((one.source for one in configs.synonyms("", name)), ConfigSource.DEFAULT)
        text = topic_configs.get(name, configs.text("", name))
        if name in topic_configs:
            source = ConfigSource.TOPIC
        elif text is not None:
            text = definition.shown(text)
        if text is not None:
            fields = {"name": name, "value": text, "config_source": source}
            entries.append({**fields, "read_only": False, "is_sensitive": False})
    return entries


class ConfigOperation(IntEnum):
    """The operation on a config (AlterConfigOp.OpType)."""

    SET, DELETE, APPEND, SUBTRACT = range(4)


Alteration: TypeAlias = "Exchange[schemas.AlterConfigsRequest | schemas.IncrementalAlterConfigsRequest]"
R = TypeVar("R", bound="schemas.AlterConfigsRequestResource | schemas.IncrementalAlterConfigsRequestResource")
Changed: TypeAlias = Callable[[Mapping[str, str], Mapping[str, Definition], R], dict[str, str]]
"""Computes the new configs from the current ones, the known definitions and the request's entry for the resource."""


@keeping("resources", "responses", settings_refused(Operation.ALTER_CONFIGS, {}))
async def incremental_alter_configs(
    exchange: Exchange[schemas.IncrementalAlterConfigsRequest],
) -> AnswerFields:
    """IncrementalAlterConfigs v0–v1 (KIP-339): changes single configs; the others stay."""
    return await _alter_all(exchange, _incremental)


@keeping("resources", "responses", settings_refused(Operation.ALTER_CONFIGS, {}))
async def alter_configs(exchange: Exchange[schemas.AlterConfigsRequest]) -> AnswerFields:
    """AlterConfigs v0–v2: replaces all configs that are set."""
    return await _alter_all(exchange, _replaced)


async def _alter_all(exchange: Alteration, changed: Changed[Any]) -> AnswerFields:
    request = exchange.request
    named = Counter((one.resource_type, one.resource_name) for one in request.resources)
    async with exchange.cluster.topics.changing:
        return {
            "responses": [
                {
                    **judged(partial(_alter, exchange, one, changed, named)),
                    "resource_type": one.resource_type,
                    "resource_name": one.resource_name,
                }
                for one in request.resources
            ]
        }


def _alter(exchange: Alteration, requested: R, changed: Changed[R], named: Counter[tuple[int, str]]) -> None:
    """Raises RequestRefused: nothing has changed."""
    kind, name = requested.resource_type, requested.resource_name
    names = [one.name for one in requested.configs]
    if named[kind, name] > 1:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
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
        why = "Only settings of topics, groups and brokers can be changed here."
        raise RequestRefused(ErrorCode.INVALID_REQUEST, why)


def _alter_topic(exchange: Alteration, topic: str, requested: R, changed: Changed[R]) -> None:
    configs = exchange.cluster.configs
    if not topic:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    check_name(topic)
    if topic not in exchange.cluster.topics.image.topics:
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{topic}' does not exist.")
    values = changed(configs.topics.own.get(topic, {}), TOPIC, requested)
    try:
        configs.topics.check(values)
    except InvalidSetting as error:
        raise RequestRefused(ErrorCode.INVALID_CONFIG, str(error)) from None
    if not exchange.request.validate_only:
        configs.set_topic(topic, values)


def _alter_group(exchange: Alteration, group: str, requested: R, changed: Changed[R]) -> None:
    if not group:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    values = changed(exchange.cluster.group_settings.get(group, {}), GROUP, requested)
    if exchange.request.validate_only:
        exchange.cluster.check_group_settings(group, values)
    else:
        exchange.cluster.set_group_settings(group, values)


def _alter_broker(exchange: Alteration, name: str, requested: R, changed: Changed[R]) -> None:
    """Like a broker, it accepts unknown configs too: a plug-in may read them."""
    node_id, configs = exchange.broker.node_id, exchange.cluster.configs
    if name != ALL and not _NUMBER.fullmatch(name):
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if name not in (ALL, str(node_id)):
        why = f"Unexpected broker id, expected {node_id}, but received {name}"
        raise RequestRefused(ErrorCode.INVALID_REQUEST, why)
    fixed = [one.name for one in requested.configs if one.name in BROKER and BROKER[one.name].read_only]
    if fixed:
        why = f"Cannot update these configs dynamically: [{', '.join(fixed)}]"
        raise RequestRefused(ErrorCode.INVALID_REQUEST, why)
    values = changed(configs.brokers.dynamic.get(name, {}), BROKER, requested)
    try:
        for setting, text in values.items():
            if setting in BROKER:
                BROKER[setting].parse(text)
        exchange.cluster.set_broker_settings(name, values, dry_run=exchange.request.validate_only)
    except InvalidSetting as error:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, str(error)) from None


def _replaced(
    _: Mapping[str, str], __: Mapping[str, Definition], requested: schemas.AlterConfigsRequestResource
) -> dict[str, str]:
    return {one.name: _given(one) for one in requested.configs}


def _incremental(
    before: Mapping[str, str],
    known: Mapping[str, Definition],
    requested: schemas.IncrementalAlterConfigsRequestResource,
) -> dict[str, str]:
    values = dict(before)
    for one in requested.configs:
        try:
            operation = ConfigOperation(one.config_operation)
        except ValueError:
            why = f"Unknown operation type {one.config_operation}"
            raise RequestRefused(ErrorCode.INVALID_REQUEST, why) from None
        if operation is ConfigOperation.DELETE:
            values.pop(one.name, None)
        elif operation is ConfigOperation.SET:
            values[one.name] = _given(one)
        else:
            values[one.name] = _relisted(values, known.get(one.name), one, operation)
    return values


def _relisted(
    values: Mapping[str, str],
    definition: Definition | None,
    one: schemas.IncrementalAlterConfigsRequestResourceConfig,
    operation: ConfigOperation,
) -> str:
    """The list with items added or removed; an unset list starts from Kafka's default, not the broker's value."""
    items = _given(one).split(",")
    if definition is None or definition.type is not Type.LIST:
        why = f"Can't {operation.name} to key {one.name} because its type is not LIST."
        raise RequestRefused(ErrorCode.INVALID_CONFIG, why)
    text = values.get(one.name, definition.default or "")
    old = [item.strip() for item in text.split(",")] if text else []
    if operation is ConfigOperation.APPEND:
        return ",".join((*old, *(item for item in items if item not in old)))
    return ",".join(item for item in old if item not in items)


def _given(
    one: schemas.AlterConfigsRequestResourceConfig | schemas.IncrementalAlterConfigsRequestResourceConfig,
) -> str:
    if one.value is None:
        raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {one.name}")
    return one.value
