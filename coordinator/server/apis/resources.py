"""Config resources: what of them this server knows. Those of groups can be set, others are described as empty."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from coordinator.engine.config import Config

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
TYPES = frozenset({TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP})
INT = 3


class Source(IntEnum):
    """Where a value comes from, as DescribeConfigs says it."""

    STATIC_BROKER = 4
    DEFAULT = 5
    GROUP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSetting:
    """A setting of a group and the broker's setting that counts without it."""

    name: str
    broker_name: str
    documentation: str


def _setting(name: str, documentation: str) -> GroupSetting:
    return GroupSetting(name=name, broker_name=f"group.{name}", documentation=documentation)


GROUP_SETTINGS = {
    setting.name: setting
    for setting in (
        _setting(
            "consumer.session.timeout.ms",
            "The timeout to detect client failures when using the consumer group protocol.",
        ),
        _setting(
            "consumer.heartbeat.interval.ms",
            "The heartbeat interval given to the members of a consumer group.",
        ),
        _setting(
            "consumer.assignment.interval.ms", "The interval between assignment updates for a consumer group."
        ),
    )
}


def broker_value(config: Config, setting: GroupSetting) -> str:
    """The broker's own value of a setting."""
    value: Any = getattr(config, setting.broker_name.replace(".", "_"))
    return str(value)
