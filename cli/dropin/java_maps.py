"""The order in which Java 17's hash maps give back groups, topics and partitions.

The tool prints in this order, sets and deletes groups in it, and stops in the middle of it where something fails. Keys
that share a bin of the map come in the order in which they were put in, so the maps that the tool and Kafka's client
fill from one another are followed one by one. Where one of them is ordered by identity hashes or by a seed of the JVM
(groups, and the partitions of a moment) such neighbours come in another order in every run of the tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from groups.offsets.model import Place

if TYPE_CHECKING:
    from assignors.model import Ints

K = TypeVar("K", str, Place)

_DEFAULT_CAPACITY = 16
_LOAD_FACTOR = 0.75


def in_order(keys: Iterable[K]) -> list[K]:
    """The keys of a `HashMap` into which they were put in this order; one that comes twice counts once."""
    return _ordered(keys, lambda _: _DEFAULT_CAPACITY)


def in_order_presized(keys: Iterable[K]) -> list[K]:
    """The same of `new HashMap<>(size)`, made for as many keys as there are."""
    return _ordered(keys, lambda size: size)


def in_order_copied(keys: Iterable[K]) -> list[K]:
    """The same of an empty map into which another one was put as a whole, as `new HashMap<>(map)` does it."""
    return _ordered(keys, lambda size: int(size / _LOAD_FACTOR + 1))


def _ordered(keys: Iterable[K], capacity: Callable[[int], int]) -> list[K]:
    """`capacity` tells from the number of keys how many the map was made for."""
    once = list(dict.fromkeys(keys))
    if len(once) < 2:
        return once
    from assignors.java.hash_map import map_order, presized_capacity

    order = map_order(_hashes(once), capacity=presized_capacity(capacity(len(once))))
    return [once[index] for index in order.indices]


def _hashes(keys: Sequence[str] | Sequence[Place]) -> Ints:
    import numpy as np

    from assignors.java.hash_map import string_hashes, topic_partition_hashes

    places = [key for key in keys if not isinstance(key, str)]
    if not places:
        return string_hashes([key for key in keys if isinstance(key, str)])
    topics = list(dict.fromkeys(topic for topic, _ in places))
    hashes = dict(zip(topics, string_hashes(topics).tolist(), strict=True))
    return topic_partition_hashes(
        np.array([hashes[topic] for topic, _ in places], dtype=np.int64),
        np.array([partition for _, partition in places], dtype=np.int64),
    )
