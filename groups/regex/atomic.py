"""Possessive repetitions and atomic groups, said in look-aheads: what is matched first is then all that is matched.

`a++` is `a+(?!a)`; `(?>a|ab)` is `a|(?!a)ab`. Where what is matched first is not so easily said, the tree says Unsure.
"""

from __future__ import annotations

from groups.regex.tree import (
    NOTHING,
    Assertion,
    Atomic,
    Chars,
    Choice,
    Greed,
    Look,
    Repeat,
    Sequence,
    Tree,
    Unsure,
)


def without_atoms(tree: Tree) -> Tree:
    """The same meaning with no Atomic and no possessive Repeat, or Unsure in their place."""
    match tree:
        case Sequence(parts):
            return Sequence(tuple(without_atoms(part) for part in parts))
        case Choice(options):
            return Choice(tuple(without_atoms(option) for option in options))
        case Look(body, behind, negative):
            return Look(without_atoms(body), behind, negative)
        case Atomic(body):
            return _first(without_atoms(body)) or Unsure("atomic group")
        case Repeat(body, least, most, greed):
            inner = without_atoms(body)
            if greed is not Greed.POSSESSIVE:
                return Repeat(inner, least, most, greed)
            return _longest(_first(inner), inner, least, most) or Unsure("possessive quantifier")
    return tree


def _first(tree: Tree) -> Tree | None:
    """What `tree` matches first at a place, and nothing else; None where that cannot be said."""
    if _width(tree) is not None:
        return tree
    match tree:
        case Choice(options):
            return _first_option(options)
        case Sequence(parts):
            return _first_of_sequence(parts)
        case Repeat(body, least, most, greed):
            if greed is Greed.LAZY:
                return _times(_first(body), least) if _width(body) is not None else None
            return _longest(_first(body), body, least, most) if _width(body) is not None else None
    return None


def _first_option(options: tuple[Tree, ...]) -> Tree | None:
    chosen: list[Tree] = []
    for index, option in enumerate(options):
        first = _first(option)
        if first is None:
            return None
        chosen.append(Sequence((*(_not(before) for before in options[:index]), first)))
    return Choice(tuple(chosen))


def _first_of_sequence(parts: tuple[Tree, ...]) -> Tree | None:
    """Right where every part but the last has one length, or nothing after it can fail."""
    chosen: list[Tree] = []
    for index, part in enumerate(parts):
        first = _first(part)
        if first is None:
            return None
        chosen.append(first)
        if _width(part) is None and not all(_never_fails(later) for later in parts[index + 1 :]):
            return None
    return Sequence(tuple(chosen))


def _longest(first: Tree | None, body: Tree, least: int, most: int | None) -> Tree | None:
    """As often as it goes; `first` is what the body matches at a place."""
    if first is None or _may_be_empty(body):
        return None
    if most is not None and most == least:
        return _times(first, least)
    stop = _not(body)
    if most is None:
        return Sequence((Repeat(first, least, None), stop))
    return Choice((Sequence((Repeat(first, least, most - 1), stop)), Repeat(first, most, most)))


def _times(tree: Tree | None, count: int) -> Tree | None:
    return None if tree is None else Repeat(tree, count, count) if count else NOTHING


def _not(tree: Tree) -> Tree:
    return Look(tree, behind=False, negative=True)


def _width(tree: Tree) -> int | None:
    """How many characters the tree takes, if always as many."""
    match tree:
        case Chars():
            return 1
        case Assertion() | Look():
            return 0
        case Sequence(parts):
            widths = [_width(part) for part in parts]
            return None if None in widths else sum(width or 0 for width in widths)
        case Choice(options):
            found = {_width(option) for option in options}
            return found.pop() if len(found) == 1 else None
        case Repeat(body, least, most):
            width = _width(body)
            return width * least if width is not None and (least == most or width == 0) else None
    return None


def _never_fails(tree: Tree) -> bool:
    match tree:
        case Repeat(body, least, _):
            return least == 0 or _never_fails(body)
        case Sequence(parts):
            return all(_never_fails(part) for part in parts)
        case Choice(options):
            return any(_never_fails(option) for option in options)
    return False


def _may_be_empty(tree: Tree) -> bool:
    match tree:
        case Chars():
            return False
        case Sequence(parts):
            return all(_may_be_empty(part) for part in parts)
        case Choice(options):
            return any(_may_be_empty(option) for option in options)
        case Repeat(body, least, _):
            return least == 0 or _may_be_empty(body)
    return True
