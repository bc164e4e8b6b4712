"""Topic names, stored in a form that an automaton can read all at once.

The names form a tree of characters in which names with the same prefix share nodes; each level of the tree is one
array look-up. An automaton reads from the end to the start of a name, so it is built from the reversed pattern.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

from groups.regex.automaton import Automaton
from groups.regex.program import TooLargeError, UnsureError, backwards
from groups.regex.tree import INDEX, Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEW = 200
"""Up to this many names are matched one by one, which is faster than computing all states of an automaton."""

MANY = 20_000
"""More names than this are not matched one by one if the automaton has too many states: the error is raised."""

_NAMES = re.compile(r"(?:[-.0-9A-Z_a-z]+\n)*")


class Names:
    """Distinct topic names, sorted. ValueError for a name that no topic can have."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(set(names))
        if not _NAMES.fullmatch("".join(f"{name}\n" for name in self.names)):
            wrong = next(name for name in self.names if not _NAMES.fullmatch(f"{name}\n") or "\n" in name)
            raise ValueError(f"{wrong!r} is not a valid topic name")

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int | None:
        """The index of a name; None when it is not in the list."""
        at = bisect_left(self.names, name)
        return at if at < len(self.names) and self.names[at] == name else None

    def chosen(self, flags: bytes) -> list[str]:
        """The names whose flag is 1; `flags` has one for each name."""
        if len(self.names) <= FEW:
            return list(compress(self.names, flags))
        import numpy as np

        chosen: list[str] = self._array[np.frombuffer(flags, dtype=np.bool_)].tolist()
        return chosen

    @cached_property
    def _array(self) -> NDArray[np.object_]:
        import numpy as np

        return np.array(self.names, dtype=np.object_)

    def matched(self, tree: Tree) -> bytes:
        """For each name, 1 if the tree matches the whole name, else 0. Raises UnsureError and TooLargeError."""
        if len(self.names) > FEW:
            try:
                mirrored = Automaton(backwards(tree))
                mirrored.complete()
                return self._at_once(mirrored)
            except (TooLargeError, UnsureError):
                if len(self.names) > MANY:
                    raise
        automaton = Automaton(tree)
        return bytes(map(automaton.matches, self.names))

    def _at_once(self, automaton: Automaton) -> bytes:
        import numpy as np

        classes = len(automaton.classes)
        # Indices of numpy's own width: narrower ones would be converted at every look-up.
        rows = np.array(automaton.rows, dtype=np.intp).ravel() * classes
        accepting = np.array(automaton.accepting, dtype=np.uint8)
        class_of = np.array(automaton.class_of, dtype=np.intp)
        states = np.array([automaton.start * classes], dtype=np.intp)
        matched = np.zeros(len(self.names), dtype=np.uint8)
        for characters, parents, ending, nodes in self._levels:
            states = rows.take(states.take(parents) + class_of.take(characters))
            matched[ending] = accepting[states[nodes] // classes]
        return matched.tobytes()

    @cached_property
    def _levels(self) -> list[tuple[NDArray[np.int64], ...]]:
        """By level of the tree: the characters of its nodes, their parents in the level above, the names that end
        there, and the nodes of these names.
        """
        return list(self._each_level())

    def _each_level(self) -> Iterator[tuple[NDArray[np.int64], ...]]:
        import numpy as np

        table = np.array(self.names, dtype="S").view(np.uint8).reshape(len(self.names), -1)
        lengths = np.count_nonzero(table, axis=1)
        shared = (table[1:] != table[:-1]).argmax(axis=1)  # sorted and distinct, so that neighbors differ
        shared = np.concatenate([[-1], shared])
        index = np.zeros(256, dtype=np.int64)
        for character, number in INDEX.items():
            index[ord(character)] = number
        node = np.zeros(len(self.names), dtype=np.int64)
        for level in range(table.shape[1]):
            # A name that is a prefix of others comes before them, and is not a node here.
            new = (lengths > level) & (shared <= level)
            parents = node[new]
            node = np.cumsum(new) - 1
            ending = np.flatnonzero(lengths == level + 1)
            yield index[table[new, level]], parents, ending, node[ending]
