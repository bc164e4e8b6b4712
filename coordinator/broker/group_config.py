"""Settings of a single group: config resources of type GROUP (32), Kafka's `GroupConfig`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from coordinator.broker.config import Config, InvalidSetting, parse_boolean, parse_integer, unknown_name
from coordinator.broker.errors import CoordinatorError, ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig:
    """What was set for a group; None: the broker's own setting counts. A field is the name with `_` for `.`."""

    consumer_session_timeout_ms: int | None = None
    consumer_heartbeat_interval_ms: int | None = None
    consumer_assignment_interval_ms: int | None = None
    consumer_assignor_offload_enable: bool | None = None

    @classmethod
    def parse(cls, values: Mapping[str, str], broker: Config) -> GroupConfig:
        """Judge the whole of a group's settings; CoordinatorError INVALID_CONFIG says what is wrong."""
        names = cls.names()
        parsed: dict[str, Any] = {}
        for name, text in values.items():
            if name not in names:
                raise _invalid(unknown_name(name, list(names), "setting of a group"))
            parsed[name.replace(".", "_")] = _parse(name, text)
        config = cls(**parsed)
        _check_bounds(config, broker)
        return config

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(each.name.replace("_", ".") for each in fields(cls))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """What counts for a consumer group: its own settings over the broker's."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    assignor_offload_enable: bool


def consumer_settings(config: GroupConfig | None, broker: Config) -> ConsumerSettings:
    """A group's own settings where it has any, else the broker's."""
    own = config or GroupConfig()

    def of(mine: int | None, brokers: int) -> int:
        return brokers if mine is None else mine

    offload = own.consumer_assignor_offload_enable
    return ConsumerSettings(
        session_timeout_ms=of(own.consumer_session_timeout_ms, broker.group_consumer_session_timeout_ms),
        heartbeat_interval_ms=of(
            own.consumer_heartbeat_interval_ms, broker.group_consumer_heartbeat_interval_ms
        ),
        assignment_interval_ms=of(
            own.consumer_assignment_interval_ms, broker.group_consumer_assignment_interval_ms
        ),
        assignor_offload_enable=broker.group_consumer_assignor_offload_enable if offload is None else offload,
    )


def _parse(name: str, text: str) -> int | bool:
    try:
        if name.endswith(".enable"):
            return parse_boolean(name, text)
        return parse_integer(name, text, minimum=0 if "assignment" in name else 1)
    except InvalidSetting as error:
        raise _invalid(str(error)) from None


def _check_bounds(config: GroupConfig, broker: Config) -> None:
    for what in ("heartbeat_interval_ms", "session_timeout_ms", "assignment_interval_ms"):
        value = getattr(config, f"consumer_{what}")
        if value is None:
            continue
        name = f"consumer.{what}".replace("_", ".")
        if value < getattr(broker, f"group_consumer_min_{what}"):
            raise _invalid(
                f"{name} must be greater than or equal to {name.replace('consumer', 'group.consumer.min')}"
            )
        if value > getattr(broker, f"group_consumer_max_{what}"):
            raise _invalid(
                f"{name} must be less than or equal to {name.replace('consumer', 'group.consumer.max')}"
            )
    effective = consumer_settings(config, broker)
    if effective.session_timeout_ms <= effective.heartbeat_interval_ms:
        raise _invalid("consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms")


def _invalid(message: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.INVALID_CONFIG, message)
