"""A java.util.HashMap replayed operation by operation, for maps whose order is not that of a stable sort by bin.

`put` chains a new key last in its bin, `compute_if_absent` first. Both double the array when it is too full, `put`
after the key is in, `compute_if_absent` before, and even where the key is there already. A key too many in one bin
doubles an array that is shorter than 64, and else turns the bin into a red-black tree. A tree bin still chains its
keys, and iteration follows that chain; but a new key is chained right behind its parent in the tree, and whenever the
root changes the new root moves to the front of the chain. An array never shrinks.

Keys are indices: into their spread hash codes, and into what Java compares them by.

Source: java.util.HashMap.putVal, computeIfAbsent, removeNode, resize, treeifyBin, TreeNode.moveRootToFront, split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assignors.java.java_tree import Less, Tree

Key = bytes | int | tuple[int, int]
"""What `compareTo` compares: bytes of UTF-16 units, an integer, the halves of a Uuid."""

TREEIFY_THRESHOLD = 8
UNTREEIFY_THRESHOLD = 6
MIN_TREEIFY_CAPACITY = 64


def replay(spreads: Sequence[int], capacity: int, keys: Sequence[Key] | None) -> tuple[list[int], bool]:
    """Iteration order of keys that were put in one by one, and whether it is the same in every JVM."""
    table = JavaMap(spreads, capacity, keys)
    for index in range(len(spreads)):
        table.put(index)
    return list(table), table.determined


class JavaMap:
    """The keys of a HashMap; iterating gives them in Java's order."""

    def __init__(self, spreads: Sequence[int], capacity: int, keys: Sequence[Key] | None) -> None:
        self.spreads, self.keys, self.capacity = spreads, keys, capacity
        self.size = 0
        self.determined = True
        """False as soon as keys were compared that Java can only compare by identity hash code."""
        self._bins: dict[int, _Bin] = {}

    def __iter__(self) -> Iterator[int]:
        for place in sorted(self._bins):
            yield from self._bins[place].chain

    def put(self, key: int) -> None:
        """Add a key that is not there."""
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
        """Add a key unless it is there."""
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
        """Take a key out unless it is not there."""
        bin_ = self._bin(key)
        if key in bin_.chain:
            bin_.remove(key)
            self.size -= 1

    def _bin(self, key: int) -> _Bin:
        place = self.spreads[key] & (self.capacity - 1)
        bin_ = self._bins.get(place)
        if bin_ is None:
            bin_ = self._bins[place] = _Bin([])
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
        for place, bin_ in self._bins.items():
            for half in (0, bit):
                chain = [key for key in bin_.chain if self.spreads[key] & bit == half]
                if chain:
                    bins[place + half] = bin_.part(chain, self._less)
        self._bins = bins

    def _less(self, left: int, right: int) -> bool:
        """Whether the tree puts `left` to the left of `right`."""
        if self.spreads[left] != self.spreads[right]:
            # Java compares the spread hash codes as signed integers.
            return _signed(self.spreads[left]) < _signed(self.spreads[right])
        if self.keys is None:
            self.determined = False
            return left < right
        a, b = self.keys[left], self.keys[right]
        return a < b  # type: ignore[operator]  # the keys of one map are of one type


class _Bin:
    def __init__(self, chain: list[int]) -> None:
        self.chain = chain
        """Keys in iteration order."""
        self.tree: Tree | None = None

    def treeify(self, less: Less) -> None:
        self.tree = Tree(less)
        for key in self.chain:
            self.tree.insert(key)
        self._root_to_front(self.tree)

    def insert(self, key: int) -> None:
        """Add a key to a tree bin."""
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
        """The bin of those keys that stay together when the array doubles."""
        if self.tree is not None and len(chain) == len(self.chain):
            return self
        part = _Bin(chain)
        if self.tree is not None and len(chain) > UNTREEIFY_THRESHOLD:
            part.treeify(less)
        return part

    def _root_to_front(self, tree: Tree) -> None:
        root = tree.root
        if root is not None and self.chain[0] != root:
            self.chain.remove(root)
            self.chain.insert(0, root)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value
