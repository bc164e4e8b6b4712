"""The settings of brokers: what they were started with, and what was set since, for one of them or for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from coordinator.configs.definitions import BROKER

ALL = ""
"""The name under which dynamic settings of all brokers are kept; those of one are kept under its node id."""


class ConfigSource(IntEnum):
    """Where a value comes from, in the numbers of DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    GROUP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Synonym:
    """A value that is set somewhere, as a text, and counts unless something more important is set."""

    name: str
    value: str
    source: ConfigSource


class BrokerConfigs:
    """`static` is what the brokers were started with; `dynamic` what was set since, by node id or `ALL`."""

    def __init__(self, static: Mapping[str, str], dynamic: Mapping[str, Mapping[str, str]]) -> None:
        self.static = dict(static)
        self.dynamic = {broker: dict(values) for broker, values in dynamic.items()}
        self.changes = 0
        """Grows with every change."""

    def set(self, broker: str, values: Mapping[str, str]) -> None:
        """Replace the dynamic settings of a broker, or of `ALL`."""
        self.dynamic[broker] = dict(values)
        self.changes += 1

    def synonyms(self, name: str, node_id: int) -> tuple[Synonym, ...]:
        """What counts for a setting of a broker, the most important first; nothing where it has no value itself."""
        if self.value(name, node_id) is None:
            return ()
        definition = BROKER.get(name)
        return tuple(self._set((name, *(definition.synonyms if definition else ())), node_id))

    def value(self, name: str, node_id: int) -> str | None:
        """The text that counts for a setting itself, whatever its synonyms say; None: it has none."""
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
