"""The server's settings: settings of the coordinator and of the brokers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from coordinator.configs.definitions import BROKER
from coordinator.configs.features import FEATURES, parse_level
from coordinator.configs.known import check_known
from coordinator.engine.config import Config, parse_integer
from coordinator.errors import InvalidSetting
from coordinator.store.cleaner import CompactionSettings
from coordinator.store.data_directory import StorageSettings
from coordinator.store.disk import FsyncPolicy
from coordinator.store.log import SegmentLimits
from coordinator.transactions.coordinator import TransactionSettings

MAX_LONG = 2**63 - 1


def _integer(default: int, minimum: int, maximum: int | None = None) -> Any:
    bounds = {"minimum": minimum} if maximum is None else {"minimum": minimum, "maximum": maximum}
    return _setting(default, lambda name, text: parse_integer(name, text, **bounds))


def _setting(default: object, parse: Callable[[str, str], object]) -> Any:
    return field(default=default, metadata={"parse": parse})


def _definition(name: str) -> Any:
    """A setting as Kafka defines it."""
    definition = BROKER[name]
    return _setting(definition.parse(definition.default or ""), lambda _, text: definition.parse(text))


def _parse_ratio(name: str, text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        raise InvalidSetting(f"{name} must be a number, not {text!r}") from None
    if not 0 <= ratio <= 1:
        raise InvalidSetting(f"{name} must be from 0 to 1, not {text}")
    return ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """The settings of the brokers, with the names and defaults of a broker's properties, `_` for `.`.

    `num_partitions` and `default_replication_factor` are the defaults of new topics. The log settings apply to a data
    directory; by default it is synchronized once a second, which a broker never does on its own.
    """

    node_id: int = _integer(1, 0)
    broker_rack: str | None = _setting(None, lambda _, text: text or None)
    num_partitions: int = _integer(1, 1)
    default_replication_factor: int = _definition("default.replication.factor")
    log_flush_interval_ms: int = _integer(1_000, 1)
    log_roll_ms: int = _integer(7 * 86_400_000, 1, MAX_LONG)
    log_retention_check_interval_ms: int = _definition("log.retention.check.interval.ms")
    log_cleaner_backoff_ms: int = _integer(15_000, 0, MAX_LONG)
    log_cleaner_min_cleanable_ratio: float = _setting(0.5, _parse_ratio)
    log_cleaner_delete_retention_ms: int = _integer(86_400_000, 0, MAX_LONG)
    transaction_max_timeout_ms: int = _definition("transaction.max.timeout.ms")
    transactional_id_expiration_ms: int = _definition("transactional.id.expiration.ms")
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = _definition(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms"
    )
    producer_id_expiration_ms: int = _definition("producer.id.expiration.ms")
    transaction_state_log_num_partitions: int = _definition("transaction.state.log.num.partitions")
    transaction_state_log_replication_factor: int = _definition("transaction.state.log.replication.factor")
    transaction_state_log_segment_bytes: int = _definition("transaction.state.log.segment.bytes")
    auto_create_topics_enable: bool = _definition("auto.create.topics.enable")
    group_coordinator_rebalance_protocols: tuple[str, ...] = _definition(
        "group.coordinator.rebalance.protocols"
    )
    given: Mapping[str, str] = field(default_factory=dict)
    """Every given setting, as text: the settings above, the coordinator's, and all others that Kafka knows."""


BROKER_SETTINGS: Mapping[str, Any] = {
    each.name.replace("_", "."): each for each in fields(BrokerSettings) if each.metadata
}
"""The fields of BrokerSettings, by their names in a broker's properties."""
OURS = frozenset((*BROKER_SETTINGS, *Config.names()))
"""The settings that are parsed here; some of them are unknown to a broker."""


def parse_settings(settings: Mapping[str, str]) -> tuple[BrokerSettings, Config]:
    """Parse settings by their names in a broker's properties. :raises InvalidSetting: with the reason"""
    check_known(settings, OURS)
    for name, text in settings.items():
        if name in FEATURES:
            parse_level(name, text)
        elif name in BROKER and name not in OURS:
            BROKER[name].parse(text)
    own = {
        BROKER_SETTINGS[name].name: BROKER_SETTINGS[name].metadata["parse"](name, text)
        for name, text in {**_of_synonyms(settings), **settings}.items()
        if name in BROKER_SETTINGS
    }
    of_groups = {name: text for name, text in settings.items() if name in Config.names()}
    return BrokerSettings(**own, given=dict(settings)), Config.parse(of_groups)


_SYNONYMS = {"log.roll.hours": ("log.roll.ms", 3_600_000), "broker.id": ("node.id", 1)}
"""By synonym: the setting that it sets if that is not given, and its unit as a multiple of that setting's."""


def _of_synonyms(settings: Mapping[str, str]) -> Mapping[str, str]:
    return {
        name: str(int(settings[synonym]) * units)
        for synonym, (name, units) in _SYNONYMS.items()
        if synonym in settings
    }


def transaction_settings(broker: BrokerSettings) -> TransactionSettings:
    """The settings of the transaction coordinator."""
    return TransactionSettings(
        **{each.name: getattr(broker, each.name) for each in fields(TransactionSettings)}
    )


def parse_topics(topics: Mapping[str, str]) -> dict[str, int]:
    """Partition counts by topic, from their texts; `""` is one. :raises InvalidSetting:"""
    return {
        name: parse_integer(f"the number of partitions of {name}", text or "1", minimum=1)
        for name, text in topics.items()
    }


def storage_settings(broker: BrokerSettings, config: Config, fsync: FsyncPolicy) -> StorageSettings:
    """The settings of the data directory."""
    return StorageSettings(
        fsync=fsync,
        node_id=broker.node_id,
        partitions=config.offsets_topic_num_partitions,
        limits=SegmentLimits(segment_bytes=config.offsets_topic_segment_bytes, roll_ms=broker.log_roll_ms),
        compaction=CompactionSettings(
            segment_bytes=config.offsets_topic_segment_bytes,
            min_cleanable_dirty_ratio=broker.log_cleaner_min_cleanable_ratio,
            delete_retention_ms=broker.log_cleaner_delete_retention_ms,
            producer_expiration_ms=broker.producer_id_expiration_ms,
        ),
    )


__all__ = [
    "BROKER_SETTINGS",
    "BrokerSettings",
    "InvalidSetting",
    "parse_settings",
    "parse_topics",
    "storage_settings",
]
