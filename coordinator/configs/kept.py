"""All that is set while the server runs, but for groups: taken over from a data directory, and kept there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

from coordinator.configs.brokers import BrokerConfigs
from coordinator.configs.features import FEATURES, Features, parse_level
from coordinator.configs.topics import TopicConfigs
from coordinator.errors import InvalidSetting, RequestRefused
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import Configured
from wire.errors import ErrorCode
from wire.log.errors import StorageFailed, Unusable

LEVEL = "level"


class KeptConfigs:
    """See the module. Levels of features that were given at the start win over those that were kept."""

    def __init__(
        self, given: Mapping[str, str], node_id: int, data: DataDirectory | None, topics: Collection[str]
    ) -> None:
        """`topics` are those that there are: settings of others are forgotten. :raises Unusable: as StorageFailed"""
        self._data = data
        kept = {} if data is None else data.configs
        self.brokers = BrokerConfigs(given, kept.get(Configured.BROKER, {}))
        of_topics = kept.get(Configured.TOPIC, {})
        self.topics = TopicConfigs(
            self.brokers, node_id, {topic: values for topic, values in of_topics.items() if topic in topics}
        )
        self.features = Features({**_kept_levels(data), **_given_levels(given)})

    def set_topic(self, topic: str, values: Mapping[str, str]) -> None:
        """Replace the settings of a topic, which were checked. :raises RequestRefused: they cannot be kept"""
        self._keep(Configured.TOPIC, topic, values)
        self.topics.set(topic, values)

    def keep_topics(self, topics: Collection[str]) -> None:
        """Forget the settings of topics that are gone. What cannot be written is forgotten at the next start."""
        for topic in [each for each in self.topics.own if each not in topics]:
            with suppress(RequestRefused):
                self.set_topic(topic, {})
            self.topics.set(topic, {})

    def set_broker(self, broker: str, values: Mapping[str, str]) -> None:
        """Replace the dynamic settings of a broker or of all. :raises RequestRefused: they cannot be kept"""
        self._keep(Configured.BROKER, broker, values)
        self.brokers.set(broker, values)

    def set_levels(self, levels: Mapping[str, int]) -> None:
        """Finalise features at other levels. :raises RequestRefused: they cannot be kept"""
        for name, level in levels.items():
            self._keep(Configured.FEATURE, name, {LEVEL: str(level)})
        self.features.become(levels)

    def _keep(self, kind: Configured, name: str, values: Mapping[str, str]) -> None:
        if self._data is not None:
            try:
                self._data.set_config(kind, name, values)
            except StorageFailed as error:
                raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error


def _given_levels(given: Mapping[str, str]) -> Mapping[str, int]:
    return {name: parse_level(name, text) for name, text in given.items() if name in FEATURES}


def _kept_levels(data: DataDirectory | None) -> Mapping[str, int]:
    if data is None:
        return {}
    levels = data.configs[Configured.FEATURE]
    try:
        return {name: parse_level(name, values[LEVEL]) for name, values in levels.items() if name in FEATURES}
    except (InvalidSetting, KeyError) as error:
        raise Unusable(f"{data.path / Configured.FEATURE.file}: {error}") from None
