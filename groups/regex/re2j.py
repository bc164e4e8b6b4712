"""RE2/J 1.8's parser, without recursion: the accepted patterns, why not the others, the meaning for topic names."""

import re
from dataclasses import dataclass, field

from groups.regex import tree as syntax
from groups.regex.character_classes import PERL, POSIX, UNICODE, UNICODE_FOLDED

MAX_REPEAT = 1000


class PatternRefusedError(Exception):
    """RE2/J refuses the pattern; `position` is in characters from 0, None if the whole pattern is the fault."""

    def __init__(self, reason: str, fragment: str = "", position: int | None = None) -> None:
        self.reason = f"{reason}: `{fragment}`" if fragment else reason
        self.position = position
        super().__init__(self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    tree: syntax.Tree
    instructions: int  # approximately, of RE2/J's program, which expands every repetition
    depth: int  # Levels of parentheses; RE2/J needs stack for each
    empty_path: int  # the most in a row without a character; each needs stack at a match
    differs: bool  # whether google-re2 would accept the pattern with another meaning


def parse(pattern: str) -> Parsed:
    """Parse a pattern as RE2/J does with its default flags; PatternRefusedError with the reason if it refuses it."""
    return _Parser(pattern).parse()


@dataclass(frozen=True, slots=True)
class _Item:
    """A tree and its cost in RE2/J, as numbers of instructions."""

    tree: syntax.Tree
    size: int = 1  # all instructions
    skipped: int | None = None  # on the longest path without a character; None without one
    dive: int = 1  # on the longest such path that starts before the tree
    tail: int = 0  # Those on the longest such path that starts in the tree and ends after it
    peak: int = 1  # Those on the longest such path that touches the tree


@dataclass(slots=True)
class _Level:
    """The part between two parentheses, as far as it has been parsed."""

    position: int
    outer_fold: bool
    sequence: list[_Item] = field(default_factory=list)
    options: list[_Item] = field(default_factory=list)

    def end_option(self) -> None:
        parts, self.sequence = self.sequence, []
        skipped: int | None = 0
        dive = tail = peak = 0
        for part in parts:
            if skipped is not None:
                dive = max(dive, skipped + part.dive)
            peak = max(peak, part.peak, tail + part.dive)
            tail = part.tail if part.skipped is None else max(part.tail, tail + part.skipped)
            skipped = None if skipped is None or part.skipped is None else skipped + part.skipped
        tree = syntax.sequence_of(part.tree for part in parts)
        self.options.append(_Item(tree, sum(part.size for part in parts), skipped, dive, tail, peak))

    def close(self) -> _Item:
        self.end_option()
        options = self.options
        if len(options) == 1:
            return options[0]
        numbered = list(enumerate(options, 1))
        skips = [index + option.skipped for index, option in numbered if option.skipped is not None]
        return _Item(
            syntax.Choice(tuple(option.tree for option in options)),
            sum(option.size for option in options) + len(options),
            max(skips, default=None),
            max(index + option.dive for index, option in numbered),
            max(option.tail for option in options),
            max(max(option.peak, index + option.dive) for index, option in numbered),
        )


_COUNTS = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_NAME = re.compile(r"[0-9A-Za-z_]+")
_CONTROL = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ASSERTIONS = {
    "A": syntax.Boundary.START,
    "b": syntax.Boundary.WORD_EDGE,
    "B": syntax.Boundary.NO_WORD_EDGE,
    "z": syntax.Boundary.END,
}


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.fold = False  # whether case is ignored; the other flags make no difference for topic names
        self.names: set[str] = set()
        self.levels = [_Level(0, self.fold)]
        self.differs = False

    def parse(self) -> Parsed:
        repeated_at: int | None = None
        depth = 0
        while self.at < len(self.text):
            start, character = self.at, self.text[self.at]
            is_repeat = False
            if character in "*+?":
                self.at += 1
                self.repeat(*syntax.QUANTIFIERS[character], start, repeated_at)
                is_repeat = True
            elif character == "{" and (counts := _COUNTS.match(self.text, start)):
                self.at = counts.end()
                self.repeat(*self.counts(counts), start, repeated_at)
                is_repeat = True
            else:
                self.token(character)
                depth = max(depth, len(self.levels) - 1)
                is_repeat = character == "{"  # RE2/J counts one that repeats nothing, too: `a{?` is an error
            repeated_at = start if is_repeat else None
        if len(self.levels) > 1:
            raise PatternRefusedError("missing closing )", position=self.levels[-1].position)
        whole = self.levels[0].close()
        return Parsed(
            tree=whole.tree, instructions=whole.size, depth=depth, empty_path=whole.peak, differs=self.differs
        )

    def token(self, character: str) -> None:
        match character:
            case "(":
                self.open()
            case ")":
                self.close()
            case "|":
                self.at += 1
                self.levels[-1].end_option()
            case "^" | "$":
                self.at += 1
                self.assertion(syntax.Boundary.START if character == "^" else syntax.Boundary.END)
            case ".":
                self.at += 1
                self.add(_Item(syntax.Chars(syntax.ALL)))
            case "[":
                self.character_class()
            case "\\":
                self.backslash()
            case _:
                self.at += 1
                self.literal(character)

    def add(self, item: _Item) -> None:
        self.levels[-1].sequence.append(item)

    def assertion(self, boundary: syntax.Boundary) -> None:
        self.add(_Item(syntax.Assertion(boundary), skipped=1))

    def literal(self, character: str) -> None:
        mask = syntax.mask_of(_FOLDS_TO_ASCII.get(ord(character), character) if self.fold else character)
        self.add(_Item(syntax.Chars(syntax.fold(mask) if self.fold else mask)))

    # Groups

    def open(self) -> None:
        start, outer = self.at, self.fold
        if not self.text.startswith("(?", start):
            self.at += 1
        elif self.text.startswith(("(?P<", "(?<"), start):
            self.name()
        elif not self.inline_flags():
            return
        self.levels.append(_Level(start, outer))

    def name(self) -> None:
        start = self.at
        begin = self.text.index("<", start) + 1
        end = self.text.find(">", begin)
        if end < 0:
            raise PatternRefusedError("invalid named capture", self.text[start:], start)
        name = self.text[begin:end]
        if not _NAME.fullmatch(name):
            raise PatternRefusedError("invalid named capture", self.text[start : end + 1], start)
        if name in self.names:
            raise PatternRefusedError("duplicate capture group name", name, start)
        self.names.add(name)
        self.at = end + 1

    def inline_flags(self) -> bool:
        """Set the flags; returns whether they start a group, `(?i:`, unlike `(?i)`."""
        start = self.at
        self.at += 2
        folds, sign, seen = self.fold, True, False
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character in "imsU":
                folds = sign if character == "i" else folds
                seen = True
            elif character == "-" and sign:
                sign, seen = False, False
            elif character in ":)" and (sign or seen):
                self.fold = folds
                return character == ":"
            else:
                break
        raise PatternRefusedError("invalid or unsupported Perl syntax", self.text[start : self.at], start)

    def close(self) -> None:
        if len(self.levels) == 1:
            raise PatternRefusedError("unexpected )", position=self.at)
        self.at += 1
        level = self.levels.pop()
        self.fold = level.outer_fold
        inner = level.close()
        skipped = None if inner.skipped is None else inner.skipped + 2
        peak = max(inner.peak, inner.dive + 1, (skipped or 0))
        self.add(_Item(inner.tree, inner.size + 2, skipped, inner.dive + 1, inner.tail + 1, peak))

    # Repetitions

    def counts(self, counts: re.Match[str]) -> tuple[int, int | None]:
        least, comma, most = counts.groups()
        numbers = [number for number in (least, most) if number is not None]
        too_long = any(len(number) > 8 or int(number) > MAX_REPEAT for number in numbers)
        if too_long or (most is not None and int(least) > int(most)):
            raise PatternRefusedError("invalid repeat count", counts.group(), counts.start())
        return int(least), int(most) if most is not None else None if comma else int(least)

    def repeat(self, least: int, most: int | None, start: int, repeated_at: int | None) -> None:
        self.at += self.text.startswith("?", self.at)
        if repeated_at is not None:
            fragment = self.text[repeated_at : self.at]
            raise PatternRefusedError("invalid nested repetition operator", fragment, repeated_at)
        sequence = self.levels[-1].sequence
        if not sequence:
            fragment = self.text[start : self.at]
            raise PatternRefusedError("missing argument to repetition operator", fragment, start)
        body = sequence.pop()
        copies = max(1, least if most is None else most)
        skipped = 1 if least == 0 else None
        others = 0
        if body.skipped is not None:
            skipped = (body.skipped + 1) * copies
            others = (body.skipped + 1) * (copies - 1)
        dive, tail = body.dive + 1 + others, body.tail + 1 + others
        peak = max(body.peak, dive, body.tail + dive)
        repeat = syntax.Repeat(body.tree, least, most)
        self.add(_Item(repeat, copies * (body.size + 1), skipped, dive, tail, peak))

    # Escapes and classes

    def backslash(self) -> None:
        start = self.at
        following = self.text[start + 1 : start + 2]
        if following in _ASSERTIONS:
            self.at += 2
            self.assertion(_ASSERTIONS[following])
        elif following == "C":
            raise PatternRefusedError("invalid escape sequence", "\\C", start)
        elif following == "Q":
            end = self.text.find("\\E", start + 2)
            quoted = self.text[start + 2 :] if end < 0 else self.text[start + 2 : end]
            for character in quoted:
                self.literal(character)
            self.at = len(self.text) if end < 0 else end + 2
        elif (mask := self.named_escape()) is not None:
            self.add(_Item(syntax.Chars(mask)))
        else:
            self.literal(self.escape())

    def named_escape(self) -> int | None:
        """The set of a class escape such as `\\p…` or `\\d`, if there is one at this place."""
        following = self.text[self.at + 1 : self.at + 2]
        if self.text[self.at : self.at + 1] != "\\" or not following:
            return None
        if following in PERL:
            self.at += 2
            return PERL[following]
        if following not in "pP":
            return None
        start = self.at
        end = start + 3
        if self.text.startswith("{", start + 2):
            end = self.text.find("}", start + 3) + 1
        name = self.text[start + 2 : end].removeprefix("{").removesuffix("}")
        if not end or end > len(self.text):
            raise PatternRefusedError("invalid character class range", self.text[start:], start)
        self.at = end
        negative = following == "P"
        if name.startswith("^"):
            name, negative = name[1:], not negative
        if name not in UNICODE:
            raise PatternRefusedError("invalid character class range", self.text[start:end], start)
        mask = UNICODE_FOLDED.get(name, UNICODE[name]) if self.fold else UNICODE[name]
        # `(?i)\p{Ll}` and similar classes: the tables of the two engines differ.
        self.differs |= name == "Unknown" or (self.fold and name in UNICODE_FOLDED)
        return syntax.ALL & ~mask if negative else mask

    def escape(self) -> str:
        start = self.at
        if start + 1 == len(self.text):
            raise PatternRefusedError("trailing backslash at end of expression")
        character = self.text[start + 1]
        self.at += 2
        octal = re.compile("0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.text, start + 1)
        if octal:
            self.at = octal.end()
            return chr(int(octal.group(), 8))
        if character == "x":
            return self.hexadecimal(start)
        if character in _CONTROL:
            return _CONTROL[character]
        if not (character.isascii() and character.isalnum()):
            return character
        raise PatternRefusedError("invalid escape sequence", self.text[start : self.at], start)

    def hexadecimal(self, start: int) -> str:
        digits = ""
        braced = self.text.startswith("{", self.at)
        self.at += braced
        while self.at < len(self.text) and (braced or len(digits) < 2):
            character = self.text[self.at]
            self.at += 1
            if braced and character == "}" and digits:
                return chr(int(digits, 16))
            if character not in syntax.HEX_DIGITS:
                break
            digits += character
            if int(digits, 16) > 0x10FFFF:
                break
            if not braced and len(digits) == 2:
                return chr(int(digits, 16))
        if not braced:
            self.at = min(start + 4, len(self.text))
        raise PatternRefusedError("invalid escape sequence", self.text[start : self.at], start)

    def character_class(self) -> None:
        start = self.at
        self.at += 1
        negative = self.text.startswith("^", self.at)
        self.at += negative
        mask, first = 0, True
        while first or not self.text.startswith("]", self.at):
            first = False
            mask |= self.class_item(start)
        self.at += 1
        self.add(_Item(syntax.Chars(syntax.ALL & ~mask if negative else mask)))

    def class_item(self, class_start: int) -> int:
        start = self.at
        named = self.text.find(":]", start) if self.text.startswith("[:", start) else -1
        if named >= 0:
            self.at = named + 2
            name = self.text[start + 2 : named]
            mask = POSIX.get(name.removeprefix("^"))
            if mask is None:
                raise PatternRefusedError("invalid character class range", self.text[start : self.at], start)
            mask = syntax.fold(mask) if self.fold else mask
            return syntax.ALL & ~mask if name.startswith("^") else mask
        mask = self.named_escape()
        if mask is not None:
            return mask
        low = high = self.class_character(class_start)
        if self.text.startswith("-", self.at) and not self.text.startswith("]", self.at + 1):
            self.at += 1
            high = self.class_character(class_start)
            if high < low:
                raise PatternRefusedError("invalid character class range", self.text[start : self.at], start)
        mask = syntax.mask_between(low, high)
        if not self.fold:
            return mask
        others = "".join(letter for code, letter in _FOLDS_TO_ASCII.items() if low <= code <= high)
        return syntax.fold(mask | syntax.mask_of(others))

    def class_character(self, class_start: int) -> int:
        if self.at >= len(self.text):
            raise PatternRefusedError("missing closing ]", self.text[class_start:], class_start)
        if self.text[self.at] == "\\":
            return ord(self.escape())
        self.at += 1
        return ord(self.text[self.at - 1])


_FOLDS_TO_ASCII = {0x17F: "s", 0x212A: "k"}  # the long s and the Kelvin sign are other cases of ASCII letters
