"""DescribeConfigs: the effective configs of the broker, topics and groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from coordinator.configs.brokers import ALL, ConfigSource, Synonym
from coordinator.configs.definitions import BROKER, GROUP, TOPIC, Definition
from coordinator.configs.features import FEATURES
from coordinator.server.apis.fields import MALFORMED, LazyEntries
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import Exchange
from coordinator.server.settings import OURS
from coordinator.server.topics import TopicRefused, check_name
from wire.errors import ErrorCode

OF_TOPIC, OF_BROKER, OF_BROKER_LOGGER, OF_CLIENT_METRICS, OF_GROUP = 2, 4, 8, 16, 32
TYPES = frozenset({OF_TOPIC, OF_BROKER, OF_BROKER_LOGGER, OF_CLIENT_METRICS, OF_GROUP})
UNKNOWN_TYPE = 0
_NUMBER = re.compile(r"[+-]?[0-9]+")
_NAMELESS = {
    OF_GROUP: "Group name must not be empty",
    OF_BROKER_LOGGER: "Broker id must not be empty",
    OF_CLIENT_METRICS: "Client metrics subscription name must not be empty",
}


async def describe_configs(exchange: Exchange) -> Mapping[str, Any]:
    """DescribeConfigs v1–v4. Broker loggers and client metrics subscriptions have no configs here."""
    return {"results": LazyEntries(lambda one: _resource(exchange, one), exchange.request.resources)}


def _resource(exchange: Exchange, requested: Any) -> Mapping[str, Any]:
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
        return _no_topic(name)
    if kind in (OF_BROKER, OF_BROKER_LOGGER) and name not in ("", str(exchange.broker.node_id)):
        return ErrorCode.INVALID_REQUEST, _no_broker(kind, exchange.broker.node_id, name)
    return ErrorCode.NONE, ""


def _no_topic(name: str) -> tuple[int, str]:
    try:
        check_name(name)
    except TopicRefused as error:
        return error.code, str(error)
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""


def _no_broker(kind: int, node_id: int, name: str) -> str:
    if _NUMBER.fullmatch(name):
        which = f"{node_id} or empty string," if kind == OF_BROKER else node_id
        return f"Unexpected broker id, expected {which} but received {name}"
    return f"Broker id must be an integer, but it is: {name}"


def _entries(exchange: Exchange, requested: Any) -> Sequence[Mapping[str, Any]]:
    """The requested configs, all if the request lists none."""
    name, request = requested.resource_name, exchange.request
    kind, cluster = requested.resource_type, exchange.cluster
    if kind == OF_TOPIC:
        found = _of_topic(cluster, name)
    elif kind == OF_GROUP:
        found = _of_group(cluster, name)
    elif kind == OF_BROKER:
        found = _of_all_brokers(cluster) if name == ALL else _of_broker(exchange)
    else:
        return ()
    wanted = set(requested.configuration_keys or ())
    return [
        _entry(setting, definition, synonyms, value, request)
        for setting, definition, synonyms, value in found
        if not wanted or setting in wanted
    ]


Found = tuple[str, Definition | None, Sequence[Synonym], str | None]
"""Name, definition (None: unknown to Kafka), source of the value, and its text."""


def _of_topic(cluster: Cluster, topic: str) -> Iterator[Found]:
    configs = cluster.topic_configs
    for name, definition in TOPIC.items():
        text = configs.text(topic, name)
        if text is not None or not definition.internal:
            synonyms = [
                _shown(each, definition) if each.source is ConfigSource.TOPIC else each
                for each in configs.synonyms(topic, name)
            ]
            yield name, definition, synonyms, text


def _of_all_brokers(cluster: Cluster) -> Iterator[Found]:
    for name, text in cluster.configs.brokers.dynamic.get(ALL, {}).items():
        source = ConfigSource.DYNAMIC_DEFAULT_BROKER
        yield name, BROKER.get(name), (Synonym(name=name, value=text, source=source),), text


def _of_broker(exchange: Exchange) -> Iterator[Found]:
    configs, node_id, facts = exchange.cluster.configs.brokers, exchange.broker.node_id, _facts(exchange)
    for name in _names(
        {*configs.static, *configs.dynamic.get(ALL, {}), *configs.dynamic.get(str(node_id), {})}
    ):
        definition = BROKER.get(name)
        synonyms: Sequence[Synonym] = configs.synonyms(name, node_id)
        if name in facts:
            defaults = [each for each in synonyms if each.source is ConfigSource.DEFAULT]
            synonyms = [Synonym(name=name, value=facts[name], source=ConfigSource.STATIC_BROKER), *defaults]
        yield name, definition, synonyms, synonyms[0].value if synonyms else None


def _names(given: set[str]) -> Iterable[str]:
    """The configs that a broker shows: configs that it defines, and others that were set."""
    shown = [name for name, definition in BROKER.items() if not definition.internal or name in given]
    return (*shown, *sorted(given - set(shown) - set(FEATURES)))


def _facts(exchange: Exchange) -> Mapping[str, str]:
    """Configs whose values this server determines itself, regardless of its settings."""
    broker = exchange.broker
    protocol = exchange.cluster.security.settings.protocol.value
    node_id, address = str(broker.node_id), f"{protocol}://{broker.host}:{broker.port}"
    facts = {
        "node.id": node_id,
        "broker.id": node_id,
        "process.roles": "broker,controller",
        "listeners": address,
    }
    return facts if broker.rack is None else {**facts, "broker.rack": broker.rack}


def _of_group(cluster: Cluster, group: str) -> Iterator[Found]:
    node_id = cluster.settings.node_id
    own = cluster.group_settings.get(group, {})
    for name, definition in GROUP.items():
        (of,) = definition.synonyms
        inherited: Sequence[Synonym] = cluster.configs.brokers.synonyms(of, node_id)
        if not inherited and definition.default is not None:
            inherited = (Synonym(name=of, value=definition.default, source=ConfigSource.DEFAULT),)
        if name in own:
            first = Synonym(name=name, value=definition.shown(own[name]), source=ConfigSource.GROUP)
            inherited = (first, *inherited)
        yield name, definition, inherited, inherited[0].value


def _shown(synonym: Synonym, definition: Definition) -> Synonym:
    return Synonym(name=synonym.name, value=definition.shown(synonym.value), source=synonym.source)


def _entry(
    name: str, definition: Definition | None, synonyms: Sequence[Synonym], text: str | None, request: Any
) -> Mapping[str, Any]:
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
            {"name": each.name, "value": None if hidden else each.value, "source": each.source}
            for each in synonyms
        ]
        if request.include_synonyms
        else (),
        "config_type": UNKNOWN_TYPE if definition is None else definition.type,
        "documentation": definition.documentation
        if definition is not None and request.include_documentation
        else None,
    }


def created(cluster: Cluster, own: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """The configs of a new topic with these overrides, as CreateTopics returns them."""
    configs = cluster.topic_configs
    entries: list[Mapping[str, Any]] = []
    for name, definition in TOPIC.items():
        inherited = configs.synonyms("", name)
        source = inherited[0].source if inherited else ConfigSource.DEFAULT
        text = own.get(name, configs.text("", name))
        if text is not None:
            entries.append(
                {
                    "name": name,
                    "value": text if name in own else definition.shown(text),
                    "read_only": False,
                    "config_source": ConfigSource.TOPIC if name in own else source,
                    "is_sensitive": False,
                }
            )
    return entries
