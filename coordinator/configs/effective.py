"""Configs of brokers, topics and groups: what is set, and what applies. A broker's config applies if a topic has no
override. If several of `log.retention.ms`, `….minutes` and `….hours` are set, the one with the smallest unit applies
(LogConfig, ServerTopicConfigSynonyms)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coordinator.configs.definitions import BROKER, GROUP, TOPIC, Value
from coordinator.configs.settings import GroupOverrides, beyond_limits
from coordinator.errors import InvalidSetting
from wire.acls import ConfigSource

ALL = ""
"""The key of the dynamic configs of all brokers; the key of a single broker's configs is its node id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synonym:
    """A value from one source, as text; it applies unless a source of higher precedence has a value."""

    name: str
    value: str
    source: ConfigSource


class BrokerConfigs:
    """`static`: the configs given at the start; `dynamic`: configs set since, by node id or `ALL`."""

    def __init__(self, static: Mapping[str, str], dynamic: Mapping[str, Mapping[str, str]]) -> None:
        self.static = dict(static)
        self.dynamic = {broker: dict(values) for broker, values in dynamic.items()}
        self.changes = 0  # Increases with every change

    def set(self, broker: str, values: Mapping[str, str]) -> None:
        """Replace the dynamic configs of a broker, or of `ALL`."""
        self.dynamic[broker] = dict(values)
        self.changes += 1

    def synonyms(self, name: str, node_id: int) -> tuple[Synonym, ...]:
        """The values of a config and its synonyms, by precedence; empty if the config itself has no value."""
        if self.value(name, node_id) is None:
            return ()
        definition = BROKER.get(name)
        return tuple(self._set((name, *(definition.synonyms if definition else ())), node_id))

    def value(self, name: str, node_id: int) -> str | None:
        """The effective text of a config itself, without its synonyms; None: it has no value."""
        return next((synonym.value for synonym in self._set((name,), node_id)), None)

    def _set(self, names: tuple[str, ...], node_id: int) -> Iterator[Synonym]:
        for source, values in (
            (ConfigSource.DYNAMIC_BROKER, self.dynamic.get(str(node_id), {})),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER, self.dynamic.get(ALL, {})),
            (ConfigSource.STATIC_BROKER, self.static),
            (ConfigSource.DEFAULT, _DEFAULTS),
        ):
            for name in names:
                if name in values:
                    yield Synonym(name=name, value=values[name], source=source)


_DEFAULTS = {name: one.default for name, one in BROKER.items() if one.default is not None}

_TIERED = "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."
_UNIT_MS = {"hours": 3_600_000, "minutes": 60_000}


class TopicConfigs:
    """`own`: the overrides, by topic. The dynamic broker configs of broker `node_id` apply."""

    def __init__(
        self, brokers: BrokerConfigs, node_id: int, overrides: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.own = {topic: dict(values) for topic, values in overrides.items()}
        self._brokers = brokers
        self._node_id = node_id
        self._parsed: dict[str, Mapping[str, Value]] = {}
        self._parsed_at = brokers.changes

    def of(self, topic: str) -> Mapping[str, Value]:
        """All effective configs of a topic, by Kafka's names: the same mapping until something changes."""
        if self._parsed_at != self._brokers.changes:
            self._parsed.clear()
            self._parsed_at = self._brokers.changes
        values = self._parsed.get(topic)
        if values is None:
            texts = {name: self.text(topic, name) for name in TOPIC}
            values = {name: TOPIC[name].parse(text) for name, text in texts.items() if text is not None}
            self._parsed[topic] = values
        return values

    def text(self, topic: str, name: str) -> str | None:
        """The effective value of a topic's config, as text; None: it has no value."""
        overrides = self.own.get(topic, {}).get(name)
        return self._inherited(name) if overrides is None else overrides

    def synonyms(self, topic: str, name: str) -> tuple[Synonym, ...]:
        """The values of a topic's config, in order of precedence."""
        synonyms = [one for of in TOPIC[name].synonyms for one in self._brokers.synonyms(of, self._node_id)]
        overrides = self.own.get(topic, {}).get(name)
        if overrides is not None:
            synonyms.insert(0, Synonym(name=name, value=overrides, source=ConfigSource.TOPIC))
        return tuple(synonyms)

    def set(self, topic: str, values: Mapping[str, str]) -> None:
        """Replace the overrides of a topic; an empty mapping removes them."""
        self._parsed.pop(topic, None)
        if values:
            self.own[topic] = dict(values)
        else:
            self.own.pop(topic, None)

    def check(self, values: Mapping[str, str]) -> None:
        """Validate a topic's overrides, as LogConfig.validate. Raises InvalidSetting: with Kafka's message."""
        for name in values:
            if name not in TOPIC:
                raise InvalidSetting(f"Unknown topic config name: {name}")
        parsed = {name: TOPIC[name].parse(text) for name, text in values.items()}
        least, most = (self._counts(parsed, f"{which}.compaction.lag.ms") for which in ("min", "max"))
        if least > most:
            raise InvalidSetting(
                f"conflict topic config setting min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
            )
        if parsed.get("remote.storage.enable"):
            raise InvalidSetting(_TIERED)

    def _counts(self, parsed: Mapping[str, Value], name: str) -> int:
        if name in parsed:
            return int(str(parsed[name]))
        return int(self._inherited(name) or 0)

    def _inherited(self, name: str) -> str | None:
        """The effective value without an override."""
        for of in TOPIC[name].synonyms:
            for synonym in (of, *BROKER[of].synonyms):
                if (text := self._brokers.value(synonym, self._node_id)) is not None:
                    return _in_ms(synonym, text)
        return TOPIC[name].default


def _in_ms(name: str, text: str) -> str:
    """The broker's value in the unit of the topic's config; any time below 0 means no limit."""
    unit = _UNIT_MS.get(name.rpartition(".")[2])
    if unit is None:
        return text
    value = int(str(BROKER[name].parse(text)))
    return str(value * unit if value >= 0 else -1)


def of_consumer_groups(values: Mapping[str, str]) -> dict[str, str]:
    """The consumer group configs among the configs of a group, including unknown ones."""
    ours = GroupOverrides.names()
    return {name: text for name, text in values.items() if name in ours or name not in GROUP}


def check_others(values: Mapping[str, str], brokers: BrokerConfigs, node_id: int) -> None:
    """Validate all configs except those of consumer groups. Raises InvalidSetting: with Kafka's message."""
    for name, text in values.items():
        if name not in GROUP:
            raise InvalidSetting(f"Unknown group config name: {name}")
        if name not in GroupOverrides.names():
            _check_bounds(name, GROUP[name].parse(text), brokers, node_id)


def _check_bounds(name: str, value: object, brokers: BrokerConfigs, node_id: int) -> None:
    kind, _, rest = name.partition(".")
    limits = []
    for bound in ("min", "max"):
        of = f"group.{kind}.{bound}.{rest.removeprefix('num.')}"
        limits.append(int(brokers.value(of, node_id) or 0) if of in BROKER else None)
    if isinstance(value, int) and (why := beyond_limits(name, value, *limits)) is not None:
        raise InvalidSetting(why)
