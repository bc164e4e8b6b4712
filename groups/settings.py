"""Settings of one group, checked by the rules of `GroupConfig.validate` (Kafka 4.3, 4.4), and the brokers' settings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from groups.model import Cluster

_SESSION, _HEARTBEAT = "session.timeout.ms", "heartbeat.interval.ms"
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_NOT_BY_RULE = {
    "streams.num.standby.replicas": (None, "group.streams.max.standby.replicas"),
    "streams.num.warmup.replicas": (None, "group.streams.max.warmup.replicas"),
}  # lower and upper; others are like `group.consumer.min.session.timeout.ms`
_LEAST = {
    "streams.num.standby.replicas": 0,
    "streams.num.warmup.replicas": 0,
    "streams.initial.rebalance.delay.ms": 0,
    "streams.acceptable.recovery.lag": 0,
}  # fixed in Kafka (`GroupConfig.CONFIG_DEF`)
_KINDS = {"errors": "share"}  # of settings that do not start with it: the dead-letter queue (KIP-1191)


class ConfigOrigin(Enum):
    GROUP = "group"  # set for this group
    BROKER = "broker"  # set on the brokers, for all groups of this type
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig:
    name: str
    value: str | None
    origin: ConfigOrigin
    default: str | None = None  # the value for a group without its own setting; None when not known
    minimum: int | None = None
    maximum: int | None = None

    @property
    def kind(self) -> str:
        """The group type to which it applies: consumer, share or streams."""
        first = self.name.partition(".")[0]
        return _KINDS.get(first, first)


def own_configs(settings: Mapping[str, str]) -> dict[str, GroupConfig]:
    """A group's own settings by name, for when the brokers' settings are not known."""
    return {
        name: GroupConfig(name=name, value=settings[name], origin=ConfigOrigin.GROUP)
        for name in sorted(settings)
    }


def own_settings(configs: Mapping[str, GroupConfig] | None) -> dict[str, str] | None:
    if configs is None:
        return None
    return {
        name: config.value
        for name, config in configs.items()
        if config.origin is ConfigOrigin.GROUP and config.value is not None
    }


def bounds(name: str, brokers: Iterable[Mapping[str, str | None]]) -> tuple[int | None, int | None]:
    """The minimum and maximum that every broker allows; None for a bound that does not exist or is not known."""
    kind, _, rest = name.partition(".")
    least, most = _NOT_BY_RULE.get(name, (f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"))
    settings = list(brokers)
    lows = [number for setting in settings if least and (number := _number(setting.get(least))) is not None]
    highs = [number for setting in settings if (number := _number(setting.get(most))) is not None]
    return max(lows, default=_LEAST.get(name)), min(highs, default=None)


def broker_default(name: str, brokers: Iterable[Mapping[str, str | None]]) -> str | None:
    """The brokers' value for groups without their own setting; None if they differ or have no such setting."""
    settings = {broker.get(f"group.{name}") for broker in brokers}
    return settings.pop() if len(settings) == 1 else None


def faults(changes: Mapping[str, str | None], known: Mapping[str, GroupConfig]) -> Iterator[tuple[str, str]]:
    """The name and fault of each change that the cluster would refuse; None removes the group's setting."""
    wrong: set[str] = set()
    for name, text in changes.items():
        fault = None if text is None else _fault(text, known[name])
        if fault is not None:
            wrong.add(known[name].kind)
            yield name, fault
    after = {
        name: changes[name]
        if changes.get(name) is not None
        else config.default
        if name in changes
        else config.value
        for name, config in known.items()
    }
    for kind in dict.fromkeys(known[name].kind for name in changes):
        if kind in wrong:
            continue
        session, heartbeat = f"{kind}.{_SESSION}", f"{kind}.{_HEARTBEAT}"
        lasts, beats = _number(after.get(session)), _number(after.get(heartbeat))
        if lasts is not None and beats is not None and lasts <= beats:
            changed = session if session in changes else heartbeat
            if changed in changes:
                yield changed, f"{session} ({lasts}) must be greater than {heartbeat} ({beats})"


def _fault(text: str, config: GroupConfig) -> str | None:
    if config.minimum is None and config.maximum is None:
        return None
    number = _number(text)
    if number is None:
        return f"{text!r} is not a whole number"
    if config.minimum is not None and number < config.minimum:
        return f"{number} is less than {config.minimum}, the brokers' minimum"
    if config.maximum is not None and number > config.maximum:
        return f"{number} is more than {config.maximum}, the brokers' maximum"
    return None


def _number(text: str | None) -> int | None:
    """A number as Kafka's ConfigDef reads it: surrounding blanks are ignored."""
    text = (text or "").strip()
    return int(text) if _INTEGER.fullmatch(text) else None


OFFSETS_RETENTION = "offsets.retention.minutes"
_OTHER_GROUPS = ("group.share.", "group.streams.")  # prefixes for groups that never migrate


def with_settings(
    cluster: Cluster, by_broker: Mapping[str, Mapping[str, str | None]], failed: Mapping[str, str]
) -> Cluster:
    """Any broker may be a group's coordinator, so a setting is known only if all brokers agree on it."""
    problem = "; ".join(f"broker {broker}: {message}" for broker, message in sorted(failed.items())) or None
    if not by_broker:
        return replace(cluster, settings_problem=problem)
    values: dict[str, set[str]] = {}
    for settings in by_broker.values():
        for name, value in settings.items():
            if value is not None and (
                name == OFFSETS_RETENTION
                or (name.startswith("group.") and not name.startswith(_OTHER_GROUPS))
            ):
                values.setdefault(name, set()).add(value)
    return replace(
        cluster,
        settings={name: min(texts) for name, texts in sorted(values.items()) if len(texts) == 1},
        settings_differ={
            name: tuple(sorted(texts)) for name, texts in sorted(values.items()) if len(texts) > 1
        },
        settings_problem=problem,
    )


_NEWEST_LEVELS = {
    "3.3": 7, "3.4": 8, "3.5": 11, "3.6": 14, "3.7": 19, "3.8": 20, "3.9": 21,
    "4.0": 25, "4.1": 27, "4.2": 29, "4.3": 30, "4.4": 33,
}  # fmt: skip
"""The highest metadata.version of each release (MetadataVersion of 4.4.0)."""

_FIRST_SHARE_FETCH_OF_4_2 = 2


def release_of(level: int | None, share_fetch: int | None = None) -> str | None:
    """A broker's release by its highest metadata.version; `share_fetch` tells an unstable 4.1 from 4.2."""
    if level is None:
        return None
    fitting = [release for release, newest in _NEWEST_LEVELS.items() if level <= newest]
    release = fitting[0] if fitting else "4.5 or later"
    if release == "4.2" and share_fetch is not None and share_fetch < _FIRST_SHARE_FETCH_OF_4_2:
        return "4.1"
    return release
