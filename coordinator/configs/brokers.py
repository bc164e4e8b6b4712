"""Broker configs: given at the start, or dynamic, for a single broker or for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from coordinator.configs.definitions import BROKER

ALL = ""
"""The key of the dynamic configs of all brokers; the key of a single broker's configs is its node id."""


class ConfigSource(IntEnum):
    """The source of a value, in the numbers of DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    GROUP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Synonym:
    """A value from one source, as text; it applies unless a source of higher precedence has a value."""

    name: str
    value: str
    source: ConfigSource


class BrokerConfigs:
    """`static`: the configs given at the start; `dynamic`: configs set since, by node id or `ALL`."""

    def __init__(self, static: Mapping[str, str], dynamic: Mapping[str, Mapping[str, str]]) -> None:
        self.static = dict(static)
        self.dynamic = {broker: dict(values) for broker, values in dynamic.items()}
        self.changes = 0
        """Increases with every change."""

    def set(self, broker: str, values: Mapping[str, str]) -> None:
        """Replace the dynamic configs of a broker, or of `ALL`."""
        self.dynamic[broker] = dict(values)
        self.changes += 1

    def synonyms(self, name: str, node_id: int) -> tuple[Synonym, ...]:
        """The values of a config and its synonyms, by precedence; empty if the config itself has no value."""
        if self.value(name, node_id) is None:
            return ()
        definition = BROKER.get(name)
        return tuple(self._set((name, *(definition.synonyms if definition else ())), node_id))

    def value(self, name: str, node_id: int) -> str | None:
        """The effective text of a config itself, without its synonyms; None: it has no value."""
        return next((found.value for found in self._set((name,), node_id)), None)

    def _set(self, names: tuple[str, ...], node_id: int) -> Iterator[Synonym]:
        for source, values in (
            (ConfigSource.DYNAMIC_BROKER, self.dynamic.get(str(node_id), {})),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER, self.dynamic.get(ALL, {})),
            (ConfigSource.STATIC_BROKER, self.static),
            (ConfigSource.DEFAULT, _DEFAULTS),
        ):
            for name in names:
                if name in values:
                    yield Synonym(name=name, value=values[name], source=source)


_DEFAULTS = {name: one.default for name, one in BROKER.items() if one.default is not None}
