"""A broker's properties file: the settings that have an effect here, and notices about the others. A broker ignores
names that it does not know; here they are refused, as most of them are typos."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import Field, fields

from coordinator.configs.definitions import BROKER, TOPIC
from coordinator.configs.features import FEATURES, parse_level
from coordinator.configs.settings import BrokerSettings, Config
from coordinator.errors import InvalidSetting
from wire.suggestion import did_you_mean

EFFECTIVE_OF_TOPICS = (
    "cleanup.policy", "compression.type", "max.message.bytes", "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms", "message.timestamp.type", "min.insync.replicas", "retention.bytes",
    "retention.ms", "segment.bytes", "segment.ms",
)  # fmt: skip
"""The topic configs that have an effect on records."""
_EFFECTIVE = {
    "auto.create.topics.enable",
    "broker.id",
    "group.coordinator.rebalance.protocols",
    *(
        synonym
        for name in EFFECTIVE_OF_TOPICS
        for of in TOPIC[name].synonyms
        for synonym in (of, *BROKER[of].synonyms)
    ),
}
_SECURITY = ("ssl.", "sasl.", "security.", "listener.", "authorizer.", "super.users", "allow.everyone.")
"""Prefixes of security settings."""
_OF_PLUGINS = ("rsm.config.", "rlmm.config.", "config.providers.", "metrics.", "confluent.")
_OTHER_RELEASES = (
    # before 4.0
    "broker.id.generation.enable", "control.plane.listener.name", "group.coordinator.new.enable",
    "inter.broker.protocol.version", "log.message.downconversion.enable", "log.message.format.version",
    "log.message.timestamp.difference.max.ms", "offsets.commit.required.acks", "password.encoder.",
    "reserved.broker.max.id", "zookeeper.",
)  # fmt: skip
"""Prefixes of settings that Kafka 4.4 does not know and other releases do."""
_REPLACEMENTS = {
    "listeners": "--listen", "advertised.listeners": "--advertise", "log.dirs": "--data", "log.dir": "--data",
}  # fmt: skip


def check_known(names: Iterable[str]) -> None:
    """Raises InvalidSetting: for an unknown name, with the nearest known one."""
    taken = (*_SECURITY, *_OF_PLUGINS, *_OTHER_RELEASES)
    for name in names:
        if not (name in BROKER or name in OURS or name in FEATURES or name.startswith(taken)):
            hint = did_you_mean(name, (*BROKER, *OURS, *FEATURES))
            raise InvalidSetting(f"{name} is not a setting of a broker{hint}")


def without_effect(names: Iterable[str], ours: Collection[str]) -> Iterator[str]:
    """Notices about settings that a broker knows and that have no effect here."""
    idle = []
    for name in names:
        if name in _REPLACEMENTS:
            yield f"{name} has no effect here: use {_REPLACEMENTS[name]}"
        elif not (name in _EFFECTIVE or name in ours or name in FEATURES):
            idle.append(name)
    if idle:
        yield f"without effect here: {', '.join(idle)}"


BROKER_SETTINGS: Mapping[str, Field[object]] = {
    setting.name.replace("_", "."): setting for setting in fields(BrokerSettings) if setting.metadata
}
"""The fields of BrokerSettings, by their names in a broker's properties."""
OURS = frozenset((*BROKER_SETTINGS, *Config.names()))
"""The settings that are parsed here; some of them are unknown to a broker."""


def parse_settings(settings: Mapping[str, str]) -> tuple[BrokerSettings, Config]:
    """Parse settings by their names in a broker's properties. Raises InvalidSetting: with the reason."""
    check_known(settings)
    for name, text in settings.items():
        if name in FEATURES:
            parse_level(name, text)
        elif name in BROKER and name not in OURS:
            BROKER[name].parse(text)
    of_brokers = {
        BROKER_SETTINGS[name].name: BROKER_SETTINGS[name].metadata["parse"](name, text)
        for name, text in {**_of_synonyms(settings), **settings}.items()
        if name in BROKER_SETTINGS
    }
    of_coordinator = {name: text for name, text in settings.items() if name in Config.names()}
    return BrokerSettings(**of_brokers, given=dict(settings)), Config.parse(of_coordinator)


_SYNONYMS = {"log.roll.hours": ("log.roll.ms", 3_600_000), "broker.id": ("node.id", 1)}
"""By synonym: the setting that it sets if that is not given, and its unit as a multiple of that setting's."""


def _of_synonyms(settings: Mapping[str, str]) -> Mapping[str, str]:
    return {
        name: str(int(settings[synonym]) * units)
        for synonym, (name, units) in _SYNONYMS.items()
        if synonym in settings
    }
