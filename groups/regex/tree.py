"""A regular expression as a tree; RE2 limits the product of nested counts to 1000, RE2/J each count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache

ALPHABET = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"  # of topic names, sorted
INDEX = {character: index for index, character in enumerate(ALPHABET)}
ALL = (1 << len(ALPHABET)) - 1


def mask_of(characters: Iterable[str]) -> int:
    mask = 0
    for character in characters:
        index = INDEX.get(character)
        if index is not None:
            mask |= 1 << index
    return mask


def mask_between(low: int, high: int) -> int:
    return mask_of(character for character in ALPHABET if low <= ord(character) <= high)


def characters_of(mask: int) -> str:
    return "".join(character for index, character in enumerate(ALPHABET) if mask >> index & 1)


DIGITS = mask_of("0123456789")
UPPER = mask_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
LOWER = mask_of("abcdefghijklmnopqrstuvwxyz")
LETTERS = UPPER | LOWER
WORD = LETTERS | DIGITS | mask_of("_")


def fold(mask: int) -> int:
    return mask | mask_of(characters_of(mask).swapcase())


class Boundary(Enum):
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
    mask: int


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
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
    place: Boundary


@dataclass(frozen=True, slots=True)
class Lookaround:
    body: Tree
    behind: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Atomic:
    """A group that keeps the first match of its body."""

    body: Tree


@dataclass(frozen=True, slots=True)
class Unsure:
    construct: str


Tree = Chars | Sequence | Choice | Repeat | Assertion | Lookaround | Atomic | Unsure
NOTHING = Sequence(())  # Matches the empty string
SYMBOLS: dict[str, Tree] = {"^": Assertion(Boundary.START), "$": Assertion(Boundary.END), ".": Chars(ALL)}
QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}

HEX_DIGITS = "0123456789abcdefABCDEF"


def sequence_of(parts: Iterable[Tree]) -> Tree:
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else Sequence(parts)


def choice_of(options: Iterable[Tree]) -> Tree:
    options = tuple(options)
    return options[0] if len(options) == 1 else Choice(options)


def mapped(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    match tree:
        case Sequence(parts):
            return Sequence(tuple(map(change, parts)))
        case Choice(options):
            return Choice(tuple(map(change, options)))
        case Repeat(body=body) | Lookaround(body=body) | Atomic(body=body):
            return replace(tree, body=change(body))
    return tree


_PLACES = {Boundary.START: "^", Boundary.END: "$", Boundary.WORD_EDGE: r"\b", Boundary.NO_WORD_EDGE: r"\B"}
_NO_CHARACTER = r"[^\x00-\x{10FFFF}]"
_SHORT = {ALL: ".", DIGITS: r"\d", WORD: r"\w", 0: _NO_CHARACTER}


class NotRegularError(Exception):
    """The tree has a construct for which RE2/J has no syntax."""


def write_for_re2j(tree: Tree) -> str:
    """A pattern that means `tree` in RE2/J, but possessive repetitions are plain: the caller must check."""
    return _choice(tree)


def _choice(tree: Tree) -> str:
    if isinstance(tree, Choice):
        return "|".join(_sequence(option) for option in tree.options)
    return _sequence(tree)


def _sequence(tree: Tree) -> str:
    if isinstance(tree, Sequence):
        return "".join(_item(part) for part in tree.parts)
    return _item(tree)


def _item(tree: Tree) -> str:
    match tree:
        case Chars(mask=mask):
            if mask in _SHORT:
                return _SHORT[mask]
            if mask.bit_count() == 1:
                return re.sub(r"(\.)", r"\\\1", characters_of(mask))
            inside, outside = _ranges(mask), _ranges(ALL & ~mask)
            return f"[{inside}]" if len(inside) <= len(outside) + 1 else f"[^{outside}]"
        case Assertion(place=boundary):
            return _PLACES[boundary]
        case Sequence(parts):
            return _sequence(tree) if len(parts) < 2 else f"(?:{_sequence(tree)})"
        case Choice():
            return f"(?:{_choice(tree)})"
        case Repeat(body, least, most):
            inner = _item(body)
            if isinstance(body, Repeat | Assertion) or (isinstance(body, Sequence) and len(body.parts) < 2):
                inner = f"(?:{inner})"
            return inner + _count_suffix(least, most)
    raise NotRegularError


def _count_suffix(least: int, most: int | None) -> str:
    if most is None:
        return {0: "*", 1: "+"}.get(least, f"{{{least},}}")
    if (least, most) == (1, 1):
        return ""
    return "?" if (least, most) == (0, 1) else f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def _ranges(mask: int) -> str:
    """The text between the brackets of a class; a hyphen is last."""
    characters = characters_of(mask)
    runs: list[str] = []
    for character in characters:
        if runs and _adjacent(runs[-1][-1], character):
            runs[-1] += character
        else:
            runs.append(character)
    text = "".join(run if len(run) < 3 else f"{run[0]}-{run[-1]}" for run in runs)
    return text.replace("-", "", 1) + "-" if characters.startswith("-") else text


def _adjacent(first: str, second: str) -> bool:
    both = first + second
    of_a_kind = both.isdigit() or (both.isalpha() and (both.isupper() or both.islower()))
    return of_a_kind and ord(second) == ord(first) + 1


MAX_LENGTH = 4 << 20  # the most characters of a pattern with expanded repetitions


class TooLongError(Exception):
    """With expanded repetitions, the pattern is too long for this machine."""


def write_for_re2(tree: Tree) -> str:
    """The pattern with every repetition of a repetition expanded; TooLongError beyond MAX_LENGTH."""
    return _written(tree)[0]


def _written(tree: Tree) -> tuple[str, int]:
    """The text, which can be followed by a quantifier, and the product of the counts in it."""
    match tree:
        case Chars(mask=mask):
            return _spans(mask), 1
        case Assertion():
            return _item(tree), 1
        case Sequence(parts):
            return _joined("", parts)
        case Choice(options):
            return _joined("|", options)
        case Repeat():
            text, product = _written(tree.body)
            copies = max(1, tree.least if tree.most is None else tree.most)
            if product == 1 or copies == 1:
                return _group(f"{text}{_count_suffix(tree.least, tree.most)}"), product * copies
            if len(text) * copies > MAX_LENGTH:
                raise TooLongError
            required = text * tree.least
            if tree.most is None:
                return _group(f"{required}{text}*"), product
            optional = f"(?:{text}" * (tree.most - tree.least) + ")?" * (tree.most - tree.least)
            return _group(required + optional), product
    raise TypeError(f"RE2/J has no {tree!r}")


@lru_cache(maxsize=1024)
def _spans(mask: int) -> str:
    """A class of few ranges, which may contain characters between those of topic names: `[--z]` are all."""
    spans = (span.span() for span in re.finditer("1+", f"{mask:b}"[::-1]))
    text = "".join(f"\\x{ord(ALPHABET[start]):x}-\\x{ord(ALPHABET[end - 1]):x}" for start, end in spans)
    return f"[{text}]" if text else _NO_CHARACTER


def _joined(between: str, trees: tuple[Tree, ...]) -> tuple[str, int]:
    written = [_written(tree) for tree in trees]
    return _group(between.join(text for text, _ in written)), max((most for _, most in written), default=1)


def _group(text: str) -> str:
    return f"(?:{text})"
