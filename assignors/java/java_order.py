"""The order in which Java's hash maps give back their keys, and Java's natural orders.

Theory of operation. A `java.util.HashMap` keeps an array of bins whose length is a power of two; a key
falls into bin `spread(hash) & (length - 1)`. Iteration walks the bins in order. Inside a bin keys keep the
order in which they were put in, and doubling the array keeps that order too. So for keys that were put in
once each, the order is a stable sort by bin: `map_order`. Two things break the rule, both detected here:
the ninth key of one bin turns the bin into a red-black tree whose iteration order is not that of insertion
(`java_map` replays those maps key by key), or doubles an array below 64 early.

Hash codes are int64 arrays of values in [-2^31, 2^31). Capacities follow Java 17; where Java 19 and later
differ (`copied_capacity`), callers can ask for theirs.

Source: java.util.HashMap, HashSet, String.hashCode; org.apache.kafka.common.Uuid, TopicPartition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from assignors.java.java_map import Key, replay
from assignors.model import Ints

DEFAULT_CAPACITY = 16
MAXIMUM_CAPACITY = 1 << 30
TREEIFY_THRESHOLD = 8


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Indices into the insertion sequence, in iteration order."""

    indices: Ints
    determined: bool = True
    """False where Java falls back to identity hash codes: another run of the JVM may order them
    differently."""


def string_hashes(strings: Sequence[str]) -> Ints:
    """`String.hashCode` of each string, over its UTF-16 units."""
    encoded = [utf16(string) for string in strings]
    lengths = np.array([len(units) // 2 for units in encoded], dtype=np.int64)
    units = np.frombuffer(b"".join(encoded), dtype=">u2").astype(np.uint32)
    ends = np.cumsum(lengths)
    hashes = np.zeros(len(strings), dtype=np.uint32)
    if len(units) == 0:
        return hashes.astype(np.int64)
    powers = np.ones(int(lengths.max()), dtype=np.uint32)
    powers[1:] = np.multiply.accumulate(np.full(len(powers) - 1, 31, dtype=np.uint32))
    weighted = units * powers[np.repeat(ends, lengths) - 1 - np.arange(len(units))]
    filled = lengths > 0
    hashes[filled] = np.add.reduceat(weighted, (ends - lengths)[filled])
    return _signed(hashes)


def uuid_hashes(uuids: Sequence[UUID]) -> Ints:
    """`Uuid.hashCode`: both halves folded together."""
    return np.array([_uuid_hash(uuid) for uuid in uuids], dtype=np.int64)


def topic_partition_hashes(topic_hashes: Ints, partitions: Ints) -> Ints:
    """`TopicPartition.hashCode` for hash codes of topics and partition numbers, element by element."""
    return _signed((31 * (31 + partitions) + topic_hashes) & 0xFFFFFFFF)


def uuid_sort_key(uuid: UUID) -> tuple[int, int]:
    """Sorts like `Uuid.compareTo`: both halves as signed longs."""
    return _signed_long(uuid.int >> 64), _signed_long(uuid.int & (1 << 64) - 1)


def utf16(string: str) -> bytes:
    """Sorts like `String.compareTo`: UTF-16 units, big-endian, surrogates as they are."""
    return string.encode("utf-16-be", "surrogatepass")


def spread(hashes: Ints) -> Ints:
    """What HashMap makes of hash codes before it takes the bin: non-negative, below 2^32."""
    unsigned = hashes & 0xFFFFFFFF
    return unsigned ^ (unsigned >> 16)


def presized_capacity(initial: int) -> int:
    """Array length of `new HashMap(initial)`: the next power of two."""
    return 1 << max(0, initial - 1).bit_length() if initial > 1 else 1


def copied_capacity(size: int, *, java: int = 17) -> int:
    """Array length of `new HashSet(collection)`.

    Before Java 19 room for `size / 0.75 + 1` keys, since then for `ceil(size / 0.75)`: they differ for
    12, 24, 48, … keys.
    """
    needed = int(np.float32(size) / np.float32(0.75)) + 1 if java < 19 else -(-max(size, 12) * 4 // 3)
    return presized_capacity(max(needed, DEFAULT_CAPACITY))


def grown_capacity(size: int, capacity: int = DEFAULT_CAPACITY) -> int:
    """Array length after `size` keys were put in, without overfull bins."""
    while size > _threshold(capacity):
        capacity *= 2
    return capacity


def map_order(hashes: Ints, *, capacity: int = DEFAULT_CAPACITY, keys: Sequence[Key] | None = None) -> Order:
    """Iteration order of a HashMap into which distinct keys were put one by one.

    `capacity` is the array length at the start. `keys` are what Java compares keys with equal hash codes by
    (`utf16` of strings, `uuid_sort_key`, the integer itself); None for keys that Java cannot compare. They
    matter only in maps with overfull bins.
    """
    spreads = spread(hashes)
    if _overfull(spreads, capacity):
        indices, determined = replay(spreads.tolist(), capacity, keys)
        return Order(np.array(indices, dtype=np.int64), determined)
    bins = spreads & (grown_capacity(len(hashes), capacity) - 1)
    return Order(_stable_argsort(bins))


def _threshold(capacity: int) -> int:
    return capacity * 3 // 4


def _overfull(spreads: Ints, capacity: int) -> bool:
    """Whether some bin ever holds a ninth key while the array is `capacity`, twice that, and so on."""
    size = len(spreads)
    if size <= TREEIFY_THRESHOLD:
        return False
    while True:
        # The key that makes the array grow is still put into the old one.
        present = spreads[: _threshold(capacity) + 1]
        if np.bincount(present & (capacity - 1)).max() > TREEIFY_THRESHOLD:
            return True
        if size <= _threshold(capacity):
            return False
        capacity *= 2


def _stable_argsort(keys: Ints) -> Ints:
    # Sixteen-bit keys are radix sorted, an order of magnitude faster than wider ones.
    if len(keys) and keys.max() < 2**16:
        return np.argsort(keys.astype(np.uint16), kind="stable")
    return np.argsort(keys, kind="stable")


def _signed(hashes: NDArray[np.uint32] | Ints) -> Ints:
    return hashes.astype(np.uint32).astype(np.int32).astype(np.int64)


def _uuid_hash(uuid: UUID) -> int:
    folded = (uuid.int >> 64) ^ (uuid.int & (1 << 64) - 1)
    unsigned = (folded >> 32 ^ folded) & 0xFFFFFFFF
    return unsigned - (1 << 32) if unsigned >> 31 else unsigned


def _signed_long(unsigned: int) -> int:
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned
