"""A consumer's settings, by Kafka's names; times in ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from coordinator.errors import InvalidSetting
from wire.suggestion import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSettings:
    """The settings of ConsumerConfig, with `_` for `.` in their names; the defaults are those of Java 4.3."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    """Also the rebalance timeout."""
    enable_auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    request_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
    metadata_max_age_ms: int = 300_000

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all settings, as Kafka writes them."""
        return tuple(field.name.replace("_", ".") for field in fields(cls))

    @classmethod
    def parse(cls, settings: Mapping[str, object]) -> MemberSettings:
        """Settings from Kafka's names and texts (or numbers).

        :raises InvalidSetting: says what is wrong, with the nearest name
        """
        known = {field.name.replace("_", "."): field for field in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in settings.items():
            if name not in known:
                hint = did_you_mean(name, known)
                raise InvalidSetting(f"{name} is not a setting that a simulated consumer has{hint}")
            values[known[name].name] = _value(
                name, str(value), is_boolean=isinstance(known[name].default, bool)
            )
        return cls(**values)


def _value(name: str, text: str, *, is_boolean: bool) -> int | bool:
    if is_boolean:
        if text.lower() not in ("true", "false"):
            raise InvalidSetting(f"{name} must be true or false, not {text!r}")
        return text.lower() == "true"
    if not text.isdecimal() or not 0 < int(text) < 2**31:
        raise InvalidSetting(f"{name} must be a number of ms from 1 to 2147483647, not {text!r}")
    return int(text)
