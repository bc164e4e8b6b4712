"""The settings of a broker's properties file that have an effect here, and notices about the others.

A broker ignores names that it does not know; here they are refused, as most of them are typos.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from coordinator.configs.definitions import BROKER, TOPIC
from coordinator.configs.features import FEATURES
from coordinator.errors import InvalidSetting
from wire.suggestion import did_you_mean

EFFECTIVE_OF_TOPICS = (
    "cleanup.policy",
    "compression.type",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "min.insync.replicas",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.ms",
)
"""The topic configs that have an effect on records."""
_EFFECTIVE = {
    "auto.create.topics.enable",
    "broker.id",
    "group.coordinator.rebalance.protocols",
    *(
        each
        for name in EFFECTIVE_OF_TOPICS
        for of in TOPIC[name].synonyms
        for each in (of, *BROKER[of].synonyms)
    ),
}
_SECURITY = ("ssl.", "sasl.", "security.", "listener.", "authorizer.", "super.users", "allow.everyone.")
"""Prefixes of security settings."""
_OF_PLUGINS = ("rsm.config.", "rlmm.config.", "config.providers.", "metrics.", "confluent.")
_OTHER_RELEASES = (
    # 4.4
    "errors.deadletterqueue.", "group.consumer.assignor.offload.enable", "group.share.assignor.offload.enable",
    "group.share.dlq.manager.class.name", "group.streams.", "log.remote.copy.lag.", "max.decompressed.message.bytes",
    # before 4.0
    "broker.id.generation.enable", "control.plane.listener.name", "group.coordinator.new.enable",
    "inter.broker.protocol.version", "log.message.downconversion.enable", "log.message.format.version",
    "log.message.timestamp.difference.max.ms", "offsets.commit.required.acks", "password.encoder.",
    "reserved.broker.max.id", "zookeeper.",
)  # fmt: skip
"""Prefixes of settings that Kafka 4.3 does not know and other releases do."""
_REPLACEMENTS = {
    "listeners": "--listen",
    "advertised.listeners": "--advertise",
    "log.dirs": "--data",
    "log.dir": "--data",
}


def check_known(names: Iterable[str], ours: Collection[str]) -> None:
    """`ours` are known besides Kafka's. :raises InvalidSetting: for an unknown name, with the nearest known one"""
    taken = (*_SECURITY, *_OF_PLUGINS, *_OTHER_RELEASES)
    for name in names:
        if not (name in BROKER or name in ours or name in FEATURES or name.startswith(taken)):
            hint = did_you_mean(name, (*BROKER, *ours, *FEATURES))
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
