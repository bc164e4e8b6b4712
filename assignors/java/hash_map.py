"""The iteration order of Java's hash maps, and Java's natural orders.

Theory of operation. A `java.util.HashMap` has an array of bins whose length is a power of two; a key is in bin
`spread(hash) & (length - 1)`. Iteration walks the bins in order. In a bin keys keep the order of insertion, and
doubling the array keeps that order too. So for keys that were each inserted once, the order is a stable sort by bin:
`map_order`. Two exceptions are detected here: the ninth key of a bin turns the bin into a red-black tree, which has
another iteration order than that of insertion (`JavaMap` replays these maps key by key), or doubles an array below 64
early.
Hash codes are int64 arrays of values in [-2^31, 2^31). Capacities follow Java 17; where Java 19 and later
differ (`copied_capacity`), callers can ask for theirs.

`JavaMap`. `put` adds a new key last in its bin, `compute_if_absent` first. Both double the array when it is too full,
`put` after the insertion, `compute_if_absent` before, and even if the key already exists. One key too many in a bin
doubles an array that is shorter than 64, and otherwise turns the bin into a red-black tree. A tree bin still links its
keys, and iteration follows that list; but a new key is linked right after its parent in the tree, and whenever the root
changes the new root moves to the front of the list. An array never shrinks.

Keys are indices into their spread hash codes, and into the values by which Java compares them.

`_Tree`, the red-black tree of one bin: the textbook's insertion and removal, as in HashMap. It orders keys by spread
hash code as a signed integer, equal ones by `compareTo`, and those that Java cannot compare by identity hash code: only
then the order is unknown outside the JVM. Keys are integers that `less` compares.

Members: both the leader (ConsumerCoordinator.onLeaderElected) and the broker (TargetAssignmentBuilder.build) put them
one by one into a `new HashMap<>()` keyed by member id.

Source: java.util.HashMap (putVal, computeIfAbsent, removeNode, resize, treeifyBin, TreeNode), HashSet, String.hashCode;
org.apache.kafka.common.Uuid, TopicPartition.

The members of a consumer group: `ModernGroup.members` is a TimelineHashMap, whose order differs from that of
java.util.HashMap: slots by Fibonacci hashing, and in a slot the latest first. The description of a consumer group is
already in this order. The description of a classic group is in the order of its HashMap; in this order a conversion
inserts the members into the new map (`ConsumerGroup.fromClassicGroup`).

Source: org.apache.kafka.timeline.BaseHashTable, SnapshottableHashTable.CurrentIterator (Kafka 4.3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from assignors.model import Ints, MemberSpec, stable_order

DEFAULT_CAPACITY = 16
TREEIFY_THRESHOLD = 8


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Indices into the insertion sequence, in iteration order."""

    indices: Ints
    determined: bool = True
    """False if Java falls back to identity hash codes: another run of the JVM may order them differently."""


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
    folded = [(uuid.int >> 64) ^ (uuid.int & (1 << 64) - 1) for uuid in uuids]
    return _signed(np.array([(half >> 32 ^ half) & 0xFFFFFFFF for half in folded], dtype=np.int64))


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
    """HashMap's spread of hash codes before it computes the bin: non-negative, below 2^32."""
    unsigned = hashes & 0xFFFFFFFF
    return unsigned ^ (unsigned >> 16)


def presized_capacity(initial: int) -> int:
    """Array length of `new HashMap(initial)`: the next power of two."""
    return 1 << max(0, initial - 1).bit_length() if initial > 1 else 1


def copied_capacity(size: int, *, java: int = 17) -> int:
    """Array length of `new HashSet(collection)`: since Java 19 for `ceil(size / 0.75)` keys: 12, 24, 48, … differ."""
    needed = int(np.float32(size) / np.float32(0.75)) + 1 if java < 19 else -(-max(size, 12) * 4 // 3)
    return presized_capacity(max(needed, DEFAULT_CAPACITY))


def grown_capacity(size: int, capacity: int = DEFAULT_CAPACITY) -> int:
    """Array length after `size` insertions, without overfull bins."""
    while size > _threshold(capacity):
        capacity *= 2
    return capacity


def map_order(hashes: Ints, *, capacity: int = DEFAULT_CAPACITY, keys: Sequence[Key] | None = None) -> Order:
    """Iteration order of a HashMap into which distinct keys were inserted one at a time, from a `capacity` on. `keys`
    are the values by which Java compares keys with equal hash codes; None for keys that Java cannot compare."""
    spreads = spread(hashes)
    if _overfull(spreads, capacity):
        table = JavaMap(spreads.tolist(), capacity, keys)
        for index in range(len(spreads)):
            table.put(index)
        return Order(np.array(list(table), dtype=np.int64), table.determined)
    bins = spreads & (grown_capacity(len(hashes), capacity) - 1)
    return Order(stable_order(bins))


def _threshold(capacity: int) -> int:
    return capacity * 3 // 4


def _overfull(spreads: Ints, capacity: int) -> bool:
    """Whether some bin ever has a ninth key while the array is `capacity`, twice that, and so on."""
    size = len(spreads)
    if size <= TREEIFY_THRESHOLD:
        return False
    while True:
        # The key that makes the array grow is still inserted into the old one.
        present = spreads[: _threshold(capacity) + 1]
        if np.bincount(present & (capacity - 1)).max() > TREEIFY_THRESHOLD:
            return True
        if size <= _threshold(capacity):
            return False
        capacity *= 2


def _signed(hashes: NDArray[np.uint32] | Ints) -> Ints:
    return hashes.astype(np.uint32).astype(np.int32).astype(np.int64)


def _signed_int(unsigned: int) -> int:
    return unsigned - (1 << 32) if unsigned >> 31 else unsigned


def _signed_long(unsigned: int) -> int:
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


Key = bytes | int | tuple[int, int]
"""The operands of `compareTo`: bytes of UTF-16 units, an integer, the halves of a Uuid."""

UNTREEIFY_THRESHOLD = 6
MIN_TREEIFY_CAPACITY = 64


class JavaMap:
    """The keys of a HashMap; iterating returns them in Java's order."""

    def __init__(
        self, spreads: Sequence[int] | Mapping[int, int], capacity: int, keys: Sequence[Key] | None
    ) -> None:
        self.spreads, self.keys, self.capacity = spreads, keys, capacity
        self.size = 0
        self.determined = True
        self._bins: dict[int, _Bin] = {}

    def __iter__(self) -> Iterator[int]:
        for slot in sorted(self._bins):
            yield from self._bins[slot].chain

    def put(self, key: int) -> None:
        bin_ = self._bin(key)
        if bin_.tree is not None:
            bin_.insert(key)
        else:
            bin_.chain.append(key)
            if len(bin_.chain) > TREEIFY_THRESHOLD:
                self._treeify(bin_)
        self.size += 1
        if self._too_full():
            self._double()

    def compute_if_absent(self, key: int) -> None:
        """Add a key first in its bin, after doubling, unless it exists; `put` adds last, and doubles afterwards."""
        if self._too_full():
            self._double()
        bin_ = self._bin(key)
        if key in bin_.chain:
            return
        if bin_.tree is not None:
            bin_.insert(key)
        else:
            bin_.chain.insert(0, key)
            if len(bin_.chain) >= TREEIFY_THRESHOLD:
                self._treeify(bin_)
        self.size += 1

    def remove(self, key: int) -> None:
        bin_ = self._bin(key)
        if key in bin_.chain:
            bin_.remove(key)
            self.size -= 1

    def _bin(self, key: int) -> _Bin:
        slot = self.spreads[key] & (self.capacity - 1)
        bin_ = self._bins.get(slot)
        if bin_ is None:
            bin_ = self._bins[slot] = _Bin([])
        return bin_

    def _too_full(self) -> bool:
        return self.size > self.capacity * 3 // 4

    def _treeify(self, bin_: _Bin) -> None:
        if self.capacity < MIN_TREEIFY_CAPACITY:
            self._double()
        else:
            bin_.treeify(self._less)

    def _double(self) -> None:
        bit = self.capacity
        self.capacity *= 2
        bins: dict[int, _Bin] = {}
        for slot, bin_ in self._bins.items():
            for half in (0, bit):
                chain = [key for key in bin_.chain if self.spreads[key] & bit == half]
                if chain:
                    bins[slot + half] = bin_.part(chain, self._less)
        self._bins = bins

    def _less(self, left: int, right: int) -> bool:
        if self.spreads[left] != self.spreads[right]:
            # Java compares the spread hash codes as signed integers.
            return _signed_int(self.spreads[left]) < _signed_int(self.spreads[right])
        if self.keys is None:
            self.determined = False
            return left < right
        a, b = self.keys[left], self.keys[right]
        return a < b  # type: ignore[operator]  # the keys of one map are of one type


class _Bin:
    def __init__(self, chain: list[int]) -> None:
        self.chain = chain  # keys in iteration order
        self.tree: _Tree | None = None

    def treeify(self, less: Less) -> None:
        self.tree = _Tree(less)
        for key in self.chain:
            self.tree.insert(key)
        self._root_to_front(self.tree)

    def insert(self, key: int) -> None:
        if self.tree is None:
            raise ValueError("the bin is a list")
        parent = self.tree.insert(key)
        self.chain.insert(self.chain.index(parent) + 1, key)
        self._root_to_front(self.tree)

    def remove(self, key: int) -> None:
        self.chain.remove(key)
        if self.tree is None:
            return
        if self.tree.too_small():
            self.tree = None
        else:
            self.tree.remove(key)
            self._root_to_front(self.tree)

    def part(self, chain: list[int], less: Less) -> _Bin:
        """The bin of `chain`, the keys that stay together when the array doubles."""
        if self.tree is not None and len(chain) == len(self.chain):
            return self
        part = _Bin(chain)
        if self.tree is not None and len(chain) > UNTREEIFY_THRESHOLD:
            part.treeify(less)
        return part

    def _root_to_front(self, tree: _Tree) -> None:
        root = tree.root
        if root is not None and self.chain[0] != root:
            self.chain.remove(root)
            self.chain.insert(0, root)


Less = Callable[[int, int], bool]
Links = dict[int, int | None]


class _Tree:
    """A red-black tree: its root and the parents of new keys determine the order of the bin."""

    def __init__(self, less: Less) -> None:
        self.less = less
        self.root: int | None = None
        self.left: Links = {}
        self.right: Links = {}
        self.parent: Links = {}
        self.red: dict[int, bool] = {}

    def insert(self, key: int) -> int:
        """Add a key; returns its parent before balancing (itself for a root)."""
        node, parent = self.root, None
        go_left = False
        while node is not None:
            parent = node
            go_left = self.less(key, node)
            node = self.left[node] if go_left else self.right[node]
        self.left[key] = self.right[key] = None
        self.parent[key], self.red[key] = parent, parent is not None
        if parent is None:
            self.root = key
            return key
        (self.left if go_left else self.right)[parent] = key
        self._after_insertion(key)
        return parent

    def too_small(self) -> bool:
        """Whether HashMap makes the bin a list again when a key is removed: it checks four places, not the size."""
        if self.root is None or self.right[self.root] is None:
            return True
        left = self.left[self.root]
        return left is None or self.left[left] is None

    def remove(self, key: int) -> None:
        """Remove a key; a key with two children is swapped with its successor first."""
        right = self.right[key]
        if self.left[key] is not None and right is not None:
            while (lower := self.left[right]) is not None:
                right = lower
            self._swap(key, right)
        child = self.right[key] if self.left[key] is None else self.left[key]
        if child is not None:
            self._replace_child(child, key)
        if not self.red[key]:
            # A leaf stays where it is until the tree is balanced without it.
            self._after_removal(key if child is None else child)
        if child is None:
            self._replace_child(None, key)
        for links in (self.left, self.right, self.parent, self.red):
            del links[key]

    def _swap(self, key: int, other: int) -> None:
        """Swap two keys in the tree; the colors stay with the places."""
        names: dict[int | None, int] = {key: other, other: key}
        self.left, self.right, self.parent = (
            {names.get(node, node): names.get(link, link) for node, link in links.items()}
            for links in (self.left, self.right, self.parent)
        )
        self.red[key], self.red[other] = self.red[other], self.red[key]
        self.root = names.get(self.root, self.root)

    def _replace_child(self, node: int | None, instead: int) -> None:
        above = self.parent[instead]
        if above is None:
            self.root = node
        elif self.left[above] == instead:
            self.left[above] = node
        else:
            self.right[above] = node
        if node is not None:
            self.parent[node] = above

    def _after_insertion(self, node: int) -> None:
        while True:
            parent = self.parent[node]
            if parent is None:
                self.red[node] = False
                return
            grand = self.parent[parent]
            if not self.red[parent] or grand is None:
                return
            near, far = (self.left, self.right) if self.left[grand] == parent else (self.right, self.left)
            uncle = far[grand]
            if uncle is not None and self.red[uncle]:
                self.red[uncle] = self.red[parent] = False
                self.red[grand] = True
                node = grand
                continue
            if node == far[parent]:
                self._rotate(parent, far, near)
                node, parent = parent, node
            self.red[parent], self.red[grand] = False, True
            self._rotate(grand, near, far)

    def _after_removal(self, node: int) -> None:
        """Compensate for one black node less on the path to `node`."""
        while (parent := self.parent[node]) is not None and not self.red[node]:
            near, far = (self.left, self.right) if self.left[parent] == node else (self.right, self.left)
            sibling = far[parent]
            if sibling is not None and self.red[sibling]:
                self.red[sibling], self.red[parent] = False, True
                self._rotate(parent, far, near)
                sibling = far[parent]
            if sibling is None or not (self._is_red(near[sibling]) or self._is_red(far[sibling])):
                if sibling is not None:
                    self.red[sibling] = True
                node = parent
                continue
            outer = far[sibling]
            if not self._is_red(outer):
                sibling = self._rotate(sibling, near, far)
                outer = far[sibling]
            self.red[sibling], self.red[parent] = self.red[parent], False
            if outer is not None:
                self.red[outer] = False
            self._rotate(parent, far, near)
            return
        self.red[node] = False

    def _is_red(self, node: int | None) -> bool:
        return node is not None and self.red[node]

    def _rotate(self, node: int, up: Links, down: Links) -> int:
        """Rotate the `up` child of a node above it; returns that child."""
        child = up[node]
        if child is None:
            raise ValueError("nothing to rotate")
        inner = down[child]
        up[node] = inner
        if inner is not None:
            self.parent[inner] = node
        self._replace_child(child, node)
        down[child] = node
        self.parent[node] = child
        return child


_REMEMBERED = 64


def string_order(strings: Sequence[str], capacity: int = DEFAULT_CAPACITY) -> Ints:
    """`map_order` of strings, which is always determined. Remembered: a group's members are ordered many times."""
    return _string_order(tuple(strings), capacity)


@lru_cache(maxsize=_REMEMBERED)
def _string_order(strings: tuple[str, ...], capacity: int) -> Ints:
    order = map_order(string_hashes(strings), capacity=capacity, keys=[utf16(s) for s in strings])
    return _constant(order.indices)


def uuid_order(uuids: Sequence[UUID], capacity: int = DEFAULT_CAPACITY) -> Ints:
    """`map_order` of ids of topics, which is always determined; remembered."""
    return _uuid_order(tuple(uuids), capacity)


@lru_cache(maxsize=_REMEMBERED)
def _uuid_order(uuids: tuple[UUID, ...], capacity: int) -> Ints:
    keys = [uuid_sort_key(uuid) for uuid in uuids]
    return _constant(map_order(uuid_hashes(uuids), capacity=capacity, keys=keys).indices)


def _constant(indices: Ints) -> Ints:
    indices.setflags(write=False)
    return indices


def hash_map_order(members: Sequence[MemberSpec]) -> Ints:
    return string_order([member.id for member in members])


def static_first(members: Sequence[MemberSpec]) -> Ints:
    """Member indices, static members by instance id first, then dynamic ones by id (`MemberInfo.compareTo`), then in
    map order."""

    def key(index: int) -> tuple[bool, bytes]:
        member = members[index]
        return member.instance is None, utf16(member.id if member.instance is None else member.instance)

    instances = [member.instance for member in members if member.instance is not None]
    is_distinct = len(set(instances)) == len(instances)
    unsorted = range(len(members)) if is_distinct else hash_map_order(members).tolist()
    return np.array(sorted(unsorted, key=key), dtype=np.int64)


FIRST_SLOTS = 2
_LOAD_FACTOR = 0.75
_GOLDEN = 0x9E3779B97F4A7C15
"""BaseHashTable.findSlot's -7046029254386353131, unsigned: 2**64 by the golden ratio."""
_LONG = 2**64


def timeline_order(ids: Sequence[str], capacity: int = FIRST_SLOTS) -> list[int]:
    """Indices into distinct ids, inserted in order, in iteration order. `capacity`: the slots at the start."""
    return list(_timeline_order(tuple(ids), capacity))


@lru_cache(maxsize=_REMEMBERED)
def _timeline_order(ids: tuple[str, ...], capacity: int) -> Sequence[int]:
    bits = grown_slots(capacity, len(ids)).bit_length() - 1
    slots = [(int(hash_) * _GOLDEN % _LONG) >> (64 - bits) for hash_ in string_hashes(ids).tolist()]
    return sorted(range(len(ids)), key=lambda index: (slots[index], -index))


def grown_slots(capacity: int, size: int) -> int:
    """The number of slots for `size` ids: a power of two, doubled just before it would be too full."""
    while size * _LOAD_FACTOR > capacity:
        capacity *= 2
    return capacity
