"""The order in which Java 17's hash maps give back groups and partitions.

The tool prints both in this order, sets and deletes groups in it, and stops in the middle of it where something fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from coordinator.offset_changes.model import Place

if TYPE_CHECKING:
    from assignors.model import Ints

_DEFAULT_CAPACITY = 16


def names_in_order(names: Iterable[str]) -> list[str]:
    """The keys of a `HashMap` into which names were put in this order; a name that comes twice counts once."""
    keys = list(dict.fromkeys(names))
    if len(keys) < 2:
        return keys
    from assignors.java_order import map_order, string_hashes, utf16

    order = map_order(string_hashes(keys), keys=[utf16(key) for key in keys])
    return [keys[index] for index in order.indices]


def places_in_order(places: Iterable[Place]) -> list[Place]:
    """The keys of a `HashMap` into which partitions were put in this order; one that comes twice counts once."""
    return _ordered(places, lambda _: _DEFAULT_CAPACITY)


def presized_places(places: Iterable[Place]) -> list[Place]:
    """The same of a `HashMap` that was made for as many keys as there are partitions."""
    return _ordered(places, lambda count: count)


def copied_places(places: Iterable[Place]) -> list[Place]:
    """The same of an empty `HashMap` into which a map of partitions was put as a whole."""
    return _ordered(places, lambda count: int(count / 0.75 + 1))


def _ordered(places: Iterable[Place], capacity: Callable[[int], int]) -> list[Place]:
    """`capacity` tells from the number of partitions how many the map was made for."""
    keys = list(dict.fromkeys(places))
    if len(keys) < 2:
        return keys
    from assignors.java_order import map_order, presized_capacity

    order = map_order(_hashes(keys), capacity=presized_capacity(capacity(len(keys))))
    return [keys[index] for index in order.indices]


def _hashes(places: Sequence[Place]) -> Ints:
    import numpy as np

    from assignors.java_order import string_hashes, topic_partition_hashes

    topics = list(dict.fromkeys(topic for topic, _ in places))
    numbers = dict(zip(topics, string_hashes(topics).tolist(), strict=True))
    return topic_partition_hashes(
        np.array([numbers[topic] for topic, _ in places], dtype=np.int64),
        np.array([partition for _, partition in places], dtype=np.int64),
    )
