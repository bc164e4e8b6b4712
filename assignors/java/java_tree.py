"""The red-black tree of one bin of a java.util.HashMap: the textbook's insertion and removal, as HashMap does them.

It orders keys by spread hash code as a signed integer, equal ones by `compareTo`, and those that Java cannot compare by
identity hash code: only then nobody outside the JVM can know the order. Keys are integers that `less` compares.

Source: java.util.HashMap.TreeNode.putTreeVal, balanceInsertion, removeTreeNode, balanceDeletion.
"""

from __future__ import annotations

from collections.abc import Callable

Less = Callable[[int, int], bool]
Links = dict[int, int | None]


class Tree:
    """Which key is the root decides the order of the bin, and through parents every new key's place in it."""

    def __init__(self, less: Less) -> None:
        self.less = less
        self.root: int | None = None
        self.left: Links = {}
        self.right: Links = {}
        self.parent: Links = {}
        self.red: dict[int, bool] = {}

    def insert(self, key: int) -> int:
        """Add a key; the answer is the parent it was put under, before balancing (itself for a root)."""
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
        """Whether HashMap makes the bin a list again when a key goes: it looks at four places, not at the size."""
        if self.root is None or self.right[self.root] is None:
            return True
        left = self.left[self.root]
        return left is None or self.left[left] is None

    def remove(self, key: int) -> None:
        """Take a key out; one with two children changes places with its successor before."""
        right = self.right[key]
        if self.left[key] is not None and right is not None:
            while (lower := self.left[right]) is not None:
                right = lower
            self._change_places(key, right)
        child = self.right[key] if self.left[key] is None else self.left[key]
        if child is not None:
            self._hang(child, key)
        if not self.red[key]:
            # A leaf stays where it is until the tree is balanced without it.
            self._after_removal(key if child is None else child)
        if child is None:
            self._hang(None, key)
        for links in (self.left, self.right, self.parent, self.red):
            del links[key]

    def _change_places(self, key: int, other: int) -> None:
        """Colours stay with the places."""
        names: dict[int | None, int] = {key: other, other: key}
        self.left, self.right, self.parent = (
            {names.get(node, node): names.get(link, link) for node, link in links.items()}
            for links in (self.left, self.right, self.parent)
        )
        self.red[key], self.red[other] = self.red[other], self.red[key]
        self.root = names.get(self.root, self.root)

    def _hang(self, node: int | None, instead: int) -> None:
        """Hang a node, or nothing, where another hangs."""
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
        """Make up for a black node less on the way to `node`."""
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
        """Lift the `up` child of a node above it; the answer is that child."""
        child = up[node]
        if child is None:
            raise ValueError("nothing to lift")
        inner = down[child]
        up[node] = inner
        if inner is not None:
            self.parent[inner] = node
        self._hang(child, node)
        down[child] = node
        self.parent[node] = child
        return child
