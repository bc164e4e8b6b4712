"""A regular expression as a tree, for the syntax of every engine.

Topic names are built from 65 characters, so a set of characters is a bit mask over these; how an engine handles other
characters does not matter for a subscription. `^`, `$`, `\\A`, `\\z`, `\\Z` and their multi-line variants all mean
the start or end of the name, because no name contains a line break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

ALPHABET = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
"""The characters of topic names (Kafka's Topic class), in ASCII order."""

INDEX = {character: index for index, character in enumerate(ALPHABET)}
ALL = (1 << len(ALPHABET)) - 1


def mask_of(characters: Iterable[str]) -> int:
    """The set of the given characters, without those that topic names cannot have."""
    mask = 0
    for character in characters:
        index = INDEX.get(character)
        if index is not None:
            mask |= 1 << index
    return mask


def mask_between(low: int, high: int) -> int:
    """The set of characters from one code point to another."""
    return mask_of(character for character in ALPHABET if low <= ord(character) <= high)


def characters_of(mask: int) -> str:
    """The characters of a set, in ASCII order."""
    return "".join(character for index, character in enumerate(ALPHABET) if mask >> index & 1)


DIGITS = mask_of("0123456789")
UPPER = mask_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
LOWER = mask_of("abcdefghijklmnopqrstuvwxyz")
LETTERS = UPPER | LOWER
WORD = LETTERS | DIGITS | mask_of("_")


def fold(mask: int) -> int:
    """The set with the other case of each of its letters."""
    return mask | mask_of(characters_of(mask).swapcase())


class Place(Enum):
    """The place at which an assertion holds."""

    START = auto()
    END = auto()
    WORD_EDGE = auto()
    NO_WORD_EDGE = auto()


class Greed(Enum):
    """How many repetitions are tried first; all kinds but POSSESSIVE match the same names."""

    GREEDY = auto()
    LAZY = auto()
    POSSESSIVE = auto()


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    mask: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """Trees one after the other; without parts it matches the empty string."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of the options, the first preferred."""

    options: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body `least` to `most` times; without a limit if `most` is None."""

    body: Tree
    least: int
    most: int | None
    greed: Greed = Greed.GREEDY


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition on a place between characters."""

    place: Place


@dataclass(frozen=True, slots=True)
class Lookaround:
    """A condition on the text after or before a place."""

    body: Tree
    behind: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Atomic:
    """A group that keeps the first match of its body."""

    body: Tree


@dataclass(frozen=True, slots=True)
class Unsure:
    """A construct whose meaning is not certain; `construct` names it."""

    construct: str


Tree = Chars | Sequence | Choice | Repeat | Assertion | Lookaround | Atomic | Unsure

NOTHING = Sequence(())
"""Matches the empty string."""

QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
"""The counts of `Repeat` by quantifier, the same in every syntax."""

HEX_DIGITS = "0123456789abcdefABCDEF"


def sequence_of(parts: Iterable[Tree]) -> Tree:
    """The only part, or a sequence of several parts."""
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else Sequence(parts)


def choice_of(options: Iterable[Tree]) -> Tree:
    """The only option, or a choice between several options."""
    options = tuple(options)
    return options[0] if len(options) == 1 else Choice(options)


def mapped(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with each of its parts changed; the tree itself if it has none."""
    match tree:
        case Sequence(parts):
            return Sequence(tuple(map(change, parts)))
        case Choice(options):
            return Choice(tuple(map(change, options)))
        case Repeat(body=body) | Lookaround(body=body) | Atomic(body=body):
            return replace(tree, body=change(body))
    return tree
