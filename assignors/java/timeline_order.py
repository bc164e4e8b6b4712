"""The order in which the broker walks the members of a consumer group.

`ModernGroup.members` is a TimelineHashMap, whose order is not that of java.util.HashMap: slots by Fibonacci hashing,
and inside a slot the latest first. A consumer group is described in this order already. A classic group is described
in the order of its HashMap, in which a conversion puts its members into the new map (`ConsumerGroup.fromClassicGroup`).

Source: org.apache.kafka.timeline.BaseHashTable, SnapshottableHashTable.CurrentIterator (Kafka 4.3.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from assignors.java.hash_map import string_hashes

FIRST_CAPACITY = 2
LOAD_FACTOR = 0.75
GOLDEN = 0x9E3779B97F4A7C15
"""BaseHashTable.findSlot's -7046029254386353131, unsigned: 2**64 by the golden ratio."""
LONG = 2**64


def timeline_order(ids: Sequence[str], capacity: int = FIRST_CAPACITY) -> list[int]:
    """Indices into the ids, all different and put in one after another, in iteration order.

    `capacity` is the number of slots that the map grew to before: it does not shrink when ids are taken out.
    """
    bits = grown(capacity, len(ids)).bit_length() - 1
    slots = [(int(hash_) * GOLDEN % LONG) >> (64 - bits) for hash_ in string_hashes(ids).tolist()]
    return sorted(range(len(ids)), key=lambda index: (slots[index], -index))


def grown(capacity: int, size: int) -> int:
    """The number of slots once so many are in: a power of two, doubled just before it would be too full."""
    while size * LOAD_FACTOR > capacity:
        capacity *= 2
    return capacity
