"""Group configs that the coordinator does not use: configs of share and streams groups, stored as by a broker.

Source: GroupConfig, GroupConfigManager.
"""

from __future__ import annotations

from collections.abc import Mapping

from coordinator.configs.brokers import BrokerConfigs
from coordinator.configs.definitions import BROKER, GROUP
from coordinator.errors import InvalidSetting

CONSUMER = "consumer."


def of_consumer_groups(values: Mapping[str, str]) -> dict[str, str]:
    """The consumer group configs among the configs of a group, including unknown ones."""
    return {name: text for name, text in values.items() if name.startswith(CONSUMER) or name not in GROUP}


def check_others(values: Mapping[str, str], brokers: BrokerConfigs, node_id: int) -> None:
    """Validate all configs except those of consumer groups. :raises InvalidSetting: with Kafka's message"""
    for name, text in values.items():
        if name not in GROUP:
            raise InvalidSetting(f"Unknown group config name: {name}")
        if not name.startswith(CONSUMER):
            _check_bounds(name, GROUP[name].parse(text), brokers, node_id)


def _check_bounds(name: str, value: object, brokers: BrokerConfigs, node_id: int) -> None:
    kind, _, rest = name.partition(".")
    for bound, than in (("min", "greater"), ("max", "less")):
        of = f"group.{kind}.{bound}.{rest.removeprefix('num.')}"
        limit = int(brokers.value(of, node_id) or 0) if of in BROKER else None
        if (
            isinstance(value, int)
            and limit is not None
            and (value < limit if bound == "min" else value > limit)
        ):
            raise InvalidSetting(f"{name} must be {than} than or equal to {of}")
