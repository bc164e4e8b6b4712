"""Configs and features that are set while the server runs, except groups'; a data directory keeps them."""

from collections.abc import Collection, Mapping
from contextlib import suppress

from coordinator.configs.definitions import BROKER
from coordinator.configs.effective import ALL, BrokerConfigs, TopicConfigs
from coordinator.configs.features import FEATURES, Features, parse_level
from coordinator.configs.release import Release
from coordinator.errors import InvalidSetting, RequestRefused
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import ConfigKind
from coordinator.store.partition_files import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from wire.errors import ErrorCode
from wire.log.errors import StorageFailed, Unusable

LEVEL = "level"
MIN_REPLICAS = "min.insync.replicas"
INTERNAL = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})


class StoredConfigs:
    """See the module. Feature levels given at the start override stored ones."""

    def __init__(
        self,
        settings: Mapping[str, str],
        node_id: int,
        data: DataDirectory | None,
        topics: Collection[str],
        release: Release = Release.KAFKA_4_4,
    ) -> None:
        """`topics` are the existing topics: configs of others are removed. Raises Unusable: as StorageFailed."""
        self._data = data
        kept = {} if data is None else data.configs
        # A new cluster with eligible leader replicas sets it for all brokers (ConfigurationControlManager).
        replicas = {MIN_REPLICAS: settings.get(MIN_REPLICAS, "1")}
        of_brokers = kept.get(ConfigKind.BROKER, {})
        self.brokers = BrokerConfigs(settings, {**of_brokers, ALL: {**replicas, **of_brokers.get(ALL, {})}})
        of_topics = kept.get(ConfigKind.TOPIC, {})
        existing = {topic: values for topic, values in of_topics.items() if topic in topics}
        self.topics = TopicConfigs(self.brokers, node_id, {**_of_internal_topics(settings), **existing})
        given = {name: parse_level(name, text) for name, text in settings.items() if name in FEATURES}
        self.features = Features({**_kept_levels(data), **given}, release)

    def set_topic(self, topic: str, values: Mapping[str, str]) -> None:
        """Replace the configs of a topic, which were validated. Raises RequestRefused: they cannot be stored."""
        self._keep(ConfigKind.TOPIC, topic, values)
        self.topics.set(topic, values)

    def retain_topics(self, topics: Collection[str]) -> None:
        """Remove the configs of deleted topics. If that cannot be written, they are removed at the next start."""
        for topic in [name for name in self.topics.own if name not in topics and name not in INTERNAL]:
            with suppress(RequestRefused):
                self.set_topic(topic, {})
            self.topics.set(topic, {})

    def set_broker(self, broker: str, values: Mapping[str, str]) -> None:
        """Replace the dynamic configs of a broker or of all. Raises RequestRefused: they cannot be stored."""
        self._keep(ConfigKind.BROKER, broker, values)
        self.brokers.set(broker, values)

    def set_levels(self, levels: Mapping[str, int]) -> None:
        """Finalize features at other levels. Raises RequestRefused: they cannot be stored."""
        for name, level in levels.items():
            self._keep(ConfigKind.FEATURE, name, {LEVEL: str(level)})
        self.features.set_levels(levels)

    def _keep(self, kind: ConfigKind, name: str, values: Mapping[str, str]) -> None:
        if self._data is not None:
            try:
                self._data.set_config(kind, name, values)
            except StorageFailed as error:
                raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error


def _of_internal_topics(settings: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:

    def counts(name: str) -> str:
        return settings.get(name, BROKER[name].default or "")

    return {
        OFFSETS_TOPIC: {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": counts("offsets.topic.segment.bytes"),
        },
        TRANSACTIONS_TOPIC: {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            MIN_REPLICAS: counts("transaction.state.log.min.isr"),
            "segment.bytes": counts("transaction.state.log.segment.bytes"),
            "unclean.leader.election.enable": "false",
        },
    }


def _kept_levels(data: DataDirectory | None) -> Mapping[str, int]:
    if data is None:
        return {}
    levels = data.configs[ConfigKind.FEATURE]
    try:
        return {name: parse_level(name, values[LEVEL]) for name, values in levels.items() if name in FEATURES}
    except (InvalidSetting, KeyError) as error:
        raise Unusable(f"{data.path / ConfigKind.FEATURE.file}: {error}") from None
