"""A java.util.HashMap replayed key by key, for maps with overfull bins.

The ninth key of a bin doubles an array that is shorter than 64, and else turns the bin into a red-black
tree. A tree bin still chains its keys, and iteration follows that chain; but a new key is chained right
behind its parent in the tree, and whenever the root changes the new root moves to the front of the chain.
The tree orders keys by spread hash code, equal ones by `compareTo`, and those that Java cannot compare by
identity hash code: only then nobody outside the JVM can know the order.

Keys are indices into the insertion sequence; they are put in once each and never removed.

Source: java.util.HashMap.putVal, treeifyBin, TreeNode.putTreeVal, balanceInsertion, moveRootToFront, split.
"""

from __future__ import annotations

from collections.abc import Sequence

Key = bytes | int | tuple[int, int]
"""What `compareTo` compares: bytes of UTF-16 units, an integer, the halves of a Uuid."""

TREEIFY_THRESHOLD = 8
UNTREEIFY_THRESHOLD = 6
MIN_TREEIFY_CAPACITY = 64


def replay(spreads: Sequence[int], capacity: int, keys: Sequence[Key] | None) -> tuple[list[int], bool]:
    """Iteration order of the keys, and whether it is the same in every JVM."""
    table = _Table(spreads, capacity, keys)
    for index in range(len(spreads)):
        table.put(index)
    return [index for bin_ in table.bins for index in bin_.chain], table.determined


class _Table:
    def __init__(self, spreads: Sequence[int], capacity: int, keys: Sequence[Key] | None) -> None:
        self.spreads, self.keys = spreads, keys
        self.bins = [_Bin() for _ in range(capacity)]
        self.size = 0
        self.determined = True

    def put(self, index: int) -> None:
        bin_ = self.bins[self.spreads[index] & (len(self.bins) - 1)]
        if bin_.tree is not None:
            bin_.insert(index, self)
        else:
            bin_.chain.append(index)
            if len(bin_.chain) > TREEIFY_THRESHOLD:
                if len(self.bins) < MIN_TREEIFY_CAPACITY:
                    self._double()
                else:
                    bin_.treeify(self)
        self.size += 1
        if self.size > len(self.bins) * 3 // 4:
            self._double()

    def less(self, left: int, right: int) -> bool:
        """Whether the tree puts `left` to the left of `right`."""
        if self.spreads[left] != self.spreads[right]:
            # Java compares the spread hash codes as signed integers.
            return _signed(self.spreads[left]) < _signed(self.spreads[right])
        if self.keys is None:
            self.determined = False
            return left < right
        a, b = self.keys[left], self.keys[right]
        return a < b  # type: ignore[operator]

    def _double(self) -> None:
        bit = len(self.bins)
        halves: list[list[_Bin]] = [[], []]
        for bin_ in self.bins:
            low = [index for index in bin_.chain if not self.spreads[index] & bit]
            high = [index for index in bin_.chain if self.spreads[index] & bit]
            for half, chain in zip(halves, (low, high), strict=True):
                half.append(bin_.part(chain, self))
        self.bins = halves[0] + halves[1]


class _Bin:
    def __init__(self, chain: list[int] | None = None) -> None:
        self.chain: list[int] = chain if chain is not None else []
        """Keys in iteration order."""
        self.tree: _Tree | None = None

    def treeify(self, table: _Table) -> None:
        self.tree = _Tree()
        for index in self.chain:
            self.tree.insert(index, table)
        self._root_to_front()

    def insert(self, index: int, table: _Table) -> None:
        if self.tree is None:
            raise ValueError("the bin is a list")
        parent = self.tree.insert(index, table)
        self.chain.insert(self.chain.index(parent) + 1, index)
        self._root_to_front()

    def part(self, chain: list[int], table: _Table) -> _Bin:
        """The bin of those keys that stay together when the array doubles."""
        if self.tree is not None and len(chain) == len(self.chain):
            return self
        part = _Bin(chain)
        if self.tree is not None and len(chain) > UNTREEIFY_THRESHOLD:
            part.treeify(table)
        return part

    def _root_to_front(self) -> None:
        if self.tree is None or self.tree.root is None:
            raise ValueError("the bin is a list")
        root = self.tree.root
        if self.chain[0] != root:
            self.chain.remove(root)
            self.chain.insert(0, root)


class _Tree:
    """A red-black tree of keys; the textbook's insertion, as HashMap does it."""

    def __init__(self) -> None:
        self.root: int | None = None
        self.left: dict[int, int | None] = {}
        self.right: dict[int, int | None] = {}
        self.parent: dict[int, int | None] = {}
        self.red: dict[int, bool] = {}

    def insert(self, index: int, table: _Table) -> int:
        """Add a key; the answer is the parent it was put under, before balancing (itself for a root)."""
        node, parent = self.root, None
        go_left = False
        while node is not None:
            parent = node
            go_left = table.less(index, node)
            node = self.left[node] if go_left else self.right[node]
        self.left[index] = self.right[index] = None
        self.parent[index], self.red[index] = parent, parent is not None
        if parent is None:
            self.root = index
            return index
        (self.left if go_left else self.right)[parent] = index
        self._balance(index)
        return parent

    def _balance(self, node: int) -> None:
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

    def _rotate(self, node: int, up: dict[int, int | None], down: dict[int, int | None]) -> None:
        """Lift the `up` child of a node above it."""
        child = up[node]
        if child is None:
            raise ValueError("nothing to lift")
        inner = down[child]
        up[node] = inner
        if inner is not None:
            self.parent[inner] = node
        above = self.parent[node]
        self.parent[child] = above
        if above is None:
            self.root = child
        elif self.left[above] == node:
            self.left[above] = child
        else:
            self.right[above] = child
        down[child] = node
        self.parent[node] = child


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value
