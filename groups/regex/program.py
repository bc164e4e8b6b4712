"""A pattern's tree as a program that runs over a name from its end to its start.

Theory of operation. At each place in a name, every instruction either does or does not lead to a match of the rest of
the name; these truth values are one integer, with one bit per instruction. The values at a place follow from the next
character, the values after it, and the context before the place. A look-ahead needs no second run, because it is one
of the bits. Conditions on the text before a place (`^`, `\\b`, look-behind) depend on a context; there are few
contexts, and the values are kept for each of them. There is no backtracking, so no input makes this slow.

Possessive repetitions and atomic groups are replaced with look-aheads (`without_atoms`), so that only the first match
of such a group remains. `a++` is `a+(?!a)`; `(?>a|ab)` is `a|(?!a)ab`. If the first match cannot be expressed with
look-aheads, the tree has Unsure.
"""

from collections.abc import Sequence as Sequence_
from dataclasses import dataclass, field

from groups.regex import tree as syntax

MAX_INSTRUCTIONS = 20_000


class UnsureError(Exception):
    """The meaning of a construct is not known for certain."""

    def __init__(self, construct: str) -> None:
        self.construct = construct
        super().__init__(construct)


class TooLargeError(Exception):
    """The pattern has too many instructions or states."""


@dataclass(slots=True)
class PlaceCondition:
    """True if one of `reach` is true and the assertion `place` holds."""

    bit: int
    reach: int
    place: syntax.Boundary


@dataclass(slots=True)
class LookAheadCondition:
    """True if one of `reach` is true and the look-ahead (one of `body`) has the required result."""

    bit: int
    reach: int
    body: int
    negative: bool


@dataclass(slots=True)
class LookBehindCondition:
    """True if one of `reach` is true and the look-behind `number` in Program.behind has the right result."""

    bit: int
    reach: int
    number: int
    negative: bool


Condition = PlaceCondition | LookAheadCondition | LookBehindCondition  # takes no character


@dataclass(slots=True)
class Fork:
    """True if one of `reach` is true: the next instructions that take a character or have a condition."""

    bit: int
    reach: int


@dataclass(slots=True)
class Program:
    """A compiled tree. All fields are sets of instructions as bits, unless noted."""

    entry: int = 0  # the instructions with which a match may start
    end: int = 0  # the instruction that is true only after the last character
    always: int = 0
    chars: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of an instruction and a mask: true if the next character is in it and the bit before is true after it."""
    forks: list[Fork] = field(default_factory=list)  # each right before a taking instruction
    blocks: list[list[Condition]] = field(default_factory=list)  # evaluated in this order: inner ones first
    behind: list[syntax.Tree] = field(default_factory=list)  # the bodies of the look-behinds, reversed

    def masks(self) -> set[int]:
        masks = {mask for _, mask in self.chars}
        if self.places() & {syntax.Boundary.WORD_EDGE, syntax.Boundary.NO_WORD_EDGE}:
            masks.add(syntax.WORD)
        return masks

    def places(self) -> set[syntax.Boundary]:
        return {check.place for block in self.blocks for check in block if isinstance(check, PlaceCondition)}


def compile_whole(tree: syntax.Tree) -> Program:
    """Compile a program for whole names. Raises UnsureError and TooLargeError."""
    builder = _Builder()
    end = builder.emit()
    builder.program.end = end
    return builder.finish(builder.build(tree, end))


def compile_beginning(trees: Sequence_[syntax.Tree]) -> tuple[Program, list[int]]:
    """Compile one program for prefixes of a name, with each tree's entry; used reversed for look-behinds."""
    builder = _Builder()
    yes = builder.emit()
    builder.program.always |= yes
    entries = [builder.build(tree, yes) for tree in trees]
    if builder.block or builder.program.blocks or builder.program.behind:
        raise UnsureError("look-behind with an assertion in it")
    return builder.finish(0), [builder.reach(entry) for entry in entries]


class _Builder:
    def __init__(self) -> None:
        self.program = Program()
        self.count = 0
        self.forks: dict[int, Fork] = {}
        self.block: list[Condition] = []
        self.made: list[Fork | Condition] = []  # Forks and conditions in the order of creation

    def finish(self, entry: int) -> Program:
        program = self.program
        program.entry = self.reach(entry)
        program.blocks.append(self.block)
        program.blocks = [block for block in program.blocks if block]
        taking = {bit for bit, _ in program.chars}
        program.forks = [fork for fork in self.forks.values() if fork.bit << 1 in taking]
        return program

    def emit(self) -> int:
        self.count += 1
        if self.count > MAX_INSTRUCTIONS:
            raise TooLargeError
        return 1 << (self.count - 1)

    def reach(self, bit: int) -> int:
        fork = self.forks.get(bit)
        return bit if fork is None else fork.reach

    def fork(self, bit: int, reach: int) -> int:
        self.forks[bit] = fork = Fork(bit, reach)
        self.made.append(fork)
        return bit

    def condition(self, condition: Condition) -> int:
        self.block.append(condition)
        self.made.append(condition)
        return condition.bit

    def build(self, tree: syntax.Tree, following: int) -> int:
        """Emit the instruction that matches `tree` and then continues with `following`."""
        match tree:
            case syntax.Chars(mask=mask):
                if following != 1 << (self.count - 1):
                    self.fork(self.emit(), self.reach(following))
                bit = self.emit()
                self.program.chars.append((bit, mask))
                return bit
            case syntax.Sequence(parts):
                for part in reversed(parts):
                    following = self.build(part, following)
                return following
            case syntax.Choice(options):
                reach = 0
                for option in options:
                    reach |= self.reach(self.build(option, following))
                return self.fork(self.emit(), reach)
            case syntax.Repeat():
                return self.repeat(tree, following)
            case syntax.Assertion(place=boundary):
                return self.condition(PlaceCondition(self.emit(), self.reach(following), boundary))
            case syntax.Lookaround():
                return self.look(tree, following)
            case syntax.Unsure(construct):
                raise UnsureError(construct)
            case syntax.Atomic():
                raise UnsureError("atomic group")

    def repeat(self, tree: syntax.Repeat, following: int) -> int:
        entry = following
        if tree.most is None:
            entry = self.loop(tree.body, following)
        else:
            for _ in range(tree.most - tree.least):
                reach = self.reach(following) | self.reach(self.build(tree.body, entry))
                entry = self.fork(self.emit(), reach)
        for _ in range(tree.least):
            entry = self.build(tree.body, entry)
        return entry

    def loop(self, body: syntax.Tree, following: int) -> int:
        entry = self.emit()
        first = len(self.made)
        reach = (self.reach(following) | self.reach(self.build(body, entry))) & ~entry
        # The loop's own entry is known only now; replace it in the instructions of the loop.
        for made in self.made[first:]:
            if made.reach & entry:
                made.reach = made.reach & ~entry | reach
        return self.fork(entry, reach)

    def look(self, tree: syntax.Lookaround, following: int) -> int:
        if tree.behind:
            self.program.behind.append(backwards(tree.body))
            number = len(self.program.behind) - 1
            behind = LookBehindCondition(self.emit(), self.reach(following), number, tree.negative)
            return self.condition(behind)
        outer, self.block = self.block, []
        yes = self.emit()
        self.program.always |= yes
        body = self.reach(self.build(tree.body, yes))
        self.program.blocks.append(self.block)
        self.block = outer
        return self.condition(LookAheadCondition(self.emit(), self.reach(following), body, tree.negative))


_MIRRORED = {syntax.Boundary.START: syntax.Boundary.END, syntax.Boundary.END: syntax.Boundary.START}


def backwards(tree: syntax.Tree) -> syntax.Tree:
    match syntax.mapped(tree, backwards):
        case syntax.Sequence(parts):
            return syntax.Sequence(parts[::-1])
        case syntax.Assertion(boundary):
            return syntax.Assertion(_MIRRORED.get(boundary, boundary))
        case syntax.Lookaround(body, behind, negative):
            return syntax.Lookaround(body, not behind, negative)
        case other:
            return other


def without_atoms(tree: syntax.Tree) -> syntax.Tree:
    """A tree of the same meaning without Atomic and possessive Repeat, or with Unsure in their place."""
    match syntax.mapped(tree, without_atoms):
        case syntax.Atomic(body):
            return _first(body) or syntax.Unsure("atomic group")
        case syntax.Repeat(body, least, most, syntax.Greed.POSSESSIVE):
            return _longest(_first(body), body, least, most) or syntax.Unsure("possessive quantifier")
        case other:
            return other


def _first(tree: syntax.Tree) -> syntax.Tree | None:
    """A tree that matches only the first match of `tree` at a place; None if that cannot be expressed."""
    if _width(tree) is not None:
        return tree
    match tree:
        case syntax.Choice(options):
            chosen: list[syntax.Tree] = []
            for index, option in enumerate(options):
                first = _first(option)
                if first is None:
                    return None
                chosen.append(syntax.Sequence((*(_not(before) for before in options[:index]), first)))
            return syntax.Choice(tuple(chosen))
        case syntax.Sequence(parts):
            return _first_of_sequence(parts)
        case syntax.Repeat(body, least, most, greed):
            if greed is syntax.Greed.LAZY:
                return _times(_first(body), least) if _width(body) is not None else None
            return _longest(_first(body), body, least, most) if _width(body) is not None else None
    return None


def _first_of_sequence(parts: tuple[syntax.Tree, ...]) -> syntax.Tree | None:
    """The first matches of all parts; correct if every part has a fixed length or no part after it can fail."""
    chosen: list[syntax.Tree] = []
    for index, part in enumerate(parts):
        first = _first(part)
        if first is None:
            return None
        chosen.append(first)
        if _width(part) is None and not all(_never_fails(later) for later in parts[index + 1 :]):
            return None
    return syntax.Sequence(tuple(chosen))


def _longest(head: syntax.Tree | None, body: syntax.Tree, least: int, most: int | None) -> syntax.Tree | None:
    """A tree that repeats the body as often as possible; `head` is the body's first match at a place."""
    if head is None or _may_be_empty(body):
        return None
    if most is not None and most == least:
        return _times(head, least)
    stop = _not(body)
    if most is None:
        return syntax.Sequence((syntax.Repeat(head, least, None), stop))
    return syntax.Choice(
        (syntax.Sequence((syntax.Repeat(head, least, most - 1), stop)), syntax.Repeat(head, most, most))
    )


def _times(tree: syntax.Tree | None, count: int) -> syntax.Tree | None:
    return None if tree is None else syntax.Repeat(tree, count, count) if count else syntax.NOTHING


def _not(tree: syntax.Tree) -> syntax.Tree:
    return syntax.Lookaround(tree, behind=False, negative=True)


def _width(tree: syntax.Tree) -> int | None:
    """The number of characters that the tree takes, if it is always the same; else None."""
    match tree:
        case syntax.Chars():
            return 1
        case syntax.Assertion() | syntax.Lookaround():
            return 0
        case syntax.Sequence(parts):
            widths = [_width(part) for part in parts]
            return None if None in widths else sum(width or 0 for width in widths)
        case syntax.Choice(options):
            option_widths = {_width(option) for option in options}
            return option_widths.pop() if len(option_widths) == 1 else None
        case syntax.Repeat(body, least, most):
            width = _width(body)
            return width * least if width is not None and (least == most or width == 0) else None
    return None


def _never_fails(tree: syntax.Tree) -> bool:
    match tree:
        case syntax.Repeat(body, least, _):
            return least == 0 or _never_fails(body)
        case syntax.Sequence(parts):
            return all(_never_fails(part) for part in parts)
        case syntax.Choice(options):
            return any(_never_fails(option) for option in options)
    return False


def _may_be_empty(tree: syntax.Tree) -> bool:
    match tree:
        case syntax.Chars():
            return False
        case syntax.Sequence(parts):
            return all(_may_be_empty(part) for part in parts)
        case syntax.Choice(options):
            return any(_may_be_empty(option) for option in options)
        case syntax.Repeat(body, least, _):
            return least == 0 or _may_be_empty(body)
    return True
