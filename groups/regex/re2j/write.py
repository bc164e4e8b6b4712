"""A pattern of RE2/J's as google-re2 can read it.

google-re2 bounds the product of nested repetition counts by 1000, RE2/J each count alone: `(a{100}){11}` is
written as eleven copies.
"""

from __future__ import annotations

from groups.regex.tree import Assertion, Chars, Choice, Greed, Repeat, Sequence, Tree

MAX_LENGTH = 4 << 20
"""Characters that a pattern may have when it is written out."""


class TooLongError(Exception):
    """Written out, the pattern is too long for this machine."""


def write_for_re2(tree: Tree) -> str:
    """The pattern with every repetition of a repetition written out; TooLongError beyond MAX_LENGTH."""
    return _written(tree)[0]


def _written(tree: Tree) -> tuple[str, int]:
    """The text, fit to be repeated, and the product of the counts in it."""
    match tree:
        case Chars(text=text) | Assertion(text=text):
            return text, 1
        case Sequence(parts):
            return _joined("", parts)
        case Choice(options):
            return _joined("|", options)
        case Repeat():
            return _repeat(tree)
    raise TypeError(f"RE2/J has no {tree!r}")


def _joined(between: str, trees: tuple[Tree, ...]) -> tuple[str, int]:
    written = [_written(tree) for tree in trees]
    return _group(between.join(text for text, _ in written)), max((most for _, most in written), default=1)


def _group(text: str) -> str:
    return f"(?:{text})"


def _repeat(tree: Repeat) -> tuple[str, int]:
    text, product = _written(tree.body)
    copies = max(1, tree.least if tree.most is None else tree.most)
    lazy = "?" if tree.greed is Greed.LAZY else ""
    if product == 1 or copies == 1:
        return _group(f"{text}{_counts(tree)}{lazy}"), product * copies
    if len(text) * copies > MAX_LENGTH:
        raise TooLongError
    required = text * tree.least
    if tree.most is None:
        return _group(f"{required}{text}*{lazy}"), product
    optional = f"(?:{text}" * (tree.most - tree.least) + f")?{lazy}" * (tree.most - tree.least)
    return _group(required + optional), product


def _counts(tree: Repeat) -> str:
    least, most = tree.least, tree.most
    if most is None:
        return {0: "*", 1: "+"}.get(least, f"{{{least},}}")
    return "?" if (least, most) == (0, 1) else f"{{{least},{most}}}"
