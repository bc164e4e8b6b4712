"""The deterministic automaton of a pattern, built when needed: the names it matches, and whether two match the same."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

from groups.regex import program as programs
from groups.regex import tree as syntax

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_CONTEXTS = 64
MAX_TRANSITIONS = 60_000
MAX_PAIRS = 60_000
MAX_NAME = 249  # the most characters of a topic's name
LIKELY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"  # tried first for examples


def trimmed(tree: syntax.Tree) -> syntax.Tree:
    """The tree without anchors at both ends of the pattern, which have no effect if the whole name must match."""
    parts = tree.parts if isinstance(tree, syntax.Sequence) else (tree,)
    while parts and parts[0] == syntax.Assertion(syntax.Boundary.START):
        parts = parts[1:]
    while parts and parts[-1] == syntax.Assertion(syntax.Boundary.END):
        parts = parts[:-1]
    return syntax.sequence_of(parts)


def classes_of(masks: set[int]) -> list[int]:
    """The coarsest partition of the alphabet that distinguishes the masks, as masks."""
    parts = [syntax.ALL]
    for mask in sorted(masks):
        parts = [piece for part in parts for piece in (part & mask, part & ~mask) if piece]
    return parts


@dataclass(frozen=True, slots=True)
class _Context:
    at_start: bool
    after_word: bool
    behind: int  # the true instructions of the look-behinds' program, as bits


class Automaton:
    """The automaton of a tree that must match whole names. Raises UnsureError and TooLargeError."""

    def __init__(self, tree: syntax.Tree) -> None:
        self.program = programs.compile_whole(trimmed(tree))
        self.behind, self.behind_entries = programs.compile_beginning(self.program.behind)
        self.classes = classes_of(self.program.masks() | self.behind.masks())
        self.class_of = [0] * len(syntax.ALPHABET)
        for number, mask in enumerate(self.classes):
            for character in syntax.characters_of(mask):
                self.class_of[syntax.INDEX[character]] = number
        self._chars = [_chars(self.program, mask) for mask in self.classes]
        self._behind_chars = [_chars(self.behind, mask) for mask in self.classes]
        self._places = self.program.places()
        self._contexts, self._after = self._all_contexts()
        self._ids: dict[tuple[int, ...], int] = {}
        self._states: list[tuple[int, ...]] = []
        self.accepting: list[bool] = []  # by state: whether the name matches if it starts here
        self.rows: list[list[int]] = []  # by state and class: the next state, -1 if it is not computed yet
        end = self.program.end
        self.start = self._state(tuple(self._closed(end, context, None) for context in self._contexts))

    def follow(self, state: int, number: int) -> int:
        known = self.rows[state][number]
        if known >= 0:
            return known
        truths, chars = self._states[state], self._chars[number]
        after = tuple(
            self._closed((truths[self._after[index][number]] << 1) & chars, context, number)
            for index, context in enumerate(self._contexts)
        )
        self.rows[state][number] = successor = self._state(after)
        return successor

    def matches(self, name: str) -> bool:
        """Whether a whole name matches; it must consist of characters that topic names may have."""
        state = self.start
        for character in reversed(name):
            state = self.follow(state, self.class_of[syntax.INDEX[character]])
        return self.accepting[state]

    def complete(self) -> None:
        state = 0
        while state < len(self.rows):
            if len(self.rows) * len(self.classes) > MAX_TRANSITIONS:
                raise programs.TooLargeError
            for number in range(len(self.classes)):
                self.follow(state, number)
            state += 1

    def _state(self, truths: tuple[int, ...]) -> int:
        known = self._ids.get(truths)
        if known is None:
            known = self._ids[truths] = len(self._states)
            self._states.append(truths)
            self.accepting.append(bool(truths[0] & self.program.entry))
            self.rows.append([-1] * len(self.classes))
        return known

    def _all_contexts(self) -> tuple[list[_Context], list[list[int]]]:
        """All contexts, the start of a name first, and the next context by context and class."""
        first = _Context(True, False, self._looked_behind(0))
        contexts, after = [first], [self._next_contexts(first)]
        numbers = {self._key(first): 0}
        rows: list[list[int]] = []
        while len(rows) < len(contexts):
            row = []
            for context in after[len(rows)]:
                key = self._key(context)
                if key not in numbers:
                    if len(contexts) == MAX_CONTEXTS:
                        raise programs.TooLargeError
                    numbers[key] = len(contexts)
                    contexts.append(context)
                    after.append(self._next_contexts(context))
                row.append(numbers[key])
            rows.append(row)
        return contexts, rows

    def _key(self, context: _Context) -> tuple[bool, bool, int]:
        edges = bool(self._places & {syntax.Boundary.WORD_EDGE, syntax.Boundary.NO_WORD_EDGE})
        behind = context.behind if self.behind_entries else 0
        return (
            context.at_start and syntax.Boundary.START in self._places,
            context.after_word and edges,
            behind,
        )

    def _next_contexts(self, context: _Context) -> list[_Context]:
        return [
            _Context(False, bool(mask & syntax.WORD), self._looked_behind((context.behind << 1) & chars))
            for mask, chars in zip(self.classes, self._behind_chars, strict=True)
        ]

    def _looked_behind(self, truths: int) -> int:
        truths |= self.behind.always
        for fork in self.behind.forks:
            if truths & fork.reach:
                truths |= fork.bit
        return truths

    def _closed(self, truths: int, context: _Context, following: int | None) -> int:
        """All true instructions at a place, from the true ones that take a character there."""
        truths |= self.program.always
        for block in self.program.blocks:
            before = -1
            while truths != before:
                before = truths
                for check in block:
                    is_open = truths & check.reach and not truths & check.bit
                    if is_open and self._holds(check, truths, context, following):
                        truths |= check.bit
        for fork in self.program.forks:
            if truths & fork.reach:
                truths |= fork.bit
        return truths

    def _holds(self, check: programs.Condition, truths: int, context: _Context, after: int | None) -> bool:
        match check:
            case programs.LookAheadCondition(body=body, negative=negative):
                return bool(truths & body) != negative
            case programs.LookBehindCondition(number=number, negative=negative):
                return bool(context.behind & self.behind_entries[number]) != negative
            case programs.PlaceCondition(place=syntax.Boundary.START):
                return context.at_start
            case programs.PlaceCondition(place=syntax.Boundary.END):
                return after is None
        edge = context.after_word != (after is not None and bool(self.classes[after] & syntax.WORD))
        return edge == (check.place is syntax.Boundary.WORD_EDGE)


def _chars(program: programs.Program, mask: int) -> int:
    bits = 0
    for bit, taken in program.chars:
        if taken & mask:
            bits |= bit
    return bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The shortest names that only one of two patterns matches; both None if they match the same names."""

    only_first: str | None
    only_second: str | None

    @property
    def same(self) -> bool:
        return self.only_first is None and self.only_second is None


def difference(first: Automaton, second: Automaton) -> Difference:
    """Compare two automata over all valid topic names; TooLargeError if there are too many states."""
    if first is second:
        return Difference(only_first=None, only_second=None)
    only: dict[bool, str] = {}
    for name, in_first in _distinguishing(first, second):
        only.setdefault(in_first, name)
        if len(only) == 2:
            break
    return Difference(only_first=only.get(True), only_second=only.get(False))


def are_same(first: Automaton, second: Automaton) -> bool:
    """Whether two automata match the same valid topic names; TooLargeError if there are too many states."""
    return next(_distinguishing(first, second), None) is None


def _distinguishing(first: Automaton, second: Automaton) -> Iterator[tuple[str, bool]]:
    """One name per pair of states in which one automaton matches and the other does not, shortest first."""
    first_of, second_of = first.class_of, second.class_of
    letters = {(first_of[syntax.INDEX[c]], second_of[syntax.INDEX[c]]): c for c in reversed(LIKELY)}
    moves = sorted(letters.items(), key=lambda move: LIKELY.index(move[1]))
    start = (first.start, second.start)
    reached: dict[tuple[int, int], tuple[tuple[int, int], str] | None] = {start: None}
    queue = deque([(start, 0)])
    while queue:
        pair, length = queue.popleft()
        if length == MAX_NAME:
            continue
        for (in_first, in_second), character in moves:
            followed = (first.follow(pair[0], in_first), second.follow(pair[1], in_second))
            if followed in reached:
                continue
            if len(reached) == MAX_PAIRS:
                raise programs.TooLargeError
            reached[followed] = (pair, character)
            queue.append((followed, length + 1))
            matched = first.accepting[followed[0]]
            if matched != second.accepting[followed[1]]:
                yield _name_to(reached, followed), matched


def _name_to(seen: dict[tuple[int, int], tuple[tuple[int, int], str] | None], pair: tuple[int, int]) -> str:
    """The name that leads to a pair of states; the automata read it from its end."""
    name = ""
    step = seen[pair]
    while step is not None:
        pair, character = step
        name += character
        step = seen[pair]
    return name


FEW = 200  # up to this many names are matched one by one, faster than by computing all states
MANY = 20_000  # with too many states, more names than this are not matched one by one
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

    def matched(self, tree: syntax.Tree) -> bytes:
        """For each name, 1 if the tree matches the whole name, else 0. Raises UnsureError and TooLargeError."""
        if len(self.names) > FEW:
            try:
                mirrored = Automaton(programs.backwards(tree))
                mirrored.complete()
                import numpy as np

                classes = len(mirrored.classes)
                # Indices of numpy's own width: narrower ones would be converted at every look-up.
                rows = np.array(mirrored.rows, dtype=np.intp).ravel() * classes
                accepting = np.array(mirrored.accepting, dtype=np.uint8)
                class_of = np.array(mirrored.class_of, dtype=np.intp)
                states = np.array([mirrored.start * classes], dtype=np.intp)
                matched = np.zeros(len(self.names), dtype=np.uint8)
                for characters, parents, ending, nodes in self._levels:
                    states = rows.take(states.take(parents) + class_of.take(characters))
                    matched[ending] = accepting[states[nodes] // classes]
                return matched.tobytes()
            except (programs.TooLargeError, programs.UnsureError):
                if len(self.names) > MANY:
                    raise
        automaton = Automaton(tree)
        return bytes(map(automaton.matches, self.names))

    @cached_property
    def _levels(self) -> list[tuple[NDArray[np.int64], ...]]:
        """By level: the nodes' characters, their parents, the names that end there, and the nodes of these."""
        import numpy as np

        table = np.array(self.names, dtype="S").view(np.uint8).reshape(len(self.names), -1)
        lengths = np.count_nonzero(table, axis=1)
        shared = (table[1:] != table[:-1]).argmax(axis=1)  # sorted and distinct, so that neighbors differ
        shared = np.concatenate([[-1], shared])
        index = np.zeros(256, dtype=np.int64)
        for character, number in syntax.INDEX.items():
            index[ord(character)] = number
        node = np.zeros(len(self.names), dtype=np.int64)
        levels: list[tuple[NDArray[np.int64], ...]] = []
        for level in range(table.shape[1]):
            # A name that is a prefix of others comes before them, and is not a node here.
            new = (lengths > level) & (shared <= level)
            parents = node[new]
            node = np.cumsum(new) - 1
            ending = np.flatnonzero(lengths == level + 1)
            levels.append((index[table[new, level]], parents, ending, node[ending]))
        return levels
