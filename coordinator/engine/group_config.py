"""Settings of a single group: config resources of type GROUP (32), judged in the words of a broker.

Source: coordinator.group.GroupConfig of Kafka 4.3.1, as far as consumer groups go. `consumer.assignor.offload.enable`
is in its constants and not among its settings: a running broker refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from coordinator.engine.config import MAX_INT, Config
from coordinator.engine.java_string import parse_number, trim
from wire.errors import CoordinatorError, ErrorCode

_BOUNDED = ("heartbeat_interval_ms", "session_timeout_ms", "assignment_interval_ms")
"""The broker has a least and a most for each, and judges them in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig:
    """What was set for a group; None: the broker's own setting counts. A field is the name with `_` for `.`."""

    consumer_session_timeout_ms: int | None = None
    consumer_heartbeat_interval_ms: int | None = None
    consumer_assignment_interval_ms: int | None = None

    @classmethod
    def parse(cls, values: Mapping[str, str], broker: Config) -> GroupConfig:
        """Judge the whole of a group's settings; CoordinatorError INVALID_CONFIG says what is wrong."""
        config = cls._read(values)
        _check_bounds(config, broker)
        return config

    @classmethod
    def capped(cls, values: Mapping[str, str], broker: Config) -> GroupConfig:
        """Settings that were judged long ago: what is beyond the broker's bounds of today counts as the bound.

        CoordinatorError INVALID_CONFIG: one is unknown or no number
        """
        config = cls._read(values)
        caps = {}
        for what in _BOUNDED:
            value = getattr(config, f"consumer_{what}")
            if value is not None:
                least = getattr(broker, f"group_consumer_min_{what}")
                most = getattr(broker, f"group_consumer_max_{what}")
                caps[f"consumer_{what}"] = min(max(value, least), most)
        return replace(config, **caps)

    @classmethod
    def _read(cls, values: Mapping[str, str]) -> GroupConfig:
        known = {each.name.replace("_", "."): each.name for each in fields(cls)}
        for name in values:
            if name not in known:
                raise _invalid(f"Unknown group config name: {name}")
        return cls(**{known[name]: _parse(name, text) for name, text in values.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """What counts for a consumer group: its own settings over the broker's."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


def consumer_settings(config: GroupConfig | None, broker: Config) -> ConsumerSettings:
    """A group's own settings where it has any, else the broker's."""
    own = config or GroupConfig()

    def of(mine: int | None, brokers: int) -> int:
        return brokers if mine is None else mine

    return ConsumerSettings(
        session_timeout_ms=of(own.consumer_session_timeout_ms, broker.group_consumer_session_timeout_ms),
        heartbeat_interval_ms=of(
            own.consumer_heartbeat_interval_ms, broker.group_consumer_heartbeat_interval_ms
        ),
        assignment_interval_ms=of(
            own.consumer_assignment_interval_ms, broker.group_consumer_assignment_interval_ms
        ),
    )


def _parse(name: str, text: str) -> int:
    lowest = 0 if name == "consumer.assignment.interval.ms" else 1
    try:
        value = parse_number(trim(text))
    except ValueError:
        value = None
    if value is None or not -MAX_INT - 1 <= value <= MAX_INT:
        raise _invalid(f"Invalid value {text} for configuration {name}: Not a number of type INT")
    if value < lowest:
        raise _invalid(f"Invalid value {value} for configuration {name}: Value must be at least {lowest}")
    return value


def _check_bounds(config: GroupConfig, broker: Config) -> None:
    for what in _BOUNDED:
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
