"""Topic configs: overrides and effective values.

The broker's config applies if a topic has no override. If several of `log.retention.ms`, `….minutes` and `….hours`
are set, the one with the smallest unit applies (LogConfig, ServerTopicConfigSynonyms).
"""

from __future__ import annotations

from collections.abc import Mapping

from coordinator.configs.brokers import BrokerConfigs, ConfigSource, Synonym
from coordinator.configs.definitions import BROKER, TOPIC, Value
from coordinator.errors import InvalidSetting

_TIERED = "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."
_UNIT_MS = {"hours": 3_600_000, "minutes": 60_000}


class TopicConfigs:
    """`own`: the overrides, by topic. The dynamic broker configs of broker `node_id` apply."""

    def __init__(self, brokers: BrokerConfigs, node_id: int, own: Mapping[str, Mapping[str, str]]) -> None:
        self.own = {topic: dict(values) for topic, values in own.items()}
        self._brokers = brokers
        self._node_id = node_id
        self._parsed: dict[str, Mapping[str, Value]] = {}
        self._parsed_at = brokers.changes

    def of(self, topic: str) -> Mapping[str, Value]:
        """All effective configs of a topic, by Kafka's names: the same mapping until something changes."""
        if self._parsed_at != self._brokers.changes:
            self._parsed.clear()
            self._parsed_at = self._brokers.changes
        found = self._parsed.get(topic)
        if found is None:
            texts = {name: self.text(topic, name) for name in TOPIC}
            found = {name: TOPIC[name].parse(text) for name, text in texts.items() if text is not None}
            self._parsed[topic] = found
        return found

    def text(self, topic: str, name: str) -> str | None:
        """The effective value of a topic's config, as text; None: it has no value."""
        own = self.own.get(topic, {}).get(name)
        return self._inherited(name) if own is None else own

    def synonyms(self, topic: str, name: str) -> tuple[Synonym, ...]:
        """The values of a topic's config, in order of precedence."""
        own = self.own.get(topic, {}).get(name)
        first = () if own is None else (Synonym(name=name, value=own, source=ConfigSource.TOPIC),)
        return (
            *first,
            *(each for of in TOPIC[name].synonyms for each in self._brokers.synonyms(of, self._node_id)),
        )

    def set(self, topic: str, values: Mapping[str, str]) -> None:
        """Replace the overrides of a topic; an empty mapping removes them."""
        self._parsed.pop(topic, None)
        if values:
            self.own[topic] = dict(values)
        else:
            self.own.pop(topic, None)

    def check(self, values: Mapping[str, str]) -> None:
        """Validate a topic's overrides, as LogConfig.validate. :raises InvalidSetting: with Kafka's message"""
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
            for each in (of, *BROKER[of].synonyms):
                if (text := self._brokers.value(each, self._node_id)) is not None:
                    return _in_ms(each, text)
        return TOPIC[name].default


def _in_ms(name: str, text: str) -> str:
    """The broker's value in the unit of the topic's config; any time below 0 means no limit."""
    unit = _UNIT_MS.get(name.rpartition(".")[2])
    if unit is None:
        return text
    value = int(str(BROKER[name].parse(text)))
    return str(value * unit if value >= 0 else -1)
