"""A new pattern that means the same to the broker as the old one to the client, proven by automata; similar first."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain

from groups.regex import tree as syntax
from groups.regex.automaton import Automaton, are_same
from groups.regex.broker import judge
from groups.regex.program import TooLargeError, UnsureError

MAX_LENGTH = 2000  # the most characters of a rewritten pattern; a longer one would not help
Candidates = Iterator[str]
MAX_STATES = 150
MAX_BACKWARD_STATES = 400


def proven(candidates: Candidates, client: Automaton) -> str | None:
    """The first candidate that the broker accepts and that matches the same names as the client; None without one."""
    for candidate in candidates:
        if len(candidate) > MAX_LENGTH:
            continue
        verdict = judge(candidate)
        if verdict.parsed is None or verdict.danger is not None:
            continue
        try:
            if are_same(client, Automaton(verdict.parsed.tree)):
                return candidate
        except (TooLargeError, UnsureError, RecursionError):
            continue
    return None


def of_java(tree: syntax.Tree, client: Automaton) -> Candidates:
    """Candidates for a Java pattern, parsed as `tree`; `client` is its automaton."""
    yield from _written(lambda: syntax.write_for_re2j(_plain(tree)))
    yield from _written(lambda: syntax.write_for_re2j(spelled_out(client)))


def of_librdkafka(pattern: str, client: Automaton) -> Candidates:
    """Candidates for a pattern that the C library searches for; they start with `^`, as every librdkafka regex."""
    yield f"{pattern}.*"
    yield f"^(?:{pattern.removeprefix('^')}).*"
    yield from _written(lambda: f"^(?:{syntax.write_for_re2j(spelled_out(client))})")


def _written(text: Callable[[], str]) -> Iterator[str]:
    try:
        yield text()
    except (syntax.NotRegularError, TooLargeError):
        return


def _plain(tree: syntax.Tree) -> syntax.Tree:
    """The tree with each atomic group replaced by its body."""
    return _plain(tree.body) if isinstance(tree, syntax.Atomic) else syntax.mapped(tree, _plain)


def spelled_out(automaton: Automaton) -> syntax.Tree:
    """A tree without look-around for an automaton's names, by removing states one by one. TooLargeError."""
    rows, accepting = _forwards(automaton)
    edges = _edges(rows, accepting, automaton.classes)
    waiting = set(range(1, len(rows)))
    while waiting:
        entering, leaving = Counter[int](), Counter[int]()
        for source, to in edges:
            if source != to:
                entering[to] += 1
                leaving[source] += 1
        state = min(waiting, key=lambda state: (entering[state] * leaving[state], -state))
        waiting.remove(state)
        _remove(edges, state)
    rest = edges.get((0, _FINAL), syntax.Chars(0))
    return _chain(_loop(edges[0, 0]), rest) if (0, 0) in edges else rest


_FINAL = -1
_Edges = dict[tuple[int, int], syntax.Tree]


def _forwards(automaton: Automaton) -> tuple[list[list[int]], list[bool]]:
    """By state and class, the next state, or -1 if no match is possible any more; and which states match."""
    automaton.complete()
    count = len(automaton.rows)
    if count > MAX_BACKWARD_STATES:
        raise TooLargeError
    before = [[0] * count for _ in automaton.classes]
    for state, row in enumerate(automaton.rows):
        for number, to in enumerate(row):
            before[number][to] |= 1 << state
    states = [sum(1 << state for state in range(count) if automaton.accepting[state])]
    numbers = {states[0]: 0}
    rows: list[list[int]] = []
    while len(rows) < len(states):
        row = []
        for into in before:
            following = 0
            for state in _members(states[len(rows)]):
                following |= into[state]
            if following and following not in numbers:
                if len(states) == MAX_STATES:
                    raise TooLargeError
                numbers[following] = len(states)
                states.append(following)
            row.append(numbers[following] if following else -1)
        rows.append(row)
    return rows, [bool(state >> automaton.start & 1) for state in states]


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _edges(rows: list[list[int]], accepting: list[bool], classes: list[int]) -> _Edges:
    """The edges between states; the start is final only if an edge leads to it, because no topic name is empty."""
    masks: dict[tuple[int, int], int] = {}
    for state, row in enumerate(rows):
        for number, to in enumerate(row):
            if to >= 0:
                masks[state, to] = masks.get((state, to), 0) | classes[number]
    edges: _Edges = {key: syntax.Chars(mask) for key, mask in masks.items()}
    for state, matches in enumerate(accepting):
        if matches and (state or any(to == 0 for _, to in masks)):
            edges[state, _FINAL] = syntax.NOTHING
    return edges


def _remove(edges: _Edges, state: int) -> None:
    loop = edges.pop((state, state), None)
    entering = [(source, edges.pop((source, to))) for source, to in list(edges) if to == state]
    leaving = [(to, edges.pop((source, to))) for source, to in list(edges) if source == state]
    for source, first in entering:
        for to, last in leaving:
            path = _chain(first, _loop(loop), last)
            known = edges.get((source, to))
            edges[source, to] = path if known is None else _either(known, path)


def _chain(*trees: syntax.Tree) -> syntax.Tree:
    parts: list[syntax.Tree] = []
    for tree in trees:
        parts += tree.parts if isinstance(tree, syntax.Sequence) else (tree,)
    return syntax.sequence_of(parts)


def _loop(tree: syntax.Tree | None) -> syntax.Tree:
    return syntax.NOTHING if tree is None else syntax.Repeat(tree, 0, None)


def _either(first: syntax.Tree, second: syntax.Tree) -> syntax.Tree:
    of_both = (tree.options if isinstance(tree, syntax.Choice) else (tree,) for tree in (first, second))
    options = list(dict.fromkeys(chain.from_iterable(of_both)))
    if syntax.NOTHING in options:
        inner = syntax.choice_of(option for option in options if option != syntax.NOTHING)
        return inner if isinstance(inner, syntax.Repeat) and inner.least == 0 else syntax.Repeat(inner, 0, 1)
    return syntax.choice_of(options)
