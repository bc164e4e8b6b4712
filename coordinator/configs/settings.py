"""The settings of the coordinator, of its brokers and of single groups: defaults, types and bounds, as in Kafka 4.4.
A field is the setting's name with `_` for `.`. Settings that have no effect here (share and streams groups, threads,
buffers) are unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import partial
from typing import Any

from assignors.assignor import Side
from assignors.errors import UnknownAssignorError
from assignors.registry import find, known
from coordinator.configs.release import Release
from coordinator.errors import InvalidSetting, RequestRefused
from wire.errors import ErrorCode
from wire.java_text import parse_number, trim
from wire.suggestion import did_you_mean

MAX_INT, MAX_LONG = 2**31 - 1, 2**63 - 1
DAY_MS = 86_400_000

ASSIGNORS = ("uniform", "range")
"""A broker's default assignors; the first is used if members request none."""
_CLASSES = {
    f"org.apache.kafka.coordinator.group.assignor.{name.capitalize()}Assignor": name for name in ASSIGNORS
}

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""The session timeout of a member's first join (CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS)."""


class MigrationPolicy(Enum):
    """`group.consumer.migration.policy`."""

    BIDIRECTIONAL = "bidirectional"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    DISABLED = "disabled"

    @property
    def upgrades(self) -> bool:
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)

    @property
    def downgrades(self) -> bool:
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


def parse_integer(name: str, text: str, *, minimum: int | None = None, maximum: int = MAX_INT) -> int:
    """Parse a number as ConfigDef does; InvalidSetting if it is malformed or out of bounds."""
    try:
        value = parse_number(trim(text))
    except ValueError:
        raise InvalidSetting(f"{name} must be an integer, not {text!r}") from None
    lowest = -MAX_INT - 1 if minimum is None else minimum
    if value < lowest:
        raise InvalidSetting(f"{name} must be at least {lowest}, not {value}")
    if value > maximum:
        raise InvalidSetting(f"{name} must be at most {maximum}, not {value}")
    return value


def _parse_boolean(name: str, text: str) -> bool:
    """`true` or `false` in any case, as in ConfigDef; InvalidSetting otherwise."""
    lowered = trim(text).lower()
    if lowered not in ("true", "false"):
        raise InvalidSetting(f"{name} must be true or false, not {text!r}")
    return lowered == "true"


def _parse_assignors(name: str, text: str) -> tuple[str, ...]:
    """Their names in requests, from their names or the full names of Kafka's classes."""
    names = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            names.append(find(_CLASSES.get(part, part), Side.BROKER).name)
        except UnknownAssignorError:
            choices = ", ".join(known(Side.BROKER))
            raise InvalidSetting(f"{name}: there is no assignor {part!r}, only {choices}") from None
    if not names or len(set(names)) != len(names):
        raise InvalidSetting(f"{name} must list at least one assignor, each once, not {text!r}")
    return tuple(names)


def _parse_choice(name: str, text: str, choices: type[Enum]) -> Enum:
    try:
        return choices(text.strip().lower())
    except ValueError:
        values = ", ".join(choice.value for choice in choices)
        raise InvalidSetting(f"{name} must be one of {values}, not {text!r}") from None


def _parse_ratio(name: str, text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        raise InvalidSetting(f"{name} must be a number, not {text!r}") from None
    if not 0 <= ratio <= 1:
        raise InvalidSetting(f"{name} must be from 0 to 1, not {text}")
    return ratio


def _other(default: object, parse: Callable[[str, str], object]) -> Any:
    return field(default=default, metadata={"parse": parse})


def _integer(default: int, minimum: int | None = None, maximum: int = MAX_INT) -> Any:
    return _other(default, partial(parse_integer, minimum=minimum, maximum=maximum))


def _choice(default: Enum) -> Any:
    return _other(default, partial(_parse_choice, choices=type(default)))


def _defined(default: object) -> Any:
    """A setting with the bounds and the messages of Kafka's definition."""

    def parse(name: str, text: str) -> object:
        from coordinator.configs.definitions import BROKER  # reading them takes as long as all of the rest

        return BROKER[name].parse(text)

    return _other(default, parse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting of the coordinator; times are in ms unless the name has another unit."""

    group_min_session_timeout_ms: int = _integer(6_000)
    group_max_session_timeout_ms: int = _integer(1_800_000)
    group_initial_rebalance_delay_ms: int = _integer(3_000)
    group_max_size: int = _integer(MAX_INT, 1)

    group_consumer_session_timeout_ms: int = _integer(45_000, 1)
    group_consumer_min_session_timeout_ms: int = _integer(45_000, 1)
    group_consumer_max_session_timeout_ms: int = _integer(60_000, 1)
    group_consumer_heartbeat_interval_ms: int = _integer(5_000, 1)
    group_consumer_min_heartbeat_interval_ms: int = _integer(5_000, 1)
    group_consumer_max_heartbeat_interval_ms: int = _integer(15_000, 1)
    group_consumer_max_size: int = _integer(MAX_INT, 1)
    group_consumer_assignors: tuple[str, ...] = _other(ASSIGNORS, _parse_assignors)
    group_consumer_migration_policy: MigrationPolicy = _choice(MigrationPolicy.BIDIRECTIONAL)  # noqa: RUF009 (an enum's members never change)
    group_consumer_assignment_interval_ms: int = _integer(1_000, 0)
    group_consumer_min_assignment_interval_ms: int = _integer(0, 0)
    group_consumer_max_assignment_interval_ms: int = _integer(15_000, 0)
    group_consumer_regex_refresh_interval_ms: int = _integer(600_000, 10_000)
    group_consumer_client_assignors_enable: bool = _other(False, _parse_boolean)
    """KIP-848's client-side assignors, which Kafka never shipped: Kohort's own setting."""

    kohort_release: Release = _choice(Release.KAFKA_4_4)  # noqa: RUF009 (as above)
    """The release whose coordinator this one is: Kohort's own setting."""

    offset_metadata_max_bytes: int = _integer(4_096)  # Compared with the number of UTF-16 units, not of bytes
    offsets_retention_minutes: int = _integer(10_080, 1)
    offsets_retention_check_interval_ms: int = _integer(600_000, 1, MAX_LONG)
    offsets_topic_num_partitions: int = _integer(50, 1)
    offsets_topic_replication_factor: int = _integer(3, 1, 2**15 - 1)
    offsets_topic_segment_bytes: int = _integer(100 << 20, 1)
    message_max_bytes: int = _integer(1_048_588, 0)
    """The maximum size of a batch of `__consumer_offsets`: the changes of a request are written as one batch."""

    def __post_init__(self) -> None:
        for lower, upper in _ORDERED:
            if getattr(self, lower) > getattr(self, upper):
                raise InvalidSetting(f"{_setting(lower)} must be less than or equal to {_setting(upper)}")
        if self.group_consumer_heartbeat_interval_ms >= self.group_consumer_session_timeout_ms:
            raise InvalidSetting(
                "group.consumer.heartbeat.interval.ms must be less than group.consumer.session.timeout.ms"
            )

    @classmethod
    def parse(cls, settings: Mapping[str, str]) -> Config:
        """Settings from their texts; missing settings have Kafka's defaults. InvalidSetting says what is wrong."""
        return cls().altered(settings)

    def altered(self, settings: Mapping[str, str]) -> Config:
        """The config with other values for some settings, from their texts. InvalidSetting says what is wrong."""
        parsers = {_setting(setting.name): setting for setting in fields(self)}
        values: dict[str, Any] = {}
        for name, text in settings.items():
            if name not in parsers:
                hint = did_you_mean(name, parsers)
                raise InvalidSetting(f"{name} is not a setting of the group coordinator{hint}")
            values[parsers[name].name] = parsers[name].metadata["parse"](name, text)
        return replace(self, **values)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """All settings, by their names in a broker's properties file."""
        return tuple(_setting(setting.name) for setting in fields(cls))

    @property
    def offsets_retention_ms(self) -> int:
        return self.offsets_retention_minutes * 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """The settings of the brokers. The log settings apply to a data directory, which is synchronized once a second
    by default, as a broker never does on its own."""

    node_id: int = _integer(1, 0)
    broker_rack: str | None = _other(None, lambda _, text: text or None)
    num_partitions: int = _integer(1, 1)
    default_replication_factor: int = _defined(1)
    log_flush_interval_ms: int = _integer(1_000, 1)
    log_roll_ms: int = _integer(7 * DAY_MS, 1, MAX_LONG)
    log_retention_check_interval_ms: int = _defined(300_000)
    log_cleaner_backoff_ms: int = _integer(15_000, 0, MAX_LONG)
    log_cleaner_min_cleanable_ratio: float = _other(0.5, _parse_ratio)
    log_cleaner_delete_retention_ms: int = _integer(DAY_MS, 0, MAX_LONG)
    transaction_max_timeout_ms: int = _defined(900_000)
    transactional_id_expiration_ms: int = _defined(7 * DAY_MS)
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = _defined(10_000)
    producer_id_expiration_ms: int = _defined(DAY_MS)
    transaction_state_log_num_partitions: int = _defined(50)
    transaction_state_log_replication_factor: int = _defined(3)
    transaction_state_log_segment_bytes: int = _defined(100 << 20)
    auto_create_topics_enable: bool = _defined(True)
    metrics_num_samples: int = _defined(2)
    metrics_sample_window_ms: int = _defined(30_000)
    group_coordinator_rebalance_protocols: tuple[str, ...] = _defined(("classic", "consumer", "streams"))
    given: Mapping[str, str] = field(default_factory=dict)
    """Every given setting, as text: the settings above, the coordinator's, and all others that Kafka knows."""


def _setting(name: str) -> str:
    return name.replace("_", ".")


_ORDERED = tuple(
    pair
    for kind in ("session_timeout_ms", "heartbeat_interval_ms", "assignment_interval_ms")
    for pair in (
        (f"group_consumer_min_{kind}", f"group_consumer_max_{kind}"),
        (f"group_consumer_min_{kind}", f"group_consumer_{kind}"),
        (f"group_consumer_{kind}", f"group_consumer_max_{kind}"),
    )
)
"""Pairs of settings; the second must not be smaller."""

_BOUNDED = ("heartbeat_interval_ms", "session_timeout_ms", "assignment_interval_ms")
"""Settings that have a minimum and a maximum on the broker, in the order in which it validates them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOverrides:
    """The overrides of a group; None: the broker's setting applies. A field is the config's name with `_` for `.`."""

    consumer_session_timeout_ms: int | None = None
    consumer_heartbeat_interval_ms: int | None = None
    consumer_assignment_interval_ms: int | None = None

    @classmethod
    def parse(cls, values: Mapping[str, str], broker: Config) -> GroupOverrides:
        """Validate all configs of a group; RequestRefused INVALID_CONFIG says what is wrong."""
        config = cls._read(values)
        _check_bounds(config, broker)
        return config

    @classmethod
    def capped(cls, values: Mapping[str, str], broker: Config) -> GroupOverrides:
        """Overrides that were validated earlier, within the broker's bounds of now. RequestRefused INVALID_CONFIG:
        invalid"""
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
    def names(cls) -> Mapping[str, str]:
        """The fields, by the names of the configs."""
        return {setting.name.replace("_", "."): setting.name for setting in fields(cls)}

    @classmethod
    def _read(cls, values: Mapping[str, str]) -> GroupOverrides:
        known = cls.names()
        for name in values:
            if name not in known:
                raise _invalid_config(f"Unknown group config name: {name}")
        return cls(**{known[name]: _parse_group_value(name, text) for name, text in values.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """The effective settings of a consumer group: its overrides, then the broker's."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


def consumer_settings(config: GroupOverrides | None, broker: Config) -> ConsumerSettings:
    """The overrides of a group if they are set, otherwise the broker's settings."""
    values = {}
    for what in _BOUNDED:
        override = None if config is None else getattr(config, f"consumer_{what}")
        values[what] = getattr(broker, f"group_consumer_{what}") if override is None else override
    return ConsumerSettings(**values)


def _parse_group_value(name: str, text: str) -> int:
    lowest = 0 if name == "consumer.assignment.interval.ms" else 1
    try:
        value = parse_number(trim(text))
    except ValueError:
        value = MAX_LONG
    if not -MAX_INT - 1 <= value <= MAX_INT:
        raise _invalid_config(f"Invalid value {text} for configuration {name}: Not a number of type INT")
    if value < lowest:
        raise _invalid_config(
            f"Invalid value {value} for configuration {name}: Value must be at least {lowest}"
        )
    return value


def beyond_limits(name: str, value: int, least: int | None, most: int | None) -> str | None:
    """Why a value is outside of its limits, of which None are not checked; None if it is not."""
    if (least is None or value >= least) and (most is None or value <= most):
        return None
    if least is not None and most is not None:
        return f"{name} must be in the range {least} to {most} inclusive."
    limit = f"greater than or equal to {least}" if most is None else f"less than or equal to {most}"
    return f"{name} must be {limit}"


def _check_bounds(config: GroupOverrides, broker: Config) -> None:
    for what in _BOUNDED:
        value = getattr(config, f"consumer_{what}")
        if value is None:
            continue
        name = f"consumer.{what}".replace("_", ".")
        least, most = (getattr(broker, f"group_consumer_{bound}_{what}") for bound in ("min", "max"))
        why = beyond_limits(name, value, least, most)
        if why is not None:
            raise _invalid_config(why)
    effective = consumer_settings(config, broker)
    if effective.session_timeout_ms <= effective.heartbeat_interval_ms:
        raise _invalid_config(
            "consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms"
        )


def _invalid_config(message: str) -> RequestRefused:
    return RequestRefused(ErrorCode.INVALID_CONFIG, message)
